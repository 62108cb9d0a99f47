package providers

import (
	"bytes"
	"cmp"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// history is the state of an exchange's request as a history.
type history struct {
	x        *Exchange
	read     int64 // how many bytes of the request were read for messages
	messages []protocol.Message
	target   *protocol.Target
	broken   bool        // the request is cut off
	observed bool        // the calls that it sends back were reported
	on       historyLink // the link of the request that was observed last
	before   int         // the exchange that a request adds to, 0 while unknown
	heard    int64       // of a WebSocket: how many bytes of the client's messages were observed

	names     []replay.UnsentCall // of its calls, once needed
	namesRead int64               // how many bytes of the request were read for them
}

// History returns the history that the request carries, or that of Inspector.Request if none was captured,
// and the target of its protocol. Both are nil if there is no readable request.
func (x *Exchange) History() ([]protocol.Message, *protocol.Target) {
	if x.gap.requestBytes > 0 {
		return nil, nil
	}
	size := x.requestSize()
	if size == 0 || size == x.past.read {
		return x.past.messages, x.past.target
	}
	body := x.RequestBody()
	x.ensureContent()
	x.past.read = size
	var err error
	if to := x.historyTarget(); to != nil {
		x.past.target = to
		x.past.messages, err = x.past.target.Decode(body)
	} else {
		x.past.messages, x.past.target, err = guessHistory(body)
	}
	x.past.broken = err != nil
	x.past.nameAuthors()
	return x.past.messages, x.past.target
}

// historyTarget returns the target that reads the exchange's requests, nil while its protocol is unknown.
func (x *Exchange) historyTarget() *protocol.Target {
	if x.Protocol == nil {
		return nil
	}
	return historyTargetOf(x.Protocol.Name)
}

// nameAuthors sets the author of the history's calls whose arguments are a string: the model, if the call
// with the same id in its response has the same arguments.
func (h *history) nameAuthors() {
	for _, m := range h.messages {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == protocol.CallPart && p.ID != "" && protocol.Raw(bytes.TrimSpace(p.Args)).IsString() {
				p.Author = h.x.in.authorOf(p)
			}
		}
	}
}

// authorOf returns the author of the arguments of a call in a history. It is unknown if too many calls have
// the same id.
func (in *Inspector) authorOf(p *protocol.Part) (author protocol.ArgsAuthor) {
	in.indexByKind(replay.PlainKeys)
	looks := 0
	look := func(f *indexedTurn) bool {
		c, ok := in.candidateOf(f)
		if !ok {
			return true
		}
		switch wrote, said := c.HasCall(p); {
		case wrote:
			author = protocol.ModelAuthor
			return false
		case said:
			author = protocol.ClientAuthor
		}
		if looks++; looks == maxAuthors {
			author = protocol.SomeAuthor
		}
		return looks < maxAuthors
	}
	if in.recall.find(replay.IDKey(p.ID), look); author != protocol.ModelAuthor && looks < maxAuthors {
		in.recall.find(replay.SentIDKey(p.ID), look)
	}
	return author
}

// maxAuthors is how many turns with one id are checked.
const maxAuthors = 64

// guessHistory reads a request without a known protocol. It uses the protocol that finds most in it.
func guessHistory(body []byte) (best []protocol.Message, target *protocol.Target, why error) {
	most := 0
	for i := range All {
		if len(All[i].Targets) == 0 {
			continue
		}
		t := &All[i].Targets[0]
		messages, err := t.Decode(body)
		n := len(messages)
		for _, m := range messages {
			for i := range m.Parts {
				n += protocolPoints(&m.Parts[i], t, len(messages))
			}
		}
		if n > most {
			best, target, most, why = messages, t, n, err
		}
	}
	return best, target, why
}

// protocolPoints returns how many points a part gives its protocol. A call or a result gives more than all
// texts together.
func protocolPoints(p *protocol.Part, by *protocol.Target, messages int) (points int) {
	if p.Name != "" || p.ID != "" {
		points += messages
	}
	if len(p.Text) > 0 || p.Kind == protocol.CallPart && p.Form == by.Form {
		points++
	}
	return points
}

// dropMessages frees the request's history, which can be read again.
func (h *history) dropMessages() {
	if h.read != 0 {
		h.read, h.messages = 0, nil
	}
}

// observeRequest reports, once, how the request sends back the calls of earlier turns. It is called when the
// protocol is known or stays unknown, and when the client of a WebSocket has sent a message.
func (h *history) observeRequest() {
	switch {
	case h.x.Request.Size() == 0, h.x.gap.requestBytes > 0:
	case isWebSocket(h.x.Head):
		h.observeMessages()
	case !h.observed && !h.x.in.alone:
		h.observed = true
		messages, target := h.x.History()
		body := h.x.RequestBody()
		h.x.requests.latest, h.on = h.x.requests.readRequest(body, messages), readHistoryLink(body)
		if target != nil && len(messages) > 0 {
			past := h.observeMessagesOf(messages, target, h.on)
			h.notePosition(past.Position)
		}
		h.dropMessages()
	}
}

// observeMessagesOf reports how a history sends back the calls of earlier turns.
func (h *history) observeMessagesOf(messages []protocol.Message, to *protocol.Target, on historyLink) *replay.History {
	past := replay.ReadPast(messages, to)
	if past.KeptByProvider, past.PreviousResponse = on.keptByProvider || h.x.Head.Incremental, cmp.Or(on.previousResponse, on.conversation); on.thread || h.x.Head.Incremental {
		past.Position = replay.Position{} // the request doesn't contain the start of its conversation
	}
	for _, o := range h.x.in.observer.Observe(past, h.earlierTurns(past)) {
		if h.x.Head.Incremental {
			o.FromLog()
		}
		if o.Treatment != replay.WasDropped || !h.broken {
			h.reportSentBack(&o)
		}
	}
	return past
}

// notePosition notes the position of the request in its conversation. Turns that ended before are indexed
// again, with it.
func (h *history) notePosition(asked replay.Position) {
	h.x.position = asked
	for _, number := range h.x.turns {
		if f := h.x.in.recall.entryOf(number); f != nil {
			h.x.in.indexTurn(h.x.in.Session().Turn(number))
		}
	}
}

// reportSentBack reports how a call was sent back, unless an earlier request sent it back in the same way.
func (h *history) reportSentBack(o *replay.Observation) {
	told := replay.LastReport{ID: o.ID, Treatment: o.Treatment, Result: o.Result}
	ref, before := o.Ref(), o.LastReport()
	turn := h.x.in.Session().Turn(ref.Turn)
	if before.Treatment == told.Treatment && before.Result == told.Result || turn == nil {
		return
	}
	resent := &stream.SentBackReport{Exchange: h.x.Number, ID: o.ID, Policies: o.MatchingPolicies(), KeptByProvider: o.KeptByProvider, Result: o.ToolResult()}
	known := true // both the model's arguments and the sent ones
	from := h.x.in.Exchange(turn.Exchange)
	if h.x.Head.Reconstructed || from != nil && from.Head.ResponseFromHistory && o.Treatment != replay.WasOrphaned {
		told.Treatment, resent.Policies, known = replay.AsClientHasIt, "", false
	}
	if f, ok := o.Finding(); ok && known && !o.WasFound(f) {
		resent.Finding = unlessFaulted(turn, f)
	}
	if o.Summary != nil {
		o.Summary.Report(told, resent.Finding)
	}
	h.x.in.recall.addCallID(ref.Turn, o.ID)
	h.x.in.kept.addBytes(h.x.in.Exchange(turn.Exchange), len(resent.Result.Text))
	h.x.in.Timeline.Append(stream.Event{
		Kind: stream.SentBack, At: h.x.at, Turn: ref.Turn, Slot: ref.Call, Frame: turn.LastFrame,
		Text: string(told.Treatment), Code: o.Result, What: resent,
	})
	h.matchResult(o, h.x.in.Timeline.Len()-1)
}

// afterEvent reports a tool result from the same log lines as its call. They don't show how the model got it.
func (h *history) afterEvent(e stream.Event) {
	if e.Kind != stream.CallResult {
		return
	}
	of, t := stream.PayloadOf[stream.ResultFor](e), h.x.in.Session().Turn(e.Turn)
	if !of.HasContent || t == nil {
		return
	}
	for _, c := range slices.Backward(t.Calls) {
		if c.ID == of.ID {
			h.x.in.kept.addBytes(h.x, len(of.Result.Text))
			h.x.in.Timeline.Append(stream.Event{
				Kind: stream.SentBack, At: e.At, Turn: e.Turn, Slot: int32(c.Number), Frame: e.Frame, Text: string(replay.AsClientHasIt),
				Code: e.Code, What: &stream.SentBackReport{Exchange: h.x.Number, ID: of.ID, Result: of.Result},
			})
			return
		}
	}
}

// unlessFaulted returns a finding about the calls that a client sent back. If toolscope had injected a fault
// into the turn, the finding does not blame the client.
func unlessFaulted(t *stream.Turn, f stream.Finding) stream.Finding {
	if slices.ContainsFunc(t.Findings, func(f stream.Finding) bool { return f.Diagnosis == faultNote }) {
		f.By = stream.Toolscope
		f.AppendMessage("; but toolscope had sent the client a faulty response")
	}
	return f
}

// resultOf returns the result of a call in the exchange's request, which r describes.
func (x *Exchange) resultOf(c *stream.Call, r *stream.SentBackCall) (result protocol.Part, ok bool) {
	kept := x.past.messages != nil
	messages, _ := x.History()
	if !kept {
		x.past.dropMessages()
	}
	for i := len(messages) - 1; i >= 0; i-- {
		for _, p := range messages[i].Parts {
			if p.Kind == protocol.ResultPart && len(p.Text) == r.Result.Bytes && (p.ID == r.ID || p.ID == c.ID) && (p.ID != "" || p.Name == c.Name) {
				return p, true
			}
		}
	}
	return result, false
}
