package providers

import (
	"strings"
	"time"

	"toolscope/providers/conversation"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// requestState is what is known of an exchange's requests: of the one that an HTTP exchange has, or of
// the messages of a WebSocket, each of which a turn answers.
type requestState struct {
	header        conversation.ClientFacts
	path          string               // what the request is for by its path, "" where that does not tell
	latest        *stream.RequestInfo  // of the latest request that was read
	queue         []requestMessage     // messages of a WebSocket that no turn has answered yet
	responseSize  int64                // how much of the response had come when the last of them was sent
	conversations []*agentConversation // of the requests
	agentCalls    map[string]agentCall // calls of the exchange that start agents, by id

	upgrades bool // a WebSocket was asked for

	sentAt time.Duration // when the latest request that was read began, or NoTime
}

// requestMessage is a message that asks for a turn.
type requestMessage struct {
	message []byte
	at      time.Duration
}

// readRequestHead takes the head of a request.
func (x *Exchange) readRequestHead(h *stream.Head) {
	x.RequestHeader = h.Header
	x.requests.header = conversation.ReadHeader(h.Header)
	x.client = x.requests.header.Client
	x.requests.upgrades = len(h.Header["Sec-Websocket-Key"]) > 0
	x.requests.path = conversation.PurposeOfPath(h.Method, pathOf(h.URL))
}

// readClientMessage takes a message that the client sends on a WebSocket. One that waits although the provider
// has said something since, and answers nothing, was refused.
func (x *Exchange) readClientMessage(message []byte, at time.Duration) {
	a := &x.requests
	if kind := protocol.Raw(message).Get("type"); kind.IsPresent() && !kind.Is("response.create") {
		return
	}
	if x.Response.Size() > a.responseSize && len(x.openTurns()) == 0 {
		a.queue = a.queue[:0]
	}
	a.queue, a.responseSize = append(a.queue, requestMessage{message, at}), x.Response.Size()
}

// nextRequest is the request that the next turn answers, nil where none was seen.
func (x *Exchange) nextRequest() *stream.RequestInfo {
	a := &x.requests
	if isWebSocket(x.Head) {
		a.sentAt = stream.NoTime
	}
	switch {
	case isWebSocket(x.Head) && len(a.queue) > 0:
		message := a.queue[0].message
		a.sentAt = a.queue[0].at
		a.queue[0], a.queue = requestMessage{}, a.queue[1:]
		var said []protocol.Message
		if target := TargetOf(x.Protocol.Name); target != nil {
			said, _ = target.Decode(message)
		}
		a.latest = x.readRequest(message, said)
	case a.latest == nil && (x.Head.Method != "" || x.Request.Size() > 0):
		a.latest = x.readRequest(nil, nil)
	}
	return a.latest
}

// agentInLog is whose a turn is in the lines of Claude Code, which are of several agents: the turn says
// which call started its agent.
func (x *Exchange) agentInLog(call string) *stream.RequestInfo {
	if call == "" {
		return &stream.RequestInfo{Client: "claude-code", Agent: conversation.Main}
	}
	s := x.requests.agentCalls[call]
	return &stream.RequestInfo{Client: "claude-code", Agent: call, Parent: conversation.Main, Title: s.title, StartedBy: s.by}
}

// readRequest reads a request, and finds its lane.
func (x *Exchange) readRequest(body []byte, messages []protocol.Message) *stream.RequestInfo {
	b, ls := conversation.ReadBody(body), &x.in.conversations
	f := conversation.ReadFacts(x.requests.header, b)
	ask := &stream.RequestInfo{Client: f.Client, Purpose: x.requestPurpose(&f, b, messages)}
	ask.Background = conversation.IsBackground(ask.Purpose)
	r := &requestKey{exchange: x.Number, messages: messages, side: ask.Background}
	if len(messages) > 0 {
		r.shape = conversation.ShapeOf(ls.hashSeed(), messages, b)
		r.way = r.shape.Prefixes()
	}
	l := ls.conversationOf(&f, r)
	ask.ResultsOf, ask.Snippet = conversation.LatestContent(messages, l.callName)
	x.requests.conversations = append(x.requests.conversations, l)
	if l != nil {
		ask.Conversation, ask.Session, ask.GeneratedSession = l.number, l.session, l.unnamed
		ask.Agent, ask.Parent, ask.Title, ask.StartedBy = l.agent, l.parent, l.title, l.by
	}
	switch {
	case l == nil, ask.Background:
	case x.Head.Incremental:
		x.past.before, l.exchange = l.exchange, x.Number
	case len(messages) > 0 && f.PreviousResponse == "" && b.Conversation == "":
		ask.Change = l.addRequest(x.Number, r.shape)
	}
	return ask
}

// conversationOf is the lane of a turn, nil where it has none.
func (x *Exchange) conversationOf(turn int32) *agentConversation {
	i := min(x.indexOf(turn), len(x.requests.conversations)-1)
	if i < 0 {
		return nil
	}
	return x.requests.conversations[i]
}

// requestPurpose is what the request is for, "" where there is nothing to tell it by.
func (x *Exchange) requestPurpose(f *conversation.ClientFacts, b *conversation.RequestBody, messages []protocol.Message) string {
	switch {
	case x.requests.path != "":
		return x.requests.path
	case x.Protocol == &plainHTTP && x.requests.upgrades:
		return conversation.Connect
	case x.Protocol == &plainHTTP:
		return conversation.Other
	case x.Request.Size() == 0:
		return ""
	}
	return conversation.PurposeOf(f, b, conversation.FirstUserText(messages))
}

// Client is the program that asks, by its name in providers/client, "" where it does not say.
func (x *Exchange) Client() string { return x.client }

// Refused is why toolscope refused the request in the provider's place, "" where it did not.
func (x *Exchange) Refused() string {
	why, refused := strings.CutPrefix(x.why, "refused: ")
	if !x.own || !refused {
		return ""
	}
	return why
}

// noteRequestStart takes that bytes or the head of a request came. Over HTTP there is one, which began with the
// first of them; a WebSocket has one with each turn.
func (x *Exchange) noteRequestStart(at time.Duration) {
	if x.requests.sentAt == stream.NoTime && !isWebSocket(x.Head) {
		x.requests.sentAt = at
	}
}

// stampRequestTime says that one of the decoder's turns opens: it answers the latest request that was read.
func (x *Exchange) stampRequestTime(turn int32) {
	for len(x.times) <= int(turn) {
		x.times = append(x.times, x.requests.sentAt)
	}
}

// RequestStart is when the request of a turn began, or NoTime where that was not seen.
func (x *Exchange) RequestStart(t *stream.Turn) time.Duration {
	if i := x.indexOf(t.Number); i >= 0 && i < len(x.times) {
		return x.times[i]
	}
	return stream.NoTime
}

// TurnIndex is which one of its exchange a turn is, from 0.
func (x *Exchange) TurnIndex(t *stream.Turn) int { return max(0, x.indexOf(t.Number)) }

// HasManyRequests reports whether the exchange has a request for each of its turns.
func (x *Exchange) HasManyRequests() bool { return isWebSocket(x.Head) }

// RequestOf is the body of the request that a turn answers, nil where there is none, or bytes of it
// were not seen. On a WebSocket it is the message that came when the turn was asked for.
func (x *Exchange) RequestOf(t *stream.Turn) []byte {
	if !x.HasManyRequests() || x.gap.requestBytes > 0 {
		return x.RequestBody()
	}
	asked := x.RequestStart(t)
	for n := range x.Request.Records() {
		if data, at := x.Request.Record(n); asked >= 0 && at == asked {
			return data
		}
	}
	return nil
}

// HeadAt is when the head of the response came, or NoTime.
func (x *Exchange) HeadAt() time.Duration { return x.headAt }

// LastRecordAt is when the latest record of it came.
func (x *Exchange) LastRecordAt() time.Duration { return x.at }
