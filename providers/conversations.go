package providers

import (
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"path"
	"slices"
	"strconv"
	"time"

	"toolscope/providers/conversation"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// conversations contains the latest conversations, and finds the conversation of a request. The state of a
// conversation grows by only one hash per message.
type conversations struct {
	seed     maphash.Seed
	count    int32
	named    recentMap[conversationName, *agentConversation] // conversations by the names that clients give them
	agents   recentMap[conversationName, *agentConversation] // conversations by the agent's id alone, without the session
	paths    recentMap[uint64, *agentConversation]           // conversations by a hash of all messages in a request
	answered recentMap[string, *agentConversation]           // conversations by the id of a response
	ordered  recentMap[uint64, agentCall]                    // calls by a hash of the prompt or the name of the agent that they start
}

// Limits on the number of entries in each map.
const (
	maxConversations = 1 << 12
	maxAnswers       = 1 << 13
)

// conversationName is the client's name for a conversation.
type conversationName struct{ client, session, agent string }

// agentCall is a call that starts an agent.
type agentCall struct {
	by           stream.Ref
	conversation *agentConversation // the conversation of the turn with the call
	id           string
	title        string
}

// agentConversation is a conversation of one agent.
type agentConversation struct {
	number                        int32
	session, agent, parent, title string
	by                            stream.Ref
	sub                           bool
	unnamed                       bool                       // toolscope made up the name of the session
	messageCount                  int                        // number of messages in the latest request
	shape                         *conversation.RequestShape // shape of the latest request
	exchange                      int                        // exchange of the latest request
	calls                         []namedCall                // calls of the latest turn that ended
	cached                        int64                      // number of cached tokens after that turn; -1 if not yet known
	endedAt                       time.Duration              // time at which that turn ended
	loops                         callLoops
	failed                        failedTurn
}

// requestKey is the data that identifies the conversation of a request.
type requestKey struct {
	exchange int
	messages []protocol.Message
	shape    conversation.RequestShape
	way      conversation.PrefixHashes
	side     bool
}

// conversationOf returns the conversation of a request, or nil if nothing identifies the conversation.
func (ls *conversations) conversationOf(f *conversation.ClientFacts, r *requestKey) *agentConversation {
	l := ls.find(f, r)
	if l != nil && !r.side && len(r.messages) > 0 {
		ls.paths.set(r.way[len(r.way)-1], l, 2*maxConversations)
		l.messageCount = len(r.way) - 1
	}
	return l
}

// hashSeed returns the seed for all hashes.
func (ls *conversations) hashSeed() maphash.Seed {
	if ls.seed == (maphash.Seed{}) {
		ls.seed = maphash.MakeSeed()
	}
	return ls.seed
}

func (ls *conversations) find(f *conversation.ClientFacts, r *requestKey) *agentConversation {
	if l := ls.answered.get(f.PreviousResponse); l != nil && f.PreviousResponse != "" && f.Empty() {
		return l
	}
	switch {
	case f.StartedBy != "":
		as := *f // a sub-agent that has its own session
		as.Agent, as.Session, as.StartedBy, as.IsSubagent = f.Session, f.StartedBy, "", true
		if of := ls.agents.get(conversationName{client: f.Client, agent: f.StartedBy}); of != nil {
			as.Session, as.Parent = of.session, f.StartedBy
		}
		return ls.subAgent(&as, r)
	case f.Agent != "":
		return ls.subAgent(f, r)
	case f.Session != "" && saysAgents[f.Client]:
		return ls.mainAgent(f)
	case f.Session != "":
		// The client identifies the session, but not the agent.
		if l := ls.continuationOf(r); l != nil && l.session == f.Session && l.sub {
			return l
		}
		if s, ok := ls.startingCall(r); ok && s.conversation != nil && s.conversation.session == f.Session && !r.side {
			return ls.childOf(&s, r)
		}
		return ls.mainAgent(f)
	case r.side || len(r.messages) == 0:
		return nil
	}
	// Only the request's history shows which conversation it continues or begins.
	if l := ls.continuationOf(r); l != nil {
		return l
	}
	if s, ok := ls.startingCall(r); ok {
		return ls.childOf(&s, r)
	}
	if f.IsSubagent { // the client doesn't identify the call that started the sub-agent
		return ls.childOf(&agentCall{}, r)
	}
	return ls.add(&agentConversation{session: fmt.Sprintf("conversation-%d", r.exchange), unnamed: true, agent: conversation.Main})
}

// saysAgents lists the clients that mark the requests of sub-agents. Unmarked requests of these clients are from the
// main agent.
var saysAgents = map[string]bool{"claude-code": true, "codex": true, "opencode": true}

// mainAgent returns the conversation of a session's main agent. It creates the conversation if needed.
func (ls *conversations) mainAgent(f *conversation.ClientFacts) *agentConversation {
	name := conversationName{f.Client, f.Session, ""}
	l := ls.named.get(name)
	if l == nil {
		l = ls.add(&agentConversation{session: f.Session, agent: conversation.Main})
		ls.named.set(name, l, maxConversations)
	}
	if f.Name != "" {
		l.agent = f.Name
	}
	return l
}

// subAgent returns the conversation of a sub-agent that the client identifies. It creates the conversation if needed.
func (ls *conversations) subAgent(f *conversation.ClientFacts, r *requestKey) *agentConversation {
	name := conversationName{f.Client, f.Session, f.Agent}
	l := ls.named.get(name)
	if l == nil {
		l = ls.add(&agentConversation{session: f.Session, sub: true})
		ls.named.set(name, l, maxConversations)
		ls.agents.set(conversationName{client: f.Client, agent: f.Agent}, l, maxConversations)
	}
	if l.by.Call == 0 { // the call that started the agent is unknown
		s, ok := ls.ordered.peek(ls.hashKey("task", f.Session, f.Name))
		if !ok && !r.side {
			s, ok = ls.startingCall(r)
		}
		if ok {
			l.by, l.title = s.by, s.title
			if s.conversation != nil {
				l.parent = s.conversation.agent
			}
		}
	}
	l.agent = firstOf(f.Name, f.Agent)
	parent := ls.named.get(conversationName{f.Client, f.Session, f.Parent})
	switch {
	case parent != nil && parent != l:
		l.parent = parent.agent
	case f.Parent != "":
		l.parent = f.Parent
	case l.parent == "":
		l.parent = conversation.Main
	}
	return l
}

// childOf returns a new conversation for an agent that was started by a call.
func (ls *conversations) childOf(s *agentCall, r *requestKey) *agentConversation {
	l := &agentConversation{session: fmt.Sprintf("conversation-%d", r.exchange), unnamed: true, parent: conversation.Main, by: s.by, sub: true, title: s.title}
	if s.conversation != nil {
		l.session, l.unnamed, l.parent = s.conversation.session, s.conversation.unnamed, s.conversation.agent
	}
	ls.add(l)
	l.agent = firstOf(s.id, fmt.Sprintf("agent-%d", l.number))
	return l
}

func (ls *conversations) add(l *agentConversation) *agentConversation {
	ls.count++
	l.number, l.cached = ls.count, -1
	return l
}

// continuationOf returns the conversation that a request continues, or nil. The request's messages must begin with
// the messages of an earlier request. If they only repeat the earlier messages, and the conversation has already
// continued after them, the request begins another conversation.
func (ls *conversations) continuationOf(r *requestKey) *agentConversation {
	for n := len(r.way) - 1; n > 0; n-- {
		if l := ls.paths.get(r.way[n]); l != nil {
			if n == len(r.way)-1 && l.messageCount > n {
				return nil
			}
			return l
		}
	}
	return nil
}

// addRequest adds the next request to the conversation, and returns how it differs from the previous request.
func (l *agentConversation) addRequest(exchange int, s conversation.RequestShape) (c stream.RequestChange) {
	if l.shape != nil {
		c = s.ChangeFrom(l.shape)
		c.Comparable, c.PreviousExchange = true, l.exchange
	}
	l.shape, l.exchange = &s, exchange
	return c
}

// startingCall returns the call whose prompt is at the beginning of a conversation. The result ok is false if
// there is none.
func (ls *conversations) startingCall(r *requestKey) (s agentCall, ok bool) {
	for _, text := range conversation.OpeningTexts(r.messages) {
		if s, ok = ls.ordered.peek(ls.hashKey("", "", string(text))); ok {
			return s, true
		}
	}
	return s, false
}

// afterEvent records a call with final arguments if the call starts an agent.
func (r *requestState) afterEvent(e *stream.Event) {
	if e.Kind != stream.Seal {
		return
	}
	c := r.x.in.Session().Turn(e.Turn).InSlot(e.Slot)
	if c == nil || !conversation.IsAgentTool(c.Name) || c.RunByProvider {
		return
	}
	ls, o := &r.x.in.conversations, conversation.ReadAgentTask(c.Args())
	s := agentCall{by: c.Ref(), conversation: r.conversationOf(c.Turn), id: c.ID, title: o.Title}
	if r.latest == nil && c.ID != "" {
		if r.agentCalls == nil {
			r.agentCalls = map[string]agentCall{}
		}
		r.agentCalls[c.ID] = s
	}
	if len(o.Prompt) > 0 {
		ls.ordered.set(ls.hashKey("", "", string(o.Prompt)), s, maxConversations)
	}
	if o.Task != "" && s.conversation != nil {
		ls.ordered.set(ls.hashKey("task", s.conversation.session, path.Join(s.conversation.agent, o.Task)), s, maxConversations)
	}
}

func (ls *conversations) hashKey(kind, session, text string) uint64 {
	return maphash.String(ls.hashSeed(), kind+"\x00"+session+"\x00"+text)
}

// firstOf returns the first text that is not empty.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// minCachedTokens is the minimum number of lost cached tokens for a finding.
const minCachedTokens = 1024

// cacheLoss contains the number of tokens that a turn read from the cache, and the number of tokens that were in the
// cache.
type cacheLoss struct{ read, cached int64 }

// noteTurnEnd records that a turn of a conversation has ended. The result isBroken reports whether a change in the
// request broke the cache.
func (ls *conversations) noteTurnEnd(l *agentConversation, x *Exchange, t *stream.Turn) (lost cacheLoss, isBroken bool) {
	if l == nil || t.Request == nil || t.Request.Background {
		return lost, false
	}
	if t.ID != "" {
		ls.answered.set(t.ID, l, maxAnswers)
	}
	l.noteFailure(x, t)
	l.calls = l.calls[:0]
	for _, c := range t.Calls[:min(len(t.Calls), maxCalls)] {
		l.calls = append(l.calls, namedCall{c.ID, c.Name})
	}
	read, written := t.Usage.CacheRead, t.Usage.CacheWrite
	if !read.Reported {
		return lost, false
	}
	lost = cacheLoss{read.N, l.cached}
	isBroken = t.Request.Change.BreaksAt() != "" && l.cached >= minCachedTokens && read.N < l.cached && !l.hasExpired(t.OpenedAt+x.ahead, x.RequestBody())
	l.cached, l.endedAt = read.N+written.N, t.ClosedAt+x.ahead
	return lost, isBroken
}

// namedCall is a call's id and name. A result in a later request may contain only the id.
type namedCall struct{ id, name string }

// maxCalls is the maximum number of calls of a turn whose names are kept.
const maxCalls = 64

// callName returns the name of a call in the conversation's previous turn. The call is identified by its id.
// The name is "" if it is unknown.
func (l *agentConversation) callName(id string) string {
	if l != nil {
		for _, c := range l.calls {
			if c.id == id {
				return c.name
			}
		}
	}
	return ""
}

// recentMap is a map that keeps only the latest entries. The zero value is ready to use.
type recentMap[K comparable, V any] struct {
	is   map[K]V
	keys []K // in the order in which they were added
}

// peek returns the value of a key, and whether the map has the key.
func (r *recentMap[K, V]) peek(k K) (v V, ok bool) {
	v, ok = r.is[k]
	return v, ok
}

// get returns the value of a key, or the zero value if there is none.
func (r *recentMap[K, V]) get(k K) V { return r.is[k] }

// set sets the value of a key. If there are more keys than the limit most, it drops the oldest ones.
func (r *recentMap[K, V]) set(k K, v V, most int) {
	if r.is == nil {
		r.is = map[K]V{}
	}
	if _, known := r.is[k]; !known {
		r.keys = append(r.keys, k)
	}
	r.is[k] = v
	for len(r.keys) > most {
		delete(r.is, r.keys[0])
		r.keys = r.keys[1:]
	}
}

// PromptHash returns a hash of the user's texts and the tool results in the exchange's request. Equal prompts have
// the same hash in all protocols. The hash is 0 if the request has none of these, or can't be read.
func (x *Exchange) PromptHash() uint64 {
	kept := x.past.messages != nil
	messages, _ := x.History()
	if !kept {
		x.past.dropMessages()
	}
	sum, said := fnv.New64a(), false
	for i := range messages {
		for j := range messages[i].Parts {
			p := &messages[i].Parts[j]
			if messages[i].Role != protocol.User || p.RunByProvider || len(p.Text) == 0 {
				continue
			}
			said = true
			_, _ = sum.Write(p.Text)
			_, _ = sum.Write([]byte{0, byte(p.Kind)})
		}
	}
	if !said {
		return 0
	}
	return sum.Sum64()
}

// RequestedModel returns the model in an exchange's request, or "" if it is unknown. In a session file, it
// returns the model that wrote the response.
func (v *View) RequestedModel(exchange int) string {
	x := v.Exchange(exchange)
	if x == nil {
		return ""
	}
	body := x.RequestBody()
	if d := x.Protocol; d != nil && d.Model != nil {
		if model := d.Model(x.Path(), body); model != "" {
			return model
		}
	}
	model := json.Value(body).Get("model").Text()
	if model == "" && sessionOf(x.Head) != nil && len(x.turns) > 0 {
		model = v.Session().Turn(x.turns[0]).Model
	}
	return model
}

// MaySharePrompt reports whether two requests may have the same prompt. It is a quick check, which compares the
// beginnings of their conversations, as far as these are known.
func (x *Exchange) MaySharePrompt(other *Exchange) bool {
	begin, others := x.position.Begin, other.position.Begin
	return begin == 0 || others == 0 || begin == others
}

// failedTurn is the latest turn of a conversation, if it failed in a way after which clients repeat the request.
type failedTurn struct {
	number int32 // from 1; 0 for none
	requestHashes
}

// requestHashes identify the messages of a request, without the model's messages at its end. A client that repeats
// a request may add the part of the response that it already received, as Codex does.
type requestHashes struct {
	way, last   uint64 // hashes of all the messages and of the last one
	incremental bool   // the request contains only new messages
}

// hashesOf returns the hashes of a request with messages.
func hashesOf(key *requestKey, incremental bool) requestHashes {
	n := len(key.way) - 1
	messages := key.messages[len(key.messages)-n:]
	for n > 0 && messages[n-1].Role == protocol.Assistant {
		n--
	}
	h := requestHashes{way: key.way[n], incremental: incremental}
	if n > 0 {
		h.last = key.shape.Messages[n-1]
	}
	return h
}

// isRepeatOf reports whether two requests may send the same history. After a WebSocket fails, clients send the
// whole history again, so only the last message of an incremental request can be compared.
func (h requestHashes) isRepeatOf(other requestHashes) bool {
	if h.incremental || other.incremental {
		return h.last == other.last && h.last != 0
	}
	return h.way == other.way
}

// repeatable lists the status codes below 500 after which the same request may succeed.
var repeatable = []int{408, 409, 425, 429}

// noteFailure records whether a turn failed in a way after which clients repeat the request. If the client
// disconnected, no request repeats the turn.
func (l *agentConversation) noteFailure(x *Exchange, t *stream.Turn) {
	l.failed.number = 0
	status := x.Head.Status
	switch {
	case t.EndedBy == stream.Client, x.AnsweredHere:
	case status >= 500, slices.Contains(repeatable, status), status < 300 && t.Phase() == stream.TurnAborted:
		l.failed.number = t.Number + 1
	}
}

// noteOpenFailures records the failures of turns that the protocol didn't end.
func (x *Exchange) noteOpenFailures() {
	for _, turn := range x.openTurns() {
		number := x.turns[turn]
		l, t := x.requests.conversationOf(number), x.in.Session().Turn(number)
		if l != nil && (t.Request == nil || !t.Request.Background) {
			l.noteFailure(x, t)
		}
	}
}

// retryOf returns the number, from 1, of the failed turn if the next request of the conversation repeats the
// turn's request. Otherwise it returns 0. Only the first request after a failure can be a repetition, so
// retryOf forgets the failed turn.
func (l *agentConversation) retryOf(request requestHashes) (turn int32) {
	if l.failed.number > 0 && request.isRepeatOf(l.failed.requestHashes) {
		turn = l.failed.number
	}
	l.failed = failedTurn{requestHashes: request}
	return turn
}

// AwaitsRetry reports whether a later request may repeat the request of a failed turn, or whether the response to such
// a request has not ended.
func (in *Inspector) AwaitsRetry(t *stream.Turn) bool {
	x := in.Exchange(t.Exchange)
	if x == nil || t.Request != nil && t.Request.Background {
		return false
	}
	if number, retried := in.retries.peek(t.Number); retried {
		by := in.Session().Turn(number)
		return by != nil && (!by.Closed() || in.AwaitsRetry(by))
	}
	l := x.requests.conversationOf(t.Number)
	return l != nil && l.failed.number == t.Number+1
}

// softenFailures turns the provider's errors into warnings if a complete turn repeats the failed request.
func (in *Inspector) softenFailures(by *stream.Turn) {
	if by.Phase() != stream.TurnComplete || by.Failure != "" {
		return
	}
	for t := by; t.Request != nil && t.Request.RetryOf > 0; {
		if t = in.Session().Turn(t.Request.RetryOf - 1); t == nil {
			return
		}
		for _, f := range t.Findings {
			if t.Failure == "" || f.Base() != stream.ProviderError || f.By != stream.Provider || f.Severity != stream.Error {
				continue
			}
			f.Diagnosis, f.Severity, f.Replaces = f.WithSeverity(stream.Warn), stream.Warn, true
			f.AppendMessage("; turn %d repeated the request and succeeded", by.Number+1)
			in.Timeline.Append(withoutTime(stream.Event{Kind: stream.Found, Turn: t.Number, Slot: stream.NoSlot, Frame: t.LastFrame, What: &f}))
		}
	}
}

// Retry describes the repetition of a failed turn's request.
type Retry struct {
	By     *stream.Turn  // the turn of the repeated request
	After  time.Duration // time since the failure, or NoTime
	Wanted time.Duration // time that the server told the client to wait, or NoTime
}

// Retry returns the repetition of a turn's request. The result ok is false if there is none so far, or if it is
// no longer kept.
func (v *View) Retry(t *stream.Turn) (r Retry, ok bool) {
	number, ok := v.in.retries.peek(t.Number)
	if !ok {
		return r, false
	}
	r = Retry{By: v.Session().Turn(number), After: stream.NoTime, Wanted: stream.NoTime}
	x, y := v.Exchange(t.Exchange), (*Exchange)(nil)
	if r.By != nil {
		y = v.Exchange(r.By.Exchange)
	}
	if x == nil || y == nil {
		return r, false
	}
	r.Wanted = retryAfter(x.Head.Header)
	if from, to := t.ClosedAt, y.RequestStart(r.By); from >= 0 && to >= 0 {
		if wait := to + y.ahead - from - x.ahead; x.timed == y.timed && wait >= 0 {
			r.After = wait
		}
	}
	return r, true
}

// maxRetries is the maximum number of retries that are kept.
const maxRetries = 1 << 14

// retryAfter returns the time that a server told the client to wait, or NoTime.
func retryAfter(header map[string][]string) time.Duration {
	for _, h := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		for _, value := range header[h.name] {
			if n, err := strconv.ParseFloat(value, 64); err == nil && n >= 0 && n < 1e9 {
				return time.Duration(n * float64(h.unit))
			}
		}
	}
	return stream.NoTime
}
