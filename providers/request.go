package providers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolscope/providers/anthropic"
	"toolscope/providers/conversation"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// requestState is the state of an exchange's requests. An HTTP exchange has one request. On a WebSocket, each
// message is a request with its own turn.
type requestState struct {
	x             *Exchange
	header        conversation.ClientFacts
	path          string               // purpose according to the path, or ""
	latest        *stream.RequestInfo  // the latest request that was read
	queue         []requestMessage     // messages on a WebSocket that still wait for a turn
	responseSize  int64                // size of the response when the last queued message was sent
	conversations []*agentConversation // conversations of the requests
	agentCalls    map[string]agentCall // calls in the exchange that start agents, by id

	upgrades bool // the client requested a WebSocket

	sentAt time.Duration // start of the latest request that was read, or NoTime
}

// requestMessage is a message that requests a turn.
type requestMessage struct {
	message []byte
	at      time.Duration
}

// readHead reads the client and the purpose from the head of a request, and keeps its headers.
func (r *requestState) readHead(h *stream.Head) {
	r.x.RequestHeader = h.Header
	r.header = conversation.ReadHeader(h.Header)
	r.x.Client = r.header.Client
	r.upgrades = len(h.Header["Sec-Websocket-Key"]) > 0
	r.path = conversation.PurposeOfPath(h.Method, r.x.Path())
}

// readMessage queues a message that requests a turn on a WebSocket. If the provider has sent data since the
// previous message and no turn is open, the provider refused the queued messages, and they leave the queue.
func (r *requestState) readMessage(message []byte, at time.Duration) {
	if kind := json.Value(message).Get("type"); kind.IsPresent() && !kind.Is("response.create") {
		return
	}
	if r.x.Response.Size() > r.responseSize && len(r.x.openTurns()) == 0 {
		r.queue = r.queue[:0]
	}
	r.queue, r.responseSize = append(r.queue, requestMessage{message, at}), r.x.Response.Size()
}

// unansweredAt returns the time of the latest message on a WebSocket, if the provider has sent nothing since. Otherwise
// it returns NoTime.
func (r *requestState) unansweredAt() time.Duration {
	if n := len(r.queue); n > 0 && r.x.Response.Size() <= r.responseSize {
		return r.queue[n-1].at
	}
	return stream.NoTime
}

// nextRequest returns the request for the next turn, or nil if none was seen. On a WebSocket, it takes the next
// message from the queue.
func (r *requestState) nextRequest() *stream.RequestInfo {
	if isWebSocket(r.x.Head) {
		r.sentAt = stream.NoTime
	}
	switch {
	case isWebSocket(r.x.Head) && len(r.queue) > 0:
		message := r.queue[0].message
		r.sentAt = r.queue[0].at
		r.queue[0], r.queue = requestMessage{}, r.queue[1:]
		var said []protocol.Message
		if target := TargetOf(r.x.Protocol.Name); target != nil {
			said, _ = target.Decode(message)
		}
		r.latest = r.readRequest(message, said)
	case r.latest == nil && (r.x.Head.Method != "" || r.x.Request.Size() > 0):
		if r.x.past.observeRequest(); r.latest == nil {
			r.latest = r.readRequest(nil, nil)
		}
	}
	return r.latest
}

// agentInLog returns the agent of a turn in the lines of a client. The lines of several agents are mixed, and a
// turn contains the id of the call that started its agent.
func (r *requestState) agentInLog(call string) *stream.RequestInfo {
	client := r.x.Protocol.Client
	if call == "" {
		return &stream.RequestInfo{Client: client, Agent: conversation.Main}
	}
	s := r.agentCalls[call]
	return &stream.RequestInfo{Client: client, Agent: call, Parent: conversation.Main, Title: s.title, StartedBy: s.by}
}

// readRequest reads a request and finds its conversation.
func (r *requestState) readRequest(body []byte, messages []protocol.Message) *stream.RequestInfo {
	b, ls := conversation.ReadBody(body), &r.x.in.conversations
	f := conversation.ReadFacts(r.header, b)
	ask := &stream.RequestInfo{Client: f.Client, Purpose: r.purposeOf(&f, b, messages)}
	ask.Background = conversation.IsBackground(ask.Purpose)
	key := &requestKey{exchange: r.x.Number, messages: messages, side: ask.Background}
	if len(messages) > 0 {
		key.shape = conversation.ShapeOf(ls.hashSeed(), messages, b)
		key.way = key.shape.Prefixes()
	}
	l := ls.conversationOf(&f, key)
	ask.ResultsOf, ask.Snippet = conversation.LatestContent(messages, l.callName)
	r.conversations = append(r.conversations, l)
	if l != nil {
		ask.Conversation, ask.Session, ask.GeneratedSession = l.number, l.session, l.unnamed
		ask.Agent, ask.Parent, ask.Title, ask.StartedBy = l.agent, l.parent, l.title, l.by
	}
	switch {
	case l == nil, ask.Background:
	case r.x.Head.Incremental, r.x.Head.Reconstructed && sessionOf(r.x.Head) != nil:
		r.x.past.before, l.exchange = l.exchange, r.x.Number
	case len(messages) > 0 && f.PreviousResponse == "" && b.Conversation == "":
		ask.Change = l.addRequest(r.x.Number, key.shape)
		ask.RetryOf = l.retryOf(hashesOf(key, false))
	case len(messages) > 0:
		ask.RetryOf = l.retryOf(hashesOf(key, true))
	}
	return ask
}

// conversationOf returns the conversation of a turn, or nil if it has none.
func (r *requestState) conversationOf(turn int32) *agentConversation {
	if len(r.conversations) == 0 {
		return nil
	}
	i := min(r.x.turns.indexOf(turn), len(r.conversations)-1)
	if i < 0 {
		return nil
	}
	return r.conversations[i]
}

// purposeOf returns the purpose of a request, or "" if it is unknown.
func (r *requestState) purposeOf(f *conversation.ClientFacts, b *conversation.RequestBody, messages []protocol.Message) string {
	switch {
	case r.path != "":
		return r.path
	case r.x.Protocol == &plainHTTP && r.upgrades:
		return conversation.Connect
	case r.x.Protocol == &plainHTTP:
		return conversation.Other
	case r.x.Request.Size() == 0 && !r.x.Head.Incremental:
		return ""
	}
	return conversation.PurposeOf(f, b, conversation.FirstUserText(messages))
}

// Refused returns toolscope's reason for refusing the request in place of the provider. It returns "" if
// toolscope didn't refuse the request.
func (x *Exchange) Refused() string {
	why, refused := strings.CutPrefix(x.EndReason, "refused: ")
	if !x.AnsweredHere || !refused {
		return ""
	}
	return why
}

// RequestStart returns the start time of a turn's request, or NoTime if the start was not seen.
func (x *Exchange) RequestStart(t *stream.Turn) time.Duration {
	if i := x.turns.indexOf(t.Number); i >= 0 && i < len(x.times) {
		return x.times[i]
	}
	return stream.NoTime
}

// TurnIndex returns the index of a turn in its exchange, from 0.
func (x *Exchange) TurnIndex(t *stream.Turn) int { return max(0, x.turns.indexOf(t.Number)) }

// MissedRequestBytes returns the number of bytes of the exchange's requests that were missed.
func (x *exchangeContent) MissedRequestBytes() int64 { return x.gap.requestBytes }

// HasManyRequests reports whether the exchange has a request for each of its turns.
func (x *Exchange) HasManyRequests() bool { return isWebSocket(x.Head) }

// RequestOf returns RequestBody or, on a WebSocket, the message that requested the turn. It returns nil if
// that message is unknown, or if bytes of the requests were missed.
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

// LastRecordAt returns the arrival time of the exchange's latest record.
func (x *Exchange) LastRecordAt() time.Duration { return x.at }

// historyLink is a request's reference to its earlier history.
type historyLink struct {
	keptByProvider   bool   // the provider keeps earlier history
	thread           bool   // the provider keeps all earlier history, so the request contains only new messages
	previousResponse string // id of the response that the request continues; "" for none
	conversation     string // id of the conversation that the request continues; "" for none

	choice toolChoice

	streams bool // the request asks for an event stream
	whole   bool // the request is complete
}

// readHistoryLink reads a request's reference to its earlier history. Requests in OpenAI's Responses continue
// a response or a conversation. Requests in Gemini's Interactions continue an interaction. Other requests to
// Gemini may begin with cached content.
func readHistoryLink(request []byte) (on historyLink) {
	s := json.Scan(request)
	for ok := s.Object(); ok; ok = s.Member() {
		on.choice.readField(string(s.Key()), &s)
		switch string(s.Key()) {
		case "response": // some clients put the request into this field
			if s.Kind() == '{' {
				on = readHistoryLink(s.Value())
			}
		case "previous_response_id", "previous_interaction_id", "previousInteractionId":
			if v := s.Value(); v.HasText() {
				on.keptByProvider, on.thread, on.previousResponse = true, true, v.Text()
			}
		case "conversation":
			if v := s.Value(); v.IsPresent() {
				on.keptByProvider, on.thread, on.conversation = true, true, v.Text()+v.Get("id").Text()
			}
		case "cachedContent", "cached_content":
			on.keptByProvider = on.keptByProvider || s.Value().IsPresent()
		case "stream":
			on.streams = s.Value().IsTrue()
		}
	}
	on.whole = s.End() == nil
	return on
}

// observeMessage observes a message that arrived at the given time, if the exchange is a WebSocket.
func (h *history) observeMessage(at time.Duration) {
	if h.x.decoder == nil || !isWebSocket(h.x.Head) {
		return
	}
	answered := h.x.at
	h.x.at = at
	h.observeRequest()
	h.x.at = answered
}

// observeMessages observes the messages that the client of a WebSocket has sent since the previous call. Each
// message is a request. If the protocol is not yet known, the messages wait.
func (h *history) observeMessages() {
	to := historyTarget(h.x.Protocol)
	reader, reads := h.x.decoder.(protocol.ClientReader)
	if to == nil && !reads {
		return
	}
	from := h.heard
	var values stream.Values
	values.Write(h.x.Request.Bytes(from, h.x.Request.Size()), func(f stream.Frame) {
		h.heard = from + f.End
		if f.Kind != stream.FrameData {
			return
		}
		message := bytes.Clone(f.Data) // parts and schemas refer to these bytes
		on := readHistoryLink(message)
		h.on = on
		h.x.check.addTools(message, on)
		if reads {
			reader.ReadMessage(message)
		}
		if h.x.in.alone || to == nil {
			return
		}
		messages, _ := to.Decode(message)
		if len(messages) > 0 || on.thread {
			past, _ := h.observeMessagesOf(messages, to, on)
			h.x.position = past.Position
		}
	})
}

// addTools adds the tools in a message to the tools in earlier messages, because the provider may keep the
// earlier tools.
func (c *schemaCheck) addTools(message []byte, on historyLink) {
	if c.x.Protocol.Tools == nil {
		return
	}
	var was []protocol.Tool // the known tools
	more := false           // other tools are possible
	if c.set != nil {
		was, more = c.set.Tools()
	}
	list := c.x.Protocol.Tools(message)
	if on.thread && !c.hasResponse(on.previousResponse) {
		inherited, others := c.x.in.toolsAfter(on)
		was, more = joinTools(was, inherited), more || others
	}
	c.set = c.x.in.toolSet(joinTools(was, list), more)
}

// hasResponse reports whether this exchange contains a response with the given id.
func (c *schemaCheck) hasResponse(id string) bool {
	return id != "" && slices.ContainsFunc(c.x.turns, func(n int32) bool {
		t := c.x.in.Session().Turn(n)
		return t != nil && t.ID == id
	})
}

// toolsAfter returns the tools of the request that another request continues. The result more is true if other tools
// are possible, because the earlier request may have been dropped, or may be older than the source.
func (in *Inspector) toolsAfter(on historyLink) (tools []protocol.Tool, more bool) {
	f := in.entryAfter(on.previousResponse)
	if f == nil {
		return nil, true
	}
	x := in.Exchange(f.exchange)
	if x == nil || x.check.set == nil {
		return nil, true
	}
	return x.check.set.Tools()
}

// joinTools returns the earlier tools and the new tools. A new tool replaces an earlier tool of the same
// name.
func joinTools(was, news []protocol.Tool) []protocol.Tool {
	if len(was) == 0 {
		return news
	}
	all := slices.Clone(was)
	at := map[[2]string]int{}
	for i := range all {
		at[[2]string{all[i].Namespace, all[i].Name}] = i
	}
	for _, t := range news {
		if i, old := at[[2]string{t.Namespace, t.Name}]; old {
			all[i] = t
		} else {
			all = append(all, t)
		}
	}
	return all
}

// minKeyedTokens is the minimum number of input tokens for which OpenAI caches the beginning of a request.
const minKeyedTokens = 1024

// RequestNotes returns hints about the settings of a turn's request: the provider stores the response by
// default, the cache key is missing, or the token limit is the model's maximum. Such a request is correct, so
// the hints are not findings. They are only about requests to the provider's own host.
func (x *Exchange) RequestNotes(t *stream.Turn) (notes []string) {
	body := json.Value(x.RequestOf(t))
	background := t.Request != nil && t.Request.Background
	if body.Kind() != '{' || background || x.AnsweredHere || x.Head.Reconstructed || x.Protocol == nil {
		return nil
	}
	switch ProviderAt(x.Head.URL) {
	case "openai":
		return openAINotes(body, x.Protocol.Name, &t.Usage)
	case "anthropic":
		limit := conversation.ReadBody(body).MaxTokens
		if most := int64(anthropic.MaxOutput(t.Model)); most > anthropic.ModestTokens && limit >= most {
			notes = append(notes, fmt.Sprintf("max_tokens is %d, the model's maximum: older models refuse the request if its input leaves less room in the context window", limit))
		}
	}
	return notes
}

// openAINotes returns the hints about a request to OpenAI. A request that needs stored responses gets no hint about
// the storage. The cache key matters only in a request that continues a conversation.
func openAINotes(body json.Value, name string, used *stream.Usage) (notes []string) {
	b := conversation.ReadBody(body)
	needsStore := b.Before != "" || b.Conversation != "" || body.Get("background").IsTrue()
	stores := map[string]string{"openai-responses": "OpenAI stores the response", "openai-chat": "for new accounts, OpenAI stores the response"}[name]
	if stores == "" {
		return nil
	}
	if !needsStore && !body.Get("store").IsPresent() {
		notes = append(notes, "store is not false: "+stores)
	}
	keyed := b.CacheKey != "" || body.Get("user").IsPresent()
	if !keyed && used.Input.Reported && used.Input.N >= minKeyedTokens && used.CacheRead.N == 0 && continuesConversation(body) {
		notes = append(notes, fmt.Sprintf("no prompt_cache_key, and none of the %d input tokens came from the cache: a key sends the requests of a conversation to the same cache", used.Input.N))
	}
	return notes
}

// continuesConversation reports whether a request contains a message or an item from the model.
func continuesConversation(body json.Value) bool {
	for _, key := range [...]string{"messages", "input"} {
		for item := range body.Get(key).Elements() {
			if kind := item.Get("type"); item.Get("role").Is("assistant") || kind.Is("function_call") || kind.Is("reasoning") {
				return true
			}
		}
	}
	return false
}
