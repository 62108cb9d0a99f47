package providers

import (
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/providers/schema"
	"toolscope/providers/textcall"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

var toolChoiceIgnored = &stream.Diagnosis{
	Code: "TOOL_CHOICE_IGNORED", Severity: stream.Warn, By: stream.Provider,
	Verdict: "wrong choice",
	Meaning: "The response breaks a rule in the request: tool_choice requires a call but there is none, tool_choice excludes the call, or parallel calls are off but there are several.",
	Advice:  "Check the calls before you run them. Find out whether the server and its gateways support tool_choice and parallel_tool_calls for this model.",
}

var streamIgnored = &stream.Diagnosis{
	Code: "STREAM_IGNORED", Severity: stream.Info, OtherSeverities: []stream.Severity{stream.Warn}, By: stream.Gateway,
	SeverityNote: "warn if the client can't read such a response",
	Verdict:      "wrong form",
	Meaning:      "The request asks for an event stream, but the response is a single body, or the reverse. Most clients can't read it: the SDKs of OpenAI and Anthropic for JavaScript return no chunks, a string or undefined fields, and the AI SDK reports an error (seen when run).",
	Advice:       "Find out which server or gateway ignores the field stream, or set the field to what the server supports.",
}

// needsItsForm has the clients that can't read a response in the form that their request doesn't ask for. OpenAI's SDK
// 6.49.0, Anthropic's 1.14.0 and the AI SDK 6.0.326 were run.
var needsItsForm = map[string]bool{"openai-js": true, "anthropic-js": true, "ai-sdk": true}

// streamFieldPaths match the paths of protocols in which only the field stream requests a stream.
var streamFieldPaths = lazyregexp.New(`/(?:chat/completions|completions|messages|responses)$`)

// describeForm describes the form of a response if its request asks for the other form. Otherwise, it returns false. It
// knows only forms that programs record without a change.
func describeForm(x *Exchange, on *historyLink) (stream.Message, bool) {
	isStream := x.Framing == "SSE"
	if isStream == on.streams || !on.whole || x.Head.Method != "POST" || LooksLike(x.RequestBody()) != LooksLikeRequest ||
		x.Head.Wrappers != "" && x.Head.Wrappers != "har" || !streamFieldPaths().MatchString(x.Path()) {
		return stream.Message{}, false
	}
	if isStream {
		return stream.Messagef("the request asks for a single body, but the response is an event stream"), true
	}
	return stream.Messagef("the request asks for an event stream, but the response is none"), true
}

// toolChoice is the part of a request that determines which tools the model must or may call.
type toolChoice struct {
	required bool     // the response must have a call
	none     bool     // the response must not have a call
	single   bool     // the response must not have several calls
	names    []string // the only tools that the response may call; nil for all tools
	field    string   // the field that contains the choice
}

// readField reads one field of a request.
func (c *toolChoice) readField(key string, s *json.Scanner) {
	switch key {
	case "tool_choice":
		c.field = key
		c.readChoice(s.Value())
	case "parallel_tool_calls":
		c.single = c.single || string(s.Value()) == "false"
	case "toolConfig", "tool_config":
		c.readConfig(s.Value())
	}
}

// readChoice reads tool_choice, which is either a word or an object.
func (c *toolChoice) readChoice(v json.Value) {
	kind := v.Get("type").Text()
	if v.IsString() {
		kind = v.Text()
	}
	switch strings.ToLower(kind) {
	case "required", "any":
		c.required = true
	case "none":
		c.none = true
	case "tool", "function", "custom": // Anthropic, Chat Completions, Responses
		name := v.Get("name").Text()
		if inner := v.Get(kind).Get("name"); inner.HasText() {
			name = inner.Text()
		}
		c.required = true
		if name != "" {
			c.names = []string{name}
		}
	case "allowed_tools":
		inner := v
		if own := v.Get("allowed_tools"); own.Kind() == '{' {
			inner = own
		}
		c.required = inner.Get("mode").Is("required")
		c.readAllowed(inner.Get("tools"))
	}
	c.single = c.single || v.Get("disable_parallel_tool_use").IsTrue()
}

// readAllowed reads a list of allowed tools. If one of them is not a function, the calls in the response
// can't be compared with the list.
func (c *toolChoice) readAllowed(tools json.Value) {
	for tool := range tools.Elements() {
		kind, name := tool.Get("type").Text(), tool.Get("name").Text()
		if inner := tool.Get(kind).Get("name"); inner.HasText() {
			name = inner.Text()
		}
		if name == "" || kind != "function" && kind != "custom" {
			c.names = nil
			return
		}
		c.names = append(c.names, name)
	}
}

// readConfig reads the tool configuration of Gemini or Bedrock.
func (c *toolChoice) readConfig(v json.Value) {
	if choice := v.Get("toolChoice"); choice.Kind() == '{' { // Bedrock
		c.field = "toolChoice"
		name := choice.Get("tool").Get("name")
		c.required = name.HasText() || choice.Get("any").IsPresent()
		if name.HasText() {
			c.names = []string{name.Text()}
		}
		return
	}
	calling := v.Get("functionCallingConfig")
	if !calling.IsPresent() {
		calling = v.Get("function_calling_config")
	}
	c.field = "functionCallingConfig"
	switch mode := calling.Get("mode").Text(); mode {
	case "ANY":
		c.required = true
		for name := range calling.Get("allowedFunctionNames").Elements() {
			c.names = append(c.names, name.Text())
		}
	case "NONE":
		c.none = true
	}
}

// compareWithRequest compares a response that ended normally with its request. It skips WebSockets, logs and session
// files, because their requests don't each belong to exactly one response.
func (x *Exchange) compareWithRequest(e *stream.Event, number int32) {
	if e.Kind != stream.TurnClose || e.Turn == stream.NoTurn || len(x.turns) != 1 || x.HasManyRequests() ||
		x.Head.Reconstructed || sessionOf(x.Head) != nil || x.gap.requestBytes > 0 || x.out.Refused || !isDecoded(x.Protocol) {
		return
	}
	on := x.past.on
	if !x.past.observed {
		on = readHistoryLink(x.RequestBody())
	}
	t := x.in.Session().Turn(e.Turn)
	if !t.Closed() || t.Phase() != stream.TurnComplete || t.HasGap() || t.Failure != "" {
		return
	}
	if message, isWrong := on.choice.describeConflict(t); isWrong {
		x.emit(findingEvent(number, toolChoiceIgnored, "%s", message))
	}
	if message, isWrong := describeForm(x, &on); isWrong {
		d := streamIgnored
		if needsItsForm[x.Client] {
			d = d.WithSeverity(stream.Warn)
		}
		x.emit(findingEvent(number, d, "%s", message))
	}
}

// describeConflict describes how a turn differs from the choice. It returns false if there is no difference.
// Calls that the provider ran count as calls, but only the client's calls are restricted.
func (c *toolChoice) describeConflict(t *stream.Turn) (stream.Message, bool) {
	byChoice := map[int32]int{}
	var excluded *stream.Call
	for _, call := range t.Calls {
		if call.RunByProvider || call.Discarded {
			continue
		}
		byChoice[call.Choice]++
		if excluded == nil && (c.none || len(c.names) > 0 && !slices.Contains(c.names, call.Name)) {
			excluded = call
		}
	}
	several := 0
	for _, n := range byChoice {
		several = max(several, n)
	}
	isText := slices.ContainsFunc(t.Findings, func(f stream.Finding) bool { return f.Base() == protocol.TextToolCall })
	switch {
	case excluded != nil && c.none:
		return stream.Messagef("the request's %s is none, but the response calls %s", stream.Own(c.field), stream.Fact(excluded.Name)), true
	case excluded != nil:
		return stream.Messagef("the request's %s allows only %s, but the response calls %s",
			stream.Own(c.field), stream.Fact(strings.Join(c.names, ", ")), stream.Fact(excluded.Name)), true
	case c.required && len(t.Calls) == 0 && !isText:
		return stream.Messagef("the request's %s requires a call, but the response has none", stream.Own(c.field)), true
	case c.single && several > 1:
		return stream.Messagef("the request turns off parallel calls, but the response has %s", stream.Own(count.Of(several, "call"))), true
	}
	return stream.Message{}, false
}

var budgetToThinking = &stream.Diagnosis{
	Code: "BUDGET_TO_THINKING", Severity: stream.Warn, By: stream.Model,
	Verdict: "only thinking",
	Meaning: "The token limit cut off the response, and reasoning used nearly all the output tokens. The response contains no call and no text.",
	Advice:  "Raise the token limit above the reasoning budget, or lower the budget. The same request with the same limit will probably fail again.",
}

const (
	maxRestBytes   = 64  // maximum size of text and arguments in a response with only reasoning
	minReasonShare = 0.9 // minimum share of reasoning in the output
)

// limitWords matches finish reasons about a token limit, and not about a filter.
var limitWords = lazyregexp.New(`(?i)max|length|context|limit|budget|token|^(?:2|incomplete)$`)

// checkBudget reports a turn that a limit cut off when it contained little more than reasoning.
func (x *Exchange) checkBudget(e *stream.Event, number int32) {
	if e.Kind != stream.TurnClose || e.Turn == stream.NoTurn {
		return
	}
	t := x.in.Session().Turn(e.Turn)
	if t.Phase() != stream.TurnTruncated || !limitWords().MatchString(t.Finish) || t.HasGap() || len(t.Thinking) == 0 && t.Usage.Reasoning.N == 0 {
		return
	}
	if slices.ContainsFunc(t.Findings, func(f stream.Finding) bool {
		return f.Code == "FIN_INCOMPLETE" && strings.Contains(f.Message, "filter")
	}) {
		return
	}
	rest := len(t.Text)
	for _, c := range t.Calls {
		if rest += c.ArgsLen(); c.Phase() == stream.PhaseSealed {
			return
		}
	}
	if rest > maxRestBytes {
		return
	}
	share := float64(len(t.Thinking)) / float64(max(1, len(t.Thinking)+rest))
	f := budgetToThinking.Finding("the limit cut off the response, and reasoning used all of the tokens: no call and no text arrived")
	if r, out := t.Usage.Reasoning, t.Usage.Output; r.Reported && out.N > 0 {
		share = min(1, float64(r.N)/float64(out.N))
		f = budgetToThinking.Finding("reasoning used %d of %d output tokens, and then the limit cut off the response: no call and no text arrived", r.N, out.N)
	}
	if share < minReasonShare {
		return
	}
	f = f.WithDetail("budget", "reasoning_share", share)
	x.emit(stream.Event{Kind: stream.Found, Turn: number, Slot: stream.NoSlot, What: &f})
}

var responseEmpty = &stream.Diagnosis{
	Code: "RESPONSE_EMPTY", Severity: stream.Info, By: stream.Model,
	Verdict: "empty",
	Meaning: "The response to a request with tools is complete, but contains neither text nor a call. Agents end their task here, or repeat the request, as Gemini CLI does.",
	Advice:  "Repeat the request, or tell the model to continue. Send nothing else in the message with the results: Claude may end its turn after a text there.",
}

// maxEmptyTokens is the maximum number of output tokens of a response without content, not counting its reasoning. A
// response with more tokens has content that toolscope doesn't read, such as audio.
const maxEmptyTokens = 16

// doneWords are the finish reasons of a turn that the model ended.
var doneWords = []string{"stop", "end_turn", "STOP", "completed", "COMPLETE"}

// checkContent reports a complete turn without text and calls, if the request has tools.
func checkContent(x *Exchange, e *stream.Event, number int32) {
	if e.Kind != stream.TurnClose || e.Turn == stream.NoTurn {
		return
	}
	t := x.in.Session().Turn(e.Turn)
	text, thinking := t.TextLens()
	switch {
	case t.Phase() != stream.TurnComplete, len(t.Calls) > 0, text > 0, t.HasGap(), t.FromHistory, t.Shown, !slices.Contains(doneWords, t.Finish):
		return
	case t.Usage.Output.N-t.Usage.Reasoning.N > maxEmptyTokens, sessionOf(x.Head) != nil, x.requests.latest != nil && x.requests.latest.Background, x.check.declaredTools() == nil:
		return
	}
	if slices.ContainsFunc(t.Findings, func(f stream.Finding) bool { return f.Base() == protocol.TextToolCall }) {
		return // the call is in the reasoning
	}
	f := responseEmpty.Finding("the response is complete (%s), but has no text and no call", stream.Fact(t.Finish))
	if thinking > 0 {
		f = responseEmpty.Finding("the response is complete (%s), but has only reasoning: no text and no call", stream.Fact(t.Finish))
	}
	x.emit(stream.Event{Kind: stream.Found, Turn: number, Slot: stream.NoSlot, What: &f})
}

// textCalls finds calls that the provider's parser missed in the text or the reasoning of a turn.
type textCalls struct {
	x        *Exchange
	reported []int32 // the decoder's numbers of open turns for which a call was reported
}

// beforeEvent replaces the finding that a call was lost, if the call is in the text, and reports a call in
// the text when the turn closes. It must be called before an event of the decoder is added to the timeline.
func (c *textCalls) beforeEvent(e *stream.Event) {
	switch e.Kind {
	case stream.Found:
		if stream.PayloadOf[stream.Finding](*e).Diagnosis != protocol.FinishWithoutCall {
			return
		}
		if f, ok := c.findIn(e.Turn, protocol.TextToolCall.WithSeverity(stream.Error)); ok {
			c.reported = append(c.reported, e.Turn)
			e.What = &f
		}
	case stream.TurnClose:
		t := c.turnOf(e.Turn)
		hasFinish := t != nil && t.Finish != ""
		if i := slices.Index(c.reported, e.Turn); i >= 0 {
			c.reported = slices.Delete(c.reported, i, i+1)
		} else if c.x.closing && (c.x.cutShort() || c.x.cutByUnknown() || e.Code == stream.CloseCut && !hasFinish) {
			return // the text may continue, or the same call may follow
		} else if f, ok := c.findIn(e.Turn, protocol.TextToolCall); ok {
			c.x.emit(stream.Event{Kind: stream.Found, Turn: e.Turn, Slot: stream.NoSlot, What: &f})
		}
	}
}

// turnOf returns the turn with the decoder's number, or nil.
func (c *textCalls) turnOf(number int32) *stream.Turn {
	if number < 0 || int(number) >= len(c.x.turns) {
		return nil
	}
	return c.x.in.Session().Turn(c.x.turns[number])
}

// findIn returns a finding about the call at the end of a turn's text or reasoning. The result ok is false if
// there is none.
func (c *textCalls) findIn(number int32, d *stream.Diagnosis) (f stream.Finding, ok bool) {
	t := c.turnOf(number)
	if t == nil || !isDecoded(c.x.Protocol) || t.HasGap() || t.Failure != "" {
		return f, false
	}
	otherCalls := slices.ContainsFunc(t.Calls, func(call *stream.Call) bool { return !call.RunByProvider })
	for _, place := range [...]struct {
		name string
		text []byte
	}{{"text", t.Text}, {"reasoning", t.Thinking}} {
		found, is := textcall.Find(place.text, c.declaredTools, otherCalls)
		if !is || slices.ContainsFunc(t.Calls, func(call *stream.Call) bool { return call.Name == found.Tool }) {
			continue
		}
		if found.Form == "antml" && c.isClaude(t) {
			d = d.WithCause(stream.Model)
		}
		f = d.Finding("the %s ends with a call to %s in %s (byte %d, %s), but no client ran this call",
			stream.OwnFact(place.name), stream.Fact(found.Tool), stream.Own(found.Title), found.Offset, found.Opening)
		f.InText = &stream.InText{Form: found.Form, Tool: found.Tool, In: place.name, Offset: found.Offset}
		return f, true
	}
	return f, false
}

// declaredTools returns the tools that the request declares.
func (c *textCalls) declaredTools() textcall.Tools {
	body := c.x.RequestBody()
	if len(body) == 0 || c.x.Protocol.Tools == nil || c.x.Head.Reconstructed {
		return textcall.Tools{}
	}
	set := c.x.check.declaredTools()
	if set == nil {
		return textcall.Tools{Known: true, Has: func(string) bool { return false }}
	}
	list, more := set.Tools()
	return textcall.Tools{Known: !more, Has: func(name string) bool {
		return slices.ContainsFunc(list, func(t protocol.Tool) bool { return t.Name == name })
	}}
}

// isClaude reports whether the response probably comes from one of Claude's own hosts. These hosts don't need
// to parse calls out of text.
func (c *textCalls) isClaude(t *stream.Turn) bool {
	if !strings.Contains(t.Model, "claude") {
		return false
	}
	switch url := c.x.Head.URL; {
	case strings.Contains(url, "anthropic"), strings.Contains(url, "amazonaws.com"):
		return true
	default:
		return !strings.Contains(url, "://") && t.Protocol != "openai-chat"
	}
}

// schemaCheck checks the calls of one exchange against the tools that its request declares. Without declared
// tools, it checks nothing.
type schemaCheck struct {
	x           *Exchange
	set         *schema.Set
	tools       []protocol.Tool // tools in a body of bodySize bytes; see toolsIn
	bodySize    int
	requestSize int64 // size of the request from which set was made
	reported    bool  // it was already reported that Inspector.Request declares no tools
	watches     map[callKey]*schema.CallChecker
	waiting     []callKey // calls that became final without arguments, and wait for the finish reason
}

// callKey identifies the call that is currently in a slot.
type callKey struct{ turn, slot int32 }

// DeclaresTools reports whether any protocol finds tools in a request.
func DeclaresTools(request []byte) bool {
	for _, d := range All {
		if d.Tools != nil && len(d.Tools(request)) > 0 {
			return true
		}
	}
	return false
}

// RequestBody returns the body of the exchange's request. If no request was captured, it returns
// Inspector.Request. It returns nil if there is neither, or if bytes of the request were missed. For a
// session file, the body is derived from the entries.
func (x *Exchange) RequestBody() []byte {
	switch {
	case x.gap.requestBytes > 0:
		return nil // the bytes around a gap are not a body
	case x.Request.Size() == 0:
		return x.in.Request
	}
	body := x.Request.Bytes(0, x.Request.Size())
	if d := sessionOf(x.Head); d != nil && body[len(body)-1] == '\n' { // older captures contain the request itself
		return d.Request(body)
	}
	return body
}

// requestSize returns the number of request bytes that arrived or, if there are none, the size of Inspector.Request.
func (x *Exchange) requestSize() int64 {
	if size := x.Request.Size(); size > 0 {
		return size
	}
	return int64(len(x.in.Request))
}

// Path returns the path of the request's URL.
func (x *Exchange) Path() string { return x.path }

// declaredTools returns the tools that the request declares, or nil. The tools are only read when a call
// opens. So a response that has only text costs nothing, and the request is complete when it is read.
func (c *schemaCheck) declaredTools() *schema.Set {
	if c.x.gap.requestBytes > 0 {
		return nil
	}
	size := c.x.requestSize()
	if c.x.Protocol.Tools != nil && size != c.requestSize && c.x.past.heard == 0 {
		c.requestSize = size
		body := c.x.RequestBody()
		list, more, on := c.toolsIn(body), false, c.x.past.on
		if !c.x.past.observed {
			on = readHistoryLink(body)
		}
		if on.thread {
			var kept []protocol.Tool
			kept, more = c.x.in.toolsAfter(on)
			list = joinTools(kept, list)
		}
		c.set = c.x.in.toolSet(list, more)
	}
	return c.set
}

// toolsIn returns the tools that the request's body declares, in the form of the exchange's protocol. It reads each body
// only once.
func (c *schemaCheck) toolsIn(body []byte) []protocol.Tool {
	if p := c.x.Protocol; p != nil && p.Tools != nil && len(body) != c.bodySize {
		c.tools, c.bodySize = p.Tools(body), len(body)
	}
	return c.tools
}

// RequiredArgs returns an outline of the arguments for a call's tool, or "" if they are unknown.
func (x *exchangeContent) RequiredArgs(c *stream.Call) string {
	if x.check.set == nil || c.RunByProvider || c.Freeform() {
		return ""
	}
	return x.check.set.Outline(c.Namespace, c.Name)
}

// Required returns the keys that a call's tool requires. The result known is false if the keys are unknown.
func (x *exchangeContent) Required(c *stream.Call) (keys []string, known bool) {
	if x.check.set == nil || c.RunByProvider || c.Freeform() {
		return nil, false
	}
	return x.check.set.Required(c.Namespace, c.Name)
}

// maxRecentSets is the maximum number of kept lists of tools. An agent sends the same list with every request, and
// its sub-agents send their own lists.
const maxRecentSets = 8

// toolSet returns the Set of the given tools. The parameter more is true if other tools are possible. Where it can,
// toolSet reuses a kept Set, whose schemas are already compiled.
func (in *Inspector) toolSet(tools []protocol.Tool, more bool) *schema.Set {
	for _, s := range in.sets {
		if s.Is(tools, more) {
			return s
		}
	}
	s := schema.Compile(tools, more)
	if s != nil {
		in.sets = append(in.sets[max(0, len(in.sets)+1-maxRecentSets):], s)
	}
	return s
}

// afterEvent checks e, the latest event in the timeline, against the tools. It adds the findings.
func (c *schemaCheck) afterEvent(e *stream.Event) {
	if e.Kind != stream.CallOpen && len(c.watches) == 0 {
		return
	}
	key := callKey{e.Turn, e.Slot}
	if e.Turn != stream.NoTurn && c.x.in.Session().Turn(e.Turn).HasGap() {
		return // because bytes are missing, these are not the arguments that the tool received
	}
	switch e.Kind {
	case stream.CallOpen:
		delete(c.watches, key)
		c.followCall(*e)
	case stream.CallMeta, stream.Args, stream.Rewrite:
		if w := c.checkerOf(key); w != nil {
			c.addFindings(*e, e.Slot, w.Extend())
		}
	case stream.Seal:
		if w := c.checkerOf(key); w != nil && e.Code == stream.SealWithdrawn {
			w.Unseal()
		} else if w != nil {
			c.addFindings(*e, e.Slot, w.Seal())
			if w.Waiting() {
				c.waiting = append(c.waiting, key)
			}
		}
	case stream.Finish:
		c.judgeWaiting(*e)
	case stream.TurnClose:
		for k := range c.watches {
			if k.turn == e.Turn {
				delete(c.watches, k)
			}
		}
	}
}

// followCall begins to check the call that the event opened.
func (c *schemaCheck) followCall(e stream.Event) {
	set := c.declaredTools()
	if set == nil {
		if !c.reported && len(c.x.in.Request) != 0 && c.x.Request.Size() <= 0 {
			c.reported = true
			c.addFindings(e, stream.NoSlot, []stream.Finding{
				schema.Unchecked.Finding("the given request declares no tools in this protocol's form: calls are not checked"),
			})
		}
		return
	}
	calls := c.x.in.Session().Turn(e.Turn).Calls
	w := set.NewChecker(calls[len(calls)-1])
	if w == nil {
		return
	}
	if c.watches == nil {
		c.watches = map[callKey]*schema.CallChecker{}
	}
	c.watches[callKey{e.Turn, e.Slot}] = w
	c.addFindings(e, e.Slot, w.Extend())
}

// checkerOf returns the checker of a call, or nil.
func (c *schemaCheck) checkerOf(key callKey) *schema.CallChecker {
	w := c.watches[key]
	if w != nil {
		_, call := c.x.in.Session().Find(w.Call().Ref())
		w.SetCall(call)
	}
	return w
}

// judgeWaiting checks each call that waited for the finish reason e.
func (c *schemaCheck) judgeWaiting(e stream.Event) {
	c.waiting = slices.DeleteFunc(c.waiting, func(key callKey) bool {
		w := c.checkerOf(key)
		if w == nil || !w.Waiting() {
			return true
		}
		if key.turn != e.Turn || e.Slot != stream.AllChoices && e.Slot != w.Call().Choice {
			return false
		}
		found := w.Finish()
		if !c.x.isAtOwner() {
			for i := range found { // no byte arrived: the model wrote none, or a translation lost them
				found[i].By = stream.UnknownParty
			}
		}
		c.addFindings(e, key.slot, found)
		return true
	})
}

// addFindings adds findings after the event that caused them.
func (c *schemaCheck) addFindings(cause stream.Event, slot int32, found []stream.Finding) {
	for _, f := range found {
		c.x.in.Timeline.Append(stream.Event{
			Kind: stream.Found, At: cause.At, Frame: cause.Frame, Turn: cause.Turn, Slot: slot,
			What: &f,
		})
	}
}
