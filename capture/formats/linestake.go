package formats

import (
	"bytes"
	"fmt"
	"slices"

	"toolscope/capture"
	"toolscope/stream/count"
)

// takeFound takes what a line gave, and reports whether the line is of a stream. One that is not is a
// line of other things.
func (s *openStreams) takeFound(finds []payload) (taken bool) {
	s.settle()
	if len(s.r.truncated) > 0 {
		finds = s.continueTruncated(finds, &taken)
	}
	if len(finds) > 1 {
		finds = s.takePairs(finds, &taken)
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
				taken = f.unsure && s.takeTextPart(f) || s.holdTruncated(f) || taken
				continue
			}
			f.on.fields = f.on.fields || f.field && f.is != eventText
			taken = s.takePayload(f) || taken
		}
	}
	s.endOver()
	return taken
}

// takePairs takes the requests that stand beside their answer in the same object, and returns the rest.
func (s *openStreams) takePairs(finds []payload, taken *bool) (rest []payload) {
	for i := range finds {
		ask := &finds[i]
		if ask.is != aRequest {
			continue
		}
		for j := range finds {
			answer := &finds[j]
			if answer.scope != ask.scope || answer.is == aRequest || answer.is == aRest || answer.is == anEvent || answer.is == noPayload {
				continue
			}
			if s.seenElsewhere(answer) {
				continue
			}
			s.addResponse(answer, ask)
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

// takePayload takes a payload that is complete.
func (s *openStreams) takePayload(f *payload) bool {
	switch f.is {
	case aRequest:
		return s.holdRequest(f)
	case aBody, aList:
		if s.seenElsewhere(f) {
			return false
		}
		s.addResponse(f, s.requestOf(f))
		return true
	case eventText:
		return s.takeText(f)
	}
	return s.takeChunk(f)
}

// seenElsewhere reports whether the log has the same response at another place: who logs the chunks
// of a stream often logs the whole answer too.
func (s *openStreams) seenElsewhere(f *payload) bool {
	if f.id == 0 {
		return false
	}
	was := s.seen[f.id]
	return was != nil && was.on != f.on && !compareKeys(was.keys, f.keys).conflicts()
}

func (s *openStreams) noteResponse(f *payload) {
	if f.id == 0 {
		return
	}
	if s.seen == nil || len(s.seen) >= maxResponses {
		s.seen = map[uint64]*seenResponse{}
	}
	s.seen[f.id] = &seenResponse{f.on, f.keys}
}

// takeChunk takes a chunk of a stream, or the mark that one ends.
func (s *openStreams) takeChunk(f *payload) bool {
	c := streamChoice{}
	if !f.begins {
		c = s.chooseStream(f)
	}
	switch {
	case c.many && (f.weak || f.is == aMark):
		return false // it is of one of them, and says nothing of which
	case c.many && s.isRestart(c.all):
		s.holdForStream(c.flow, f)
		return true
	case c.many:
		s.loseMixed(f)
		return false
	case c.flow != nil && c.flow.lost:
		return false
	case c.flow == nil && (f.weak || f.is == aMark):
		return false
	case c.flow == nil:
		c.flow = s.beginStream(f)
	}
	x := c.flow
	s.noteAlive(x, f)
	if x.lost {
		return false
	}
	if x.mute {
		x.followChunk(f)
		x.last = s.r.number
		return false
	}
	since := s.mixedSince(x, f)
	s.writePayload(x, f)
	if since > 0 {
		s.reportMixed(x, since)
	}
	return true
}

// beginStream begins a stream with its first chunk. One that has the same name, and was open, ended.
func (s *openStreams) beginStream(f *payload) *logStream {
	mute := s.seenElsewhere(f)
	if f.begins || f.id != 0 {
		for i := len(s.open) - 1; i >= 0; i-- {
			x := s.open[i]
			a := compareKeys(x.keys, f.keys)
			if x.on == f.on && x.of == f.of && a.same[ofRequest] > 0 && a.other[ofRequest] == 0 && (f.begins || f.of == ofGemini && x.finished) {
				s.endStream(x, capture.EndEOF, "")
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
		s.noteResponse(f)
		if ask := s.requestOf(f); ask != nil {
			s.writeRequest(x, ask)
		}
	}
	s.open = append(s.open, x)
	s.index.addStream(x)
	return x
}

// loseMixed says that streams cannot be told apart from here on. What came is certain; the rest is not
// given to any of them.
func (s *openStreams) loseMixed(f *payload) {
	s.loseStreams(filterStreams(s.open, func(x *logStream) bool {
		return x.on == f.on && x.of == f.of && !x.lost && !x.over && !compareKeys(x.keys, f.keys).conflicts()
	}), f)
}

func (s *openStreams) loseStreams(all []*logStream, f *payload) {
	for _, x := range all {
		if x.headWritten && !x.mute {
			s.r.recs = append(s.r.recs, capture.Record{
				Exchange: x.number, At: x.at, Lost: int64(len(f.text)), End: capture.EndEOF,
				Note: fmt.Sprintf("line %d: several streams arrive at once and nothing identifies their lines: later lines are assigned to none of them", s.r.number-s.r.before),
			})
		}
		x.lost = true
	}
}

// takeText takes a text of an event stream: all of it, or a piece.
func (s *openStreams) takeText(f *payload) bool {
	if f.unsure && s.takeTextPart(f) {
		return true
	}
	x := s.chooseStream(f).flow
	if x != nil && x.fields && !x.pieces { // what came so far was whole events
		x.fields, x.pieces = false, true
	}
	if x == nil || f.begins || x.midline && f.many && isField(f.text) || f.id != 0 && x.id != 0 && f.id != x.id || !x.pieces || x.finished && !x.midline && f.id == 0 && mayLackID(f.of) || x.lost {
		if s.seenElsewhere(f) {
			return false
		}
		x = s.beginStream(f)
		x.fields, x.pieces = false, true
		f.on.pieces = true
	}
	if x.mute {
		return false
	}
	if x.midline && bytes.IndexByte(f.text, '\n') < 0 { // the line before was cut: it is one line a text, and no pieces
		s.writeRecord(x, capture.Record{At: x.at, Data: []byte("\n\n")}, capture.LineSpan{}, 0)
		x.pieces, x.fields, x.midline = false, true, false
		f.on.pieces, f.on.fields = false, true
		f.is, f.field = aChunk, true
		s.writePayload(x, f)
		return true
	}
	s.writePayload(x, f)
	x.over = !x.midline && (x.over || f.ends && f.many)
	s.index.over = s.index.over || x.over
	return true
}

// mayLackID reports whether the chunks of a protocol may not say which response they are of.
func mayLackID(of protocolHint) bool { return of == ofGemini || of == ofOllama || of == ofAny }

// takeTextPart takes the next piece of a text that was cut anywhere, if one is open that this may be of and
// no other.
func (s *openStreams) takeTextPart(f *payload) bool {
	fit := filterStreams(s.open, func(x *logStream) bool {
		return x.on == f.on && x.pieces && x.midline && !x.mute && !x.lost && !compareKeys(x.keys, f.keys).conflicts()
	})
	if len(fit) > 1 {
		fit = byRest(byRequest(fit, f), f)
	}
	switch len(fit) {
	case 0:
		return false
	case 1:
		f.is, f.chunkInfo.id, f.of, f.kind = aRest, 0, ofAny, nil
		f.begins, f.ends, f.last = false, false, false
		s.writePayload(fit[0], f)
		return true
	}
	s.loseStreams(fit, f)
	return false
}

// takeRest takes what stands where payloads stand and is none: an empty line or a comment of an event
// stream, or the next piece of a text that was cut anywhere.
func (s *openStreams) takeRest(f *payload) bool {
	if f.on.pieces && s.takeTextPart(f) {
		return true
	}
	text := bytes.TrimSpace(f.text)
	switch {
	case len(text) == 0:
		return true
	case text[0] != ':' && !bytes.HasPrefix(text, []byte("id:")) && !bytes.HasPrefix(text, []byte("retry:")):
		return false
	}
	if x := s.chooseStream(f).flow; x != nil && x.fields && !x.mute && !x.lost && !x.over {
		f.text, f.field = text, true
		s.writePayload(x, f)
	}
	return true
}

// closeTruncated takes payloads that were cut as they are: what they go on with does not come.
func (s *openStreams) closeTruncated() {
	s.settle()
	for len(s.r.truncated) > 0 {
		s.takeTruncated(0)
	}
}

// closeStreams ends all that is open.
func (s *openStreams) closeStreams(end capture.End, why string) {
	for _, x := range slices.Clone(s.open) {
		if x.held != nil && !x.lost {
			s.releaseHeld(x)
		}
	}
	for len(s.open) > 0 {
		s.endStream(s.open[0], end, why)
	}
	for _, e := range s.events {
		s.r.others.addLine(1, e.data)
	}
	if n := len(s.requests); n > 0 {
		s.r.addNote(count.Of(n, "request")+" without a response in the log", false)
	}
}
