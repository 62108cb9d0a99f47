// Package acp decodes the Agent Client Protocol: the JSON-RPC messages that an editor and an agent exchange, one
// per line; see https://agentclientprotocol.com.
//
// A turn is one prompt, until the agent's response to it. A prompt may need several responses of the model. The
// messages contain what the agent shows to its user: calls often have the agent's own ids, their arguments may
// differ from the model's, and a call may have no arguments at all. The facts are from running Copilot CLI 1.0.102,
// opencode 1.18.33, claude-code-acp 0.16.2, claude-agent-acp 0.101.0, codex-acp 2.6.0, Gemini CLI 0.61.0, Qwen Code
// 0.24.4 and Kimi Code 2.1.0, which differ in all these points.
package acp

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

const (
	Name   = "acp"  // name of the protocol in machine output
	Scheme = "acp:" // beginning of a recorded connection's URL, before the name of the agent
)

// Protocol returns the Agent Client Protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:          Name,
		Title:         "Agent Client Protocol",
		Sniff:         sniffMessage,
		ParallelTurns: true,
		ByAgent:       true,
		Findings:      []*stream.Diagnosis{inputNotShown, callAllowed, callUnasked, callOpen, ranRejected, promptCancelled},
		New: func(o *protocol.Out) protocol.Decoder {
			return &decoder{Out: o, named: map[string]*session{}, asked: map[string][]request{}}
		},
	}
}

func sniffMessage(e protocol.SniffInput) protocol.SniffScore {
	if !e.Get("jsonrpc").Is("2.0") {
		return protocol.SniffScore{}
	}
	method, params, result := e.Get("method").Text(), e.Get("params"), e.Get("result")
	_, numbered := params.Get("protocolVersion").Int()
	_, answers := result.Get("protocolVersion").Int()
	switch {
	case numbered && method == "initialize", answers,
		strings.HasPrefix(method, "session/") && (params.Get("sessionId").IsString() || params.Get("cwd").IsString()),
		hasPrefix(method, "fs/", "terminal/") && params.Get("sessionId").IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "method " + cmp.Or(method, "initialize")}
	case result.Get("stopReason").IsString() && !result.Get("content").IsPresent(), // a result of MCP's sampling has content
		result.Get("outcome").Get("outcome").IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a JSON-RPC result of ACP"}
	case result.Get("sessionId").IsString():
		return protocol.SniffScore{Points: protocol.Strong, Why: "a JSON-RPC result with a session"}
	}
	return protocol.SniffScore{}
}

func hasPrefix(word string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(word, p) })
}

var (
	inputNotShown = &stream.Diagnosis{
		Code: "ACP_NO_INPUT", Severity: stream.Info, By: stream.Client, ExplainsState: true,
		Meaning: "The agent showed a call without its arguments. The model may have written arguments.",
		Advice:  "Record the agent's requests with toolscope run to see the model's arguments.",
	}
	callAllowed = &stream.Diagnosis{
		Code: "PERMISSION_GIVEN", Severity: stream.Info, By: stream.Client,
		Meaning: "The agent asked for permission to run the call, and the user or the editor allowed it.",
		Advice:  "Nothing.",
	}
	callUnasked = &stream.Diagnosis{
		Code: "ACP_UNASKED", Severity: stream.Info, By: stream.Client,
		Meaning: "The agent ran a call that can change something, but asked for no permission in the session.",
		Advice:  "Check the agent's permission mode and its list of allowed tools if it should have asked.",
	}
	callOpen = &stream.Diagnosis{
		Code: "ACP_OPEN", Severity: stream.Info, By: stream.Client,
		Meaning: "The prompt or the connection ended, but the agent never showed the end of the call. The editor may still show the call as running.",
		Advice:  "Check whether the tool is still running. Report the problem to the developers of the agent if the prompt ended normally.",
	}
	ranRejected = &stream.Diagnosis{
		Code: "ACP_RAN_REJECTED", Severity: stream.Info, By: stream.Client,
		Verdict: "ran refused",
		Meaning: "The user or the editor refused a call, but the agent reports that the call completed.",
		Advice:  "Check the effects of the call. Report the problem to the developers of the agent.",
	}
	promptCancelled = &stream.Diagnosis{
		Code: "PROMPT_CANCELLED", Severity: stream.Info, By: stream.Client,
		Meaning: "The editor cancelled the prompt. Calls that had not ended may have been stopped.",
		Advice:  "Nothing.",
	}
)

// stopReasons are an agent's reasons for ending a prompt.
var stopReasons = protocol.FinishReasons{What: "stop reason", Codes: map[string]stream.Code{
	"end_turn": stream.FinishDone, "max_tokens": stream.FinishCut, "max_turn_requests": stream.FinishCut,
	"refusal": stream.FinishRefused, "cancelled": stream.FinishCancelled,
}}

// decoder reads the messages of one connection.
type decoder struct {
	*protocol.Out
	sessions []*session // in the order in which they began
	named    map[string]*session
	asked    map[string][]request // requests without a response, by id; the latest is last
}

// request is a request that has no response yet. Both sides number their requests, so several may have the same id.
type request struct {
	method  string
	session *session
	call    *call      // the call that a request for permission is about, or nil
	options json.Value // the options in a request for permission

	terminal string // in a request for a terminal's text: id of the terminal
}

// session is one session of the agent.
type session struct {
	model   string
	turn    *protocol.Turn   // the latest prompt
	calls   map[string]*call // by id
	open    []*call          // calls of the turn that have not ended
	loading bool             // the agent is repeating the history of an earlier connection
	asks    bool             // the agent has asked for permission

	terminals map[string][]byte // text of the editor's terminals that the agent has read, by id
	unasked   bool              // callUnasked was reported
}

// call is one call of a session.
type call struct {
	*protocol.Call
	kind            string
	rank            int // rank of the name's source; see nameOf
	title           string
	input           []byte
	content, output json.Value // latest content and raw output
	terminal        []byte     // text that the call wrote to a terminal
	rejected        bool
	refusal         string // name of the answer with which the user rejected the call
}

// Frame reads one message. Before the first turn, lines that are not JSON objects are treated as messages to the user.
func (d *decoder) Frame(f stream.Frame) error {
	line := json.Value(f.Data)
	if line.Kind() != '{' && d.Last() == nil {
		d.Heartbeat()
		return nil
	}
	if err := json.Read(line); err != nil {
		return err
	}
	switch method, id := line.Get("method"), line.Get("id"); {
	case method.IsString():
		d.readMethod(method.Text(), string(id), line.Get("params"))
	case id.IsPresent():
		d.readResponse(string(id), line)
	default:
		d.Unknown("")
	}
	return nil
}

func (d *decoder) readMethod(method, id string, params json.Value) {
	r := request{method: method, session: d.ensureSession(params.Get("sessionId").Text()), terminal: params.Get("terminalId").Text()}
	switch {
	case method == "session/prompt":
		d.cutTurn(r.session, "another prompt began before this one ended")
		d.openTurn(r.session)
	case method == "session/update":
		d.readUpdate(r.session, params.Get("update"))
	case method == "session/request_permission":
		r.call = d.readPermission(r.session, params.Get("toolCall"))
		r.options = bytes.Clone(params.Get("options"))
	case method == "session/load":
		r.session.loading = true
		d.Heartbeat()
	case method == "session/set_model":
		r.session.model = params.Get("modelId").Text()
		d.Heartbeat()
	case method == "initialize", method == "authenticate", method == "logout",
		hasPrefix(method, "session/", "fs/", "terminal/", "_", "$/"):
		d.Heartbeat()
	default:
		d.Unknown(method)
	}
	if id != "" {
		d.asked[id] = append(d.asked[id], r)
	}
}

func (d *decoder) ensureSession(id string) *session {
	s := d.named[id]
	if s == nil {
		s = &session{calls: map[string]*call{}}
		d.named[id] = s
		d.sessions = append(d.sessions, s)
	}
	return s
}

func (d *decoder) openTurn(s *session) *protocol.Turn {
	s.turn, s.open = d.Open(stream.Opening{Model: s.model, Shown: true}), nil
	d.Once(protocol.NoModelWords, "an agent shows its own work to its editor: "+
		"one turn may contain several responses, and the arguments are those that the agent shows")
	return s.turn
}

// ensureTurn returns the open turn of a session. If no turn is open, it opens one.
func (d *decoder) ensureTurn(s *session) *protocol.Turn {
	if s.turn.IsOpen() {
		return s.turn
	}
	return d.openTurn(s)
}

func (d *decoder) readUpdate(s *session, u json.Value) {
	switch kind := u.Get("sessionUpdate").Text(); {
	case s.loading:
		d.Heartbeat()
	case kind == "tool_call", kind == "tool_call_update":
		if c := d.ensureCall(s, u); c != nil {
			d.updateCall(s, c, u)
		}
	case kind == "agent_message_chunk" && (s.turn == nil || s.turn.IsOpen()):
		d.ensureTurn(s).AppendText(u.Get("content").Get("text"))
	case kind == "agent_thought_chunk" && (s.turn == nil || s.turn.IsOpen()):
		d.ensureTurn(s).AppendReasoning(0, u.Get("content").Get("text"))
	case kind == "plan", strings.HasSuffix(kind, "_chunk"), strings.HasSuffix(kind, "_update"):
		d.Heartbeat()
	default:
		d.Unknown(kind)
	}
}

// ensureCall returns the call that a message is about. The first message about a call opens the call, whatever the
// kind of the message. If the call has no id, or is only counted because its turn is full, the result is nil.
func (d *decoder) ensureCall(s *session, u json.Value) *call {
	id := u.Get("toolCallId").Text()
	name, rank := nameOf(u)
	c := s.calls[id]
	switch {
	case id == "":
		d.Unknown("a call without an id")
		return nil
	case c == nil:
		info := stream.CallInfo{ID: turnPrefix().ReplaceAllString(id, ""), Name: name, Kind: cmp.Or(u.Get("kind").Text(), "other")}
		input := u.Get("rawInput")
		info.Freeform = input.HasText() && json.Read(input.Append(nil)) != nil // text that isn't JSON
		c = &call{Call: d.ensureTurn(s).NextCall(info), kind: info.Kind, rank: rank}
		if c.IsCounted() {
			d.Heartbeat()
			return nil
		}
		s.calls[id], s.open = c, append(s.open, c)
	case rank > c.rank && !c.hasEnded(s):
		c.rank = rank
		c.Meta(stream.CallInfo{Name: name})
	default:
		d.Heartbeat()
	}
	return c
}

// hasEnded reports whether the call is over, because it completed or failed or because a later turn began.
func (c *call) hasEnded(s *session) bool { return !slices.Contains(s.open, c) }

var (
	plainWord = lazyregexp.New(`^[A-Za-z_][\w.-]{0,63}$`)

	// turnPrefix matches the turn number that Kimi Code writes before the provider's id.
	turnPrefix = lazyregexp.New(`^\d+:\b`)
)

// nameOf returns the name of the tool: the name in an agent's own fields, the title of a new call if it is one word,
// or else the kind. A higher rank means a better source. Later titles, and titles that repeat an argument, describe
// the call instead of naming the tool.
func nameOf(u json.Value) (name string, rank int) {
	own := []json.Value{u.Get("name"), u.Get("_meta").Get("toolName")}
	for _, field := range json.Members(u.Get("_meta")) {
		own = append(own, json.Value(field).Get("toolName"))
	}
	for _, tool := range own {
		if tool.HasText() {
			return tool.Text(), 3
		}
	}
	title := u.Get("title")
	isArgument := false
	for _, argument := range json.Members(u.Get("rawInput")) {
		isArgument = isArgument || json.Same(argument, title)
	}
	if u.Get("sessionUpdate").Is("tool_call") && plainWord().MatchString(title.Text()) && !isArgument {
		return title.Text(), 2
	}
	if kind := u.Get("kind").Text(); kind != "" {
		return "[" + kind + "]", 1
	}
	return "[other]", 0
}

// updateCall updates a call with the fields of a message.
func (d *decoder) updateCall(s *session, c *call, u json.Value) {
	c.readInput(u.Get("rawInput"))
	for _, field := range []string{"terminal_output", "terminal_output_delta"} { // Zed's agents show this text outside the call's content
		if text := u.Get("_meta").Get(field).Get("data"); len(c.terminal) < maxTerminal {
			c.terminal = text.Append(c.terminal)
		}
	}
	c.title = cmp.Or(u.Get("title").Text(), c.title)
	for _, part := range []struct {
		to   *json.Value
		news json.Value
	}{{&c.content, u.Get("content")}, {&c.output, u.Get("rawOutput")}} {
		if part.news.IsPresent() {
			*part.to = bytes.Clone(part.news)
		}
	}
	switch status := u.Get("status").Text(); status {
	case "in_progress":
		c.sealShown()
	case "completed", "failed":
		d.endCall(s, c, status == "failed")
	}
}

// maxTerminal is the maximum size of the terminal text that is kept of a call.
const maxTerminal = 1 << 20

// maxTerminals is the maximum number of terminals whose text is kept.
const maxTerminals = 64

// keepTerminal keeps the text of a terminal that the editor runs for the agent, because calls contain only the
// terminal's id.
func (s *session) keepTerminal(id string, text json.Value) {
	if s.terminals == nil || len(s.terminals) == maxTerminals {
		s.terminals = map[string][]byte{}
	}
	kept := text.Append(nil)
	s.terminals[id] = kept[:min(len(kept), maxTerminal)]
}

// readInput reads the arguments of a call. Agents repeat the arguments, which are often empty or incomplete at first.
// Once a running tool has arguments, later arguments come from the agent instead of the model, and are ignored.
func (c *call) readInput(input json.Value) {
	text := input
	if input.IsString() {
		text = input.Append(nil)
	}
	switch {
	case !input.IsPresent(), len(text) == 0, input.EmptyObject(), c.Sealed, json.Same(c.input, text):
	case c.Bytes == 0:
		c.input = bytes.Clone(text)
		c.ArgsText(text, nil)
	default:
		c.input = bytes.Clone(text)
		c.Rewrite(text, nil)
	}
}

// sealShown makes the arguments final if the agent has shown any.
func (c *call) sealShown() {
	switch {
	case c.Sealed, c.Bytes == 0:
	case c.rejected:
		c.Reject(c.refusal)
	default:
		c.Seal()
	}
}

// endCall makes the arguments final and reports the result. It does nothing if the call has already ended.
func (d *decoder) endCall(s *session, c *call, failed bool) {
	if c.hasEnded(s) {
		return
	}
	s.open = slices.DeleteFunc(s.open, func(other *call) bool { return other == c })
	c.finishArgs()
	for block := range c.content.Elements() {
		c.terminal = append(c.terminal, s.terminals[block.Get("terminalId").Text()]...)
	}
	if result := c.resultValue(); result.IsPresent() {
		c.Turn().AddResultContent(c.ID, failed, result)
	} else {
		c.Turn().AddResult(c.ID, "", failed)
	}
	c.content, c.output, c.terminal = nil, nil, nil
	switch {
	case failed:
	case c.rejected:
		c.Find(ranRejected, "the call was refused, but the agent reports it as completed")
	case !s.asks && !s.unasked && slices.Contains([]string{"execute", "edit", "delete", "move"}, c.kind):
		s.unasked = true
		c.Find(callUnasked, "the agent ran %s without a request for permission", stream.Fact(c.Name))
	}
}

// finishArgs makes the arguments final, or reports that the agent didn't show any.
func (c *call) finishArgs() {
	switch c.sealShown(); {
	case c.Sealed:
	case c.rejected:
		c.Reject(c.refusal)
	default:
		c.SealUnshown()
		if c.title != "" {
			c.Find(inputNotShown, "the agent shows no arguments for the call, only the title %s", stream.Fact(c.title))
		} else {
			c.Find(inputNotShown, "the agent shows no arguments for the call")
		}
	}
}

// resultValue returns the result of a call: text in the raw output, the text of a terminal, the raw output, or the
// blocks that the agent shows. If the messages have none of these, it returns nil.
func (c *call) resultValue() json.Value {
	text, isOne := onlyText(c.output)
	switch {
	case isOne:
		return text
	case len(c.terminal) > 0 && !c.output.IsString():
		return json.AppendQuoted(nil, c.terminal)
	case c.output.IsPresent():
		return c.output
	}
	var blocks [][]byte
	for block := range c.content.Elements() {
		if inner := block.Get("content"); inner.IsPresent() {
			block = inner
		}
		blocks = append(blocks, block)
	}
	if len(blocks) == 0 {
		return nil
	}
	return slices.Concat([]byte("["), bytes.Join(blocks, []byte(",")), []byte("]"))
}

// onlyText returns the text in an object that contains nothing else. The result isOne is false for any other object.
func onlyText(object json.Value) (text json.Value, isOne bool) {
	n := 0
	for _, value := range json.Members(object) {
		text = value
		n++
	}
	return text, n == 1 && text.IsString()
}

// readPermission reads a request for permission. Its arguments replace the earlier ones, unless the two agree in the
// fields that they share: agents ask with fewer fields, or add fields for the user. The arguments are not final,
// because agents complete them until the tool starts.
func (d *decoder) readPermission(s *session, u json.Value) *call {
	s.asks = true
	c := d.ensureCall(s, u)
	if c == nil {
		return nil
	}
	c.title = cmp.Or(u.Get("title").Text(), c.title)
	if input := u.Get("rawInput"); !agreeOnFields(c.input, input) {
		c.readInput(input)
	}
	return c
}

// agreeOnFields reports whether two objects have a field in common, and the same value in each common field.
func agreeOnFields(a, b json.Value) bool {
	common := false
	for x, y := range json.MemberPairs(a, b) {
		switch {
		case x.Value == nil, y.Value == nil:
		case !json.Same(x.Value, y.Value):
			return false
		default:
			common = true
		}
	}
	return common
}

// AddedFields returns the names of the fields that object has in addition to those of part. If object doesn't have
// all fields of part, with the same values, isPart is false.
func AddedFields(part, object json.Value) (added []string, isPart bool) {
	if part.Kind() != '{' || object.Kind() != '{' {
		return nil, false
	}
	for x, y := range json.MemberPairs(part, object) {
		switch {
		case x.Value == nil:
			added = append(added, y.Name)
		case !json.Same(x.Value, y.Value):
			return nil, false
		}
	}
	return added, true
}

// readResponse reads a response. It derives the method of the request from the result or, if the result is unclear,
// from the latest request with the same id.
func (d *decoder) readResponse(id string, line json.Value) {
	result, failure := line.Get("result"), line.Get("error")
	method := ""
	switch {
	case result.Get("stopReason").IsString():
		method = "session/prompt"
	case result.Get("outcome").IsPresent():
		method = "session/request_permission"
	case result.Get("output").IsString():
		method = "terminal/output"
	}
	waiting := d.asked[id]
	i := len(waiting) - 1
	for i >= 0 && method != "" && waiting[i].method != method {
		i--
	}
	var r request
	if i >= 0 {
		r = waiting[i]
		if d.asked[id] = slices.Delete(waiting, i, i+1); len(d.asked[id]) == 0 {
			delete(d.asked, id)
		}
	}
	switch r.method {
	case "session/prompt":
		d.endPrompt(r.session, result, failure)
		return
	case "session/request_permission":
		if r.call != nil {
			r.call.readOutcome(result.Get("outcome"), r.options)
			return
		}
	case "terminal/output":
		r.session.keepTerminal(r.terminal, result.Get("output"))
	case "session/load", "session/new", "session/resume":
		r.session.loading = false
		if made := result.Get("sessionId"); made.HasText() {
			r.session = d.ensureSession(made.Text())
		}
		r.session.model = cmp.Or(result.Get("models").Get("currentModelId").Text(), r.session.model)
	case "":
		if method == "session/prompt" { // the source doesn't contain this request, because it begins later
			d.endPrompt(d.lateSession(), result, failure)
			return
		}
	}
	d.Heartbeat()
}

// lateSession returns the first session with an open turn, or else the session without an id.
func (d *decoder) lateSession() *session {
	for _, s := range d.sessions {
		if s.turn.IsOpen() {
			return s
		}
	}
	return d.ensureSession("")
}

// readOutcome reads the answer to a request for permission.
func (c *call) readOutcome(outcome, options json.Value) {
	kind, name := "", ""
	for o := range options.Elements() {
		if id := o.Get("optionId"); id.HasText() && id.Is(outcome.Get("optionId").Text()) {
			kind, name = o.Get("kind").Text(), o.Get("name").Text()
		}
	}
	f := callAllowed.Finding("the user answered the request for permission with %s", stream.Fact(outcome.Get("optionId").Text()))
	switch {
	case outcome.Get("outcome").Is("cancelled"):
		f = protocol.CallDenied.Finding("the request for permission was cancelled")
	case strings.HasPrefix(kind, "reject"):
		c.rejected, c.refusal = true, name
		if c.Bytes > 0 { // if no arguments have arrived, agents may still show those of the refused call
			c.Reject(name)
		}
		f = protocol.CallDenied.Finding("the user refused the call: %s (%s)", stream.Fact(name), stream.Fact(kind))
	case strings.HasPrefix(kind, "allow"):
		f = callAllowed.Finding("the user allowed the call: %s (%s)", stream.Fact(name), stream.Fact(kind))
	}
	c.Found(f)
}

// endPrompt reads the response to a prompt.
func (d *decoder) endPrompt(s *session, result, failure json.Value) {
	if !s.turn.IsOpen() {
		d.Heartbeat()
		return
	}
	t, word := s.turn, result.Get("stopReason").Text()
	if u := result.Get("usage"); u.IsPresent() {
		t.Usage(stream.Usage{
			Input: protocol.CountOf(u.Get("inputTokens")), Output: protocol.CountOf(u.Get("outputTokens")),
			CacheRead: protocol.CountOf(u.Get("cachedReadTokens")), CacheWrite: protocol.CountOf(u.Get("cachedWriteTokens")),
			Reasoning: protocol.CountOf(u.Get("thoughtTokens")),
		})
	}
	switch {
	case protocol.IsError(failure):
		code, message := "", failure.Get("message").Text()
		if n, ok := failure.Get("code").Int(); ok {
			code = strconv.FormatInt(n, 10)
		}
		t.Find(protocol.AgentError, "the agent answered the prompt with error %s: %s", stream.Fact(code), stream.Fact(message))
		d.cutTurn(s, "")
		return
	case word == "cancelled":
		t.Find(promptCancelled, "the editor cancelled the prompt")
	}
	for _, c := range s.open {
		c.finishArgs()
		if word != "cancelled" && !c.rejected {
			c.Find(callOpen, "the prompt ended, but the agent never showed the end of the call")
		}
	}
	t.FinishAndCheck(word, &stopReasons)
	t.End()
}

// cutTurn ends an open turn whose prompt got no response. The parameter missing describes what is missing.
func (d *decoder) cutTurn(s *session, missing string) {
	if !s.turn.IsOpen() {
		return
	}
	for _, c := range s.open {
		if c.rejected {
			c.finishArgs()
			continue
		}
		c.Find(callOpen, "the agent never showed the end of the call")
	}
	s.turn.Cut(missing)
}

// Close cuts off the prompts that got no response.
func (d *decoder) Close() {
	for _, s := range d.sessions {
		d.cutTurn(s, "the messages ended without the response to session/prompt")
	}
}
