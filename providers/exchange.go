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
	Number       int
	Head         *stream.Head       // head of the response, with Method and URL of the request; never modified
	Coding       string             // the codings that were decoded: "gzip", "chunked, br"
	Framing      string             // framing of the response; "" if not yet known
	Protocol     *protocol.Protocol // nil if not yet known
	Why          string             // evidence for the protocol
	Client       string             // the client's name in providers/client, or "" if the request's headers don't contain it
	HeadAt       time.Duration      // time of arrival of the response's head, or NoTime
	Ended        bool
	Evicted      bool // its bytes were evicted and can be read again
	AnsweredHere bool // toolscope answered, not a provider

	in        *Inspector
	host      string          // see Host
	path      string          // see Path
	turns     turnList        // timeline numbers of the decoder's turns
	times     []time.Duration // start of the request, or NoTime, for each turn; nil if no time is known
	position  replay.Position // position in its conversation, once observed
	at        time.Duration
	ahead     time.Duration // time from the inspector's epoch to time 0 of the exchange
	timed     bool          // ahead is known
	byteCount int64         // number of bytes in memory, while the exchange may be evicted
	sum       uint64        // hash of the exchange's bytes, set while the exchange is evicted
	known     knownSince
	pinned    int32 // number of pins on its turns
	begun     bool  // bytes of the response have arrived
	closing   bool  // no more bytes follow
	aside     bool  // the exchange is pinned and not in its queue
	dropped   bool  // its content was dropped

	sourceRange
	exchangeEnd
	*exchangeContent
}

// exchangeEnd describes the end of an exchange.
type exchangeEnd struct {
	EndReason string       // the reason in words, or "" if the exchange ended normally
	by        stream.Party // the party that ended the exchange; 0 if the source names none
	cutFrame  bool         // the bytes end inside a frame
}

// pendingFrame is a frame that is kept until the protocol is known, or a gap between such frames.
type pendingFrame struct {
	frame  stream.Frame
	number int32
	at     time.Duration
	missed int64 // number of bytes in the gap
}

// mergeHead merges new facts about the exchange that are not in its bytes.
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
		x.host, x.path = splitURL(h.URL)
	}
	if h.Wrappers != "" {
		now.Wrappers = h.Wrappers
	}
	now.EndUnknown, now.ResponseFromHistory = now.EndUnknown || h.EndUnknown, now.ResponseFromHistory || h.ResponseFromHistory
	now.NoDeltas = now.NoDeltas || h.NoDeltas
	now.UsageBefore = now.UsageBefore || h.UsageBefore
	now.EventNamesUnknown = now.EventNamesUnknown || h.EventNamesUnknown
	now.Incremental, now.CutLines = now.Incremental || h.Incremental, now.CutLines || h.CutLines
	now.Reconstructed, now.Rewound = now.Reconstructed || h.Reconstructed, now.Rewound || h.Rewound
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

// receiveResponse reads the bytes in a record of the response, each chunk with its time of arrival.
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

// receiveBytes reads bytes of the response before their codings are decoded.
func (x *Exchange) receiveBytes(p []byte) {
	begins := !x.begun
	if x.begun = true; begins && !coding.IsPlain(x.Head.Header, p) {
		chain, err := coding.New(x.Head.Header)
		if x.chain = chain; err != nil && !coding.IsText(p) {
			x.trouble = err
		}
	}
	if x.chain == nil {
		if !x.framesOnce() || !x.Response.Skip(len(p)) {
			x.Response.AppendOwned(p, x.at)
		}
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

// decodeStep is the number of encoded bytes that are decoded before the result is read, because a few encoded
// bytes can decode to very many bytes.
const decodeStep = 64 << 10

// noteCodings records the codings in use and an error in them.
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
		if !x.framesOnce() || !x.Response.Skip(len(p)) {
			x.Response.Append(p, x.at)
		}
		x.feedFramer(p)
	}
}

// reportTrouble reports that the rest of the body can't be decoded. It waits until there is a turn, or the
// exchange has ended.
func (x *Exchange) reportTrouble() {
	turn := stream.NoTurn
	switch {
	case x.trouble == nil, len(x.turns) == 0 && !x.Ended:
		return
	case x.bomb && x.decoder == nil: // a body that becomes too large is reported even without a turn
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

// sniffAlways is the maximum size at which the start of a body is sniffed again with each record, while the
// framing is unknown. A longer start is sniffed again only after it has grown by a quarter, so that the time
// stays linear.
const sniffAlways = 4096

// feedFramer frames new bytes of the response, once the framing is known.
func (x *Exchange) feedFramer(p []byte) {
	switch {
	case x.AnsweredHere:
		return // no provider sent the response
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
	if x.framesOnce() && (x.Response.HoldsBytes() || x.Sent.HoldsBytes()) { // the next bytes are not kept at all
		x.Response.EvictAll()
		x.Sent.EvictAll()
	}
}

// framesOnce reports whether the bytes of the response are not needed any more once they are framed. The bytes of an
// error are kept, because its message may be needed at the end.
func (x *Exchange) framesOnce() bool {
	return x.in.kept.ReadOnce && x.framer != nil && x.Head.Status < 400
}

// frameAll frames the bytes that arrived before the framing was known, with their times of arrival.
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
	if d := sessionOf(x.Head); d != nil && d.Values && beginsObject(head) {
		f, ok = frameFormat{"JSON objects", new(stream.Values)}, true
	}
	x.Framing, x.framer = f.name, f.framer
	return ok
}

// end closes the exchange. No more bytes follow.
func (x *Exchange) end() {
	if x.Ended {
		return
	}
	if x.chain != nil && !x.gap.undecoded {
		rest, err := x.chain.Close()
		x.appendBody(rest)
		x.noteCodings(err)
	}
	if x.bomb && !x.cutShort() { // toolscope itself cut off the response: the rest was sent but not decoded
		x.by, x.EndReason = stream.Toolscope, ""
	}
	x.Ended, x.closing = true, true
	switch {
	case x.AnsweredHere, x.gap.undecoded:
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
	if x.AnsweredHere || x.gap.missed > 0 {
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
	if x.glued && x.decoder != nil {
		x.handleEvent(findingEvent(x.lastTurn(), blankLinesMissing,
			"no blank lines between the events: clients read them as one event and can't decode it; toolscope reads each line as one event"))
	}
	if x.decoder != nil {
		x.ignored.reportIgnored()
		x.out.To(x.handleEnding)
		x.out.Interrupted = x.EndReason != ""
		x.decoder.Close()
		x.details.reportExcess()
		x.closeLast()
		x.closeOpen()
		x.decoder = closedDecoder{}
		x.out.Release()
	}
	x.past.reportRequest()
	x.noteOpenFailures()
	x.reportNotes()
	x.in.indexOpenTurns(x)
	x.known.end = x.in.eventCount()
	x.in.addEvictable(x)
}

// closeLast closes a turn that is unknown to the decoder, because the turn's frames can't be decoded or are unknown.
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
		if code, words := failureIn(x.Response.Bytes(0, min(x.Response.Size(), maxErrorBody))); words != "" {
			x.emit(stream.Event{Kind: stream.Failure, Turn: n, Text: words, What: &stream.FailureInfo{Code: code}})
		} else {
			x.emit(findingEvent(n, protocolUnknown,
				"no frame matches %s: toolscope shows the frames as they arrived", stream.Own(x.Protocol.Title)))
		}
	}
	x.emit(stream.Event{Kind: stream.TurnClose, Turn: n, Code: stream.CloseCut})
}

// closedDecoder is the decoder of an exchange that has ended. It replaces the real decoder, so that the
// decoder's memory can be freed.
type closedDecoder struct{}

func (closedDecoder) Frame(stream.Frame) error { return nil }
func (closedDecoder) Close()                   {}

// exchangeContent is the content of an exchange until it is evicted. Evicted exchanges whose content is not needed
// share one empty content without an owner. The shared content must not be modified: see ensureContent.
type exchangeContent struct {
	Request       stream.Wire
	RequestHeader map[string][]string // headers of the request with canonical names; nil if the request was not seen or is not kept
	Response      stream.Wire         // the decoded body
	Sent          stream.Wire         // the response's bytes as sent, if they differ from the decoded body
	Guess         string              // guessed kind of an unknown response

	chain       *coding.Chain // nil before the first bytes, or if there is nothing to decode
	broken      bool          // the codings can't be decoded any further
	bomb        bool          // broken is set because the body became too large
	trouble     error         // the error in the codings, until it is reported
	gap         gaps          // missed bytes
	notes       []string      // notes about the exchange that wait for a turn
	glued       bool          // events arrived without blank lines between them
	framer      stream.Framer
	out         *protocol.Out // the decoder's Out
	decoder     protocol.Decoder
	closedTurns int                // the number of turns at the beginning that are known to be closed
	parts       exchangeParts      // parts that are evicted separately
	frame       int32              // number of the frame being decoded
	details     details            // see maxDetails
	ignored     ignoredFrames      // frames that the decoder doesn't interpret
	first       *firstJSONObject   // the object at the start of the body, while the framing is unknown
	sniffAt     int64              // size of the body at which framing is tried again
	pending     []pendingFrame     // frames that wait for a protocol
	waiting     int                // number of pending frames with data
	pageFound   bool               // an HTML page in the stream was reported
	suspect     *protocol.Protocol // protocol that the last pending frame suggests, in conflict with path and header
	text        textCalls          // calls in the text of turns
	held        bool               // toolscope holds the response at a breakpoint
	heldAt      time.Duration      // if held is set: time at which the hold began
	silence     silence            // the silences between the deltas of the current turn
	check       schemaCheck
	past        history
	requests    requestState
	editor      editorSide
	modelCalls  map[stream.Ref]stream.Ref // calls of the model, by the matching call that an agent shows; kept until the shown call is final
	onFrame     func(stream.Frame)
	onEvent     func(stream.Event)
}

// ensureContent gives an exchange that shares the empty content its own content, which may be modified.
func (x *Exchange) ensureContent() {
	if x.exchangeContent == &x.in.idle {
		x.setContent(new(exchangeContent))
		x.requests.sentAt = stream.NoTime
	}
}

// setContent makes c the content of the exchange, and the exchange the owner of the parts of c.
func (x *Exchange) setContent(c *exchangeContent) {
	x.exchangeContent = c
	c.gap.x, c.parts.x, c.details.x, c.ignored.x, c.text.x, c.silence.x, c.check.x, c.past.x, c.requests.x = x, x, x, x, x, x, x, x, x
}

// freeBytes frees the bytes and the state that is needed for reading them.
func (x *Exchange) freeBytes() {
	was := x.exchangeContent
	x.exchangeContent = &x.in.idle
	if was.Guess != "" || was.gap.missed+was.gap.requestBytes > 0 || len(was.notes) > 0 || was.parts.turns > 0 {
		x.setContent(&exchangeContent{
			Guess: was.Guess, gap: was.gap, notes: was.notes, parts: was.parts, requests: requestState{sentAt: stream.NoTime},
		})
	}
	if !slices.ContainsFunc(x.times, func(at time.Duration) bool { return at != stream.NoTime }) {
		x.times = nil
	}
}

// freeAll frees everything except the rows of the turns. The exchange can't be read again.
func (x *Exchange) freeAll() {
	x.ensureContent()
	x.notes = nil
	x.freeBytes()
	head := *x.Head
	head.Header = nil
	x.Head = x.in.heads.intern(&head)
	x.dropped, x.from = true, stream.Location{}
}

// Rereadable reports whether the exchange has ended and can be read again from its source. If so, its bytes
// don't need to be kept.
func (x *Exchange) Rereadable() bool { return x.Ended && x.location().Source != nil }

// readsAs returns the protocol that was forced for an exchange, or nil.
func (in *Inspector) readsAs(x *Exchange) *protocol.Protocol {
	if x.Why == forcedReason {
		return x.Protocol
	}
	return nil
}

// readAgain reads one exchange into a separate inspector, which shares no state with other inspectors.
func readAgain(from stream.Location, number int, request []byte, as *protocol.Protocol) (*Inspector, error) {
	fresh := &Inspector{Request: request, forced: as, alone: true}
	err := from.Source.Again(number, from.Start, from.End, fresh.Write)
	fresh.Close()
	return fresh, err
}
