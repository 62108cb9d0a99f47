package formats

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// streamWriter writes the records of streams.
type streamWriter struct {
	r       *lineReader
	room    []byte // memory for texts with their line breaks
	clock   timestampCache
	builder recordBuilder
}

// writePayload adds a payload to its stream.
func (s *openStreams) writePayload(x *logStream, f *payload) {
	if x.held != nil && f.is != aRest {
		s.holdForStream(x, f)
		return
	}
	at := s.timeOf(x, f.stamp)
	name, taken := f.event, -1
	if name == nil && !f.held && f.field && f.is != aRest {
		if taken = s.findEventName(f); taken >= 0 {
			name = &s.events[taken]
		}
	}
	x.followChunk(f)
	x.last, x.at = s.r.number, at
	if f.is != aRest || x.headWritten {
		x.stamps.add(at)
	}
	if name != nil {
		x.named = true
		s.writeBytes(x, at, name.text, "\n", &name.textOrigin, name.span)
	}
	if taken >= 0 {
		s.events = append(s.events[:taken], s.events[taken+1:]...)
	}
	end := "\n"
	switch {
	case x.pieces:
		end = ""
		x.midline = len(f.text) > 0 && f.text[len(f.text)-1] != '\n'
		x.expects = x.midline && expectsValue(f.text)
	case f.is != aRest && x.fields && f.field:
		end = "\n\n"
	}
	s.writeBytes(x, at, f.text, end, &f.textOrigin, s.spanOf(f))
}

// expectsValue reports whether a JSON value can follow some text.
func expectsValue(text []byte) bool {
	text = bytes.TrimRight(text, " ")
	return len(text) > 0 && bytes.IndexByte([]byte(":,["), text[len(text)-1]) >= 0
}

// writeBytes adds bytes of a stream, with the line breaks that follow them in the stream. The first record of a
// stream has the stream's head. If all of many lines have the same time, a record after the last chunk says that the
// times are those at which the log was written.
func (w *streamWriter) writeBytes(x *logStream, at time.Duration, text []byte, end string, from *textOrigin, span capture.LineSpan) {
	var head *capture.Head
	if !x.headWritten {
		x.headWritten = true
		head = w.headOf(x, at)
	} else if x.over && x.stamps.isLate() {
		head = &capture.Head{Lacks: []capture.Lack{capture.LateTimes}}
	}
	if w.r.in.AllowChunks && head == nil {
		w.appendToRecord(x.number, at, text, end)
		return
	}
	r := capture.Record{Exchange: x.number, At: at, Head: head, Data: w.withEnd(text, end, from.room), Before: from.before, After: from.after}
	x.stands.Add(&r, span, len(end))
	w.r.recs = append(w.r.recs, r)
}

func (w *streamWriter) headOf(x *logStream, at time.Duration) *capture.Head {
	names := x.on.names
	switch {
	case x.fields, x.pieces && !traitsOf(x.of).Lines:
		names = append(names[:len(names):len(names)], "SSE")
	}
	h := w.r.in.NewHead(names)
	if at == capture.NoTime {
		h.Lacks = append(h.Lacks, capture.NoTimes)
	}
	if x.fields && !x.named && traitsOf(x.of).EventNames {
		h.Lacks = append(h.Lacks, capture.NoNames)
	}
	return h
}

// spanOf returns the place of a payload in its line.
func (w *streamWriter) spanOf(f *payload) capture.LineSpan {
	if w.r.raw != nil && !w.r.in.AllowChunks && f.span == (capture.LineSpan{}) {
		return w.r.in.LineSpan(w.r.raw, w.r.begin, f.before, f.text, f.after)
	}
	return f.span
}

// withEnd returns text with the line breaks that follow it in the stream, in memory that is not overwritten later. It
// uses room if room is large enough. The text may already be in room.
func (w *streamWriter) withEnd(text []byte, end string, room []byte) []byte {
	if n := len(text) + len(end); n <= len(room) && !w.r.in.AllowChunks {
		copy(room, text)
		copy(room[len(text):], end)
		return room[:n:n]
	}
	return w.copyWithEnd(text, end)
}

// copyWithEnd returns a copy of text with the line breaks that follow it in the stream.
func (w *streamWriter) copyWithEnd(text []byte, end string) []byte {
	const block = 64 << 10
	n := len(text) + len(end)
	if n > cap(w.room)-len(w.room) {
		w.room = make([]byte, 0, max(n, block))
	}
	from := len(w.room)
	w.room = append(append(w.room, text...), end...)
	return w.room[from:len(w.room):len(w.room)]
}

// timeOf returns the time of a payload: the time in its line, or else the time at which the line arrived. The
// times of a stream don't decrease.
func (w *streamWriter) timeOf(x *logStream, t timestamp) time.Duration {
	at := w.r.at
	if clock := w.clock.parse(t); !clock.IsZero() {
		if since := w.r.in.RecordTime(clock); since != capture.NoTime {
			at = since
		} else {
			at = x.at
		}
	}
	if x != nil && at != capture.NoTime && at < x.at {
		at = x.at
	}
	return at
}

// addResponse adds a complete response, and its request if that is known.
func (s *openStreams) addResponse(f, ask *payload) {
	x := &logStream{of: f.of, on: f.on, number: s.r.in.NextExchange(), at: capture.NoTime, fields: f.is == eventText, stands: s.r.in.Lines()}
	s.last = x.number
	s.noteResponse(f)
	if ask != nil {
		s.writeRequest(x, ask)
	}
	at, spot := s.timeOf(x, f.stamp), s.spanOf(f)
	r := capture.Record{Exchange: x.number, At: at, Data: s.withEnd(f.text, "", f.room), Before: f.before, After: f.after, End: capture.EndEOF}
	r.Head = s.headOf(x, at)
	if f.is == aBody {
		r.Head.Lacks = append(r.Head.Lacks, capture.NoDeltas)
	}
	x.stands.Add(&r, spot, 0)
	s.r.recs = append(s.r.recs, r)
}

func (w *streamWriter) writeRequest(x *logStream, ask *payload) {
	spot := w.spanOf(ask)
	r := capture.Record{
		Exchange: x.number, Side: capture.Request, At: w.timeOf(x, ask.stamp), Data: w.withEnd(ask.text, "", ask.room),
		Before: ask.before, After: ask.after, Head: w.r.in.NewHead(ask.on.names),
	}
	x.stands.Add(&r, spot, 0)
	w.r.recs = append(w.r.recs, r)
}

func (t *timestampRange) add(at time.Duration) {
	if t.lines == 0 {
		t.first = at
	}
	t.last = at
	t.lines++
}

// isLate reports whether the times are too late: there are many lines, all with the same time, so they were all
// written at the end.
func (t *timestampRange) isLate() bool {
	const many = 20
	return t.lines >= many && t.first != capture.NoTime && t.first == t.last
}

// recordBuilder collects several chunks of a stream in one record, if the input allows such records. It moves their
// bytes together in the buffer of the log, where they overwrite finished lines. There is usually room, because a
// chunk is shorter than its line.
type recordBuilder struct {
	record int // number of the open record, from 1; 0 for none
	from   int // where the bytes of the record begin in room
	room   []byte
	begin  int // end of the finished bytes while a line is read
	end    int // end of the finished bytes once the line has been read
}

// restart empties the builder and gives it new bytes of the log.
func (p *recordBuilder) restart(read []byte) { *p = recordBuilder{room: read[:0:len(read)]} }

// appendToRecord adds bytes of a response to the open record, or to a new one.
func (w *streamWriter) appendToRecord(exchange int, at time.Duration, text []byte, end string) {
	const some = 64
	g, all := &w.builder, w.r.recs
	if len(g.room)+len(text)+len(end) > g.begin {
		w.r.recs, g.record = append(all, capture.Record{Exchange: exchange, At: at, Data: w.copyWithEnd(text, end)}), 0
		return
	}
	if g.record == 0 || g.record != len(all) || all[g.record-1].Exchange != exchange {
		all = append(all, capture.Record{Exchange: exchange, At: at})
		w.r.recs, g.record, g.from = all, len(all), len(g.room)
	}
	g.room = append(append(g.room, text...), end...)
	r := &all[g.record-1]
	was, before := len(r.Data), r.At
	if k := len(r.Chunks); k > 0 {
		before = r.Chunks[k-1].At
	}
	r.Data = g.room[g.from:len(g.room):len(g.room)]
	switch {
	case before != at && r.Chunks == nil:
		r.Chunks = append(make([]capture.DataChunk, 0, some), capture.DataChunk{End: was, At: before}, capture.DataChunk{End: len(r.Data), At: at})
	case before != at:
		r.Chunks = append(r.Chunks, capture.DataChunk{End: len(r.Data), At: at})
	case r.Chunks != nil:
		r.Chunks[len(r.Chunks)-1].End = len(r.Data)
	}
}

// The functions below hold payloads that were cut off until it is clear how they continue.

// truncatedByLength counts successive payloads that were cut off and whose lines have the same length.
type truncatedByLength struct {
	size, count int
	reported    bool
}

// holdTruncated keeps a payload whose end is missing until the next lines show whether it continues there. It keeps
// only fields of events and chunks, and returns false for any other payload.
func (s *openStreams) holdTruncated(f *payload) bool {
	if !f.field && f.is != aChunk {
		return false
	}
	held := *f
	held.text, held.before, held.after = bytes.Clone(f.text), bytes.Clone(f.before), bytes.Clone(f.after)
	held.kind = bytes.Clone(f.kind)
	if len(s.r.truncated) == maxTruncated {
		s.takeTruncated(0)
	}
	s.r.truncated = append(s.r.truncated, &truncatedPayload{held, [][]byte{s.copyLine(f)}, s.r.number})
	f.on.begun = f.on.begun || f.quoted
	return true
}

// continueTruncated joins held payloads with the payloads of a line that continue them, or writes them as they are.
// It returns the remaining payloads of the line.
func (s *openStreams) continueTruncated(finds []payload, taken *bool) []payload {
	for i := 0; i < len(s.r.truncated); i++ {
		held := s.r.truncated[i]
		ours := len(finds) > 0 && finds[0].on == held.on && !compareKeys(held.keys, finds[0].keys).conflicts()
		if ours && len(finds) == 1 {
			whole, is := s.joinTruncated(&held.payload, &finds[0])
			if is && whole.cut {
				held.lines = append(held.lines, s.copyLine(&finds[0]))
				held.payload, held.line = whole, s.r.number
				*taken = true
				return nil
			}
			if is {
				s.dropTruncated(i)
				whole.joined = held.lines
				return []payload{whole}
			}
		}
		if ours && (finds[0].is != aRest || len(finds[0].text) == 0) || s.r.number > held.line+maxLinesBetween {
			s.takeTruncated(i)
			i--
		}
	}
	return finds
}

// dropTruncated removes a held payload.
func (s *openStreams) dropTruncated(i int) {
	on := s.r.truncated[i].on
	s.r.truncated = slices.Delete(s.r.truncated, i, i+1)
	on.begun = slices.ContainsFunc(s.r.truncated, func(h *truncatedPayload) bool { return h.on == on && h.quoted })
}

// takeTruncated writes a held payload as it is.
func (s *openStreams) takeTruncated(i int) {
	held := s.r.truncated[i]
	s.dropTruncated(i)
	s.countTruncated(&held.payload)
	held.cut = false
	if !s.takePayload(&held.payload) {
		for _, line := range held.lines {
			s.r.others.addLine(1, line)
		}
	}
}

// copyLine returns the beginning of a payload's line as it is in the log.
func (s *openStreams) copyLine(f *payload) []byte {
	line := s.r.raw
	if line == nil {
		line = slices.Concat(f.before, f.text, f.after)
	}
	return bytes.Clone(line[:min(len(line), maxOtherLineBytes)])
}

// maxLinesBetween is the maximum number of other lines between two pieces of a payload.
const maxLinesBetween = 100

// joinTruncated returns a held payload joined with its continuation. The continuation is the next line of a text in
// which each line begins with data:, or the second half of a line that was cut. The bool result reports whether next
// is a continuation.
func (s *openStreams) joinTruncated(held, next *payload) (whole payload, is bool) {
	if next.is != aRest && !opensWithin(held, next) || next.on != held.on || len(next.text) == 0 {
		return whole, false
	}
	whole = *held
	text := bytes.TrimRight(next.text, "\r\n")
	if held.quoted && bytes.HasPrefix(text, []byte("data:")) { // lines of one event, not pieces
		whole.quoted, held.quoted, held.field, whole.field = false, false, true, true
		held.on.begun, held.on.fields = false, true
	}
	if held.quoted && held.on.begun {
		if whole.text = append(held.text, next.text...); len(whole.text) > maxStartBytes {
			return whole, false
		}
		said, known := s.r.unwrapper.readEvents(whole.text)
		if !known {
			said, known = s.r.unwrapper.readObjects(whole.text)
		}
		if known {
			whole.chunkInfo, whole.cut = said, false
		}
		return whole, true
	}
	if !canContinue(held, text) {
		return whole, false
	}
	if held.field && bytes.HasPrefix(text, []byte("data:")) {
		whole.text = append(append(held.text, '\n'), text...)
	} else {
		whole.text = append(held.text, text...)
	}
	if len(whole.text) > maxLineBytes {
		return whole, false
	}
	value := whole.text
	if held.field {
		value = dataOf(value)
	}
	value = bytes.TrimSpace(value)
	n, closed := json.ValueLen(value)
	if closed && len(bytes.TrimSpace(value[n:])) > 0 {
		return whole, false // next doesn't continue the payload
	}
	if whole.cut = !closed; closed {
		all, _, _ := json.AppendFields(nil, value)
		if said := s.r.unwrapper.rules.readInfo(all); said.is != noPayload {
			whole.chunkInfo = said
			whole.is = aChunk
		}
	}
	return whole, true
}

// opensWithin reports whether a line is only a bracket in a place where the held payload expects a value. Such a line
// may also begin a payload, but indented JSON continues like this.
func opensWithin(held, next *payload) bool {
	bracket, is := bytes.CutPrefix(bytes.TrimSpace(next.text), []byte("data:"))
	if !is || !held.field || !next.cut || string(bytes.TrimSpace(bracket)) != "{" {
		return false
	}
	text := bytes.TrimSpace(held.text)
	return bytes.IndexByte([]byte("[,:"), text[len(text)-1]) >= 0
}

// canContinue reports whether text can continue a held payload. Any text can continue a string, so a payload that was
// cut inside a string must also be long enough to have reached a logger's limit.
func canContinue(held *payload, text []byte) bool {
	const least = 500
	next, lines := bytes.CutPrefix(text, []byte("data:"))
	if lines != bytes.Contains(held.text, []byte("\ndata:")) && bytes.Contains(held.text, []byte("\ndata:")) {
		return false
	}
	value := held.text
	if held.field {
		value = dataOf(value)
	}
	var span json.ValueScanner
	if span.Write(value); span.InString() {
		return len(held.before)+len(held.text) >= least
	}
	next = bytes.TrimLeft(next, " ")
	return len(next) > 0 && bytes.IndexByte([]byte(`{}[]",:-0123456789tfn`), next[0]) >= 0
}

// maxStartBytes is the maximum size of a text that is held as the possible beginning of an event stream.
const maxStartBytes = 64 << 10

// dataOf returns the data of one or several fields, without their names.
func dataOf(field []byte) (data []byte) {
	for i, line := range bytes.Split(field, []byte("\n")) {
		if i > 0 {
			data = append(data, '\n')
		}
		data = append(data, bytes.TrimPrefix(line, []byte("data:"))...)
	}
	return data
}

// countTruncated records for the stream of a cut line that its lines are cut off. If several lines were cut at the
// same length, it also reports that length, because it is a limit of the logger.
func (s *openStreams) countTruncated(f *payload) {
	const some, least = 2, 128
	x := s.chooseStream(f).flow
	known := x != nil && x.headWritten && !x.mute
	if known && !x.stops {
		x.stops = true
		s.r.recs = append(s.r.recs, capture.Record{Exchange: x.number, At: x.at, Head: &capture.Head{Lacks: []capture.Lack{capture.CutLines}}})
	}
	size := len(f.before) + len(f.text) + len(f.after)
	if size < least || s.cuts.reported {
		return
	}
	if size != s.cuts.size {
		s.cuts.size, s.cuts.count = size, 0
	}
	if s.cuts.count++; s.cuts.count < some {
		return
	}
	s.cuts.reported = true
	note := fmt.Sprintf("the program that wrote the log cut lines at %d bytes: the rest of each line is missing", size)
	if known {
		s.r.recs = append(s.r.recs, capture.Record{Exchange: x.number, At: x.at, Head: &capture.Head{}, Note: note})
		return
	}
	s.r.addNote(note, false)
}
