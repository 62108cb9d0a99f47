package capture

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// maxSniffBytes is how many first bytes may be held back while the format is undecided.
const maxSniffBytes = 64 << 10

// inputReader cuts the bytes of one input into records. It holds the first bytes back only while they may
// still begin more than one format.
type inputReader struct {
	*Input
	formats []Format
	forced  bool     // the input is the first of the formats, whatever its bytes
	reader  Reader   // nil while undecided
	held    []chunk  // the bytes read while undecided
	from    *File    // nil if the input can't be read again
	read    int64    // bytes of the input so far
	room    []byte   // for the next read
	recs    []Record // reused for the records of a chunk
	late    bool     // it has waited long enough for more bytes to decide by
}

func newInputReader(file string, n *exchangeNumbers) *inputReader {
	return &inputReader{Input: newInput(file, n, nil)}
}

// newReader returns the reader of an input according to the options.
func (o Options) newReader(file string, n *exchangeNumbers) *inputReader {
	in := &inputReader{Input: newInput(file, n, o.GuessPayload), formats: o.Formats, forced: o.Forced}
	in.AllowChunks = o.AllowChunks
	return in
}

// afterRotation returns the reader of the next file with the same name. If the format allows it, open
// exchanges continue there; otherwise it returns next.
func (in *inputReader) afterRotation(next *inputReader) *inputReader {
	if in == nil {
		return next
	}
	if r, ok := in.reader.(RotationReader); ok {
		next.Input, next.reader = in.Input, r.Rotated()
	}
	return next
}

// readChunk reads once from a file. Only a capture's reader keeps none of the bytes, so only then is the
// buffer reused.
func (in *inputReader) readChunk(from io.Reader) chunk {
	if len(in.room) < minReadBytes {
		in.room = make([]byte, chunkSize)
	}
	n, err := from.Read(in.room)
	c := chunk{data: in.room[:n:n], at: NoTime, err: err}
	if u, ok := from.(*decompressor); ok {
		c.packing = u.name
	}
	if in.asCapture() == nil {
		in.room = in.room[n:]
	}
	return c
}

// asCapture returns the reader of a capture, nil if the input is not one or is undecided.
func (in *inputReader) asCapture() *captureReader {
	c, _ := in.reader.(*captureReader)
	return c
}

// deliverChunk yields the records of c and reports whether there may be more.
func (in *inputReader) deliverChunk(yield func(Record, error) bool, c chunk) bool {
	if c.packing != "" && len(in.Peeled) == 0 {
		in.Peeled, in.from, in.again = []string{c.packing}, nil, nil // it can't be read again from the middle
	}
	in.read += int64(len(c.data))
	recs, err := in.add(in.recs, c.data, c.at)
	in.setLocations(recs, in.read)
	switch {
	case err != nil || c.err == nil:
	case c.err == io.EOF:
		last := in.from.finish(in.read)
		more := in.close(EndEOF, "", c.at)
		in.setLocations(more, last)
		recs = append(recs, more...)
	case errors.As(c.err, new(*compressionError)):
		recs = append(recs, in.close(EndCut, c.err.Error(), c.at)...)
		recs = append(recs, Record{Exchange: max(1, in.numbers.last), At: NoTime, Note: c.err.Error(), Damaged: true})
	default:
		recs = append(recs, in.close(EndCut, WithoutPath(c.err).Error(), c.at)...)
		err = readError(in.File, c.err)
	}
	more := yieldRecords(yield, recs, err) && c.err == nil
	clear(recs) // their contents have other owners now
	in.recs = recs[:0]
	return more
}

func (in *inputReader) write(p []byte, at time.Duration) ([]Record, error) { return in.add(nil, p, at) }

// add appends the records of p to recs.
func (in *inputReader) add(recs []Record, p []byte, at time.Duration) ([]Record, error) {
	switch {
	case len(p) == 0:
		return recs, nil
	case in.reader != nil:
		return in.reader.Write(recs, p, at)
	}
	in.held = append(in.held, chunk{data: p, at: at})
	return in.decideFormat(false)
}

// close ends all open exchanges. An input without any bytes is an exchange only if it ended properly.
func (in *inputReader) close(end End, why string, at time.Duration) []Record {
	if in.reader == nil && len(in.held) == 0 && end == EndCut {
		return nil
	}
	var recs []Record
	if in.reader == nil {
		recs, _ = in.decideFormat(true) // an error here would end the input, which ends anyway
	}
	return in.reader.Close(recs, end, why, at)
}

// setLocations sets the location of the records of an input that is one exchange: everything read so far.
// Other formats set their own locations, or none.
func (in *inputReader) setLocations(recs []Record, end int64) {
	if in.from == nil || !in.isOneExchange() {
		return
	}
	_, bare := in.reader.(*bodyReader)
	for i := range recs {
		recs[i].Location = Location{File: in.from, End: end, Bare: bare}
	}
}

// isOneExchange reports whether the complete input is one exchange.
func (in *inputReader) isOneExchange() bool {
	switch in.reader.(type) {
	case *bodyReader, *curlOutput:
		return true
	}
	return false
}

// decideFormat chooses the format if the held bytes suffice, and passes them to its reader in the chunks
// in which they came. whole means that no more bytes follow.
func (in *inputReader) decideFormat(whole bool) ([]Record, error) {
	var first []byte
	for _, c := range in.held {
		first = append(first, c.data...)
	}
	skip := 0
	if in.reader = in.chooseReader(first, whole || len(first) >= maxSniffBytes); in.reader == nil {
		return nil, nil
	}
	if _, bare := in.reader.(*bodyReader); !bare && bytes.HasPrefix(first, []byte(bom)) {
		skip = len(bom)
	}
	in.begin = int64(skip)
	if c := in.asCapture(); c != nil {
		c.from, c.before = in.from, int64(skip)
	}
	var recs []Record
	for _, c := range in.held {
		n := min(skip, len(c.data))
		c.data, skip = c.data[n:], skip-n
		var err error
		if recs, err = in.reader.Write(recs, c.data, c.at); err != nil {
			return recs, err
		}
	}
	in.held = nil
	return recs, nil
}

// lingerTime is how long the first bytes of live input are held back while the format is undecided. After
// that, a provisional format is chosen and its records are shown.
const lingerTime = time.Second

// holdsBack reports whether bytes are held back.
func (in *inputReader) holdsBack() bool { return in.reader == nil && len(in.held) > 0 && !in.late }

// decideNow chooses a provisional format if there is one. After it, holdsBack is false.
func (in *inputReader) decideNow() ([]Record, error) {
	in.late = true
	return in.decideFormat(false)
}

// chooseReader returns the reader of an input that begins with first, nil if more bytes could decide.
// whole means that no more follow.
func (in *inputReader) chooseReader(first []byte, whole bool) Reader {
	if in.forced && len(in.formats) > 0 {
		return in.formats[0].New(in.Input)
	}
	if in.forced {
		return in.newBodyReader()
	}
	switch sniffKind(first, whole) {
	case undecided:
		if !whole {
			return nil
		}
	case ownCapture:
		return newCaptureReader(in.File, in.numbers)
	case curlDump:
		return &curlOutput{bodyReader: *in.newBodyReader()}
	}
	text := bytes.TrimPrefix(first, []byte(bom))
	for _, f := range in.formats {
		switch s := f.Sniff(text, whole); {
		case s.Is == Yes, s.Is == Maybe && s.Provisional && in.late:
			return f.New(in.Input)
		case s.Is == Maybe && !whole:
			return nil
		}
	}
	return in.newBodyReader()
}

// newBodyReader returns a reader that takes the input as the body of one response.
func (in *inputReader) newBodyReader() *bodyReader {
	return &bodyReader{head: in.NewHead(nil), numbers: in.numbers}
}
