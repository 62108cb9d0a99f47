package capture

import (
	"bytes"
	"encoding/json"
	"io"
	"time"
)

// sniffLimit is how many first bytes may be held back while it is open what they are.
const sniffLimit = 64 << 10

// intake cuts the bytes of one input into records. It holds the first bytes back only as long as
// they may still be the beginning of more than one shape.
type intake struct {
	file    string
	numbers *numbers
	shape   shape    // nil while undecided
	held    []chunk  // what came while undecided
	from    *File    // nil where the input cannot be read again
	read    int64    // bytes of the input so far
	room    []byte   // for the next read
	recs    []Record // room for those of a chunk
}

// shape is a way to read an input: as a bare body, a curl dump, or a capture. It adds to recs what
// there is to say. What is written becomes its own, and may be a record's data. The error is for an
// input that cannot be read at all, and comes after the records that could.
type shape interface {
	write(recs []Record, p []byte, at time.Duration) ([]Record, error)
	close(recs []Record, end End, why string, at time.Duration) []Record
}

func newIntake(file string, n *numbers) *intake { return &intake{file: file, numbers: n} }

// next is one read of a file. Only a capture keeps nothing of what is read.
func (in *intake) next(from io.Reader) chunk {
	if len(in.room) < leastRead {
		in.room = make([]byte, chunkSize)
	}
	n, err := from.Read(in.room)
	c := chunk{in.room[:n:n], NoTime, err}
	if in.capture() == nil {
		in.room = in.room[n:]
	}
	return c
}

// capture is the reader of the capture that the input is, nil if it is none or that is not known.
func (in *intake) capture() *captureReader {
	c, _ := in.shape.(*captureReader)
	return c
}

// pass hands the records of c on and reports whether there may be more.
func (in *intake) pass(yield func(Record, error) bool, c chunk) bool {
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
	default:
		recs = append(recs, in.close(EndCut, Reason(c.err).Error(), c.at)...)
		err = readError(in.file, c.err)
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
	case in.shape != nil:
		return in.shape.write(recs, p, at)
	}
	in.held = append(in.held, chunk{data: p, at: at})
	return in.decide(false)
}

// close ends whatever is open. An input that never had a byte is an exchange only if it came to its
// proper end.
func (in *intake) close(end End, why string, at time.Duration) []Record {
	if in.shape == nil && len(in.held) == 0 && end == EndCut {
		return nil
	}
	var recs []Record
	if in.shape == nil {
		recs, _ = in.decide(true) // an error here would end the input, which ends anyway
	}
	return in.shape.close(recs, end, why, at)
}

// place says where records stand: in all that was read of the input, which is one exchange. Of a
// capture each stands in its line.
func (in *intake) place(recs []Record, end int64) {
	if in.from == nil || in.capture() != nil {
		return
	}
	for i := range recs {
		recs[i].From = Place{in.from, 0, end}
	}
}

// decide picks the shape if the held bytes tell it, and gives it what was held, in the chunks in
// which it came.
func (in *intake) decide(whole bool) ([]Record, error) {
	var first []byte
	for _, c := range in.held {
		first = append(first, c.data...)
	}
	kind := sniff(first, whole)
	if kind == undecided {
		if !whole && len(first) < sniffLimit {
			return nil, nil
		}
		kind = bareBody
	}
	skip := 0
	if kind != bareBody && bytes.HasPrefix(first, []byte(bom)) {
		skip = len(bom)
	}
	body := body{head: &Head{File: in.file}, numbers: in.numbers}
	switch kind {
	case ownCapture:
		c := newCaptureReader(in.file, in.numbers)
		c.from, c.before = in.from, int64(skip)
		in.shape = c
	case curlDump:
		in.shape = &dump{body: body}
	default:
		in.shape = &body
	}
	var recs []Record
	for _, c := range in.held {
		n := min(skip, len(c.data))
		c.data, skip = c.data[n:], skip-n
		var err error
		if recs, err = in.shape.write(recs, c.data, c.at); err != nil {
			return recs, err
		}
	}
	in.held = nil
	return recs, nil
}

type kind int

const (
	undecided kind = iota
	bareBody
	ownCapture
	curlDump
)

const bom = "\ufeff"

// sniff tells what begins with p; whole means that nothing follows.
func sniff(p []byte, whole bool) kind {
	if len(p) < len(bom) && bytes.HasPrefix([]byte(bom), p) {
		return undecided
	}
	p = bytes.TrimPrefix(p, []byte(bom))
	if damagedBegin(p) {
		return ownCapture
	}
	if bytes.HasPrefix(p, []byte("{")) {
		return sniffCapture(p, whole)
	}
	return sniffDump(p)
}

// damagedBegin reports whether p begins as a capture does, but for one byte.
func damagedBegin(p []byte) bool {
	const begin = `{"toolscope":`
	if len(p) < len(begin) {
		return false
	}
	wrong := 0
	for i := range len(begin) {
		if p[i] != begin[i] {
			wrong++
		}
	}
	return wrong == 1
}

// headerKeys are the keys of the first line of a capture, the usual first one first. A tool that
// rewrites JSON may have sorted them; a line that begins with any other key is no capture, and that
// shows after a few bytes.
var headerKeys = [...]string{`"toolscope"`, `"created"`, `"by"`}

func sniffCapture(p []byte, whole bool) kind {
	line, _, complete := bytes.Cut(p, []byte("\n"))
	key := bytes.TrimLeft(line[1:], " \t")
	possible := false
	for i, k := range headerKeys {
		switch {
		case bytes.HasPrefix(key, []byte(k)):
			if i == 0 {
				return ownCapture
			}
			possible = true
		case !complete && bytes.HasPrefix([]byte(k), key):
			possible = true
		}
	}
	if possible && !complete && !whole {
		return undecided
	}
	var header struct {
		Version json.RawMessage `json:"toolscope"`
	}
	if possible && json.Unmarshal(line, &header) == nil && header.Version != nil {
		return ownCapture
	}
	return bareBody
}

// body passes the bytes of one response on as they are.
type body struct {
	exchange int   // 0 until the first record
	head     *Head // until the first record has taken it along
	numbers  *numbers
}

func (b *body) write(recs []Record, p []byte, at time.Duration) ([]Record, error) {
	if len(p) > 0 {
		recs = append(recs, b.next(Record{At: at, Data: p[:len(p):len(p)]}))
	}
	return recs, nil
}

func (b *body) close(recs []Record, end End, why string, at time.Duration) []Record {
	return append(recs, b.next(Record{At: at, End: end, Why: why}))
}

// next completes a record of the response side.
func (b *body) next(r Record) Record {
	if b.exchange == 0 {
		b.exchange = b.numbers.claim(b.numbers.last + 1)
	}
	r.Exchange, r.Head, b.head = b.exchange, b.head, nil
	return r
}
