// Package agentlines decodes the output of agents that print their work as JSON lines. Each agent is a
// value of the type agent, which the list agents contains.
package agentlines

import (
	"cmp"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// agents lists the agents whose output this package reads.
var agents = []*agent{&copilot, &pi, &gemini, &droid, &cursor}

// agent describes the output of one agent: how to recognise its lines, and how to read them.
type agent struct {
	name, title string   // name and title of the protocol
	client      string   // name of the client, if each client has its own lines
	who         string   // the agent's name in findings, if a turn is one run with any number of responses
	last        string   // type of the line that ends a turn
	quiet       []string // types of lines that are ignored if the decoder doesn't read them, because they contain nothing about calls
	sniff       func(kind string, e protocol.SniffInput) int
	read        func(r *run, kind string, line json.Value) (known bool)

	// subAgent returns the id of the sub-agent that a line is about, and the id of the call that started the
	// sub-agent. Both are empty for the main agent. The field is nil if the lines don't distinguish agents.
	subAgent func(kind string, line json.Value) (id, call string)
}

// Protocols returns a protocol for each agent.
func Protocols() (all []protocol.Protocol) {
	for _, a := range agents {
		all = append(all, protocol.Protocol{
			Name:          a.name,
			Title:         a.title,
			Quiet:         a.quiet,
			ParallelTurns: a.subAgent != nil,
			ByAgent:       true,
			Client:        a.client,
			Sniff:         a.sniffFrame,
			New:           func(o *protocol.Out) protocol.Decoder { return &run{Out: o, agent: a, calls: protocol.Calls{}} },
		})
	}
	return all
}

func (a *agent) sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind := e.Get("type").Text()
	if points := a.sniff(kind, e); points > 0 {
		return protocol.SniffScore{Points: points, Why: "a line of type " + kind}
	}
	return protocol.SniffScore{}
}

// run decodes the output of one agent in one run of the program.
type run struct {
	*protocol.Out
	agent   *agent
	clock   protocol.Clock
	turn    *protocol.Turn
	calls   protocol.Calls
	id      string // id of the response whose turn opens next
	model   string
	hasText bool // whether text deltas have arrived in the turn
	failed  bool // whether the agent reported an error in the turn

	startedBy string          // id of the call that started this agent, if it is a sub-agent
	subAgents map[string]*run // by id
	subOrder  []*run          // in the order in which they began
}

// Frame reads one line. Before the first turn, lines that are not JSON objects are treated as messages to the user.
func (r *run) Frame(f stream.Frame) error {
	line := json.Value(f.Data)
	if line.Kind() != '{' && r.turn == nil {
		r.Heartbeat()
		return nil
	}
	if err := json.Read(line); err != nil {
		return err
	}
	r.clock.StampAt(r.Out, line.Get("timestamp"))
	kind := line.Get("type").Text()
	if !r.agent.read(r.ensureAgent(kind, line), kind, line) {
		r.Unknown(kind)
	}
	return nil
}

// ensureAgent returns the run of the agent that a line is about. If it is a new sub-agent, ensureAgent adds it.
func (r *run) ensureAgent(kind string, line json.Value) *run {
	if r.agent.subAgent == nil {
		return r
	}
	id, call := r.agent.subAgent(kind, line)
	if id == "" {
		return r
	}
	sub := r.subAgents[id]
	if sub == nil {
		sub = &run{Out: r.Out, agent: r.agent, calls: protocol.Calls{}, model: r.model}
		if r.subAgents == nil {
			r.subAgents = map[string]*run{}
		}
		r.subAgents[id], r.subOrder = sub, append(r.subOrder, sub)
	}
	sub.startedBy = cmp.Or(sub.startedBy, call)
	return sub
}

// Close cuts off the turns that have not ended.
func (r *run) Close() {
	for _, sub := range r.subOrder {
		sub.Close()
	}
	r.turn.Cut("the lines ended without " + r.agent.last)
}

func (r *run) openTurn() *protocol.Turn {
	r.turn, r.hasText, r.failed = r.Open(stream.Opening{ID: r.id, Model: r.model, Parent: r.startedBy}), false, false
	if r.agent.who != "" {
		r.Once(protocol.NoModelWords, r.agent.who+" reports its own work: one turn may contain several responses, and the arguments are those that the agent parsed")
	}
	return r.turn
}

// ensureTurn returns the open turn. If no turn is open, it opens one.
func (r *run) ensureTurn() *protocol.Turn {
	if r.turn.IsOpen() {
		return r.turn
	}
	return r.openTurn()
}

// lastTurn returns the latest turn, which may have ended, because tools run after the response. If there is no turn,
// it opens one.
func (r *run) lastTurn() *protocol.Turn {
	if r.turn == nil {
		r.openTurn()
	}
	return r.turn
}

// hasEnded reports whether the latest turn has ended. In that case, another end of the turn is ignored.
func (r *run) hasEnded() bool { return r.turn != nil && !r.turn.IsOpen() }

func (r *run) ensureCall(id, name json.Value) *protocol.Call {
	return r.calls.Ensure(r.ensureTurn(), stream.CallInfo{ID: id.Text(), Name: name.Text(), Kind: "function"})
}

// addResult adds the result of a call. If the call failed, the error message replaces the result.
func (r *run) addResult(t *protocol.Turn, id json.Value, failed bool, result, message json.Value) {
	if failed && message.IsPresent() {
		result = message
	}
	t.AddResultContent(id.Text(), failed, result)
}

// usageOf reads token counts under the keys that an agent uses. The key "" means that the agent doesn't
// report the count.
func usageOf(u json.Value, input, output, cacheRead, cacheWrite string) stream.Usage {
	return stream.Usage{
		Input: protocol.CountOf(u.Get(input)), Output: protocol.CountOf(u.Get(output)),
		CacheRead: protocol.CountOf(u.Get(cacheRead)), CacheWrite: protocol.CountOf(u.Get(cacheWrite)),
	}
}

// copilot describes the output of copilot --output-format json, as GitHub Copilot CLI 1.0.102 prints it. A turn is
// one response of the model. The line with the complete message makes the message's calls final. Copilot replaces
// secrets with asterisks, even within arguments.
var copilot = agent{
	name: "copilot-cli", title: "Copilot CLI events", client: "copilot", last: "assistant.turn_end",
	quiet: []string{"user.*", "session.*", "hook.*", "subagent.*", "system.*", "skill.*", "tool.*", "assistant.*", "model.*", "permission.*"},
	sniff: func(kind string, e protocol.SniffInput) int {
		data := e.Get("data")
		switch {
		case kind == "result" && e.Get("exitCode").IsPresent() && e.Get("sessionId").IsString():
			return protocol.Sure
		case data.Kind() != '{' || !e.Get("id").IsString() || !e.Get("timestamp").IsString():
		case strings.HasPrefix(kind, "assistant."), kind == "session.start" && data.Get("producer").Is("copilot-agent"):
			return protocol.Sure
		case strings.HasPrefix(kind, "tool.execution_"), kind == "user.message", strings.HasPrefix(kind, "session."), strings.HasPrefix(kind, "model."):
			return protocol.Likely
		}
		return 0
	},
	// The lines of a sub-agent contain its agentId. In older versions, they contain only the id of the call that
	// started the sub-agent.
	subAgent: func(kind string, line json.Value) (id, call string) {
		data := line.Get("data")
		call = data.Get("parentToolCallId").Text()
		if kind == "subagent.started" {
			call = cmp.Or(call, data.Get("toolCallId").Text())
		}
		if id = line.Get("agentId").Text(); id == "" && !strings.HasPrefix(kind, "subagent.") {
			id = call
		}
		return id, call
	},
	read: func(r *run, kind string, line json.Value) bool {
		data := line.Get("data")
		switch kind {
		case "session.start", "session.model_change", "model.call_start":
			for _, key := range []string{"selectedModel", "newModel", "model"} {
				if model := data.Get(key); model.HasText() {
					r.model = model.Text()
				}
			}
		case "assistant.turn_start":
			r.turn.Cut("another turn began before this one ended")
			r.openTurn()
		case "assistant.message_delta":
			r.ensureTurn().AppendText(data.Get("deltaContent"))
			r.hasText = true
		case "assistant.tool_call_delta":
			r.ensureCopilotCall(data, "toolName").Args(data.Get("inputDelta"))
		case "assistant.message":
			r.readCopilotMessage(data)
		case "tool.execution_complete":
			r.addResult(r.lastTurn(), data.Get("toolCallId"), string(data.Get("success")) == "false",
				data.Get("result").Get("content"), data.Get("error").Get("message"))
		case "assistant.usage":
			r.reportCopilotUsage(data)
		case "session.usage_record":
			r.reportCopilotUsage(data.Get("usage"))
		case "assistant.turn_end":
			if r.turn.IsOpen() {
				r.turn.End()
			}
		case "session.error", "abort":
			r.failed = true
			r.Find(protocol.AgentError, "Copilot reports: %s", stream.Fact(data.Get("message").Text()+data.Get("reason").Text()))
		case "result":
			if !r.failed {
				r.turn.End()
			}
		default:
			return false
		}
		return true
	},
}

func (r *run) ensureCopilotCall(data json.Value, name string) *protocol.Call {
	info := stream.CallInfo{ID: data.Get("toolCallId").Text(), Name: data.Get(name).Text(), Kind: "function"}
	if data.Get("toolType").Is("custom") || data.Get("type").Is("custom") {
		info.Kind, info.Freeform = "custom", true
	}
	return r.calls.Ensure(r.ensureTurn(), info)
}

// readCopilotMessage reads the message that ends a response. The message repeats the arguments, which may differ from
// the deltas because Copilot masks secrets.
func (r *run) readCopilotMessage(data json.Value) {
	t := r.ensureTurn()
	t.UpdateIDs(data.Get("apiCallId"), data.Get("model"))
	t.AppendReasoning(0, data.Get("reasoningText"))
	if !r.hasText {
		t.AppendText(data.Get("content"))
	}
	for request := range data.Get("toolRequests").Elements() {
		c := r.ensureCopilotCall(request, "name")
		if args := request.Get("arguments"); !c.SealWhole(args) && !strings.Contains(string(args), "******") {
			c.Find(protocol.DoneMismatch.WithSeverity(stream.Info), "the complete arguments differ from the deltas; toolscope shows the deltas: %s", protocol.Clip(args))
		}
	}
}

func (r *run) reportCopilotUsage(u json.Value) {
	if r.turn != nil && u.Get("inputTokens").IsPresent() {
		r.turn.Usage(usageOf(u, "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"))
	}
}

// pi describes the output of pi --mode json, as pi 0.73.1 prints it. A turn is one message of the model. A call's
// slot is its contentIndex. The deltas contain the model's own text. The arguments in other fields were parsed and
// possibly repaired by pi. toolcall_end makes a call final.
var pi = agent{
	name: "pi-json", title: "pi --mode json", last: "message_end",
	quiet: []string{
		"session", "agent_*", "turn_start", "message_start", "message_end", "tool_execution_start", "tool_execution_update", "queue_*", "compaction_*", "auto_*",
	},
	sniff: func(kind string, e protocol.SniffInput) int {
		switch {
		case kind == "message_update" && e.Get("assistantMessageEvent").Get("type").IsString(),
			kind == "tool_execution_end" && e.Get("toolCallId").IsString(),
			kind == "message_end" && e.Get("message").Get("stopReason").IsString():
			return protocol.Sure
		case kind == "session" && e.Get("version").IsPresent() && e.Get("cwd").IsString(),
			kind == "agent_start" || kind == "agent_end" || kind == "turn_start" || kind == "turn_end",
			kind == "message_start" && e.Get("message").Get("role").IsString(),
			kind == "tool_execution_start" && e.Get("toolCallId").IsString():
			return protocol.Likely
		}
		return 0
	},
	read: func(r *run, kind string, line json.Value) bool {
		message := line.Get("message")
		r.id, r.model = message.Get("responseId").Text(), message.Get("model").Text()
		switch kind {
		case "message_start":
			if message.Get("role").Is("assistant") {
				r.turn.Cut("another message began before this one ended")
				r.openTurn()
			}
		case "message_update":
			r.readPiUpdate(line.Get("assistantMessageEvent"))
		case "message_end":
			if message.Get("role").Is("assistant") {
				r.endPiMessage(message)
			}
		case "turn_end":
			r.turn.End()
		case "tool_execution_end":
			r.addResult(r.lastTurn(), line.Get("toolCallId"), line.Get("isError").IsTrue(), line.Get("result").Get("content"), nil)
		default:
			return false
		}
		return true
	},
}

// readPiUpdate reads an event within a message: a delta, or the start or the end of a call.
func (r *run) readPiUpdate(e json.Value) {
	t, n := r.ensureTurn(), e.Get("contentIndex").Int32()
	switch kind := e.Get("type").Text(); kind {
	case "text_delta":
		t.AppendText(e.Get("delta"))
	case "thinking_delta":
		t.AppendReasoning(n, e.Get("delta"))
	case "toolcall_start", "toolcall_delta", "toolcall_end":
		whole := e.Get("toolCall")
		if whole == nil {
			whole = elementAt(e.Get("partial").Get("content"), n)
		}
		c := t.FindCall(n)
		if c == nil {
			c = t.OpenCall(n, stream.CallInfo{ID: whole.Get("id").Text(), Name: whole.Get("name").Text(), Kind: "function"})
			c.Keep()
		} else if id := whole.Get("id").Text(); c.ID == "" && id != "" {
			c.Meta(stream.CallInfo{ID: id, Name: whole.Get("name").Text()})
		}
		if kind == "toolcall_delta" {
			c.Args(e.Get("delta"))
		} else if kind == "toolcall_end" && !c.SealWhole(whole.Get("arguments")) {
			c.Find(protocol.DoneMismatch.WithSeverity(stream.Info), "pi's complete arguments differ from the deltas; toolscope shows the deltas: %s", protocol.Clip(whole.Get("arguments")))
		}
	}
}

// elementAt returns the element of a list at index n, or nil.
func elementAt(list json.Value, n int32) json.Value {
	for e := range list.Elements() {
		if n--; n < 0 {
			return e
		}
	}
	return nil
}

// piFinishCodes are pi's stop reasons.
var piFinishCodes = protocol.FinishCodes{
	"stop": stream.FinishDone, "toolUse": stream.FinishDone, "length": stream.FinishCut,
	"error": stream.FinishFailed, "aborted": stream.FinishCancelled,
}

// endPiMessage reads the end of a message: its stop reason, usage and error.
func (r *run) endPiMessage(message json.Value) {
	if r.hasEnded() {
		return
	}
	t := r.ensureTurn()
	t.Usage(usageOf(message.Get("usage"), "input", "output", "cacheRead", "cacheWrite"))
	word := message.Get("stopReason").Text()
	code, known := piFinishCodes.Of(word)
	t.Finish(word, code)
	if !known {
		t.Find(protocol.FinishUnknown, "stop reason %q is not documented", stream.Fact(word))
	}
	if word != "error" && word != "aborted" {
		t.End()
		return
	}
	if why := message.Get("errorMessage").Text(); why != "" {
		t.Find(protocol.AgentError, "pi ended the message: %s", stream.Fact(why))
	}
	t.Cut("")
}

// gemini describes the output of gemini --output-format stream-json, as Gemini CLI 0.61.0 prints it. Calls
// arrive complete. The last line contains the usage of all responses.
var gemini = agent{
	name: "gemini-cli", title: "Gemini CLI stream-json", who: "Gemini CLI", last: "a result line",
	sniff: func(kind string, e protocol.SniffInput) int {
		has := func(key string) bool { return e.Get(key).IsString() }
		switch {
		case !has("timestamp"):
		case kind == "init" && has("session_id") && has("model"),
			kind == "tool_use" && has("tool_id") && has("tool_name"), kind == "tool_result" && has("tool_id") && has("status"),
			kind == "error" && has("severity"), kind == "result" && has("status") && e.Get("stats").IsPresent():
			return protocol.Sure
		case kind == "message" && has("role") && has("content"):
			return protocol.Likely
		}
		return 0
	},
	read: func(r *run, kind string, line json.Value) bool {
		switch kind {
		case "init":
			r.ensureTurn().UpdateIDs(nil, line.Get("model"))
		case "message":
			if line.Get("role").Is("assistant") {
				r.ensureTurn().AppendText(line.Get("content"))
			}
		case "tool_use":
			r.ensureCall(line.Get("tool_id"), line.Get("tool_name")).SealWhole(line.Get("parameters"))
		case "tool_result":
			r.addResult(r.ensureTurn(), line.Get("tool_id"), line.Get("status").Is("error"), line.Get("output"), line.Get("error").Get("message"))
		case "error":
			r.ensureTurn().Find(protocol.AgentError, "Gemini CLI reports: %s", stream.Fact(line.Get("message").Text()))
		case "result":
			if r.hasEnded() {
				return true
			}
			r.ensureTurn().Usage(usageOf(line.Get("stats"), "input_tokens", "output_tokens", "cached", ""))
			if !line.Get("status").Is("error") {
				r.turn.End()
				return true
			}
			r.turn.Find(protocol.AgentError, "the run failed: %s", stream.Fact(line.Get("error").Get("message").Text()))
			r.turn.Cut("")
		default:
			return false
		}
		return true
	},
}

// droid describes the output of droid exec --output-format stream-json, as Factory droid 0.215.0 prints it. Calls
// arrive complete. The first line looks like Claude Code's.
var droid = agent{
	name: "droid-exec", title: "droid exec stream-json", who: "droid", last: "a completion line",
	sniff: func(kind string, e protocol.SniffInput) int {
		has := func(key string) bool { return e.Get(key).IsString() }
		switch {
		case !has("session_id"):
		case kind == "tool_call" && has("id") && has("toolId"), kind == "tool_result" && has("id") && has("toolId"),
			kind == "completion" && e.Get("numTurns").IsPresent():
			return protocol.Sure
		case kind == "message" && has("role") && has("text"), kind == "reasoning" && has("text"):
			return protocol.Likely
		}
		return 0
	},
	read: func(r *run, kind string, line json.Value) bool {
		switch kind {
		case "system":
			r.model = line.Get("model").Text()
			r.Heartbeat()
		case "message":
			if line.Get("role").Is("assistant") {
				r.ensureTurn().AppendText(line.Get("text"))
			}
		case "reasoning":
			r.ensureTurn().AppendReasoning(0, line.Get("text"))
		case "tool_call":
			name := line.Get("toolName")
			if !name.HasText() {
				name = line.Get("toolId")
			}
			r.ensureCall(line.Get("id"), name).SealWhole(line.Get("parameters"))
		case "tool_result":
			r.addResult(r.ensureTurn(), line.Get("id"), line.Get("isError").IsTrue(), line.Get("value"), line.Get("error").Get("message"))
		case "error":
			r.ensureTurn().Find(protocol.AgentError, "droid reports: %s", stream.Fact(line.Get("message").Text()))
		case "completion":
			if !r.hasEnded() {
				u := line.Get("usage")
				r.ensureTurn().Usage(usageOf(u, "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"))
				r.turn.End()
			}
		default:
			return false
		}
		return true
	},
}

// cursor describes the output of Cursor's CLI with --output-format stream-json. The facts are from its documentation;
// the program was not run. A line with the complete call comes when the call starts, and another one, with the
// result, when it ends.
var cursor = agent{
	name: "cursor-cli", title: "Cursor CLI stream-json", who: "Cursor", last: "a result line",
	sniff: func(kind string, e protocol.SniffInput) int {
		if kind == "tool_call" && e.Get("call_id").IsString() && e.Get("tool_call").Kind() == '{' {
			return protocol.Sure
		}
		return 0
	},
	read: func(r *run, kind string, line json.Value) bool {
		switch kind {
		case "system":
			r.model = line.Get("model").Text()
			r.Heartbeat()
		case "user":
			r.Heartbeat()
		case "assistant":
			for block := range line.Get("message").Get("content").Elements() {
				r.ensureTurn().AppendText(block.Get("text"))
			}
		case "thinking":
			r.ensureTurn().AppendReasoning(0, line.Get("text"))
		case "tool_call":
			for key, value := range json.Members(line.Get("tool_call")) {
				if json.Value(value).Kind() == '{' {
					r.readCursorCall(line.Get("call_id"), key, value)
				}
			}
		case "result":
			if r.hasEnded() {
				return true
			}
			if !line.Get("is_error").IsTrue() {
				r.ensureTurn().End()
				return true
			}
			r.ensureTurn().Find(protocol.AgentError, "the run failed: %s", stream.Fact(line.Get("result").Text()))
			r.turn.Cut("")
		default:
			return false
		}
		return true
	},
}

// readCursorCall reads the start or the end of a call. The call's key is "function", or the tool's name followed by
// "ToolCall".
func (r *run) readCursorCall(id json.Value, key string, call json.Value) {
	name, args := strings.TrimSuffix(key, "ToolCall"), call.Get("args")
	if key == "function" {
		name, args = call.Get("name").Text(), call.Get("arguments")
	}
	c := r.calls.Ensure(r.ensureTurn(), stream.CallInfo{ID: id.Text(), Name: name, Kind: "function"})
	c.SealWhole(args)
	result := call.Get("result")
	if refused := result.Get("rejected"); refused.IsPresent() {
		why := refused.Get("reason").Text()
		c.Reject(why)
		c.Find(protocol.CallDenied, "the user didn't allow the call: %s", stream.Fact(why))
	} else if failed := result.Get("error"); failed.IsPresent() {
		c.Turn().AddResultContent(c.ID, true, failed)
	} else if done := result.Get("success"); done.IsPresent() {
		c.Turn().AddResultContent(c.ID, false, done)
	}
}
