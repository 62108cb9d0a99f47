package formats

import (
	"slices"
	"time"

	"toolscope/capture"
)

// logStream is an exchange that is open: a stream of which a log has lines.
type logStream struct {
	number int
	of     protocolHint
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
	r        *lineReader
	open     []*logStream
	last     int                // exchange
	events   []pendingEventName // names of events whose data has not come
	requests []payload          // requests whose answer has not come
	asked    int                // bytes of them
	index    streamIndex
	seen     map[uint64]*seenResponse // responses that the log has
	cuts     truncatedByLength
	room     []byte
	fit      []*logStream // room for streams that a payload may be of
	clock    timestampCache
	ended    finishedStream // the last stream that ended, of those that have no names
	groove   groove
	builder  recordBuilder
}

// seenResponse is where a response was seen.
type seenResponse struct {
	on   *payloadPath
	keys []correlationKey
}

// pendingEventName is the name of an event, in the line that it stood in.
type pendingEventName struct {
	on                        *payloadPath
	keys                      []correlationKey
	kind, data, before, after []byte
	line                      int64
	spot                      capture.LineSpan
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
	if x.of == ofAny {
		x.of = f.of
	}
	if f.item != 0 && len(x.items) < 1024 && !slices.Contains(x.items, f.item) {
		x.items = append(x.items, f.item)
	}
	if f.number >= 0 {
		x.next = f.number + 1
	}
	switch string(f.kind) {
	case "content_block_start":
		x.block, x.begun = f.block, f.block+1
	case "content_block_stop":
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
