package capture

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// sniffLimit is how many first bytes may be held back while it is open what they are.
const sniffLimit = 64 << 10

// intake cuts the bytes of one input into records. It holds the first bytes back only as long as
// they may still be the beginning of more than one format.
type intake struct {
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

func newIntake(file string, n *numbers) *intake { return &intake{Input: newInput(file, n, nil)} }

// intake is what reads an input as the options say.
func (o Options) intake(file string, n *numbers) *intake {
	in := &intake{Input: newInput(file, n, o.Looks), formats: o.Formats, forced: o.Forced}
	in.Pieces = o.Pieces
	return in
}

// rotated is what reads the file that comes after this one under the same name: in goes on with what
// is open here, if the format is one of which that can be said.
func (in *intake) rotated(next *intake) *intake {
	if in == nil {
		return next
	}
	if r, ok := in.reader.(Heir); ok {
		next.Input, next.reader = in.Input, r.Rotated()
	}
	return next
}

// next is one read of a file. Only a capture keeps nothing of what is read.
func (in *intake) next(from io.Reader) chunk {
	if len(in.room) < leastRead {
		in.room = make([]byte, chunkSize)
	}
	n, err := from.Read(in.room)
	c := chunk{data: in.room[:n:n], at: NoTime, err: err}
	if u, ok := from.(*unpacker); ok {
		c.packing = u.name
	}
	if in.capture() == nil {
		in.room = in.room[n:]
	}
	return c
}

// capture is the reader of the capture that the input is, nil if it is none or that is not known.
func (in *intake) capture() *captureReader {
	c, _ := in.reader.(*captureReader)
	return c
}

// pass hands the records of c on and reports whether there may be more.
func (in *intake) pass(yield func(Record, error) bool, c chunk) bool {
	if c.packing != "" && len(in.Peeled) == 0 {
		in.Peeled, in.from, in.again = []string{c.packing}, nil, nil // it is not read again from its midst
	}
	in.read += int64(len(c.data))
	recs, err := in.add(in.recs, c.data, c.at)
	in.place(recs, in.read)
	switch {
	case err != nil || c.err == nil:
	case c.err == io.EOF:
		last := in.from.end(in.read)
		more := in.close(EndEOF, "", c.at)
		in.place(more, last)
		recs = append(recs, more...)
	case errors.As(c.err, new(*badPacking)):
		recs = append(recs, in.close(EndCut, c.err.Error(), c.at)...)
		recs = append(recs, Record{Exchange: max(1, in.numbers.last), At: NoTime, Note: c.err.Error(), Damaged: true})
	default:
		recs = append(recs, in.close(EndCut, Reason(c.err).Error(), c.at)...)
		err = readError(in.File, c.err)
	}
	more := deliver(yield, recs, err) && c.err == nil
	clear(recs) // what they hold is others' now
	in.recs = recs[:0]
	return more
}

func (in *intake) write(p []byte, at time.Duration) ([]Record, error) { return in.add(nil, p, at) }

// add is write into a list that has room.
func (in *intake) add(recs []Record, p []byte, at time.Duration) ([]Record, error) {
	switch {
	case len(p) == 0:
		return recs, nil
	case in.reader != nil:
		return in.reader.Write(recs, p, at)
	}
	in.held = append(in.held, chunk{data: p, at: at})
	return in.decide(false)
}

// close ends whatever is open. An input that never had a byte is an exchange only if it came to its
// proper end.
func (in *intake) close(end End, why string, at time.Duration) []Record {
	if in.reader == nil && len(in.held) == 0 && end == EndCut {
		return nil
	}
	var recs []Record
	if in.reader == nil {
		recs, _ = in.decide(true) // an error here would end the input, which ends anyway
	}
	return in.reader.Close(recs, end, why, at)
}

// place says where records stand: in all that was read of the input, which is one exchange. Of a
// capture each stands in its line; what was found in a format of others has the place that it was
// given there, or none.
func (in *intake) place(recs []Record, end int64) {
	if in.from == nil || !in.one() {
		return
	}
	_, bare := in.reader.(*body)
	for i := range recs {
		recs[i].From = Place{File: in.from, End: end, Bare: bare}
	}
}

// one reports whether the input is one exchange as it stands.
func (in *intake) one() bool {
	switch in.reader.(type) {
	case *body, *dump:
		return true
	}
	return false
}

// decide picks the format if the held bytes tell it, and gives its reader what was held, in the
// chunks in which it came.
func (in *intake) decide(whole bool) ([]Record, error) {
	var first []byte
	for _, c := range in.held {
		first = append(first, c.data...)
	}
	skip := 0
	if in.reader = in.choose(first, whole || len(first) >= sniffLimit); in.reader == nil {
		return nil, nil
	}
	if _, bare := in.reader.(*body); !bare && bytes.HasPrefix(first, []byte(bom)) {
		skip = len(bom)
	}
	in.begin = int64(skip)
	if c := in.capture(); c != nil {
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

// lingers reports whether bytes are held back.
func (in *intake) lingers() bool { return in.reader == nil && len(in.held) > 0 && !in.late }

// linger decides what it can without what would tell more, once.
func (in *intake) linger() ([]Record, error) {
	in.late = true
	return in.decide(false)
}

// choose is what reads an input that begins so, nil while more bytes would tell. whole says that no
// more come.
func (in *intake) choose(first []byte, whole bool) Reader {
	if in.forced && len(in.formats) > 0 {
		return in.formats[0].New(in.Input)
	}
	if in.forced {
		return in.body()
	}
	switch sniff(first, whole) {
	case undecided:
		if !whole {
			return nil
		}
	case ownCapture:
		return newCaptureReader(in.File, in.numbers)
	case curlDump:
		return &dump{body: *in.body()}
	}
	text := bytes.TrimPrefix(first, []byte(bom))
	for _, f := range in.formats {
		switch s := f.Sniff(text, whole); {
		case s.Is == Yes, s.Is == Maybe && s.Late && in.late:
			return f.New(in.Input)
		case s.Is == Maybe && !whole:
			return nil
		}
	}
	return in.body()
}

// body reads the input as the body of one response.
func (in *intake) body() *body { return &body{head: in.Head(nil), numbers: in.numbers} }
