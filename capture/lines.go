package capture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"time"

	"toolscope/stream/json"
)

// Lines records the places of an exchange's records in the lines of a file. It needs only a few bytes per
// record, because each record is rebuilt from its line.
//
// A reader adds to it until the exchange has ended. From then on it is constant and safe for concurrent use.
type Lines struct {
	file              *File
	all               []lineShape // the shapes of the input's lines; set when the exchange has ended
	steps             []byte      // one lineStep per record; packed when the exchange has ended
	first, start, end int64       // offset of the first record, and the range of all records
	heads             []lineHead
	ending            *ending // nil until the exchange has ended
	count             int32
	lost              bool // a record could not be described by its line

	*lineAdder
}

// lineAdder is the state for adding lines. It is nil when the exchange has ended.
type lineAdder struct {
	shapes *lineShapes
	at     int64 // the end of the last line
	time   time.Duration
}

// lineHead is the head of a record.
type lineHead struct {
	record int32
	head   *Head
}

// ending describes how the exchange ended.
type ending struct {
	end   End
	why   string
	alone bool // the end is in a record of its own
}

// LineSpan is the place of bytes in a line. The zero LineSpan means that the place is unknown.
type LineSpan struct {
	start, end int64
	shape      int32 // number of the shape, from 1; 0 if the place is unknown
}

// The low bits of a step, below the shape's number. The time difference is in microseconds.
const (
	stepBreaks  = 3      // mask of the number of line breaks that follow the bytes in the record
	stepRequest = 1 << 2 // the record is from the request
	stepNoTime  = 1 << 3 // the record has no time
	stepShape   = 4
)

// Lines returns a new Lines for an exchange, or nil if the input can't be read again.
func (in *Input) Lines() *Lines {
	if in.again == nil || in.AllowChunks {
		return nil
	}
	return &Lines{file: in.again, lineAdder: &lineAdder{shapes: in.shapes, time: NoTime}}
}

// LineSpan returns the place of text in a line that begins at start. The parameters before and after are the line
// around the text. Inside JSON strings, they are unescaped. If text is not found in this way, the shape of the result
// is 0, and a record made from it can't be read again.
func (in *Input) LineSpan(line []byte, start int64, before, text, after []byte) LineSpan {
	if in.again == nil || in.AllowChunks {
		return LineSpan{}
	}
	return LineSpan{in.begin + start, in.begin + start + int64(len(line)), in.shapes.numberOf(line, before, text, after)}
}

// MoveTo returns the place of the text in another line that has the same shape as this one.
func (s LineSpan) MoveTo(line []byte, start int64, in *Input) LineSpan {
	if s.shape == 0 {
		return LineSpan{}
	}
	return LineSpan{in.begin + start, in.begin + start + int64(len(line)), s.shape}
}

// Add adds a record, and sets its location if the record can be rebuilt from its line. The record's bytes are those
// at a LineSpan, followed by a number of line breaks.
func (l *Lines) Add(r *Record, at LineSpan, breaks int) {
	if l == nil || l.lost || l.lineAdder == nil {
		if l != nil {
			l.lost = true
		}
		return
	}
	if l.lost = !l.addStep(r, at, breaks); l.lost {
		l.steps, l.heads = nil, nil
		return
	}
	r.Location = Location{File: l.file, Start: l.start, End: l.end, Lines: l, Line: [2]int64{at.start, at.end}}
	if r.End != "" {
		l.steps, l.heads = packSteps(l.steps, l.count), slices.Clone(l.heads)
		l.all, l.lineAdder = l.shapes.all, nil
	}
}

// addStep adds a step. It reports whether the step describes the record completely.
func (l *Lines) addStep(r *Record, at LineSpan, breaks int) bool {
	if r.Note != "" || r.Lost != 0 || r.By != "" || r.Damaged || at.shape == 0 && len(r.Data) > 0 || breaks > stepBreaks {
		return false
	}
	if r.Head != nil {
		if n := len(l.heads); n > 0 && r.Data == nil && l.heads[n-1].record == l.count-1 {
			return false
		}
		l.heads = append(l.heads, lineHead{l.count, l.shapes.internHead(r.Head)})
	}
	if r.End != "" {
		e := ending{r.End, r.Why, len(r.Data) == 0}
		if l.shapes.ends == nil || *l.shapes.ends != e { // most endings are equal
			l.shapes.ends = &e
		}
		l.ending = l.shapes.ends
	}
	if len(r.Data) == 0 {
		return r.End != "" && r.At == l.time
	}
	if l.count == 0 {
		l.first, l.start, l.at = at.start, at.start, at.start
	}
	s := lineStep{bits: uint64(at.shape)<<stepShape | uint64(breaks), gap: at.start - l.at}
	if r.Side == Request {
		s.bits |= stepRequest
	}
	if r.At == NoTime {
		s.bits |= stepNoTime
	} else {
		s.later = int64((r.At - max(l.time, 0)) / time.Microsecond)
		l.time = r.At
	}
	l.steps = s.appendTo(l.steps)
	l.count++
	l.at, l.start, l.end = at.end, min(l.start, at.start), max(l.end, at.end)
	return true
}

// Again yields the records as they were first read, under the number exchange. It returns the same errors as
// File.Again.
func (l *Lines) Again(ctx context.Context, exchange int) Source {
	return func(yield func(Record, error) bool) {
		opened, err := l.file.open()
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer opened.Close()
		again := lineWalk{Lines: l, file: opened, exchange: exchange, time: NoTime, at: l.first}
		again.from = Location{File: l.file, Start: l.first, Lines: l}
		rest := l.steps
		if l.lineAdder == nil {
			rest = unpackSteps(rest, l.count)
		}
		for n := int32(0); ctx.Err() == nil && n <= l.count; n++ {
			var r Record
			var ok bool
			switch {
			case n < l.count:
				r, rest, ok = again.nextRecord(n, rest)
			case l.ending != nil && l.ending.alone:
				r, ok = Record{Exchange: exchange, At: again.time}, true
				again.addFields(&r, again.count)
			default:
				return
			}
			if !ok {
				yield(Record{}, l.file.changedError())
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// lineWalk is the state of reading lines again.
type lineWalk struct {
	*Lines
	file     *os.File
	exchange int
	read     *bufio.Reader
	next     int64 // where read continues
	begin    int64 // offset of the line that was read last
	line     []byte
	room     [2][]byte
	at       int64
	time     time.Duration
	heads    int
	from     Location // location of the records so far
}

// nextRecord builds the record of a step. The result ok is false if the file no longer contains the step's line in
// the same form.
func (w *lineWalk) nextRecord(n int32, p []byte) (r Record, rest []byte, ok bool) {
	step, p := stepIn(p)
	bits := step.bits
	r = Record{Exchange: w.exchange, At: NoTime}
	if bits&stepRequest != 0 {
		r.Side = Request
	}
	if bits&stepNoTime == 0 {
		w.time = max(w.time, 0) + time.Duration(step.later)*time.Microsecond
		r.At = w.time
	}
	if !w.lineAt(w.at + step.gap) {
		return r, p, false
	}
	w.at = w.begin + int64(len(w.line))
	w.from.Start, w.from.End = min(w.from.Start, w.begin), max(w.from.End, w.at)
	s := w.all[bits>>stepShape-1]
	before, text, after, ok := s.splitLine(w.line, &w.room)
	if !ok {
		return r, p, false
	}
	r.Data = append(slices.Clone(text), "\n\n\n"[:bits&stepBreaks]...)
	r.Before, r.After = before, after
	w.addFields(&r, n)
	return r, p, true
}

// addFields sets the head, the end and the location of a record.
func (w *lineWalk) addFields(r *Record, n int32) {
	if w.heads < len(w.Lines.heads) && w.Lines.heads[w.heads].record == n {
		head := *w.Lines.heads[w.heads].head
		r.Head = &head
		w.heads++
	}
	if e := w.ending; e != nil && (n == w.count || n == w.count-1 && !e.alone) {
		r.End, r.Why = e.end, e.why
	}
	r.Location = w.from
}

// lineAt reads the line that begins at start. It returns false if the file has no such line.
func (w *lineWalk) lineAt(start int64) bool {
	if w.line != nil && start == w.begin {
		return true
	}
	if skip := start - w.next; w.read == nil || skip < 0 || skip > chunkSize {
		w.read = bufio.NewReaderSize(io.NewSectionReader(w.file, start, w.end-start), chunkSize)
	} else if _, err := w.read.Discard(int(skip)); err != nil {
		return false
	}
	w.begin, w.line = start, w.line[:0]
	for {
		p, err := w.read.ReadSlice('\n')
		w.line = append(w.line, p...)
		switch {
		case err == bufio.ErrBufferFull:
		case err == nil, err == io.EOF && len(w.line) > 0:
			w.next = start + int64(len(w.line))
			return true
		default:
			return false
		}
	}
}

// lineShapes are the distinct shapes found in an input's lines.
type lineShapes struct {
	all  []lineShape
	last []int32 // numbers of the most recently used shapes
	met  *Head   // the last head
	ends *ending // the last ending
	room [2][]byte
}

// lineShape is the position of some text in a line, possibly within nested JSON strings.
type lineShape struct {
	strings []int // start of each string's content, as an offset in the unquoted string around it
	before  int   // number of bytes before the text in the innermost string
	behind  int   // number of bytes after the text in that string
}

const (
	maxShapes       = 1 << 12 // maximum number of shapes in an input
	maxRecentShapes = 8       // number of recent shapes that are tried first
	maxShapeDepth   = 4       // maximum depth of strings in strings
)

// internHead returns the previous head if it is equal to h, otherwise h. Most heads in a log are equal, so
// they are stored once.
func (s *lineShapes) internHead(h *Head) *Head {
	if of := s.met; of != nil && of.File == h.File && of.Method == h.Method && of.URL == h.URL && of.Status == h.Status && len(of.Header)+len(h.Header) == 0 &&
		of.Start.Equal(h.Start) && of.Wrappers == h.Wrappers && slices.Equal(of.Lacks, h.Lacks) && of.Incremental == h.Incremental {
		return of
	}
	s.met = h
	return h
}

// numberOf returns the number of the shape that some text has in a line. A new shape gets the next number. The result
// is 0 if the text has no shape, or if there are too many shapes.
func (s *lineShapes) numberOf(line, before, text, after []byte) int32 {
	for i, n := range s.last {
		if s.all[n-1].matches(line, before, text, after, &s.room) {
			copy(s.last[1:i+1], s.last[:i])
			s.last[0] = n
			return n
		}
	}
	found := lineShape{}
	if !found.find(line, before, text, after, 0) || !found.matches(line, before, text, after, &s.room) {
		return 0
	}
	n := int32(slices.IndexFunc(s.all, func(a lineShape) bool { return a.isSame(&found) }) + 1)
	if n == 0 {
		if len(s.all) == maxShapes {
			return 0
		}
		s.all = append(s.all, found)
		n = int32(len(s.all))
	}
	s.last = slices.Insert(s.last, 0, n)
	s.last = s.last[:min(len(s.last), maxRecentShapes)]
	return n
}

func (s *lineShape) isSame(of *lineShape) bool {
	return s.before == of.before && s.behind == of.behind && slices.Equal(s.strings, of.strings)
}

// find searches for a text in a line, and in the strings inside the line. It reports whether it found the text.
func (s *lineShape) find(line, before, text, after []byte, depth int) bool {
	if n := len(before) + len(text); bytes.HasPrefix(line, before) && bytes.HasPrefix(line[len(before):], text) && bytes.HasPrefix(after, withoutBreaks(line[n:])) {
		s.before, s.behind = len(before), len(line)-len(before)-len(text)
		return true
	}
	for at := 0; depth < maxShapeDepth; {
		q := bytes.IndexByte(before[at:], '"')
		if at += q + 1; q < 0 || !bytes.HasPrefix(line, before[:at]) {
			return false
		}
		end := stringEnd(line, at)
		if end < 0 {
			return false
		}
		s.strings = append(s.strings, at)
		if s.find(json.AppendUnquoted(nil, line[at:end]), before[at:], text, after, depth+1) {
			return true
		}
		s.strings = s.strings[:len(s.strings)-1]
	}
	return false
}

// stringEnd returns the end of the string whose content begins at a position, or -1 if there is none.
func stringEnd(text []byte, at int) int {
	if at > len(text) || text[at-1] != '"' {
		return -1
	}
	n, closed := json.StringEnd(text[at-1:])
	if !closed {
		return -1
	}
	return at + n - 2
}

// matches reports whether the parameters text, before and after are at the positions of this shape in a line.
func (s *lineShape) matches(line, before, text, after []byte, room *[2][]byte) bool {
	for i, at := range s.strings {
		end := stringEnd(line, at)
		if end < 0 || !bytes.HasPrefix(before, line[:at]) || !bytes.HasSuffix(after, withoutBreaks(line[end:])) {
			return false
		}
		before, after = before[at:], after[:len(after)-len(withoutBreaks(line[end:]))]
		room[i%2] = json.AppendUnquoted(room[i%2][:0], line[at:end])
		line = room[i%2]
	}
	end := len(line) - s.behind
	return s.before <= end && bytes.Equal(line[:s.before], before) && bytes.Equal(line[s.before:end], text) &&
		bytes.Equal(withoutBreaks(line[end:]), after)
}

func withoutBreaks(p []byte) []byte { return bytes.TrimRight(p, "\r\n") }

// splitLine returns the text at the position of this shape in a line, and the bytes around the text. The text
// shares memory with line or room. The result ok is false if the line doesn't have this shape.
func (s *lineShape) splitLine(line []byte, room *[2][]byte) (before, text, after []byte, ok bool) {
	text = line
	for i, at := range s.strings {
		end := stringEnd(text, at)
		if end < 0 {
			return nil, nil, nil, false
		}
		before = append(before, text[:at]...)
		after = append(bytes.Clone(withoutBreaks(text[end:])), after...)
		room[i%2] = json.AppendUnquoted(room[i%2][:0], text[at:end])
		text = room[i%2]
	}
	end := len(text) - s.behind
	if s.before > end {
		return nil, nil, nil, false
	}
	before = append(before, text[:s.before]...)
	after = append(bytes.Clone(withoutBreaks(text[end:])), after...)
	return before, text[s.before:end], after, true
}

// lineStep is the position of a record relative to the previous one. The field bits contains the shape of the text
// and the flags. The field gap is the distance in bytes, and later is the time difference.
type lineStep struct {
	bits  uint64
	gap   int64
	later int64
}

// appendTo appends a step in full.
func (s *lineStep) appendTo(p []byte) []byte {
	p = binary.AppendUvarint(p, s.bits)
	p = binary.AppendVarint(p, s.gap)
	if s.bits&stepNoTime == 0 {
		p = binary.AppendVarint(p, s.later)
	}
	return p
}

// stepIn decodes a step that appendTo encoded, and returns the remaining bytes.
func stepIn(p []byte) (s lineStep, rest []byte) {
	bits, k := binary.Uvarint(p)
	gap, j := binary.Varint(p[k:])
	s, p = lineStep{bits: bits, gap: gap}, p[k+j:]
	if bits&stepNoTime == 0 {
		later, k := binary.Varint(p)
		s.later, p = later, p[k:]
	}
	return s, p
}

// stepPredictor predicts that a pair of steps is followed by the same step as the last time.
type stepPredictor struct {
	known  []prediction
	next   int // index in known to replace, once known is full
	before [2]lineStep
}

// prediction is the step that last followed a certain pair of steps.
type prediction struct {
	bits         uint64
	gap          int64
	still, stood bool // whether the time differences of the last step and of the one before it were zero
	then         lineStep
}

const maxGuesses = 32

// predict returns the prediction for the last two steps, or nil if there is none.
func (g *stepPredictor) predict() *prediction {
	last := &g.before[0]
	for i := range g.known {
		k := &g.known[i]
		if k.bits == last.bits && k.gap == last.gap && k.still == (last.later == 0) && k.stood == (g.before[1].later == 0) {
			return k
		}
	}
	return nil
}

// observe records the actual step.
func (g *stepPredictor) observe(s lineStep) {
	if k := g.predict(); k != nil {
		k.then = s
	} else {
		last := &g.before[0]
		k := prediction{last.bits, last.gap, last.later == 0, g.before[1].later == 0, s}
		if len(g.known) < maxGuesses {
			g.known = append(g.known, k)
		} else {
			g.known[g.next] = k
			g.next = (g.next + 1) % maxGuesses
		}
	}
	g.before[1], g.before[0] = g.before[0], s
}

// Encodings of a step, in two bits each.
const (
	stepWhole   = iota // the complete step
	stepLater          // only the time difference
	stepGuessed        // nothing
)

// packSteps compresses steps by leaving out the predicted values.
func packSteps(steps []byte, count int32) []byte {
	var g stepPredictor
	what := make([]byte, (count+3)/4, int(count+3)/4+len(steps))
	rest := what[len(what):]
	for i := range count {
		var s lineStep
		s, steps = stepIn(steps)
		kind := stepWhole
		if k := g.predict(); k != nil && k.then.bits == s.bits && k.then.gap == s.gap {
			if kind = stepLater; k.then.later == s.later {
				kind = stepGuessed
			}
		}
		what[i/4] |= byte(kind) << (i % 4 * 2)
		switch kind {
		case stepWhole:
			rest = s.appendTo(rest)
		case stepLater:
			rest = binary.AppendVarint(rest, s.later)
		}
		g.observe(s)
	}
	return append(make([]byte, 0, len(what)+len(rest)), what[:len(what)+len(rest)]...)
}

// unpackSteps reverses packSteps.
func unpackSteps(packed []byte, count int32) (steps []byte) {
	var g stepPredictor
	what, rest := packed[:(count+3)/4], packed[(count+3)/4:]
	for i := range count {
		var s lineStep
		switch what[i/4] >> (i % 4 * 2) & 3 {
		case stepWhole:
			s, rest = stepIn(rest)
		case stepLater:
			s = g.predict().then
			later, k := binary.Varint(rest)
			s.later, rest = later, rest[k:]
		default:
			s = g.predict().then
		}
		steps = s.appendTo(steps)
		g.observe(s)
	}
	return steps
}
