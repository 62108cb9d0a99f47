package capture

import (
	"bufio"
	"context"
	"io"
	"os"
	"slices"
	"time"
)

// Lines holds where the records of one exchange are in the lines of a file. It takes a few bytes per
// record: each record is rebuilt from its line.
//
// A reader adds to it until the exchange has ended. From then on it is constant and safe for concurrent
// use.
type Lines struct {
	file              *File
	all               []lineShape // set when the exchange has ended
	steps             []byte      // one lineStep per record; packed when the exchange has ended
	first, start, end int64       // where the first record is, and the range of all
	heads             []lineHead
	ending            *ending // nil until the exchange has ended
	count             int32
	lost              bool // some record was not in a line

	*lineAdder
}

// lineAdder is the state for adding lines, nil when the exchange has ended.
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

// ending is how the exchange ended.
type ending struct {
	end   End
	why   string
	alone bool // in a record of its own
}

// LineSpan is the place of bytes in a line. The zero LineSpan means nowhere.
type LineSpan struct {
	start, end int64
	shape      int32 // its number, from 1
}

// The low bits of a step, below the shape's number. The time difference is in microseconds.
const (
	stepBreaks  = 3      // how many line breaks follow the bytes in the record
	stepRequest = 1 << 2 // it is of the request
	stepNoTime  = 1 << 3 // it has no time
	stepShape   = 4
)

// Lines returns nil if the input can't be read again.
func (in *Input) Lines() *Lines {
	if in.again == nil || in.AllowChunks {
		return nil
	}
	return &Lines{file: in.again, lineAdder: &lineAdder{shapes: in.shapes, time: NoTime}}
}

// LineSpan returns the place of text in a line that begins at start, between before and after. Inside
// JSON strings, before and after are unescaped. The result is zero if text is not found that way: then a
// record made of it can't be read again.
func (in *Input) LineSpan(line []byte, start int64, before, text, after []byte) LineSpan {
	if in.again == nil || in.AllowChunks {
		return LineSpan{}
	}
	return LineSpan{in.begin + start, in.begin + start + int64(len(line)), in.shapes.numberOf(line, before, text, after)}
}

// MoveTo returns the place of a text in another line that has the same shape as this one.
func (s LineSpan) MoveTo(line []byte, start int64, in *Input) LineSpan {
	if s.shape == 0 {
		return LineSpan{}
	}
	return LineSpan{in.begin + start, in.begin + start + int64(len(line)), s.shape}
}

// Add sets a record's location. Its bytes are those at a LineSpan, followed by so many line breaks.
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
		l.ending = l.shapes.internEnding(ending{r.End, r.Why, len(r.Data) == 0})
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

// Again yields the records as they were first read, under the number exchange. Its errors are those of
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
				r, ok = again.endRecord(), true
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

// lineWalk reads lines again.
type lineWalk struct {
	*Lines
	file     *os.File
	exchange int
	read     *bufio.Reader
	next     int64 // where read continues
	begin    int64 // where the last read line begins
	line     []byte
	room     [2][]byte
	at       int64
	time     time.Duration
	heads    int
	from     Location // location of the records so far
}

// nextRecord builds the record of a step.
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

// endRecord builds the record that only ends the exchange.
func (w *lineWalk) endRecord() Record {
	r := Record{Exchange: w.exchange, At: w.time}
	w.addFields(&r, w.count)
	return r
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

// lineAt reads the line that begins at start.
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
