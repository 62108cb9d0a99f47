package formats

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/marks"
)

// logStream is an exchange that is open: a stream of which a log has lines.
type logStream struct {
	number int
	of     *marks.Protocol
	on     *payloadPath
	id     uint64           // of the response, 0 while that is not told
	keys   []correlationKey // that its lines have in common
	kept   []correlationKey // of the last of them
	items  []uint64         // that its chunks were about
	block  int64            // that is open, -1 for none
	begun  int64            // blocks
	next   int64            // number of the next chunk, -1 where they have none
	lines  int64
	last   int64 // number of its last line
	at     time.Duration

	named       bool // its events have names
	fields      bool // its payloads are fields of events
	pieces      bool // its payloads are pieces of text, however it was cut
	midline     bool // the last of them ends inside a line
	finished    bool // a chunk said that the response is finished
	over        bool // nothing comes any more but the mark that it ends
	mixed       bool // a note says that lines of other streams may be in it
	lost        bool // what is of it and what of others cannot be told any more
	mute        bool // another place in the log has the same
	headWritten bool // its head was told
	stops       bool // it was told that lines of it stop in their midst
	stamps      timestampRange

	index    *streamIndex   // that it is in
	stands   *capture.Lines // where its records stand
	identity chunkIdentity  // what its chunks say that is not so of every stream
	first    int64          // number of its first line

	rival *logStream // that was open when this one began, and may have been broken off there, or not
	held  []payload  // that are of this stream, if its rival was broken off
}

// timestampRange is how the stamps of a stream's lines differ.
type timestampRange struct {
	first, last time.Duration
	lines       int
}

// openStreams are the streams of a log that are open.
type openStreams struct {
	streamWriter
	open     []*logStream
	last     int                // exchange
	events   []pendingEventName // names of events whose data has not come
	requests []payload          // requests whose answer has not come
	asked    int                // bytes of them
	index    streamIndex
	seen     map[uint64]*seenResponse // responses that the log has
	cuts     truncatedByLength
	fit      []*logStream   // room for streams that a payload may be of
	ended    finishedStream // the last stream that ended, of those that have no names
}

// seenResponse is where a response was seen.
type seenResponse struct {
	on   *payloadPath
	keys []correlationKey
}

// pendingEventName is the name of an event, in the line that it stood in.
type pendingEventName struct {
	textOrigin
	on         *payloadPath
	keys       []correlationKey
	text, kind []byte
	line       int64
}

// truncatedPayload is a payload that was cut, and which line brought the last of it.
type truncatedPayload struct {
	payload
	line int64
}

const (
	maxTruncated        = 32       // payloads whose rest may come
	maxStreams          = 1024     // streams that are open
	maxFinished         = 64       // and of them, those that are finished
	maxEventNames       = 64       // names of events that are held
	maxRequests         = 64       // requests that are held
	maxHeldRequestBytes = 16 << 20 // of them
	maxResponses        = 1 << 16  // responses that are remembered
)

// followChunk remembers what a chunk tells of where its stream is.
func (x *logStream) followChunk(f *payload) {
	if x.id == 0 && f.id != 0 {
		x.id = f.id
		x.index.setResponse(x)
	}
	if x.of == nil {
		x.of = f.of
	}
	if f.item != 0 && len(x.items) < 1024 && !slices.Contains(x.items, f.item) {
		x.items = append(x.items, f.item)
	}
	if f.number >= 0 {
		x.next = f.number + 1
	}
	switch f.phase {
	case marks.BlockStart:
		x.block, x.begun = f.block, f.block+1
	case marks.BlockStop:
		x.block = -1
	}
	x.identity.add(f.identity)
	x.finished = x.finished || f.ends
	if x.over = x.over || f.last; x.over && x.index != nil {
		x.index.over = true
	}
	x.keepCommonKeys(f.keys)
	x.lines++
}

// endStream ends a stream.
func (s *openStreams) endStream(x *logStream, end capture.End, why string) {
	s.index.removeStream(x)
	for i, other := range s.open {
		if other == x {
			s.open = append(s.open[:i], s.open[i+1:]...)
			break
		}
	}
	if x.mute || x.lost || !x.headWritten {
		return
	}
	r := capture.Record{Exchange: x.number, At: x.at, End: end, Why: why}
	if !x.over {
		r.Head = &capture.Head{Lacks: []capture.Lack{capture.NoEnding}} // the log ends, and its stream may go on
	}
	x.stands.Add(&r, capture.LineSpan{}, 0)
	s.r.recs = append(s.r.recs, r)
}

// endOver ends the streams that were over before this line, but for those that its mark is of.
func (s *openStreams) endOver() {
	if !s.index.over {
		return
	}
	s.index.over = false
	for i := len(s.open) - 1; i >= 0; i-- {
		s.index.over = s.index.over || s.open[i].over
		if x := s.open[i]; x.over && x.last < s.r.number {
			s.endStream(x, capture.EndEOF, "")
		}
	}
}

// takeFound takes what a line gave, and reports whether the line is of a stream. One that is not is a
// line of other things.
func (s *openStreams) takeFound(finds []payload) (taken bool) {
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
	case c.many && len(c.all) == 2 && c.all[1].rival == c.all[0]: // a stream, and what may be its restart
		s.holdForStream(c.flow, f)
		return true
	case c.many:
		s.loseStreams(filterStreams(s.open, func(x *logStream) bool {
			return x.on == f.on && x.of == f.of && !x.lost && !x.over && !compareKeys(x.keys, f.keys).conflicts()
		}), f)
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
			if x.on == f.on && x.of == f.of && a.same[ofRequest] > 0 && a.other[ofRequest] == 0 && (f.begins || traitsOf(f.of).Unnamed && x.finished && !x.over) {
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

// loseStreams reports that several streams can't be told apart from here on. Later lines belong to none of them.
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
		s.writeBytes(x, x.at, []byte("\n\n"), "", new(textOrigin), capture.LineSpan{})
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
func mayLackID(of *marks.Protocol) bool { return of == nil || of.Unnamed }

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
		f.is, f.chunkInfo.id, f.of, f.kind = aRest, 0, nil, nil
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
		s.r.others.addLine(1, e.text)
	}
	if n := len(s.requests); n > 0 {
		s.r.addNote(count.Of(n, "request")+" without a response in the log", false)
	}
}

// streamIndex finds the streams of a log that are open, however many there are.
type streamIndex struct {
	byID     map[uint64][]*logStream // those that told which response they are
	nameless []*logStream            // and those that did not
	over     bool                    // some may be over
}

// addStream takes a stream that begins.
func (n *streamIndex) addStream(x *logStream) {
	x.index = n
	n.nameless = append(n.nameless, x)
}

// setResponse takes that a stream told which response it is.
func (n *streamIndex) setResponse(x *logStream) {
	if n == nil {
		return
	}
	n.nameless = withoutStream(n.nameless, x)
	if n.byID == nil {
		n.byID = map[uint64][]*logStream{}
	}
	n.byID[x.id] = append(n.byID[x.id], x)
}

// removeStream forgets a stream.
func (n *streamIndex) removeStream(x *logStream) {
	if x.id == 0 {
		n.nameless = withoutStream(n.nameless, x)
		return
	}
	if n.byID[x.id] = withoutStream(n.byID[x.id], x); len(n.byID[x.id]) == 0 {
		delete(n.byID, x.id)
	}
}

func withoutStream(all []*logStream, x *logStream) []*logStream {
	if i := slices.Index(all, x); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}

// candidatesByID are the streams that a payload may be of, as far as it tells of which response it is: if one
// of the first is what it is of, none of the second is.
func (s *openStreams) candidatesByID(f *payload) (first, second []*logStream) {
	if f.id == 0 || f.begins {
		return s.open, nil
	}
	return s.index.byID[f.id], s.index.nameless
}

// makeRoom ends the oldest stream, if too many are open: of those that are finished, and may still be
// told what they cost, fewer may be than of others.
func (s *openStreams) makeRoom() {
	finished := filterStreams(s.open, func(x *logStream) bool { return x.finished })
	switch {
	case len(finished) >= maxFinished:
		s.endStream(finished[0], capture.EndEOF, "")
	case len(s.open) >= maxStreams:
		s.endStream(s.open[0], capture.EndEOF, "")
	}
}
