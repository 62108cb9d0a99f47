package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/jsonbytes"
)

// groove is the way of a log in which only one stream runs: its lines are of the mould that the last
// ones were of, and hold the names of events and chunks that go on with the stream. Of those it is
// known without looking further where they belong. What is otherwise goes the long way, and finds all
// as if the lines before it had gone that way too.
type groove struct {
	all [mouldLevels]filling // of the line

	stamp []byte        // that was read last
	from  time.Duration // what it was read beside: when its line came
	at    time.Duration // and what it means

	spot capture.LineSpan // of a payload of the mould before
	of   *mould
	flow *logStream           // of the line before
	key  [mouldLevels + 1]int // where in its line it stood

	name  heldEvent // the name of an event whose data has not come
	event []byte    // its line
	here  heldEvent // where the payload of the line stands
	waits bool      // there is one
}

// alone is the stream that runs, if it is the only one and nothing waits for what a line may be.
func (s *flows) alone() *logStream {
	if len(s.open) != 1 || s.index.over {
		return nil
	}
	if x := s.open[0]; x.told && !x.over && !x.mute && !x.lost && !x.pieces && x.held == nil && x.rival == nil {
		return x
	}
	return nil
}

// groove takes a line that goes on with the only stream, and reports whether it is one.
func (r *lineReader) groove(line []byte) bool {
	s, p := r.flows, r.peeler
	x := s.alone()
	if x == nil || len(p.moulds) == 0 {
		return false
	}
	m, g := p.moulds[0], &s.groove
	if m.on != x.on || m.on.pieces || !sameClues(x.kept, m.clues) {
		return false
	}
	text, stamp, is := p.open(m, line, &g.all)
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
func (s *flows) nameComes(m *mould, line []byte) bool {
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
	g.name = heldEvent{on: m.on, clues: m.clues, line: s.r.number}
	if !s.r.in.AllowChunks {
		g.name.spot = s.place(m, line)
		g.name.before, g.name.after = s.beside(m)
	}
	return true
}

// settle has what was kept in the groove known to those who go the long way.
func (s *flows) settle() {
	g := &s.groove
	if !g.waits {
		return
	}
	g.waits = false
	e := g.name
	e.data = s.kept(g.event, "\n")
	e.kind = bytes.TrimSpace(e.data[len("event:"):])
	s.events = append(s.events, e)
}

// chunkComes takes a chunk that goes on with the stream.
func (s *flows) chunkComes(x *logStream, m *mould, text, stamp []byte) bool {
	g, p := &s.groove, s.r.peeler
	if len(s.events) > 0 {
		return false
	}
	chunk, field := bytes.CutPrefix(text, []byte("data: "))
	known, kind := x.of == ofMessages && field != m.value && deltaOfMessages(chunk), kindOfDelta
	var f *find
	if !known {
		f = p.oneFind()
		f.on = m.on
		if !p.payload(f, text, m.value) || f.is != aChunk || !s.onlyGoesOn(x, f) {
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
		x.track(f)
	}
	x.last, x.at = s.r.number, at
	x.stamps.add(at)
	if g.waits {
		g.waits, x.named = false, true
		s.put(x, at, g.event, "\n", &g.name, false)
	}
	end := "\n"
	if x.fields && field {
		end = "\n\n"
	}
	s.put(x, at, text, end, s.here(m, text), true)
	return true
}

// onlyGoesOn reports whether a chunk begins no stream, ends none, and is of none but this one.
func (s *flows) onlyGoesOn(x *logStream, f *find) bool {
	if f.begins || f.last || f.of != x.of && !f.weak || f.id != 0 && f.id != x.id || x.apartFrom(f) {
		return false
	}
	return s.mixedSince(x, f) == 0
}

// commentComes takes a comment of the stream: one that cannot be taken for anything else.
func (s *flows) commentComes(x *logStream, m *mould, text, stamp []byte) bool {
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
	s.put(x, at, text, "\n", s.here(m, text), true)
	return true
}

// whenGroove is the time of a line, as when tells it.
func (s *flows) whenGroove(x *logStream, m *mould, stamp []byte) time.Duration {
	g := &s.groove
	if len(stamp) == 0 || g.from != s.r.at || g.flow != x || !bytes.Equal(stamp, g.stamp) {
		g.stamp, g.from, g.flow = append(g.stamp[:0], stamp...), s.r.at, x
		g.at = s.when(x, lineStamp{stamp, m.fine})
	}
	if g.at != capture.NoTime && g.at < x.at {
		return x.at
	}
	return g.at
}

// here is where the payload of the line stands, and what stands around it.
func (s *flows) here(m *mould, text []byte) *heldEvent {
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
func (s *flows) place(m *mould, text []byte) capture.LineSpan {
	g := &s.groove
	if s.r.raw == nil {
		return capture.LineSpan{}
	}
	var key [mouldLevels + 1]int
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
func (s *flows) beside(m *mould) (before, after []byte) {
	p, g := s.r.peeler, &s.groove
	outer := &g.all[0]
	before, after = p.clone(outer.text[:outer.from]), p.clone(outer.text[outer.to:])
	for i := 1; i < len(m.levels); i++ {
		at := &g.all[i]
		before = p.joined(before, `"`, at.text[:at.from])
		after = p.joined(at.text[at.to:], `"`, after)
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
		p = p[jsonbytes.PlainRun(p):]
		if len(p) < 2 || p[0] != '\\' {
			break
		}
		p = p[2:]
	}
	return string(p) == end
}
