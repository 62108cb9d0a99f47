package providers

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
)

// history is the history in an exchange's request, with the state of reading it.
type history struct {
	x        *Exchange
	read     int64 // number of request bytes whose messages have been read
	messages []protocol.Message
	target   *protocol.Target
	broken   bool        // the request can't be read completely
	observed bool        // the calls that the request sends back were reported
	on       historyLink // link of the request that was observed last
	before   int         // exchange with the previous request of the conversation; 0 if not yet known
	check    requestCheck
	heard    int64 // number of observed bytes in the client's messages on a WebSocket

	names     []replay.UnsentCall // names of its calls, once needed
	namesRead int64               // number of request bytes whose names have been read
}

// History returns the history in the request, and the target for its protocol. If no request was captured, it
// uses Inspector.Request. Both results are nil if there is no readable request.
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
	if to := historyTarget(x.Protocol); to != nil && !isInvokePath(x.Path()) {
		x.past.target = to
		x.past.messages, err = x.past.target.Decode(body)
	} else {
		x.past.messages, x.past.target, err = guessHistory(body)
	}
	x.past.broken = err != nil
	for _, m := range x.past.messages {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == protocol.CallPart && p.ID != "" && json.Value(bytes.TrimSpace(p.Args)).IsString() {
				p.Author = x.in.authorOf(p)
			}
		}
	}
	return x.past.messages, x.past.target
}

// isInvokePath reports whether a path is that of Bedrock's InvokeModel, whose bodies have the protocol of the model. An
// error doesn't show this protocol.
func isInvokePath(path string) bool {
	return strings.Contains(path, "/model/") && (strings.HasSuffix(path, "/invoke") || strings.HasSuffix(path, "/invoke-with-response-stream"))
}

// historyTarget returns the target that reads the requests of a protocol, or nil if p is nil because the protocol is
// not yet known.
func historyTarget(p *protocol.Protocol) *protocol.Target {
	if p == nil {
		return nil
	}
	return historyTargetOf(p.Name)
}

// authorOf returns the author of the arguments of a call in a history. The author is unknown if too many
// calls have the same id.
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

// maxAuthors is the maximum number of turns that are checked for an id.
const maxAuthors = 64

// guessHistory reads a request without a known protocol. It uses the protocol whose decoder finds the most content.
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
		if n > most || n > 0 && n == most && t.Protocol == "openai-chat" && isChatRequest(body) {
			best, target, most, why = messages, t, n, err
		}
	}
	return best, target, why
}

// isChatRequest reports whether a request has something that Anthropic's protocol doesn't have: a message with the role
// system, a tool with the field function, or a parameter of Chat Completions.
func isChatRequest(body json.Value) bool {
	for m := range body.Get("messages").Elements() {
		if role := m.Get("role"); role.Is("system") || role.Is("developer") {
			return true
		}
	}
	return json.Value(json.FirstElement(body.Get("tools"))).Get("function").IsPresent() ||
		slices.ContainsFunc(chatParameters, func(key string) bool { return body.Get(key).IsPresent() })
}

// chatParameters are parameters of Chat Completions that Anthropic refuses.
var chatParameters = []string{"stream_options", "max_completion_tokens", "response_format", "parallel_tool_calls", "reasoning_effort", "frequency_penalty", "presence_penalty", "seed"}

// protocolPoints returns the points that a part adds to the score of its protocol. A call or a result adds as many
// points as there are messages, so that it outweighs texts.
func protocolPoints(p *protocol.Part, by *protocol.Target, messages int) (points int) {
	if p.Name != "" || p.ID != "" {
		points += messages
	}
	if len(p.Text) > 0 || p.Kind == protocol.CallPart && p.Form == by.Form {
		points++
	}
	return points
}

// dropMessages frees the messages of the request. They can be read again.
func (h *history) dropMessages() {
	if h.read != 0 {
		h.read, h.messages = 0, nil
	}
}

// observeRequest reports, once, how the request sends back the calls of earlier turns. It is called when the
// protocol is known or will stay unknown, and when the client of a WebSocket has sent a message.
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
			past, observed := h.observeMessagesOf(messages, target, h.on)
			h.x.position = past.Position
			for _, number := range h.x.turns { // those that have already ended are indexed again with this position
				if h.x.in.recall.entryOf(number) != nil {
					h.x.in.indexTurn(h.x.in.Session().Turn(number))
				}
			}
			h.checkRequest(body, messages, target, past, observed)
		}
		h.dropMessages()
	}
}

// observeMessagesOf reports how a history sends back the calls of earlier turns.
func (h *history) observeMessagesOf(messages []protocol.Message, to *protocol.Target, on historyLink) (*replay.History, []replay.Observation) {
	past := replay.ReadPast(messages, to)
	if past.KeptByProvider, past.PreviousResponse = on.keptByProvider || h.x.Head.Incremental, cmp.Or(on.previousResponse, on.conversation); on.thread || h.x.Head.Incremental {
		past.Position = replay.Position{} // the request doesn't contain the start of its conversation
	}
	observed := h.x.in.observer.Observe(past, h.earlierTurns(past))
	words := userWords{messages: messages, seed: h.x.in.conversations.hashSeed()}
	if l := h.latestConversation(); l != nil && past.KeptByProvider {
		for i := range messages { // all of them are new
			if _, ok := wordsOfUser(&messages[i]); ok {
				l.loops.said++
			}
		}
	}
	for i := range observed {
		o := &observed[i]
		if h.x.Head.Incremental {
			o.FromLog()
		}
		if o.Treatment != replay.WasDropped || !h.broken {
			h.reportSentBack(o, past, &words)
		}
	}
	return past, observed
}

// reportSentBack reports how a call was sent back, unless an earlier request sent it back in the same way.
func (h *history) reportSentBack(o *replay.Observation, past *replay.History, words *userWords) {
	told := replay.LastReport{ID: o.ID, Treatment: o.Treatment, Result: o.Result}
	ref, before := o.Ref(), o.LastReport()
	turn := h.x.in.Session().Turn(ref.Turn)
	if before.Treatment == told.Treatment && before.Result == told.Result || turn == nil {
		return
	}
	resent := &stream.SentBackReport{Exchange: h.x.Number, ID: o.ID, Policies: o.MatchingPolicies(), KeptByProvider: o.KeptByProvider, Result: o.ToolResult()}
	resent.Reasoning, resent.Signature = past.WordsFor(ref.Turn, o.ID)
	if _, needed := h.needsReasoning(h.x.RequestBody(), ref.Turn); !needed {
		resent.Reasoning, resent.Signature = notNeeded(resent.Reasoning), notNeeded(resent.Signature)
	}
	known := true // both the model's arguments and the sent arguments are known
	from := h.x.in.Exchange(turn.Exchange)
	if h.x.Head.Reconstructed || from != nil && from.Head.ResponseFromHistory && o.Treatment != replay.WasOrphaned {
		told.Treatment, resent.Policies, known = replay.AsClientHasIt, "", false
		resent.Reasoning, resent.Signature = "", ""
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
	if result := o.ResultPart(); result == nil || before.Result != 0 {
		return
	} else if h.reportResult(ref, result.Text); h.latestConversation() != nil {
		h.reportLoop(h.latestConversation(), ref, words.loopCallOf(o, h.latestConversation().loops.said))
	}
}

// notNeeded returns "not needed" if reasoning was changed, and "" if it was not. The parameter is the word for the
// change, or "".
func notNeeded(word string) string {
	if word == "" {
		return ""
	}
	return "not needed"
}

// latestConversation returns the conversation of the latest request, or nil if it is unknown.
func (h *history) latestConversation() *agentConversation {
	if n := len(h.x.requests.conversations); n > 0 {
		return h.x.requests.conversations[n-1]
	}
	return nil
}

// afterEvent reports a tool result that is in the same log lines as its call. The lines don't show in which
// form the model received the result.
func (h *history) afterEvent(e *stream.Event) {
	if e.Kind != stream.CallResult {
		return
	}
	of, t := stream.PayloadOf[stream.ResultFor](*e), h.x.in.Session().Turn(e.Turn)
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

// unlessFaulted returns a finding about the calls that a client sent back. If toolscope injected a fault into
// the turn, the finding doesn't blame the client.
func unlessFaulted(t *stream.Turn, f stream.Finding) stream.Finding {
	if slices.ContainsFunc(t.Findings, func(f stream.Finding) bool { return f.Diagnosis == faultNote }) {
		f.By = stream.Toolscope
		f.AppendMessage("; but toolscope had sent the client a faulty response")
	}
	return f
}

// resultOf returns the result of a call in the exchange's request. The parameter r is the report about the call
// in that request. The result ok is false if the request can't be read or has no such result.
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

// CarriedCalls returns the calls in the request's history. If a call is previewed alone, its id must not equal the id
// of one of these calls. Messages that were read for CarriedCalls are freed afterwards.
func (x *Exchange) CarriedCalls() []replay.UnsentCall {
	if x == nil {
		return nil
	}
	if size := x.requestSize(); size != x.past.namesRead {
		kept := x.past.messages != nil
		messages, _ := x.History()
		x.ensureContent()
		x.past.names, x.past.namesRead = replay.Names(messages), size
		if !kept {
			x.past.dropMessages()
		}
	}
	return x.past.names
}

// CarriedCall is a call in the form in which a later request contains it.
type CarriedCall struct {
	Exchange *Exchange
	To       *protocol.Target
	Part     *protocol.Part // nil if the request doesn't contain the call
	Body     []byte         // the request
	Args     []byte         // the arguments in the request: the text, or the value in the body
	At, End  int            // range of the arguments in Body; At is -1 if unknown
}

// Carried returns a call in the form in which a request contains it. The result ok is false if the request can't be
// read.
func (v *View) Carried(c *stream.Call, exchange int) (b CarriedCall, ok bool) {
	x, t := v.Exchange(exchange), v.Session().Turn(c.Turn)
	if x == nil || t == nil {
		return b, false
	}
	b.Exchange = x
	for r := range x.eachRequest() {
		b.Body, b.To, ok = r.body, r.to, true
		past := replay.ReadPast(r.messages, r.to)
		for _, o := range new(replay.Observer).Observe(past, []replay.Candidate{{Turn: t, Target: TargetOf(t.Protocol)}}) {
			if o.Call == c && o.Part() != nil {
				b.Part = o.Part()
				b.locateArgs(r.messages)
				return b, true
			}
		}
	}
	return b, ok
}

// carriedCalls is the history of one request of an exchange. An exchange on a WebSocket has several requests.
type carriedCalls struct {
	body     []byte
	to       *protocol.Target
	messages []protocol.Message
}

// eachRequest yields the histories of the exchange's requests, without keeping them.
func (x *Exchange) eachRequest() func(yield func(carriedCalls) bool) {
	return func(yield func(carriedCalls) bool) {
		if !isWebSocket(x.Head) {
			kept := x.past.messages != nil
			messages, to := x.History()
			if !kept {
				x.past.dropMessages()
			}
			if to != nil {
				yield(carriedCalls{x.RequestBody(), to, messages})
			}
			return
		}
		to := historyTarget(x.Protocol)
		if to == nil || x.gap.requestBytes > 0 {
			return
		}
		var all []carriedCalls
		new(stream.Values).Write(x.Request.Bytes(0, x.Request.Size()), func(f stream.Frame) {
			if f.Kind == stream.FrameData {
				body := bytes.Clone(f.Data)
				messages, _ := to.Decode(body)
				all = append(all, carriedCalls{body, to, messages})
			}
		})
		for _, r := range all {
			if !yield(r) {
				return
			}
		}
	}
}

// locateArgs finds the arguments in the body, provided that the body contains the parts in the same order as the
// messages.
func (b *CarriedCall) locateArgs(messages []protocol.Message) {
	b.Args, b.At = b.Part.Args, -1
	from := 0
	for i := range messages {
		for j := range messages[i].Parts {
			p := &messages[i].Parts[j]
			at := bytes.Index(b.Body[from:], p.Raw)
			if at < 0 || len(p.Raw) == 0 {
				continue
			}
			if from += at; p != b.Part {
				continue
			}
			value := findArgs(p.Raw, p)
			if value == nil {
				return
			}
			b.At = from + bytes.Index(p.Raw, value)
			b.End = b.At + len(value)
			if b.To.Form != protocol.TextForm {
				b.Args = value // a string in place of an object is shown as a string
			}
			return
		}
	}
}

// findArgs returns the value in the text of a call from which the call's arguments were read.
func findArgs(text json.Value, p *protocol.Part) (value json.Value) {
	is := func(v json.Value) bool {
		return v.IsString() && p.Form == protocol.TextForm && bytes.Equal(v.Append(nil), p.Args) || !v.IsString() && bytes.Equal(v, p.Args)
	}
	s := text.Scan()
	look := func(v json.Value) {
		if value == nil && is(v) {
			value = v
		} else if k := v.Kind(); value == nil && (k == '{' || k == '[') {
			value = findArgs(v, p)
		}
	}
	switch text.Kind() {
	case '{':
		for ok := s.Object(); ok; ok = s.Member() {
			if key := string(s.Key()); !slices.Contains(notArgs, key) {
				look(s.Value())
			}
		}
	case '[':
		for ok := s.Array(); ok; ok = s.Element() {
			look(s.Value())
		}
	}
	return value
}

// notArgs lists fields of calls that never contain the arguments.
var notArgs = []string{"id", "call_id", "tool_call_id", "toolUseId", "name", "type", "status", "role"}

// VerdictOn returns the provider's verdict on a request that sent a call back. The result how is the evidence, in
// toolscope's words or the provider's words. An error about load or authentication proves nothing.
func (v *View) VerdictOn(r stream.SentBackCall) (verdict replay.Verdict, how string) {
	x, t := v.Exchange(r.Exchange), v.TurnAfter(&r)
	if x == nil {
		return replay.Unproven, "its request was dropped"
	}
	status, failure, answered := x.Head.Status, "", t != nil && t.Failure == "" && !t.HasGap()
	if t != nil {
		failure = t.Failure
	}
	switch socket := isWebSocket(x.Head); {
	case x.AnsweredHere:
		return replay.Unproven, "no provider answered it"
	case answered && (status == 0 || socket):
		return replay.Accepted, "it was answered"
	case status == 0, socket:
		return replay.Unproven, "no response was seen"
	case status < 300:
		return replay.Accepted, fmt.Sprintf("HTTP %d", status)
	case status == 400 || status == 422:
		verdict = replay.Refused
	}
	how = fmt.Sprintf("HTTP %d", status)
	if failure = strings.TrimSpace(failure); failure != "" {
		how += ": " + failure
	}
	return verdict, how
}

// Witnesses returns the requests that contained the given calls of a turn, and whose responses show whether
// the provider accepts the calls.
func (v *View) Witnesses(calls ...*stream.Call) (all []replay.Evidence) {
	if len(calls) == 0 {
		return nil
	}
	for _, r := range calls[0].SentBack {
		x := v.Exchange(r.Exchange)
		if x == nil || r.KeptByProvider {
			continue
		}
		w := replay.Evidence{}
		verdict, how := v.VerdictOn(r)
		if w.Verdict, w.Words = verdict, how; verdict == replay.Unproven || verdict == replay.Refused && !isAboutCalls(how) {
			continue
		}
		for _, c := range calls {
			if b, ok := v.Carried(c, r.Exchange); ok && b.Part != nil {
				w.To, w.Calls = b.To, append(w.Calls, *b.Part)
			}
		}
		if len(w.Calls) == len(calls) {
			all = append(all, w)
		}
	}
	return all
}

// isAboutCalls reports whether the text of a refusal may be about calls. A request may also be refused for many other
// reasons.
func isAboutCalls(words string) bool {
	words = strings.ToLower(words)
	return slices.ContainsFunc([]string{"tool", "function", "argument", "call_id"}, func(s string) bool { return strings.Contains(words, s) })
}
