package formats

import (
	"time"

	"toolscope/capture"
)

// writePayload adds a payload to its stream.
func (s *openStreams) writePayload(x *logStream, f *payload) {
	if x.held != nil && f.is != aRest {
		s.holdForStream(x, f)
		return
	}
	at := s.timeOf(x, f.stamp)
	var event pendingEventName
	named := false
	switch {
	case f.event != nil:
		event, named = *f.event, true
	case f.held:
	case f.field && f.is != aRest && len(s.events) > 0:
		event, named = s.eventOf(f)
	}
	x.followChunk(f)
	x.last, x.at = s.r.number, at
	if f.is != aRest || x.headWritten {
		x.stamps.add(at)
	}
	x.named = x.named || named
	if named {
		s.writeRecord(x, capture.Record{At: at, Data: event.data, Before: event.before, After: event.after}, event.spot, 1)
	}
	end := ""
	switch {
	case x.pieces:
		x.midline = len(f.text) > 0 && f.text[len(f.text)-1] != '\n'
	case f.is == aRest && f.field:
		end = "\n"
	case x.fields && f.field:
		end = "\n\n"
	default:
		end = "\n"
	}
	spot := s.spanOf(f) // before the line is written over
	s.writeRecord(x, capture.Record{At: at, Data: s.dataWithEnd(f, end), Before: f.before, After: f.after}, spot, len(end))
}

// writeRecord adds a record of a stream; the first one brings its head, and the last one says if its
// times are those of when the log was written.
func (s *openStreams) writeRecord(x *logStream, r capture.Record, at capture.LineSpan, breaks int) {
	r.Exchange = x.number
	if !x.headWritten {
		x.headWritten = true
		r.Head = s.headOf(x, r.At)
	} else if x.over && x.stamps.isLate() {
		r.Head = &capture.Head{Lacks: []capture.Lack{capture.LateTimes}}
	}
	if s.r.in.AllowChunks && r.Head == nil {
		s.appendToRecord(x.number, r.At, r.Data, "", s.builder.begin)
		return
	}
	x.stands.Add(&r, at, breaks)
	s.r.recs = append(s.r.recs, r)
}

func (s *openStreams) headOf(x *logStream, at time.Duration) *capture.Head {
	names := x.on.names
	switch {
	case x.fields, x.pieces && x.of != ofOllama:
		names = append(names[:len(names):len(names)], "SSE")
	}
	h := s.r.in.NewHead(names)
	if at == capture.NoTime {
		h.Lacks = append(h.Lacks, capture.NoTimes)
	}
	if x.fields && !x.named && (x.of == ofMessages || x.of == ofResponses) { // of others they have none
		h.Lacks = append(h.Lacks, capture.NoNames)
	}
	return h
}

// spanOf is where a payload stands in its line.
func (s *openStreams) spanOf(f *payload) capture.LineSpan {
	if f.spot == (capture.LineSpan{}) && s.r.raw != nil {
		return s.r.in.LineSpan(s.r.raw, s.r.begin, f.before, f.text, f.after)
	}
	return f.spot
}

// dataWithEnd is a payload with what ends its line in the stream, where nobody writes over it.
func (s *openStreams) dataWithEnd(f *payload, end string) []byte {
	text := f.text
	n := len(text) + len(end)
	if n <= len(f.room) && !s.r.in.AllowChunks {
		copy(f.room, text)
		copy(f.room[len(text):], end)
		return f.room[:n:n]
	}
	return s.copyWithEnd(text, end)
}

// copyWithEnd is a text with what ends its line in the stream, in room of its own.
func (s *openStreams) copyWithEnd(text []byte, end string) []byte {
	const block = 64 << 10
	n := len(text) + len(end)
	if n > cap(s.room)-len(s.room) {
		s.room = make([]byte, 0, max(n, block))
	}
	from := len(s.room)
	s.room = append(append(s.room, text...), end...)
	return s.room[from:len(s.room):len(s.room)]
}

// timeOf is the time of a payload: its line's own, or when the line came. Time does not go back.
func (s *openStreams) timeOf(x *logStream, t timestamp) time.Duration {
	at := s.r.at
	if w := s.clock.parse(t); !w.IsZero() {
		if since := s.r.in.RecordTime(w); since != capture.NoTime {
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

// addResponse takes an answer that is whole, and what was asked, if that is known.
func (s *openStreams) addResponse(f, ask *payload) {
	x := &logStream{of: f.of, on: f.on, number: s.r.in.NextExchange(), at: capture.NoTime, fields: f.is == eventText, stands: s.r.in.Lines()}
	s.last = x.number
	s.noteResponse(f)
	if ask != nil {
		s.writeRequest(x, ask)
	}
	at, spot := s.timeOf(x, f.stamp), s.spanOf(f)
	r := capture.Record{Exchange: x.number, At: at, Data: s.dataWithEnd(f, ""), Before: f.before, After: f.after, End: capture.EndEOF}
	r.Head = s.headOf(x, at)
	if f.is == aBody {
		r.Head.Lacks = append(r.Head.Lacks, capture.NoDeltas)
	}
	x.stands.Add(&r, spot, 0)
	s.r.recs = append(s.r.recs, r)
}

func (s *openStreams) writeRequest(x *logStream, ask *payload) {
	spot := s.spanOf(ask)
	r := capture.Record{
		Exchange: x.number, Side: capture.Request, At: s.timeOf(x, ask.stamp), Data: s.dataWithEnd(ask, ""),
		Before: ask.before, After: ask.after, Head: s.r.in.NewHead(ask.on.names),
	}
	x.stands.Add(&r, spot, 0)
	s.r.recs = append(s.r.recs, r)
}

func (t *timestampRange) add(at time.Duration) {
	if t.lines == 0 {
		t.first = at
	}
	t.last = at
	t.lines++
}

// isLate reports whether many lines have one time: they were written when all was over.
func (t *timestampRange) isLate() bool {
	const many = 20
	return t.lines >= many && t.first != capture.NoTime && t.first == t.last
}
