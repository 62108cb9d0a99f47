package formats

import (
	"time"

	"toolscope/capture"
)

// write adds a payload to its stream.
func (s *flows) write(x *logStream, f *find) {
	if x.held != nil && f.is != aRest {
		s.hold(x, f)
		return
	}
	at := s.when(x, f.stamp)
	var event heldEvent
	named := false
	switch {
	case f.event != nil:
		event, named = *f.event, true
	case f.held:
	case f.field && f.is != aRest && len(s.events) > 0:
		event, named = s.eventOf(f)
	}
	x.track(f)
	x.last, x.at = s.r.number, at
	if f.is != aRest || x.told {
		x.stamps.add(at)
	}
	x.named = x.named || named
	if named {
		s.record(x, capture.Record{At: at, Data: event.data, Before: event.before, After: event.after}, event.spot, 1)
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
	spot := s.spot(f) // before the line is written over
	s.record(x, capture.Record{At: at, Data: s.data(f, end), Before: f.before, After: f.after}, spot, len(end))
}

// record adds a record of a stream; the first one brings its head, and the last one says if its
// times are those of when the log was written.
func (s *flows) record(x *logStream, r capture.Record, at capture.LineSpan, breaks int) {
	r.Exchange = x.number
	if !x.told {
		x.told = true
		r.Head = s.head(x, r.At)
	} else if x.over && x.stamps.late() {
		r.Head = &capture.Head{Lacks: []capture.Lack{capture.LateTimes}}
	}
	if s.r.in.AllowChunks && r.Head == nil {
		s.add(x.number, r.At, r.Data, "", s.pieces.begin)
		return
	}
	x.stands.Add(&r, at, breaks)
	s.r.recs = append(s.r.recs, r)
}

func (s *flows) head(x *logStream, at time.Duration) *capture.Head {
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

// spot is where a payload stands in its line.
func (s *flows) spot(f *find) capture.LineSpan {
	if f.spot == (capture.LineSpan{}) && s.r.raw != nil {
		return s.r.in.LineSpan(s.r.raw, s.r.begin, f.before, f.text, f.after)
	}
	return f.spot
}

// data is a payload with what ends its line in the stream, where nobody writes over it.
func (s *flows) data(f *find, end string) []byte {
	text := f.text
	n := len(text) + len(end)
	if n <= len(f.room) && !s.r.in.AllowChunks {
		copy(f.room, text)
		copy(f.room[len(text):], end)
		return f.room[:n:n]
	}
	return s.kept(text, end)
}

// kept is a text with what ends its line in the stream, in room of its own.
func (s *flows) kept(text []byte, end string) []byte {
	const block = 64 << 10
	n := len(text) + len(end)
	if n > cap(s.room)-len(s.room) {
		s.room = make([]byte, 0, max(n, block))
	}
	from := len(s.room)
	s.room = append(append(s.room, text...), end...)
	return s.room[from:len(s.room):len(s.room)]
}

// when is the time of a payload: its line's own, or when the line came. Time does not go back.
func (s *flows) when(x *logStream, t lineStamp) time.Duration {
	at := s.r.at
	if w := s.clock.when(t); !w.IsZero() {
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

// whole takes an answer that is whole, and what was asked, if that is known.
func (s *flows) whole(f, ask *find) {
	x := &logStream{of: f.of, on: f.on, number: s.r.in.NextExchange(), at: capture.NoTime, fields: f.is == eventText, stands: s.r.in.Lines()}
	s.last = x.number
	s.saw(f)
	if ask != nil {
		s.writeAsk(x, ask)
	}
	at, spot := s.when(x, f.stamp), s.spot(f)
	r := capture.Record{Exchange: x.number, At: at, Data: s.data(f, ""), Before: f.before, After: f.after, End: capture.EndEOF}
	r.Head = s.head(x, at)
	if f.is == aBody {
		r.Head.Lacks = append(r.Head.Lacks, capture.NoDeltas)
	}
	x.stands.Add(&r, spot, 0)
	s.r.recs = append(s.r.recs, r)
}

func (s *flows) writeAsk(x *logStream, ask *find) {
	spot := s.spot(ask)
	r := capture.Record{
		Exchange: x.number, Side: capture.Request, At: s.when(x, ask.stamp), Data: s.data(ask, ""),
		Before: ask.before, After: ask.after, Head: s.r.in.NewHead(ask.on.names),
	}
	x.stands.Add(&r, spot, 0)
	s.r.recs = append(s.r.recs, r)
}

func (t *stampSpan) add(at time.Duration) {
	if t.lines == 0 {
		t.first = at
	}
	t.last = at
	t.lines++
}

// late reports whether many lines have one time: they were written when all was over.
func (t *stampSpan) late() bool {
	const many = 20
	return t.lines >= many && t.first != capture.NoTime && t.first == t.last
}
