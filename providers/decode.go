package providers

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"toolscope/providers/openairesponses"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// handleFrame records the end of a frame and decodes the frame, after splitting or unwrapping it if needed.
func (x *Exchange) handleFrame(f stream.Frame) {
	n := x.Response.EndFrame(x.gap.base + f.End)
	switch {
	case f.Lines && isGlued(f):
		// Decode each line as a separate frame without a name. Only the last event name is left, and it is unknown to which
		// line it belongs.
		x.glued = true
		for rest := f.Data; len(rest) > 0; {
			part := f
			part.Event = nil
			part.Data, rest, _ = bytes.Cut(rest, []byte("\n"))
			part.Truncated = f.Truncated && len(rest) == 0
			if len(bytes.TrimSpace(part.Data)) > 0 {
				x.handleOne(&part, n)
			}
		}
		return
	case mayBeWrapped(&f):
		f = unwrapBedrock(f)
	}
	x.handleOne(&f, n)
}

func (x *Exchange) handleOne(f *stream.Frame, n int32) {
	if x.decoder == nil {
		x.pending = append(x.pending, pendingFrame{frame: *f, number: n, at: x.at})
		if f.Kind == stream.FrameData {
			x.chooseProtocol(protocol.SniffInput{Event: f.Event, Data: f.Data}, false)
		}
		if last := len(x.pending) - 1; x.decoder == nil { // the frame is kept, but its bytes are valid only now
			x.pending[last].frame.Event, x.pending[last].frame.Data = bytes.Clone(f.Event), bytes.Clone(f.Data)
		}
	} else {
		x.decodeFrame(f, n)
	}
	x.reportTrouble()
}

// maxUnclaimed is the number of data frames after which weak evidence is enough to choose a protocol. If there is
// still no evidence, the stream is shown as an unknown protocol.
const maxUnclaimed = 16

// forcedReason is the reason that is shown for a forced protocol.
const forcedReason = "set by you"

// chooseProtocol chooses a protocol if there is enough evidence, and then decodes the pending frames. After
// maxUnclaimed frames, or if last is set, weak evidence is enough. Without any evidence, the protocol is unknown.
func (x *Exchange) chooseProtocol(e protocol.SniffInput, last bool) {
	e.Path, e.Header = x.Path(), x.Head.Header
	var best *protocol.Protocol
	var score protocol.SniffScore
	forced := x.in.forcedFor(x.Number)
	if d := sessionOf(x.Head); d != nil && len(e.Data) > 0 && (forced == nil || forced.Name == d.Name) {
		if own := d.Sniff(e); own.Points > 0 { // older captures of a session file contain the frames of the protocol itself
			best, score, forced = d, own, nil
		}
	}
	if best == nil {
		best, score = detectProtocol(e)
	}
	if forced != nil {
		best, score = forced, protocol.SniffScore{Points: protocol.Sure, Why: forcedReason}
	}
	if e.Data != nil {
		x.waiting++
	}
	last = last || x.waiting >= maxUnclaimed
	if !last && score.Points < protocol.Sure {
		best, score = x.resolveProtocol(e, best, score)
	}
	for i := 0; last && best == nil && i < len(x.pending); i++ {
		best, score = detectProtocol(protocol.SniffInput{Event: x.pending[i].frame.Event, Data: x.pending[i].frame.Data})
	}
	var seen *protocol.Protocol
	if best == nil {
		seen = seenIn(e)
	}
	switch {
	case len(x.pending) > 0 && isFromGateway(x.Head, &x.Response):
		best, score = &emptyProtocol, protocol.SniffScore{Why: "a gateway error"}
	case x.isPlain():
		best, score = &plainHTTP, protocol.SniffScore{Why: "method and path"}
	case best != nil && (score.Points >= protocol.Likely || last):
	case seen != nil:
		best, score = seen, protocol.SniffScore{Why: "the form of a frame"}
	case last && len(x.pending) > 0 && (x.AsksNothing() || hasNoPrompt(x)):
		best, score = &plainHTTP, protocol.SniffScore{Why: "the request contains nothing for a model to answer"}
	case last && len(x.pending) > 0:
		if x.Head.Wrappers == "" && x.Head.Status == 0 { // the kind of payloads from HTTP or a log need not be guessed
			x.Guess = guessPayload(x.pending)
		}
		best, score = unknownLike(x.Guess), protocol.SniffScore{Why: "no frame was recognised"}
	default:
		return
	}
	x.setProtocol(best, score.Why)
	x.past.observeRequest()
	pending, at := x.pending, x.at
	x.pending = nil
	for i := range pending {
		h := &pending[i]
		x.at = h.at
		if h.missed > 0 {
			x.gap.reportMissed(h.missed)
			continue
		}
		x.decodeFrame(&h.frame, h.number)
	}
	x.at = at
}

// guessPayload describes an unknown response according to its first frames.
func guessPayload(frames []pendingFrame) string {
	var first []byte
	for _, h := range frames {
		if len(first) < maxGuessed {
			first = append(append(first, h.frame.Data...), '\n')
		}
	}
	return Guess(first)
}

// setProtocol sets the protocol of the exchange and makes its decoder. The parameter why is the evidence for
// the protocol.
func (x *Exchange) setProtocol(d *protocol.Protocol, why string) {
	x.out = protocol.NewOut(x.onEvent)
	x.Protocol, x.Why, x.decoder = d, why, d.New(x.out)
}

// resolveProtocol chooses a protocol if the path and the header are evidence for one protocol, and a frame is
// evidence for another. Two such frames outweigh the path. One frame doesn't, because errors look similar in
// all protocols. Until the protocol is certain, the result is nil.
func (x *exchangeContent) resolveProtocol(e protocol.SniffInput, best *protocol.Protocol, score protocol.SniffScore) (*protocol.Protocol, protocol.SniffScore) {
	own, ownScore := detectProtocol(protocol.SniffInput{Event: e.Event, Data: e.Data})
	switch {
	case own == best, own == nil && x.suspect == nil:
		return best, score
	case own == nil:
		return nil, score
	case own == x.suspect && ownScore.Points >= protocol.Likely:
		return own, ownScore
	}
	x.suspect = own
	return nil, score
}

// decodeFrame passes one frame to the decoder.
func (x *Exchange) decodeFrame(f *stream.Frame, number int32) {
	x.frame = number
	x.cutFrame = x.cutFrame || f.Truncated && endsInside(x.Framing, f)
	if len(f.Stray) > 0 && !x.pageFound && beginsPage(f.Stray) && !isPage(x.Head, &x.Response) { // sent by a gateway
		x.pageFound = true
		x.handleEvent(stream.Event{Kind: stream.Fault, Turn: x.lastTurn(), What: &stream.Ending{By: stream.Gateway},
			Text: "HTML between the events, which clients ignore: " + pageWords(f.Stray)})
	}
	switch {
	case f.Kind == stream.FrameResidue && f.Truncated && x.cutShort():
		return
	case f.Kind == stream.FrameResidue:
		x.reportUndecodable(f.Why)
		return
	case f.Kind != stream.FrameData:
		x.emit(stream.Event{Kind: stream.Heartbeat, Turn: x.out.Current().Number()})
		return
	}
	if f.Failed {
		x.reportFramingError(f)
		return
	}
	if x.gap.firstFrame == 0 {
		x.gap.firstFrame = number + 1
	}
	err := x.decoder.Frame(*f)
	if !x.cutFrame {
		x.ignored.endFrame(f)
	}
	switch {
	case f.Truncated && x.cutShort(): // the party that ended the response cut off the frame
	case err != nil && f.Truncated && mayContinue(f.Data):
		x.reportUndecodable(fmt.Sprintf("the stream was cut inside the frame (%v)", err))
	case err != nil && x.Framing == "SSE" && bytes.HasPrefix(f.Data, []byte("data:")):
		x.handleEvent(stream.Event{Kind: stream.Fault, Turn: x.lastTurn(), What: &stream.Ending{By: stream.Gateway},
			Text: "the event has \"data:\" twice, so its data is not JSON: a gateway made an event of a line that was one"})
	case err != nil:
		x.reportUndecodable(err.Error())
	case f.Truncated && x.Framing == "SSE":
		x.handleEvent(findingEvent(x.lastTurn(), unterminatedFrame,
			"no blank line follows the last event: browsers and some SDKs drop the event"))
	}
}

// endsInside reports whether the last frame of a response is incomplete. A frame that lacks only the end that its
// framing requires may still be complete, for example if a final line break was removed.
func endsInside(framing string, f *stream.Frame) bool {
	switch {
	case f.Kind == stream.FrameResidue:
		return framing == awsFraming
	case f.Kind == stream.FrameData && len(f.Data) > 0:
		return mayContinue(f.Data)
	}
	return len(f.Event) > 0
}

// cutByUnknown reports whether the bytes end inside a frame and the source doesn't show which party ended them. The
// party may be a provider, or a client that saved the bytes. The bytes may also have been cut off when they were
// copied.
func (e *exchangeEnd) cutByUnknown() bool { return e.cutFrame && e.by == 0 }

// mayContinue reports whether data could be decoded if more bytes followed: as JSON, or as the word that ends
// a stream. An HTML page without a final line break is not incomplete in this sense.
func mayContinue(data []byte) bool {
	var l json.Lexer
	l.Write(data)
	return l.Syntax() == json.SyntaxPrefix || bytes.HasPrefix([]byte("[DONE]"), data)
}

// reportFramingError reports the error in a frame that the framing itself marks as an error.
func (x *Exchange) reportFramingError(f *stream.Frame) {
	message := json.Value(f.Data).Get("message").Text()
	if message == "" {
		message = string(f.Data)
	}
	code := string(f.Event)
	if kind := json.Value(f.Data).Get("type"); code == "" && kind.HasText() {
		code = kind.Text()
	}
	x.emit(stream.Event{Kind: stream.Failure, Turn: x.lastTurn(), Text: message, What: &stream.FailureInfo{Code: code}})
}

// requestedModel returns the model in the request, if the response can't contain the model. In some
// protocols, responses never contain it. Refused responses, responses without a body and responses that never
// came don't contain it either.
func (x *Exchange) requestedModel() string {
	switch {
	case x.Protocol.Model != nil:
		return x.Protocol.Model(x.Path(), x.RequestBody())
	case x.Head.Status >= 400, x.AnsweredHere, x.Protocol == &emptyProtocol, !x.begun:
		return json.Value(x.RequestBody()).Get("model").Text()
	}
	return ""
}

// reportUndecodable reports a frame that can't be decoded. If the log cuts off lines, or the source ends
// inside the frame, the party at fault is unknown.
func (x *Exchange) reportUndecodable(why string) {
	e := stream.Event{Kind: stream.Fault, Turn: x.lastTurn(), Text: why}
	if x.Head.CutLines || x.cutByUnknown() {
		e.What = &stream.Ending{By: stream.UnknownParty}
	}
	x.handleEvent(e)
}

// lastTurn returns the open turn, or the last turn if none is open. It returns 0 before the first turn.
func (x *Exchange) lastTurn() int32 {
	if t := x.out.Current().Number(); t != stream.NoTurn {
		return t
	}
	return int32(max(0, len(x.turns)-1))
}

// completeOpening adds the facts of the exchange to the decoder's opening of a turn.
func (x *Exchange) completeOpening(said stream.Opening, turn int32) *stream.Opening {
	said.Exchange, said.Protocol, said.Request = x.Number, x.Protocol.Name, x.requests.nextRequest()
	if said.Request == nil && x.Protocol.Client != "" {
		said.Request = x.requests.agentInLog(said.Parent)
	}
	if said.Model == "" {
		said.Model = x.requestedModel()
	}
	said.FromHistory = x.Head.ResponseFromHistory
	if r := said.Request; r != nil && r.RetryOf > 0 {
		x.in.retries.set(r.RetryOf-1, turn, maxRetries)
	}
	return &said
}

// handleEvent emits an event of the decoder, unless a gap may be the only reason for the event.
func (x *Exchange) handleEvent(e stream.Event) {
	x.gap.checkBeginning(&e)
	if x.gap.missed == 0 && !x.gap.beganBefore || !x.gap.isDoubtful(&e) {
		x.emitEvent(&e)
	}
}

func (x *Exchange) emit(e stream.Event) { x.emitEvent(&e) }

// emitEvent adds the facts of the exchange to an event, adds the event to the timeline, and then passes the event to the
// parts of the exchange that follow events. The first event of a turn, of any kind, opens the turn.
func (x *Exchange) emitEvent(e *stream.Event) {
	switch e.Kind {
	case stream.Args, stream.TextDelta, stream.ThinkDelta:
		x.emitDelta(e)
		return
	}
	if x.isUnknowable(e) || x.details.isBeyondLimit(e) {
		return
	}
	if e.Turn == stream.NoTurn && e.Kind == stream.Unknown {
		e.Turn = x.lastTurn() // an event without a turn is not shown
	}
	x.text.beforeEvent(e)
	turn := e.Turn // the decoder's number
	x.stampEvent(e)
	x.in.Timeline.Append(*e)
	x.noteTurnEnd(e, turn)
	x.compareWithRequest(e, turn)
	x.checkBudget(e, turn)
	checkContent(x, e, turn)
	x.silence.afterEvent(e, turn)
	x.past.afterEvent(e)
	x.requests.afterEvent(e)
	x.gap.afterEvent(e, turn)
	x.ignored.afterEvent(e)
	x.check.afterEvent(e)
	x.in.matchEvent(e)
	x.matchShownCall(e)
}

// emitDelta does the same as emitEvent for a delta. Most events are deltas, and most parts of the exchange ignore them.
func (x *Exchange) emitDelta(e *stream.Event) {
	turn := e.Turn
	x.stampEvent(e)
	x.in.Timeline.Append(*e)
	x.silence.afterEvent(e, turn)
	x.ignored.afterEvent(e)
	x.check.afterEvent(e)
	x.in.matchEvent(e)
}

// stampEvent adds the facts of the exchange to an event of the decoder: the time, the frame, and the
// timeline's number for the turn. It first opens a turn that has no beginning.
func (x *Exchange) stampEvent(e *stream.Event) {
	e.At, e.Frame = x.at, x.frame
	if x.out != nil && e.At == stream.NoTime {
		e.At = x.out.LastStamp()
	}
	turn := e.Turn
	if turn == stream.NoTurn {
		return
	}
	for int(turn) >= len(x.turns) {
		x.turns = append(x.turns, x.in.turns)
		x.in.turns++
		if e.Kind != stream.TurnOpen {
			x.emit(stream.Event{Kind: stream.TurnOpen, Turn: int32(len(x.turns) - 1)})
		}
	}
	e.Turn = x.turns[turn]
	switch {
	case e.Kind == stream.TurnOpen:
		x.parts.beginPart(int(turn))
		e.What = x.completeOpening(stream.PayloadOf[stream.Opening](*e), e.Turn)
		for len(x.times) <= int(turn) {
			x.times = append(x.times, x.requests.sentAt) // the start of the latest request that was read
		}
	case e.Kind == stream.Failure:
		e.What = x.causeOfFailure(stream.PayloadOf[stream.FailureInfo](*e), e.Text, e.Turn)
	case e.Kind == stream.TurnClose:
		if x.Head.EndUnknown && x.EndReason == "" {
			x.endUnknown(e, turn)
		}
		if e.Code == stream.CloseCut {
			*e = x.attributeCut(*e)
		}
		x.details.emitLateUsage()
	}
}

// noteTurnEnd adds an ended turn to the index of calls and to its conversation.
func (x *Exchange) noteTurnEnd(e *stream.Event, turn int32) {
	if e.Kind != stream.TurnClose {
		return
	}
	t := x.in.Session().Turn(e.Turn)
	x.in.indexTurn(t)
	if lost, isBroken := x.in.conversations.noteTurnEnd(x.requests.conversationOf(e.Turn), x, t); isBroken {
		x.reportCacheBreak(turn, t, lost)
	}
	x.past.addSessionCalls(t)
	x.past.reportRequest()
	x.in.softenFailures(t)
}

// isUnknowable reports whether an event is based on something that the source can't show. Such an event reports a
// missing part that the source never contains, or usage that an earlier exchange already reported.
func (x *Exchange) isUnknowable(e *stream.Event) bool {
	if e.Kind == stream.UsageEvent && x.Head.UsageBefore {
		return true
	}
	if e.Kind != stream.Found || !x.Head.EndUnknown && !x.Head.EventNamesUnknown && !x.Head.NoDeltas && !x.cutFrame {
		return false
	}
	switch stream.PayloadOf[stream.Finding](*e).Diagnosis.Base() {
	case stream.NoTerminator:
		return x.Head.EndUnknown
	case protocol.FinishMissing:
		return x.Head.EndUnknown || x.cutByUnknown()
	case protocol.EventNameMissing:
		return x.Head.EventNamesUnknown
	case protocol.EventNameMismatch:
		return x.cutFrame
	case openairesponses.DeltasMissing:
		return x.Head.NoDeltas
	}
	return false
}

// endUnknown changes the end of one of the decoder's turns if the source doesn't show how responses ended. If the
// source keeps only complete calls, their arguments become final, except arguments that are cut off. In any other
// source, only the protocol makes arguments final.
func (x *Exchange) endUnknown(e *stream.Event, turn int32) {
	switch {
	case x.Head.NoDeltas:
		for _, c := range x.in.Session().Turn(x.turns[turn]).Calls {
			if c.Phase() == stream.PhaseOpen && c.Syntax() != json.SyntaxPrefix {
				x.emit(stream.Event{Kind: stream.Seal, Turn: turn, Slot: c.Slot})
			}
		}
		e.Code = stream.CloseEnd
	case e.Code == stream.CloseCut:
		e.Code = stream.CloseUnknown
	default:
		return
	}
	e.Text, e.What = "", &stream.Ending{By: stream.UnknownParty}
}

// attributeCut adds the party that ended a turn without its terminator, if that party is known. If a turn is
// cut off at the end of the response, the party that ended the response also ended the turn. A turn with a gap
// ends as unseen.
func (x *Exchange) attributeCut(e stream.Event) stream.Event {
	switch {
	case x.in.Session().Turn(e.Turn).HasGap():
		e.Code, e.Text = stream.CloseUnseen, ""
	case x.closing && x.by != 0:
		e.What = &stream.Ending{By: x.by}
		if x.cutShort() {
			e.Text = x.EndReason
		}
	case x.closing && (x.cutFrame || x.Protocol.ByAgent):
		e.What = &stream.Ending{By: stream.UnknownParty}
	}
	return e
}

// unwrapBedrock removes the wrapper in which Bedrock's InvokeModelWithResponseStream sends the events of the
// model's own protocol. The wrapper is {"bytes":"base64"}, or {"chunk":{"bytes":…}} in SDK logs (bedrock.go
// in anthropic-sdk-go). Any other frame is returned unchanged. In SDK logs, an exception that ends a stream
// has its name as the key. It becomes a Failed frame, as on the wire.
func unwrapBedrock(f stream.Frame) stream.Frame {
	inner := json.Value(f.Data)
	switch {
	case !mayBeWrapped(&f):
		return f
	case string(f.Event) == "chunk":
	case bytes.Contains(f.Data, []byte(`hunk"`)) && bytes.Contains(f.Data, []byte(`"chunk"`)): // JSON has many quotes, but few of the letter h
		inner = inner.Get("chunk")
	case bytes.Contains(f.Data, []byte(`Exception"`)):
		return unwrapException(f)
	default:
		return f
	}
	encoded := inner.Get("bytes")
	data, err := base64.StdEncoding.DecodeString(encoded.Text())
	if err != nil || !encoded.IsString() {
		return f
	}
	f.Data = data
	f.Event = []byte(json.Value(data).Get("type").Text())
	return f
}

// mayBeWrapped reports whether a frame has the name of a wrapper, or comes from a log without names.
func mayBeWrapped(f *stream.Frame) bool {
	return f.Kind == stream.FrameData && !f.Failed && (string(f.Event) == "chunk" || len(f.Event) == 0 && !f.Named)
}

// exceptions lists the exceptions in Bedrock's streams (ConverseStreamOutput and ResponseStream in the
// service model).
var exceptions = map[string]bool{
	"internalServerException": true, "modelStreamErrorException": true, "modelTimeoutException": true,
	"serviceUnavailableException": true, "throttlingException": true, "validationException": true,
}

func unwrapException(f stream.Frame) stream.Frame {
	s, failed := json.Scan(f.Data), f
	for ok := s.Object(); ok; ok = s.Member() {
		if s.Kind() == '{' && exceptions[string(s.Key())] {
			failed.Event, failed.Failed = s.Key(), true
			failed.Data = s.Value()
		}
	}
	if s.End() != nil {
		return f
	}
	return failed
}
