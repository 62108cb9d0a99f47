package capture

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// maxSniffBytes is how many first bytes may be held back while it is open what they are.
const maxSniffBytes = 64 << 10

// inputReader cuts the bytes of one input into records. It holds the first bytes back only as long as
// they may still be the beginning of more than one format.
type inputReader struct {
	*Input
	formats []Format
	forced  bool     // the first of the formats is what the input is, whatever it looks like
	reader  Reader   // nil while undecided
	held    []chunk  // what came while undecided
	from    *File    // nil where the input cannot be read again
	read    int64    // bytes of the input so far
	room    []byte   // for the next read
	recs    []Record // room for those of a chunk
	late    bool     // it has waited long enough for what would tell what it is
}

func newInputReader(file string, n *exchangeNumbers) *inputReader {
	return &inputReader{Input: newInput(file, n, nil)}
}

// newReader is what reads an input as the options say.
func (o Options) newReader(file string, n *exchangeNumbers) *inputReader {
	in := &inputReader{Input: newInput(file, n, o.GuessPayload), formats: o.Formats, forced: o.Forced}
	in.AllowChunks = o.AllowChunks
	return in
}

// afterRotation is what reads the file that comes after this one under the same name: in goes on with what
// is open here, if the format is one of which that can be said.
func (in *inputReader) afterRotation(next *inputReader) *inputReader {
	if in == nil {
		return next
	}
	if r, ok := in.reader.(RotationReader); ok {
		next.Input, next.reader = in.Input, r.Rotated()
	}
	return next
}

// readChunk is one read of a file. Only a capture keeps nothing of what is read.
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

// asCapture is the reader of the capture that the input is, nil if it is none or that is not known.
func (in *inputReader) asCapture() *captureReader {
	c, _ := in.reader.(*captureReader)
	return c
}

// deliverChunk hands the records of c on and reports whether there may be more.
func (in *inputReader) deliverChunk(yield func(Record, error) bool, c chunk) bool {
	if c.packing != "" && len(in.Peeled) == 0 {
		in.Peeled, in.from, in.again = []string{c.packing}, nil, nil // it is not read again from its midst
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
	clear(recs) // what they hold is others' now
	in.recs = recs[:0]
	return more
}

func (in *inputReader) write(p []byte, at time.Duration) ([]Record, error) { return in.add(nil, p, at) }

// add is write into a list that has room.
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

// close ends whatever is open. An input that never had a byte is an exchange only if it came to its
// proper end.
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

// setLocations says where records stand: in all that was read of the input, which is one exchange. Of a
// capture each stands in its line; what was found in a format of others has the place that it was
// given there, or none.
func (in *inputReader) setLocations(recs []Record, end int64) {
	if in.from == nil || !in.isOneExchange() {
		return
	}
	_, bare := in.reader.(*bodyReader)
	for i := range recs {
		recs[i].Location = Location{File: in.from, End: end, Bare: bare}
	}
}

// isOneExchange reports whether the input is one exchange as it stands.
func (in *inputReader) isOneExchange() bool {
	switch in.reader.(type) {
	case *bodyReader, *curlOutput:
		return true
	}
	return false
}

// decideFormat picks the format if the held bytes tell it, and gives its reader what was held, in the
// chunks in which it came.
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

// lingerTime is how long first bytes that come live are held back while it is open what they are:
// behind that what may be a log is one, and what came of it is shown.
const lingerTime = time.Second

// holdsBack reports whether bytes are held back.
func (in *inputReader) holdsBack() bool { return in.reader == nil && len(in.held) > 0 && !in.late }

// decideNow decides what it can without what would tell more, once.
func (in *inputReader) decideNow() ([]Record, error) {
	in.late = true
	return in.decideFormat(false)
}

// chooseReader is what reads an input that begins so, nil while more bytes would tell. whole says that no
// more come.
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

// newBodyReader reads the input as the body of one response.
func (in *inputReader) newBodyReader() *bodyReader {
	return &bodyReader{head: in.NewHead(nil), numbers: in.numbers}
}
