package providers

import (
	"strings"
	"time"

	"toolscope/providers/conversation"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// requestState is the state of an exchange's requests: the one of an HTTP exchange, or the messages of a
// WebSocket, each of which has its own turn.
type requestState struct {
	header        conversation.ClientFacts
	path          string               // the purpose by the path, "" if the path doesn't show it
	latest        *stream.RequestInfo  // the latest request that was read
	queue         []requestMessage     // messages of a WebSocket that still wait for a turn
	responseSize  int64                // size of the response when the last of them was sent
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

// readRequestHead reads the head of a request.
func (x *Exchange) readRequestHead(h *stream.Head) {
	x.RequestHeader = h.Header
	x.requests.header = conversation.ReadHeader(h.Header)
	x.client = x.requests.header.Client
	x.requests.upgrades = len(h.Header["Sec-Websocket-Key"]) > 0
	x.requests.path = conversation.PurposeOfPath(h.Method, pathOf(h.URL))
}

// readClientMessage queues a message that the client sends on a WebSocket. If the provider has sent data since
// the last message and no turn is open, the provider refused the queued messages.
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

// nextRequest returns the request of the next turn, nil if none was seen.
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

// agentInLog returns the agent of a turn in the lines of Claude Code, which mix several agents: the turn
// names the call that started its agent.
func (x *Exchange) agentInLog(call string) *stream.RequestInfo {
	if call == "" {
		return &stream.RequestInfo{Client: "claude-code", Agent: conversation.Main}
	}
	s := x.requests.agentCalls[call]
	return &stream.RequestInfo{Client: "claude-code", Agent: call, Parent: conversation.Main, Title: s.title, StartedBy: s.by}
}

// readRequest reads a request, and finds its conversation.
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

// conversationOf returns the conversation of a turn, nil if it has none.
func (x *Exchange) conversationOf(turn int32) *agentConversation {
	i := min(x.indexOf(turn), len(x.requests.conversations)-1)
	if i < 0 {
		return nil
	}
	return x.requests.conversations[i]
}

// requestPurpose returns the purpose of a request, "" if nothing shows it.
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

// Client returns the client's name in providers/client, "" if its header doesn't name it.
func (x *Exchange) Client() string { return x.client }

// Refused returns why toolscope refused the request in place of the provider, "" if it didn't.
func (x *Exchange) Refused() string {
	why, refused := strings.CutPrefix(x.why, "refused: ")
	if !x.own || !refused {
		return ""
	}
	return why
}

// noteRequestStart notes when the head or the first bytes of an HTTP request arrived. A WebSocket has a request
// for each turn.
func (x *Exchange) noteRequestStart(at time.Duration) {
	if x.requests.sentAt == stream.NoTime && !isWebSocket(x.Head) {
		x.requests.sentAt = at
	}
}

// stampRequestTime dates the request of a turn that opens: it is the latest request that was read.
func (x *Exchange) stampRequestTime(turn int32) {
	for len(x.times) <= int(turn) {
		x.times = append(x.times, x.requests.sentAt)
	}
}

// RequestStart returns when the request of a turn began, or NoTime if that was not seen.
func (x *Exchange) RequestStart(t *stream.Turn) time.Duration {
	if i := x.indexOf(t.Number); i >= 0 && i < len(x.times) {
		return x.times[i]
	}
	return stream.NoTime
}

// TurnIndex returns the index of a turn in its exchange, from 0.
func (x *Exchange) TurnIndex(t *stream.Turn) int { return max(0, x.indexOf(t.Number)) }

// HasManyRequests reports whether the exchange has a request for each of its turns.
func (x *Exchange) HasManyRequests() bool { return isWebSocket(x.Head) }

// RequestOf returns the body of a turn's request, nil if there is none or some of its bytes were missed.
// On a WebSocket it is the message that requested the turn.
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

// HeadAt returns when the head of the response arrived, or NoTime.
func (x *Exchange) HeadAt() time.Duration { return x.headAt }

// LastRecordAt returns when the latest record of the exchange arrived.
func (x *Exchange) LastRecordAt() time.Duration { return x.at }
