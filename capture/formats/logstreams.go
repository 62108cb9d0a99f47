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

// logStream is an open exchange: a stream in the log.
type logStream struct {
	number int
	of     *marks.Protocol
	form   payloadForm // form of the stream's payloads
	on     *payloadPath
	id     uint64           // id of the response; 0 if unknown
	keys   []correlationKey // keys that have the same value in all lines of the stream that contain them
	kept   []correlationKey // keys of the stream's latest line
	items  []uint64         // ids of the items in the stream's chunks
	block  int64            // the open block; -1 for none
	begun  int64            // number of blocks so far
	next   int64            // number of the next chunk; -1 if the chunks have no numbers
	lines  int64
	last   int64 // number of the stream's latest line
	at     time.Duration

	named       bool // the stream's events have names
	fields      bool // the stream's payloads are fields of events
	pieces      bool // the stream's payloads are pieces of a text that was cut at arbitrary places
	midline     bool // the latest piece ends inside a line
	expects     bool // a JSON value may follow the latest piece
	finished    bool // a chunk ended the response
	over        bool // only the mark of the stream's end can follow
	mixed       bool // a note says that the stream may contain lines of other streams
	lost        bool // the stream's lines look like lines of other streams
	mute        bool // the same response is also at another place in the log
	headWritten bool // the stream's head has been written
	stops       bool // a head notes that the stream's lines are cut off
	stamps      timestampRange

	index    *streamIndex   // the index that contains the stream
	stands   *capture.Lines // places of the stream's records
	identity chunkIdentity  // facts in the chunks that differ between streams
	first    int64          // number of the stream's first line

	rival *logStream // a stream that may have broken off when this one began
	held  []payload  // payloads that belong to this stream if its rival broke off
}

// timestampRange is the range of the times of a stream's lines.
type timestampRange struct {
	first, last time.Duration
	lines       int
}

// openStreams are the open streams of a log.
type openStreams struct {
	streamWriter
	open     []*logStream
	last     int                // the latest exchange
	events   []pendingEventName // names of events whose data hasn't arrived
	requests []payload          // requests that have no response yet
	asked    int                // size of the requests in bytes
	index    streamIndex
	seen     map[uint64]*seenResponse // responses in the log, by the hash of their id
	cuts     truncatedByLength
	fit      []*logStream   // memory for candidates
	ended    finishedStream // the latest finished stream whose chunks don't name their response
}

// seenResponse is the place of a response in the log.
type seenResponse struct {
	on   *payloadPath
	keys []correlationKey
}

// pendingEventName is the name of an event whose data has not arrived, with its line.
type pendingEventName struct {
	textOrigin
	on         *payloadPath
	keys       []correlationKey
	text, kind []byte
	line       int64
}

// truncatedPayload is a payload that was cut off, with its lines as they are in the log and the number of the latest
// line.
type truncatedPayload struct {
	payload
	lines [][]byte
	line  int64
}

const (
	maxTruncated        = 32       // maximum number of payloads that may continue
	maxStreams          = 1024     // maximum number of open streams
	maxFinished         = 64       // maximum number of open streams that are finished
	maxEventNames       = 64       // maximum number of held event names
	maxRequests         = 64       // maximum number of held requests
	maxHeldRequestBytes = 16 << 20 // maximum size of all held requests in bytes
	maxResponses        = 1 << 16  // maximum number of remembered responses
)

// followChunk updates the state of a stream with one of its chunks.
func (x *logStream) followChunk(f *payload) {
	if x.id == 0 && f.id != 0 {
		x.id = f.id
		x.index.setResponse(x)
	}
	if x.of == nil {
		x.of = f.of
	}
	if x.form == anyForm {
		x.form = f.formInLog()
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

// endStream removes a stream and writes its end, with the reason why.
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
		r.Head = &capture.Head{Lacks: []capture.Lack{capture.NoEnding}} // the log ends before the stream does
	}
	x.stands.Add(&r, capture.LineSpan{}, 0)
	s.r.recs = append(s.r.recs, r)
}

// takeFound reads the payloads of a line, and reports whether the line belongs to a stream.
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
			if f.unsure && f.is != eventText && s.takeTextPart(f) {
				taken = true
				continue
			}
			f.on.fields = f.on.fields || f.field && f.is != eventText
			if s.takePayload(f) {
				taken = true
				continue
			}
			for _, line := range f.joined {
				s.r.others.addLine(1, line)
			}
		}
	}
	// End the streams that were over before this line, unless the line has the mark of their end.
	if s.index.over {
		s.index.over = false
		for i := len(s.open) - 1; i >= 0; i-- {
			s.index.over = s.index.over || s.open[i].over
			if x := s.open[i]; x.over && x.last < s.r.number {
				s.endStream(x, capture.EndEOF, "")
			}
		}
	}
	return taken
}

// takePairs reads requests that are in the same object as their response, and returns the other payloads.
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

// takePayload reads a complete payload. It reports whether the payload was used.
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

// seenElsewhere reports whether the same response is at another place in the log. Programs that log
// chunks often log the complete response too.
func (s *openStreams) seenElsewhere(f *payload) bool {
	if f.id == 0 {
		return false
	}
	was := s.seen[f.id]
	return was != nil && was.on != f.on && !compareKeys(was.keys, f.keys).differsInSource()
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

// takeChunk reads a chunk of a stream, or the mark of a stream's end.
func (s *openStreams) takeChunk(f *payload) bool {
	c := streamChoice{}
	if !f.begins {
		c = s.chooseStream(f)
	}
	switch {
	case c.many && (f.weak || f.is == aMark):
		return false // the payload belongs to one of the streams, but doesn't identify which one
	case c.many && len(c.all) == 2 && c.all[1].rival == c.all[0]: // the second stream may be a restart of the first
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
	if since > 0 && !x.mixed && !x.mute {
		// The stream may contain lines of other streams. Calls that are complete in one chunk are still correct.
		x.mixed = true
		r := capture.Record{
			Exchange: x.number, At: x.at, Head: &capture.Head{Lacks: []capture.Lack{capture.Mixed}},
			Note: fmt.Sprintf("line %d: several streams arrived at once, and nothing identifies their lines: the lines since line %d may belong to any of the streams", s.r.number-s.r.before, max(1, since-s.r.before)),
		}
		x.stands.Add(&r, capture.LineSpan{}, 0)
		s.r.recs = append(s.r.recs, r)
	}
	return true
}

// beginStream begins a stream with its first chunk. It may end an open stream whose lines name the same request.
func (s *openStreams) beginStream(f *payload) *logStream {
	mute := s.seenElsewhere(f)
	if f.begins || f.id != 0 {
		for i := len(s.open) - 1; i >= 0; i-- {
			x := s.open[i]
			a := compareKeys(x.keys, f.keys)
			if x.on == f.on && x.of == f.of && a.same[ofRequest] > 0 && a.other[ofRequest]+a.other[ofLeg] == 0 && (f.begins || traitsOf(f.of).Unnamed && x.finished && !x.over) {
				s.endStream(x, capture.EndEOF, "")
			}
		}
	}
	rival := s.rivalOf(f)
	// End the oldest stream if too many are open. Finished streams may stay open, because their usage may
	// follow, but fewer of them are kept.
	finished := filterStreams(s.open, func(x *logStream) bool { return x.finished })
	switch {
	case len(finished) >= maxFinished:
		s.endStream(finished[0], capture.EndEOF, "")
	case len(s.open) >= maxStreams:
		s.endStream(s.open[0], capture.EndEOF, "")
	}
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
	x.index = &s.index
	s.index.nameless = append(s.index.nameless, x) // it hasn't named its response yet
	return x
}

// loseStreams reports that several streams can't be distinguished from this line on. Later lines are assigned to none
// of them.
func (s *openStreams) loseStreams(all []*logStream, f *payload) {
	for _, x := range all {
		if x.headWritten && !x.mute {
			s.r.recs = append(s.r.recs, capture.Record{
				Exchange: x.number, At: x.at, Lost: int64(len(f.text)), End: capture.EndEOF,
				Note: fmt.Sprintf("line %d: several streams arrive at once, and nothing identifies their lines: later lines are assigned to none of the streams", s.r.number-s.r.before),
			})
		}
		x.lost = true
	}
}

// takeText reads the text of an event stream, or a piece of it.
func (s *openStreams) takeText(f *payload) bool {
	if f.unsure && s.takeTextPart(f) {
		return true
	}
	x := s.chooseStream(f).flow
	if x != nil && x.fields && !x.pieces { // the payloads so far were complete events
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
	if x.midline && bytes.IndexByte(f.text, '\n') < 0 { // each line is a separate text, and the last one was cut off
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

// mayLackID reports whether chunks of the protocol may have no response id.
func mayLackID(of *marks.Protocol) bool { return of == nil || of.Unnamed }

// takeTextPart reads the next piece of a text that was cut at arbitrary places, if exactly one open stream can
// contain it.
func (s *openStreams) takeTextPart(f *payload) bool {
	whole := f.is != aRest && f.is != eventText && !f.cut
	fit := filterStreams(s.open, func(x *logStream) bool {
		return x.on == f.on && x.pieces && x.midline && (!whole || x.expects) && !x.mute && !x.lost && !compareKeys(x.keys, f.keys).conflicts()
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

// takeRest reads text that is in the place of a payload but isn't one: an empty line or a comment in an event stream,
// or the next piece of a text that was cut at arbitrary places.
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

// closeStreams ends all open streams.
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

// streamIndex finds open streams by the id of their response.
type streamIndex struct {
	byID     map[uint64][]*logStream // streams that named their response
	nameless []*logStream            // the other streams
	over     bool                    // some streams may be over
}

// setResponse records that a stream named its response.
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
