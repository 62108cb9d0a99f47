package formats

import (
	"bytes"
	"fmt"
	"slices"

	"toolscope/capture"
	"toolscope/stream/count"
)

// take takes what a line gave, and reports whether the line is of a stream. One that is not is a
// line of other things.
func (s *flows) take(finds []find) (taken bool) {
	s.settle()
	if len(s.r.cut) > 0 {
		finds = s.goOn(finds, &taken)
	}
	if len(finds) > 1 {
		finds = s.pairs(finds, &taken)
	}
	for i := range finds {
		f := &finds[i]
		switch f.is {
		case anEvent:
			s.holdEvent(f)
			taken = true
		case aRest:
			taken = s.takeRest(f) || taken
		default:
			if f.cut {
				taken = f.unsure && s.piece(f) || s.holdCut(f) || taken
				continue
			}
			f.on.fields = f.on.fields || f.field && f.is != eventText
			taken = s.one(f) || taken
		}
	}
	s.endOver()
	return taken
}

// pairs takes the requests that stand beside their answer in the same object, and returns the rest.
func (s *flows) pairs(finds []find, taken *bool) (rest []find) {
	for i := range finds {
		ask := &finds[i]
		if ask.is != anAsk {
			continue
		}
		for j := range finds {
			answer := &finds[j]
			if answer.scope != ask.scope || answer.is == anAsk || answer.is == aRest || answer.is == anEvent || answer.is == noPayload {
				continue
			}
			if s.seenElsewhere(answer) {
				continue
			}
			s.whole(answer, ask)
			ask.is, answer.is = noPayload, noPayload
			*taken = true
			break
		}
	}
	for _, f := range finds {
		if f.is != noPayload {
			rest = append(rest, f)
		}
	}
	return rest
}

// one takes a payload that is complete.
func (s *flows) one(f *find) bool {
	switch f.is {
	case anAsk:
		return s.holdAsk(f)
	case aBody, aList:
		if s.seenElsewhere(f) {
			return false
		}
		s.whole(f, s.askOf(f))
		return true
	case eventText:
		return s.text(f)
	}
	return s.chunk(f)
}

// seenElsewhere reports whether the log has the same response at another place: who logs the chunks
// of a stream often logs the whole answer too.
func (s *flows) seenElsewhere(f *find) bool {
	if f.id == 0 {
		return false
	}
	was := s.seen[f.id]
	return was != nil && was.on != f.on && !agree(was.clues, f.clues).against()
}

func (s *flows) saw(f *find) {
	if f.id == 0 {
		return
	}
	if s.seen == nil || len(s.seen) >= seenLimit {
		s.seen = map[uint64]*ids{}
	}
	s.seen[f.id] = &ids{f.on, f.clues}
}

// chunk takes a chunk of a stream, or the mark that one ends.
func (s *flows) chunk(f *find) bool {
	c := choice{}
	if !f.begins {
		c = s.choose(f)
	}
	switch {
	case c.many && (f.weak || f.is == aMark):
		return false // it is of one of them, and says nothing of which
	case c.many && s.restarted(c.all):
		s.hold(c.flow, f)
		return true
	case c.many:
		s.mix(f)
		return false
	case c.flow != nil && c.flow.lost:
		return false
	case c.flow == nil && (f.weak || f.is == aMark):
		return false
	case c.flow == nil:
		c.flow = s.begin(f)
	}
	x := c.flow
	s.alive(x, f)
	if x.lost {
		return false
	}
	if x.mute {
		x.track(f)
		x.last = s.r.number
		return false
	}
	since := s.mixedSince(x, f)
	s.write(x, f)
	if since > 0 {
		s.tellMixed(x, since)
	}
	return true
}

// begin begins a stream with its first chunk. One that has the same name, and was open, ended.
func (s *flows) begin(f *find) *logStream {
	mute := s.seenElsewhere(f)
	if f.begins || f.id != 0 {
		for i := len(s.open) - 1; i >= 0; i-- {
			x := s.open[i]
			a := agree(x.clues, f.clues)
			if x.on == f.on && x.of == f.of && a.same[ofRequest] > 0 && a.other[ofRequest] == 0 && (f.begins || f.of == ofGemini && x.finished) {
				s.end(x, capture.EndEOF, "")
			}
		}
	}
	rival := s.rivalOf(f)
	s.makeRoom()
	x := &logStream{
		of: f.of, on: f.on, block: -1, next: -1, first: s.r.number, fields: f.field, mute: mute, at: capture.NoTime, rival: rival,
		stands: s.r.in.Lines(),
	}
	if !mute {
		x.number = s.r.in.NextExchange()
		s.last = x.number
		s.saw(f)
		if ask := s.askOf(f); ask != nil {
			s.writeAsk(x, ask)
		}
	}
	s.open = append(s.open, x)
	s.index.begin(x)
	return x
}

// mix says that streams cannot be told apart from here on. What came is certain; the rest is not
// given to any of them.
func (s *flows) mix(f *find) {
	s.mixAll(only(s.open, func(x *logStream) bool {
		return x.on == f.on && x.of == f.of && !x.lost && !x.over && !agree(x.clues, f.clues).against()
	}), f)
}

func (s *flows) mixAll(all []*logStream, f *find) {
	for _, x := range all {
		if x.told && !x.mute {
			s.r.recs = append(s.r.recs, capture.Record{
				Exchange: x.number, At: x.at, Lost: int64(len(f.text)), End: capture.EndEOF,
				Note: fmt.Sprintf("line %d: several streams run at once, and nothing tells their lines apart: what follows is given to none of them", s.r.number-s.r.before),
			})
		}
		x.lost = true
	}
}

// text takes a text of an event stream: all of it, or a piece.
func (s *flows) text(f *find) bool {
	if f.unsure && s.piece(f) {
		return true
	}
	x := s.choose(f).flow
	if x != nil && x.fields && !x.pieces { // what came so far was whole events
		x.fields, x.pieces = false, true
	}
	if x == nil || f.begins || x.midline && f.many && isField(f.text) || f.id != 0 && x.id != 0 && f.id != x.id || !x.pieces || x.finished && !x.midline && f.id == 0 && nameless(f.of) || x.lost {
		if s.seenElsewhere(f) {
			return false
		}
		x = s.begin(f)
		x.fields, x.pieces = false, true
		f.on.pieces = true
	}
	if x.mute {
		return false
	}
	if x.midline && bytes.IndexByte(f.text, '\n') < 0 { // the line before was cut: it is one line a text, and no pieces
		s.record(x, capture.Record{At: x.at, Data: []byte("\n\n")}, capture.LineSpan{}, 0)
		x.pieces, x.fields, x.midline = false, true, false
		f.on.pieces, f.on.fields = false, true
		f.is, f.field = aChunk, true
		s.write(x, f)
		return true
	}
	s.write(x, f)
	x.over = !x.midline && (x.over || f.ends && f.many)
	s.index.over = s.index.over || x.over
	return true
}

// nameless reports whether the chunks of a protocol may not say which response they are of.
func nameless(of family) bool { return of == ofGemini || of == ofOllama || of == ofAny }

// piece takes the next piece of a text that was cut anywhere, if one is open that this may be of and
// no other.
func (s *flows) piece(f *find) bool {
	fit := only(s.open, func(x *logStream) bool {
		return x.on == f.on && x.pieces && x.midline && !x.mute && !x.lost && !agree(x.clues, f.clues).against()
	})
	if len(fit) > 1 {
		fit = byRest(byRequest(fit, f), f)
	}
	switch len(fit) {
	case 0:
		return false
	case 1:
		f.is, f.saying.id, f.of, f.kind = aRest, 0, ofAny, nil
		f.begins, f.ends, f.last = false, false, false
		s.write(fit[0], f)
		return true
	}
	s.mixAll(fit, f)
	return false
}

// takeRest takes what stands where payloads stand and is none: an empty line or a comment of an event
// stream, or the next piece of a text that was cut anywhere.
func (s *flows) takeRest(f *find) bool {
	if f.on.pieces && s.piece(f) {
		return true
	}
	text := bytes.TrimSpace(f.text)
	switch {
	case len(text) == 0:
		return true
	case text[0] != ':' && !bytes.HasPrefix(text, []byte("id:")) && !bytes.HasPrefix(text, []byte("retry:")):
		return false
	}
	if x := s.choose(f).flow; x != nil && x.fields && !x.mute && !x.lost && !x.over {
		f.text, f.field = text, true
		s.write(x, f)
	}
	return true
}

// closeCut takes payloads that were cut as they are: what they go on with does not come.
func (s *flows) closeCut() {
	s.settle()
	for len(s.r.cut) > 0 {
		s.asItIs(0)
	}
}

// close ends all that is open.
func (s *flows) close(end capture.End, why string) {
	for _, x := range slices.Clone(s.open) {
		if x.held != nil && !x.lost {
			s.release(x)
		}
	}
	for len(s.open) > 0 {
		s.end(s.open[0], end, why)
	}
	for _, e := range s.events {
		s.r.others.add(1, e.data)
	}
	if n := len(s.asks); n > 0 {
		s.r.note(count.Of(n, "request")+" without an answer in the log", false)
	}
}
