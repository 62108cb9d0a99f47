package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// groove is the way of a log in which only one stream runs: its lines are of the mould that the last
// ones were of, and hold the names of events and chunks that go on with the stream. Of those it is
// known without looking further where they belong. What is otherwise goes the long way, and finds all
// as if the lines before it had gone that way too.
type groove struct {
	all [maxTemplateLevels]levelMatch // of the line

	stamp []byte        // that was read last
	from  time.Duration // what it was read beside: when its line came
	at    time.Duration // and what it means

	spot capture.LineSpan // of a payload of the mould before
	of   *lineTemplate
	flow *logStream                 // of the line before
	key  [maxTemplateLevels + 1]int // where in its line it stood

	name  pendingEventName // the name of an event whose data has not come
	event []byte           // its line
	here  pendingEventName // where the payload of the line stands
	waits bool             // there is one
}

// alone is the stream that runs, if it is the only one and nothing waits for what a line may be.
func (s *openStreams) alone() *logStream {
	if len(s.open) != 1 || s.index.over {
		return nil
	}
	if x := s.open[0]; x.headWritten && !x.over && !x.mute && !x.lost && !x.pieces && x.held == nil && x.rival == nil {
		return x
	}
	return nil
}

// groove takes a line that goes on with the only stream, and reports whether it is one.
func (r *lineReader) groove(line []byte) bool {
	s, p := r.flows, r.unwrapper
	x := s.alone()
	if x == nil || len(p.templates) == 0 {
		return false
	}
	m, g := p.templates[0], &s.groove
	if m.on != x.on || m.on.pieces || !sameKeys(x.kept, m.keys) {
		return false
	}
	text, stamp, is := p.matchLevels(m, line, &g.all)
	if !is {
		return false
	}
	switch {
	case m.value:
		is = s.chunkComes(x, m, text, stamp)
	case len(text) == 0: // the end of an event, which is known already
	case text[0] == 'd':
		is = s.chunkComes(x, m, text, stamp)
	case text[0] == 'e':
		is = s.nameComes(m, text)
	default:
		is = text[0] == ':' && s.commentComes(x, m, text, stamp)
	}
	if is {
		p.served++
	}
	return is
}

// nameComes keeps the name of an event until its data comes.
func (s *openStreams) nameComes(m *lineTemplate, line []byte) bool {
	g := &s.groove
	if g.waits || len(s.events) > 0 {
		return false
	}
	if !bytes.Equal(line, g.event) {
		name, is := bytes.CutPrefix(line, []byte("event:"))
		if !is || !isEventName(name) {
			return false
		}
		g.event = append(g.event[:0], line...)
	}
	g.waits = true
	g.name = pendingEventName{on: m.on, keys: m.keys, line: s.r.number}
	if !s.r.in.AllowChunks {
		g.name.spot = s.place(m, line)
		g.name.before, g.name.after = s.beside(m)
	}
	return true
}

// settle has what was kept in the groove known to those who go the long way.
func (s *openStreams) settle() {
	g := &s.groove
	if !g.waits {
		return
	}
	g.waits = false
	e := g.name
	e.data = s.copyWithEnd(g.event, "\n")
	e.kind = bytes.TrimSpace(e.data[len("event:"):])
	s.events = append(s.events, e)
}

// chunkComes takes a chunk that goes on with the stream.
func (s *openStreams) chunkComes(x *logStream, m *lineTemplate, text, stamp []byte) bool {
	g, p := &s.groove, s.r.unwrapper
	if len(s.events) > 0 {
		return false
	}
	chunk, field := bytes.CutPrefix(text, []byte("data: "))
	known, kind := x.of == ofMessages && field != m.value && deltaOfMessages(chunk), kindOfDelta
	var f *payload
	if !known {
		f = p.onePayload()
		f.on = m.on
		if !p.readPayload(f, text, m.value) || f.is != aChunk || !s.onlyGoesOn(x, f) {
			return false
		}
		kind, field = f.kind, f.field
	}
	if g.waits && !bytes.Equal(bytes.TrimSpace(g.event[len("event:"):]), kind) {
		return false
	}
	at := s.whenGroove(x, m, stamp)
	if known {
		x.lines++
	} else {
		x.followChunk(f)
	}
	x.last, x.at = s.r.number, at
	x.stamps.add(at)
	if g.waits {
		g.waits, x.named = false, true
		s.addBytes(x, at, g.event, "\n", &g.name, false)
	}
	end := "\n"
	if x.fields && field {
		end = "\n\n"
	}
	s.addBytes(x, at, text, end, s.here(m, text), true)
	return true
}

// onlyGoesOn reports whether a chunk begins no stream, ends none, and is of none but this one.
func (s *openStreams) onlyGoesOn(x *logStream, f *payload) bool {
	if f.begins || f.last || f.of != x.of && !f.weak || f.id != 0 && f.id != x.id || x.apartFrom(f) {
		return false
	}
	return s.mixedSince(x, f) == 0
}

// commentComes takes a comment of the stream: one that cannot be taken for anything else.
func (s *openStreams) commentComes(x *logStream, m *lineTemplate, text, stamp []byte) bool {
	s.settle()
	for _, c := range text[1:] {
		if !isWordByte(c) && c != ' ' && c != '-' && c != '.' {
			return false
		}
	}
	if !x.fields || bytes.Contains(text, []byte("data")) {
		return false
	}
	text = bytes.TrimSpace(text)
	at := s.whenGroove(x, m, stamp)
	x.lines++
	x.last, x.at = s.r.number, at
	x.stamps.add(at)
	s.addBytes(x, at, text, "\n", s.here(m, text), true)
	return true
}

// whenGroove is the time of a line, as when tells it.
func (s *openStreams) whenGroove(x *logStream, m *lineTemplate, stamp []byte) time.Duration {
	g := &s.groove
	if len(stamp) == 0 || g.from != s.r.at || g.flow != x || !bytes.Equal(stamp, g.stamp) {
		g.stamp, g.from, g.flow = append(g.stamp[:0], stamp...), s.r.at, x
		g.at = s.timeOf(x, timestamp{stamp, m.fine})
	}
	if g.at != capture.NoTime && g.at < x.at {
		return x.at
	}
	return g.at
}

// here is where the payload of the line stands, and what stands around it.
func (s *openStreams) here(m *lineTemplate, text []byte) *pendingEventName {
	if s.r.in.AllowChunks {
		return nil
	}
	e := &s.groove.here
	e.spot = s.place(m, text)
	e.before, e.after = s.beside(m)
	return e
}

// place is where the payload of the line stands. Where it stands in its line as the one before did in
// its own, that is not looked for again.
func (s *openStreams) place(m *lineTemplate, text []byte) capture.LineSpan {
	g := &s.groove
	if s.r.raw == nil {
		return capture.LineSpan{}
	}
	var key [maxTemplateLevels + 1]int
	last := len(m.levels) - 1
	for i := range m.levels {
		key[i] = g.all[i].from
	}
	key[last+1] = len(g.all[last].text) - g.all[last].to
	if last == 0 {
		key[last+1] = len(s.r.raw) - g.all[0].to
	}
	if g.of == m && g.key == key {
		if again := g.spot.MoveTo(s.r.raw, s.r.begin, s.r.in); again != (capture.LineSpan{}) {
			return again
		}
	}
	before, after := s.beside(m)
	g.spot, g.of, g.key = s.r.in.LineSpan(s.r.raw, s.r.begin, before, text, after), m, key
	return g.spot
}

// beside is what stands around the payload of the line.
func (s *openStreams) beside(m *lineTemplate) (before, after []byte) {
	p, g := s.r.unwrapper, &s.groove
	outer := &g.all[0]
	before, after = p.copyText(outer.text[:outer.from]), p.copyText(outer.text[outer.to:])
	for i := 1; i < len(m.levels); i++ {
		at := &g.all[i]
		before = p.joinTexts(before, `"`, at.text[:at.from])
		after = p.joinTexts(at.text[at.to:], `"`, after)
	}
	return before, after
}

var kindOfDelta = []byte("content_block_delta")

// deltaOfMessages reports whether a text is the most frequent chunk there is, as it is always written,
// and whole: {"type":"content_block_delta","index":N,"delta":{"type":"T","K":"…"}}.
func deltaOfMessages(text []byte) bool {
	rest, is := bytes.CutPrefix(text, []byte(`{"type":"content_block_delta","index":`))
	if !is || len(rest) == 0 || !isDigit(rest[0]) {
		return false
	}
	for len(rest) > 0 && isDigit(rest[0]) {
		rest = rest[1:]
	}
	if rest, is = bytes.CutPrefix(rest, []byte(`,"delta":{"type":"`)); !is {
		return false
	}
	for _, between := range []string{`","`, `":"`} {
		n := 0
		for n < len(rest) && (rest[n] == '_' || 'a' <= rest[n] && rest[n] <= 'z') {
			n++
		}
		if rest, is = bytes.CutPrefix(rest[n:], []byte(between)); !is {
			return false
		}
	}
	return endsAsString(rest, `"}}`)
}

// endsAsString reports whether p is the rest of a string, and behind it such an end.
func endsAsString(p []byte, end string) bool {
	for len(p) > 1 {
		p = p[json.PlainRun(p):]
		if len(p) < 2 || p[0] != '\\' {
			break
		}
		p = p[2:]
	}
	return string(p) == end
}
