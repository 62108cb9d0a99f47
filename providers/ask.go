package providers

import (
	"strings"
	"time"

	"toolscope/providers/dialect"
	"toolscope/providers/lane"
	"toolscope/stream"
)

// asking is what is known of an exchange's requests: of the one that an HTTP exchange has, or of
// the messages of a WebSocket, each of which a turn answers.
type asking struct {
	header lane.Facts
	path   string              // what the request is for by its path, "" where that does not tell
	ask    *stream.RequestInfo // of the latest request that was read
	queue  []asked             // messages of a WebSocket that no turn has answered yet
	come   int64               // how much of the response had come when the last of them was sent
	lanes  []*laneOf           // of the requests
	orders map[string]start    // calls of the exchange that start agents, by id

	upgrades bool // a WebSocket was asked for

	sentAt time.Duration // when the latest request that was read began, or NoTime
}

// asked is a message that asks for a turn.
type asked struct {
	message []byte
	at      time.Duration
}

// asked takes the head of a request.
func (x *Exchange) asked(h *stream.Head) {
	x.AskHeader = h.Header
	x.asks.header = lane.OfHeader(h.Header)
	x.client = x.asks.header.Client
	x.asks.upgrades = len(h.Header["Sec-Websocket-Key"]) > 0
	x.asks.path = lane.OfPath(h.Method, pathOf(h.URL))
}

// says takes a message that the client sends on a WebSocket. One that waits although the provider
// has said something since, and answers nothing, was refused.
func (x *Exchange) says(message []byte, at time.Duration) {
	a := &x.asks
	if kind := dialect.Raw(message).Get("type"); kind.Given() && !kind.Is("response.create") {
		return
	}
	if x.Response.Size() > a.come && len(x.openTurns()) == 0 {
		a.queue = a.queue[:0]
	}
	a.queue, a.come = append(a.queue, asked{message, at}), x.Response.Size()
}

// ask is the request that the next turn answers, nil where none was seen.
func (x *Exchange) ask() *stream.RequestInfo {
	a := &x.asks
	if isWebSocket(x.Head) {
		a.sentAt = stream.NoTime
	}
	switch {
	case isWebSocket(x.Head) && len(a.queue) > 0:
		message := a.queue[0].message
		a.sentAt = a.queue[0].at
		a.queue[0], a.queue = asked{}, a.queue[1:]
		var said []dialect.Message
		if target := TargetOf(x.Dialect.Name); target != nil {
			said, _ = target.Decode(message)
		}
		a.ask = x.readAsk(message, said)
	case a.ask == nil && (x.Head.Method != "" || x.Request.Size() > 0):
		a.ask = x.readAsk(nil, nil)
	}
	return a.ask
}

// inside is whose a turn is in the lines of Claude Code, which are of several agents: the turn says
// which call started its agent.
func (x *Exchange) inside(call string) *stream.RequestInfo {
	if call == "" {
		return &stream.RequestInfo{Client: "claude-code", Agent: lane.Main}
	}
	s := x.asks.orders[call]
	return &stream.RequestInfo{Client: "claude-code", Agent: call, Parent: lane.Main, Title: s.title, StartedBy: s.by}
}

// readAsk reads a request, and finds its lane.
func (x *Exchange) readAsk(body []byte, messages []dialect.Message) *stream.RequestInfo {
	b, ls := lane.ReadBody(body), &x.in.lanes
	f := lane.Of(x.asks.header, b)
	ask := &stream.RequestInfo{Client: f.Client, Purpose: x.purpose(&f, b, messages)}
	ask.Background = lane.IsSide(ask.Purpose)
	r := &request{exchange: x.Number, messages: messages, side: ask.Background}
	if len(messages) > 0 {
		r.shape = lane.ShapeOf(ls.begun(), messages, b)
		r.way = r.shape.Path()
	}
	l := ls.of(&f, r)
	ask.ResultsOf, ask.Snippet = lane.LastSaid(messages, l.called)
	x.asks.lanes = append(x.asks.lanes, l)
	if l != nil {
		ask.Conversation, ask.Session, ask.GeneratedSession = l.number, l.session, l.unnamed
		ask.Agent, ask.Parent, ask.Title, ask.StartedBy = l.agent, l.parent, l.title, l.by
	}
	switch {
	case l == nil, ask.Background:
	case x.Head.Incremental:
		x.past.before, l.exchange = l.exchange, x.Number
	case len(messages) > 0 && f.Before == "" && b.Conversation == "":
		ask.Change = l.follow(x.Number, r.shape)
	}
	return ask
}

// laneOf is the lane of a turn, nil where it has none.
func (x *Exchange) laneOf(turn int32) *laneOf {
	i := min(x.indexOf(turn), len(x.asks.lanes)-1)
	if i < 0 {
		return nil
	}
	return x.asks.lanes[i]
}

// purpose is what the request is for, "" where there is nothing to tell it by.
func (x *Exchange) purpose(f *lane.Facts, b *lane.Body, messages []dialect.Message) string {
	switch {
	case x.asks.path != "":
		return x.asks.path
	case x.Dialect == &plain && x.asks.upgrades:
		return lane.Connect
	case x.Dialect == &plain:
		return lane.Other
	case x.Request.Size() == 0:
		return ""
	}
	return lane.OfAsked(f, b, lane.FirstSaid(messages))
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

// sends takes that bytes or the head of a request came. Over HTTP there is one, which began with the
// first of them; a WebSocket has one with each turn.
func (x *Exchange) sends(at time.Duration) {
	if x.asks.sentAt == stream.NoTime && !isWebSocket(x.Head) {
		x.asks.sentAt = at
	}
}

// stamp says that one of the decoder's turns opens: it answers the latest request that was read.
func (x *Exchange) stamp(turn int32) {
	for len(x.times) <= int(turn) {
		x.times = append(x.times, x.asks.sentAt)
	}
}

// AskedAt is when the request of a turn began, or NoTime where that was not seen.
func (x *Exchange) AskedAt(t *stream.Turn) time.Duration {
	if i := x.indexOf(t.Number); i >= 0 && i < len(x.times) {
		return x.times[i]
	}
	return stream.NoTime
}

// Nth is which one of its exchange a turn is, from 0.
func (x *Exchange) Nth(t *stream.Turn) int { return max(0, x.indexOf(t.Number)) }

// Several reports whether the exchange has a request for each of its turns.
func (x *Exchange) Several() bool { return isWebSocket(x.Head) }

// RequestOf is the body of the request that a turn answers, nil where there is none, or bytes of it
// were not seen. On a WebSocket it is the message that came when the turn was asked for.
func (x *Exchange) RequestOf(t *stream.Turn) []byte {
	if !x.Several() || x.gap.asked > 0 {
		return x.RequestBody()
	}
	asked := x.AskedAt(t)
	for n := range x.Request.Records() {
		if data, at := x.Request.Record(n); asked >= 0 && at == asked {
			return data
		}
	}
	return nil
}

// HeadAt is when the head of the response came, or NoTime.
func (x *Exchange) HeadAt() time.Duration { return x.headAt }

// Latest is when the latest record of it came.
func (x *Exchange) Latest() time.Duration { return x.at }
