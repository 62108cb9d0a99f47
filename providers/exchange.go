package providers

import (
	"errors"
	"slices"
	"time"

	"toolscope/providers/coding"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// An Exchange is one request and its response, as far as they have arrived.
type Exchange struct {
	Number   int
	Head     *stream.Head       // of the response; Method and URL also if only the request has them; never modified
	Coding   string             // the codings that were decoded: "gzip", "chunked, br"
	Framing  string             // how the response is framed, "" while unknown
	Protocol *protocol.Protocol // nil while unknown
	Why      string             // how the protocol was recognised
	Ended    bool

	in        *Inspector
	from      stream.Location // the location of all its records
	turns     []int32         // timeline numbers of the decoder's turns
	times     []time.Duration // by turn: when its request began, or NoTime; nil if none is known
	position  replay.Position // its place in its conversation, once observed
	why       string          // it ended, if it did not end normally
	client    string          // the client, if its header names it
	at        time.Duration
	headAt    time.Duration // when the head of the response arrived, or NoTime
	ahead     time.Duration // of the inspector's epoch: the zero of its own times
	timed     bool          // ahead is known
	byteCount int64         // bytes in memory, while it may be evicted
	sum       uint64        // hash of its bytes, while it is evicted
	known     knownSince
	pinned    int32        // how often turns of it are pinned
	passing   bool         // some of its records have no location
	begun     bool         // bytes of the response have arrived
	own       bool         // toolscope answered, not a provider
	closing   bool         // no more bytes follow
	by        stream.Party // the party that ended it, 0 if unknown
	aside     bool         // it is pinned, and not in its queue
	evicted   bool         // its content was evicted and can be reloaded
	dropped   bool         // its content was dropped

	*exchangeContent
}

// pendingFrame is a frame kept until the protocol is known, or a gap between pending frames.
type pendingFrame struct {
	frame  stream.Frame
	number int32
	at     time.Duration
	missed int64 // bytes of a gap
}

// EndReason returns, in words, why the exchange ended, "" if it ended normally.
func (x *Exchange) EndReason() string { return x.why }

// AnsweredByToolscope reports whether toolscope answered in place of the provider.
func (x *Exchange) AnsweredByToolscope() bool { return x.own }

// mergeHead merges new facts that are not in the bytes.
func (x *Exchange) mergeHead(h *stream.Head) {
	now := *x.Head
	if h.File != "" {
		now.File, now.Run, now.Origin = h.File, h.Run, h.Origin
	}
	if h.Method != "" {
		now.Method = h.Method
	}
	if h.URL != "" {
		now.URL = h.URL
	}
	if h.Wrappers != "" {
		now.Wrappers = h.Wrappers
	}
	now.EndUnknown, now.ResponseFromHistory = now.EndUnknown || h.EndUnknown, now.ResponseFromHistory || h.ResponseFromHistory
	now.EventNamesUnknown = now.EventNamesUnknown || h.EventNamesUnknown
	now.Incremental, now.CutLines = now.Incremental || h.Incremental, now.CutLines || h.CutLines
	now.Reconstructed = now.Reconstructed || h.Reconstructed
	for _, lack := range h.Lacks {
		if !slices.Contains(now.Lacks, lack) {
			now.Lacks = append(slices.Clip(now.Lacks), lack)
		}
	}
	if h.Status != 0 {
		now.Status, now.Header = h.Status, h.Header
		x.known.status = x.in.nextEvent()
	}
	x.Head = x.in.heads.intern(&now)
	if h.Method != "" {
		x.requests.readHead(h)
	}
}

// receiveResponse reads the bytes of a record of the response, each chunk with its time of arrival.
func (x *Exchange) receiveResponse(r *stream.Record) {
	if len(r.Chunks) == 0 {
		x.receiveBytes(r.Data)
		return
	}
	from := 0
	for _, p := range r.Chunks {
		if x.at = p.At; x.at > 0 {
			x.at = x.at.Truncate(time.Microsecond)
		}
		x.receiveBytes(r.Data[from:p.End:p.End])
		from = p.End
	}
}

// receiveBytes reads bytes of the response as sent.
func (x *Exchange) receiveBytes(p []byte) {
	if !x.begun {
		x.begun = true
		chain, err := coding.New(x.Head.Header)
		if x.chain = chain; err != nil && !coding.IsText(p) {
			x.trouble = err
		}
	}
	if x.chain == nil {
		x.Response.AppendOwned(p, x.at)
		x.feedFramer(p)
		return
	}
	x.Sent.AppendOwned(p, x.at)
	if x.gap.undecoded {
		return
	}
	for piece := range slices.Chunk(p, decodeStep) {
		body, err := x.chain.Write(piece)
		x.appendBody(body)
		x.noteCodings(err)
	}
	if x.chain.Plain() {
		x.chain, x.Sent = nil, stream.Wire{}
	}
}

// decodeStep is how many bytes as sent are decoded at a time, before the result is read: a few
// bytes can decode to very many.
const decodeStep = 64 << 10

// noteCodings notes the codings in use, and their error.
func (x *Exchange) noteCodings(err error) {
	x.Coding = x.chain.Name()
	if err != nil && !x.broken {
		x.broken, x.trouble, x.bomb = true, err, errors.Is(err, coding.ErrExpands)
		x.reportTrouble()
	}
}

// appendBody appends bytes to the body of the response.
func (x *Exchange) appendBody(p []byte) {
	if len(p) > 0 {
		x.Response.Append(p, x.at)
		x.feedFramer(p)
	}
}

// reportTrouble reports that the body can't be decoded further, once there is a turn.
func (x *Exchange) reportTrouble() {
	turn := stream.NoTurn
	switch {
	case x.trouble == nil, len(x.turns) == 0 && !x.Ended:
		return
	case x.bomb && x.decoder == nil: // a body that becomes too large is reported, even if it has no turn
		x.setProtocol(&emptyProtocol, "no answer")
		turn = x.lastTurn()
	case x.bomb, len(x.turns) > 0:
		turn = x.lastTurn()
	}
	found := codingBroken
	if x.bomb {
		found = codingBomb
	}
	x.emit(findingEvent(turn, found, "the body can't be decoded: %s", x.trouble))
	x.trouble = nil
}

// sniffAlways is how many bytes of a body are sniffed again with each record while they do not tell
// the framing. A longer head is sniffed again only after it has grown by a quarter: so the time
// stays linear.
const sniffAlways = 4096

// feedFramer frames new bytes of the response, once the framing is known.
func (x *Exchange) feedFramer(p []byte) {
	switch {
	case x.own:
		return // no provider sent it
	case x.gap.seeking:
		x.gap.resync(false)
		return
	}
	if x.framer == nil {
		size := x.Response.Size()
		if x.first != nil && !x.first.sawEnd(p) || size < x.sniffAt {
			return
		}
		all := x.Response.Bytes(0, size)
		switch {
		case x.chooseFraming(all, false):
			x.first = nil
			x.frameAll()
		case x.first != nil:
		case beginsObject(all):
			x.first = new(firstJSONObject)
			x.first.sawEnd(all)
		case size > sniffAlways:
			x.sniffAt = size + size/4
		}
		return
	}
	x.framer.Write(p, x.onFrame)
	x.dropReadBytes()
}

// frameAll frames the bytes that waited for a framing, with their times of arrival.
func (x *Exchange) frameAll() {
	now := x.at
	for n := range x.Response.Records() {
		var p []byte
		p, x.at = x.Response.Record(n)
		x.framer.Write(p, x.onFrame)
	}
	x.at = now
}

func (x *Exchange) chooseFraming(head []byte, ended bool) bool {
	contentType := ""
	if v := x.Head.Header["Content-Type"]; len(v) > 0 {
		contentType = v[0]
	}
	f, ok := sniffFraming(contentType, head, ended)
	if isWebSocket(x.Head) && beginsObject(head) {
		f, ok = frameFormat{"WebSocket messages", new(stream.Values)}, true
	}
	x.Framing, x.framer = f.name, f.framer
	return ok
}

// end closes the exchange: no more bytes follow.
func (x *Exchange) end() {
	if x.Ended {
		return
	}
	if x.chain != nil && !x.gap.undecoded {
		rest, err := x.chain.Close()
		x.appendBody(rest)
		x.noteCodings(err)
	}
	if x.bomb && !x.cutShort() { // the rest was sent but not read: toolscope itself cut it off
		x.by, x.why = stream.Toolscope, ""
	}
	x.Ended, x.closing = true, true
	switch {
	case x.own, x.gap.undecoded:
	case x.gap.seeking:
		x.gap.resync(true)
	case x.framer == nil:
		if all := x.Response.Bytes(0, x.Response.Size()); x.chooseFraming(all, true) {
			x.frameAll()
		}
	}
	if x.framer != nil {
		x.framer.Close(x.onFrame)
	}
	if x.own || x.gap.missed > 0 {
		x.gap.endFrame(x.Response.Size())
	}
	if x.decoder == nil {
		x.chooseProtocol(protocol.SniffInput{}, true)
	}
	x.past.observeRequest()
	x.reportOwn()
	x.endPlain()
	x.checkStatus()
	x.reportUnanswered()
	x.reportTrouble()
	x.reportGlued()
	if x.decoder != nil {
		x.out.To(x.handleEnding)
		x.decoder.Close()
		x.details.reportExcess()
		x.closeLast()
		x.closeOpen()
		x.decoder = closedDecoder{}
		x.out.Release()
	}
	x.reportNotes()
	x.in.indexOpenTurns(x)
	x.known.end = x.in.eventCount()
	x.in.addEvictable(x)
}

// closeLast ends a turn that the decoder doesn't know: its frames can't be decoded, or are unknown.
func (x *Exchange) closeLast() {
	n := int32(len(x.turns) - 1)
	if n < 0 || x.out.Current().Number() != stream.NoTurn {
		return
	}
	turn := x.in.Session().Turn(x.turns[n])
	if turn.Closed() {
		return
	}
	if len(turn.Findings) == 0 && !turn.HasGap() && !x.cutShort() {
		x.emit(findingEvent(n, protocolUnknown,
			"no frame belongs to %s: the frames are shown as they arrived, not interpreted", stream.Own(x.Protocol.Title)))
	}
	x.emit(stream.Event{Kind: stream.TurnClose, Turn: n, Code: stream.CloseCut})
}

// closedDecoder is the decoder of an exchange that has ended. It takes the place of the real one, whose
// memory is freed.
type closedDecoder struct{}

func (closedDecoder) Frame(stream.Frame) error { return nil }
func (closedDecoder) Close()                   {}
