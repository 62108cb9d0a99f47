package transcript

import (
	"strconv"
	"strings"

	"toolscope/stream/json"
)

// readPi returns a reader for the entries of pi and of agents based on it, which store messages from all providers in
// pi's format.
func readPi() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		switch kind := entry.Get("type"); {
		case kind.Is("session"):
			return &message{byUser: true, session: entry.Get("id")}
		case kind.Is("model_change"):
			return &message{model: entry.Get("modelId")}
		case kind.Is("compaction"), kind.Is("branch_summary"):
			return &message{parts: []json.Value{textBlock(entry.Get("summary"))}, usage: piUsage(entry.Get("usage"))}
		}
		f := valuesOf(entry.Get("message"), "role", "content", "toolCallId", "isError", "model", "usage", "stopReason",
			"errorMessage", "responseId")
		m := &message{byUser: true}
		switch {
		case f[0].Is("toolResult"):
			m.parts = []json.Value{resultBlock(f[2], f[1], f[3].IsTrue())}
		case f[0].Is("user"):
			m.parts = piBlocks(f[1])
		case f[0].Is("assistant"):
			m = &message{parts: piBlocks(f[1]), model: f[4], id: f[8], usage: piUsage(f[5])}
			m.finish, m.cut = piFinishes[f[6].Text()], f[6].Is("aborted") || f[6].Is("error")
			if f[6].Is("error") {
				m.failure = withText(f[7])
			}
		}
		return m
	}
}

func piUsage(usage json.Value) json.Value {
	return anthropicUsage(usage, "input", "output", "cacheRead", "cacheWrite")
}

// piFinishes maps pi's finish reasons to Anthropic's stop reasons.
var piFinishes = map[string]json.Value{
	"stop": quoteText("end_turn"), "toolUse": quoteText("tool_use"), "length": quoteText("max_tokens"),
}

func piBlocks(content json.Value) (blocks []json.Value) {
	if content.HasText() {
		return []json.Value{textBlock(content)}
	}
	for b := range content.Elements() {
		f := valuesOf(b, "type", "thinking", "thinkingSignature", "id", "name", "arguments")
		switch {
		case f[0].Is("toolCall"):
			b = callBlock(f[3], f[4], f[5])
		case f[0].Is("thinking"):
			b = thinkingBlock(f[1], withText(f[2]))
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// readCopilot returns a reader for the events of GitHub Copilot CLI, which stores messages from all providers in its
// own format.
func readCopilot() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		f := valuesOf(entry, "type", "data", "agentId")
		data := f[1]
		m := &message{byUser: true, agent: withText(data.Get("parentToolCallId"))}
		if m.agent == nil {
			m.agent = withText(f[2])
		}
		switch kind := f[0]; {
		case kind.Is("session.start"), kind.Is("session.resume"):
			m.session, m.byUser, m.model = data.Get("sessionId"), false, withText(data.Get("selectedModel"))
		case kind.Is("user.message"):
			if text := data.Get("content"); text.HasText() {
				m.parts = []json.Value{textBlock(text)}
			}
		case kind.Is("tool.execution_complete"):
			content := contentWith(data.Get("result").Get("content"), data.Get("result").Get("contents"), "image")
			if content == nil {
				content = data.Get("error").Get("message")
			}
			m.parts = []json.Value{resultBlock(data.Get("toolCallId"), content, !data.Get("success").IsTrue())}
		case kind.Is("session.compaction_complete"):
			m.byUser = false
			m.readCopilotSummary(data)
		case kind.Is("session.error"):
			m.byUser, m.failure, m.errType = false, withText(data.Get("message")), withText(data.Get("errorType"))
		case kind.Is("assistant.message"):
			m.byUser = false
			m.readCopilotMessage(data)
		}
		return m
	}
}

// readCopilotSummary reads the summary with which a compaction replaced the conversation. Its input tokens include
// those that were read from the cache or written to it.
func (m *message) readCopilotSummary(data json.Value) {
	used := data.Get("compactionTokensUsed")
	f := valuesOf(used, "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
	if f[0] == nil { // an older version
		f = valuesOf(used, "input", "output", "cachedInput", "")
	}
	m.model = withText(used.Get("model"))
	m.usage = newObject(newField("input_tokens", newNumber(max(countOf(f[0])-countOf(f[2])-countOf(f[3]), 0))),
		newField("output_tokens", f[1]), newField("cache_read_input_tokens", f[2]), newField("cache_creation_input_tokens", f[3]))
	m.parts = []json.Value{textBlock(data.Get("summaryContent"))}
}

// readCopilotMessage reads a message of the model.
func (m *message) readCopilotMessage(data json.Value) {
	f := valuesOf(data, "messageId", "model", "content", "reasoningText", "toolRequests", "outputTokens")
	m.id, m.model = withText(f[0]), f[1]
	if f[5] != nil {
		m.usage = newObject(newField("output_tokens", f[5]))
	}
	if f[3].HasText() {
		m.parts = append(m.parts, thinkingBlock(f[3], nil))
	}
	if f[2].HasText() {
		m.parts = append(m.parts, textBlock(f[2]))
	}
	for call := range f[4].Elements() {
		block := callBlock
		if args := call.Get("arguments"); call.Get("type").Is("custom") && args.IsString() {
			block = freeCallBlock
		}
		m.parts = append(m.parts, block(call.Get("toolCallId"), call.Get("name"), call.Get("arguments")))
	}
}

// readCline returns a reader for the messages of a task, as Cline, Roo Code and Kilo Code keep them for the next
// request. The messages have Anthropic's form, whatever the provider.
func readCline() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		f := valuesOf(entry, "role", "content", "modelInfo", "metrics", "id")
		m := &message{byUser: !f[0].Is("assistant")}
		if f[1].HasText() {
			m.parts = []json.Value{textBlock(f[1])}
		}
		for block := range f[1].Elements() {
			m.parts = append(m.parts, block)
		}
		if !m.byUser {
			m.model, m.id, m.usage = f[2].Get("modelId"), withText(f[4]), clineUsage(f[3].Get("tokens"))
		}
		return m
	}
}

// clineUsage returns Cline's counts under Anthropic's names, or nil if there are none. Cline's prompt count includes
// cached tokens.
func clineUsage(tokens json.Value) json.Value {
	f := valuesOf(tokens, "prompt", "completion", "cached")
	if f[0] == nil && f[1] == nil {
		return nil
	}
	if f[0] != nil {
		f[0] = newNumber(max(0, countOf(f[0])-countOf(f[2])))
	}
	return newObject(newField("input_tokens", f[0]), newField("output_tokens", f[1]),
		newField("cache_read_input_tokens", f[2]))
}

// readClineScreen returns a reader for the entries of ui_messages.json. The entries contain the calls as shown on the
// screen, without ids, and the cost of each request.
func readClineScreen() func(entry json.Value) *message {
	failed, begun := false, false
	return func(entry json.Value) *message {
		f := valuesOf(entry, "say", "ask", "text")
		kind, text := f[0].Text(), withText(f[2])
		if f[0] == nil {
			kind = f[1].Text()
		}
		m := new(message)
		switch kind {
		case "task", "user_feedback":
			m.byUser = true
			if text != nil {
				m.parts = []json.Value{textPart(text)}
			}
		case "api_req_started":
			m.readClineRequest(json.Value(text.Append(nil)))
		case "error", "api_req_failed":
			if !begun {
				m.failure = text
			}
		default:
			if part := clinePart(kind, text); part != nil && !failed {
				m.parts, begun = []json.Value{part}, true
			}
		}
		failed = failed || m.failure != nil
		if !m.byUser && m.parts == nil && m.usage == nil && m.failure == nil {
			return nil
		}
		return m
	}
}

// readClineRequest reads the token counts of a request and, if it failed, the reason.
func (m *message) readClineRequest(about json.Value) {
	f := valuesOf(about, "tokensIn", "tokensOut", "cacheReads", "cacheWrites", "cancelReason", "streamingFailedMessage")
	if f[0] != nil || f[1] != nil {
		m.usage = newObject(newField("promptTokenCount", newNumber(countOf(f[0])+countOf(f[2])+countOf(f[3]))),
			newField("candidatesTokenCount", f[1]), newField("cachedContentTokenCount", f[2]))
	}
	if f[4] != nil && !f[4].Is("user_cancelled") {
		m.failure = withText(f[5])
	}
}

// clinePart returns the part of a response that an entry shows, or nil if the entry shows none.
func clinePart(kind string, text json.Value) json.Value {
	switch {
	case text == nil:
	case kind == "text":
		return textPart(text)
	case kind == "reasoning":
		return thoughtPart(text)
	case kind == "command":
		return callPart(nil, quoteText("command"), newObject(newField("command", text)))
	case kind == "tool", kind == "use_mcp_server":
		shown := json.Value(text.Append(nil))
		f := valuesOf(shown, "tool", "toolName", "arguments")
		if kind == "tool" && f[0] != nil {
			return callPart(nil, f[0], shown)
		}
		if args := json.Value(f[2].Append(nil)); json.IsObject(args) {
			f[2] = args
		}
		if kind != "tool" && f[1] != nil {
			return callPart(nil, f[1], f[2])
		}
	}
	return nil
}

// readGeminiCLI returns a reader for the messages that Gemini CLI keeps in ~/.gemini/tmp/<project>/chats. Gemini CLI
// writes a message of the model again whenever it adds calls or results of calls to the message.
func readGeminiCLI() func(entry json.Value) *message {
	var open string            // id of the model's latest message
	calls := map[string]bool{} // ids of the message's calls; the value is true if the result of the call was added
	hasUsage := false          // whether the message's usage was read
	return func(entry json.Value) *message {
		f := valuesOf(entry, "id", "type", "content", "model", "tokens", "toolCalls", "thoughts", "sessionId")
		m := &message{session: f[7]}
		switch id, kind := f[0].Text(), f[1]; {
		case kind.Is("user"):
			m.byUser, m.parts = true, geminiParts(f[2])
		case kind.Is("error"):
			m.failure = withText(f[2])
		case kind.Is("gemini"):
			m.model = f[3]
			if id != open || id == "" {
				open, hasUsage = id, false
				clear(calls)
				for thought := range f[6].Elements() {
					if text := thought.Get("description"); text.HasText() {
						m.parts = append(m.parts, thoughtPart(text))
					}
				}
				m.parts = append(m.parts, geminiParts(f[2])...)
				for _, p := range m.parts {
					if id := p.Get("functionCall").Get("id"); id != nil {
						calls[id.Text()] = false
					}
				}
			}
			if f[4] != nil && !hasUsage {
				hasUsage, m.usage = true, geminiUsage(f[4])
			}
			m.addCalls(f[5], calls)
		default:
			m.byUser = true
		}
		return m
	}
}

// addCalls adds those calls in a list that are not in the map calls yet, and those results that were not added yet.
func (m *message) addCalls(list json.Value, calls map[string]bool) {
	for c := range list.Elements() {
		f := valuesOf(c, "id", "name", "args", "result")
		id := f[0].Text()
		answered, known := calls[id]
		if !known || id == "" {
			m.parts = append(m.parts, callPart(f[0], f[1], f[2]))
		}
		for _, p := range geminiParts(f[3]) { // the parts may include the results of other calls
			if r := p.Get("functionResponse"); r != nil && !answered && r.Get("id").Text() == id {
				m.results = append(m.results, p)
				calls[id] = true
			}
		}
		calls[id] = calls[id] || answered
	}
}

// geminiParts returns the parts in a content field: a string, one part, or a list of strings and parts.
func geminiParts(content json.Value) (parts []json.Value) {
	switch content.Kind() {
	case '"':
		if content.HasText() {
			parts = append(parts, textPart(content))
		}
	case '{':
		parts = append(parts, content)
	case '[':
		for p := range content.Elements() {
			if p.Kind() != '[' {
				parts = append(parts, geminiParts(p)...)
			}
		}
	}
	return parts
}

// geminiUsage returns Gemini CLI's token counts under the provider's names.
func geminiUsage(tokens json.Value) json.Value {
	f := valuesOf(tokens, "input", "output", "cached", "thoughts", "tool", "total")
	return newObject(newField("promptTokenCount", f[0]), newField("candidatesTokenCount", f[1]),
		newField("cachedContentTokenCount", f[2]), newField("thoughtsTokenCount", f[3]),
		newField("toolUsePromptTokenCount", f[4]), newField("totalTokenCount", f[5]))
}

// readQwenCode returns a reader for the entries that Qwen Code keeps in ~/.qwen/projects/<cwd>/chats. Messages are in
// Google's form, whatever the provider. Errors are in entries of the type system.
func readQwenCode() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		f := valuesOf(entry, "type", "message", "sessionId", "model", "usageMetadata", "systemPayload", "isSidechain", "agentId")
		m := &message{session: f[2], parts: geminiParts(f[1].Get("parts"))}
		if f[6].IsTrue() {
			m.agent = withText(f[7])
		}
		switch {
		case f[0].Is("assistant"):
			m.model, m.usage = f[3], f[4]
		case f[0].Is("system"):
			event := f[5].Get("uiEvent")
			if m.failure = withText(event.Get("error_message")); m.failure == nil {
				m.failure = withText(event.Get("error"))
			}
		default:
			m.byUser = true
		}
		return m
	}
}

// readDroid returns a reader for the entries of Factory droid, which stores messages from all providers in
// Anthropic's form.
func readDroid() func(entry json.Value) *message {
	read := readMessage()
	return func(entry json.Value) *message {
		if entry.Get("type").Is("session_start") {
			return &message{byUser: true, session: entry.Get("id")}
		}
		m := read(entry.Get("message"))
		m.model = entry.Get("message").Get("modelId")
		return m
	}
}

// readKimi returns a reader for the entries of Kimi Code.
func readKimi() func(entry json.Value) *message {
	read := readMessage()
	return func(entry json.Value) *message {
		m := new(message)
		switch event := entry.Get("event"); {
		case entry.Get("message") != nil:
			m = read(entry.Get("message"))
		case event == nil:
			m.model = entry.Get("model") // model of the request
		case event.Get("type").Is("tool.call"):
			m.parts = []json.Value{callBlock(event.Get("toolCallId"), event.Get("name"), event.Get("args"))}
		case event.Get("type").Is("tool.result"):
			result := event.Get("result")
			m.byUser = true
			m.parts = []json.Value{resultBlock(event.Get("toolCallId"), result.Get("output"), result.Get("isError").IsTrue())}
		case event.Get("type").Is("step.end"):
			m.usage, m.finish = anthropicUsage(event.Get("usage"), "inputOther", "output", "inputCacheRead", "inputCacheCreation"), kimiFinishes[event.Get("finishReason").Text()]
		case event.Get("part") != nil:
			m.readBlock(event.Get("part"))
		}
		if agent := entry.Get("agentId"); !agent.Is("main") {
			m.agent = withText(agent)
		}
		return m
	}
}

// kimiFinishes maps Kimi's finish reasons to Anthropic's stop reasons.
var kimiFinishes = map[string]json.Value{
	"tool_use": quoteText("tool_use"), "end_turn": quoteText("end_turn"), "max_tokens": quoteText("max_tokens"),
}

// readOpencode returns a reader for opencode's messages and parts. They are values in the output of opencode export,
// lines in the output of opencode run --format json, or files of versions that had no database. The entry for a
// message of the model doesn't contain the parts. It contains the model and, once the parts are complete, the end of
// the response.
func readOpencode() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		f := valuesOf(entry, "info", "part", "parts", "role", "error", "sessionID", "modelID", "tokens", "finish")
		m := &message{session: f[5]}
		switch {
		case f[0] != nil:
			m.byUser, m.session = true, f[0].Get("sessionID")
			for p := range f[2].Elements() {
				if text := p.Get("text"); p.Get("type").Is("text") && text.HasText() {
					m.parts = append(m.parts, textBlock(text))
				}
			}
		case f[1] != nil:
			m.readPart(f[1])
		case f[3].Is("assistant"):
			m.model, m.usage, m.finish = f[6], opencodeUsage(f[7]), opencodeFinishes[f[8].Text()]
			m.readError(f[4])
		case f[3] != nil:
			m.byUser = true
		case f[4] != nil:
			m.readError(f[4])
		default:
			m.readPart(entry)
		}
		return m
	}
}

// readPart reads a part of a model's message. A call contains its result.
func (m *message) readPart(part json.Value) {
	f := valuesOf(part, "type", "text", "tool", "callID", "state", "tokens", "reason")
	switch kind := f[0]; {
	case kind.Is("text") && f[1].HasText():
		m.parts = []json.Value{textBlock(f[1])}
	case kind.Is("reasoning") && f[1].HasText():
		m.parts = []json.Value{thinkingBlock(f[1], nil)}
	case kind.Is("step-finish"):
		m.usage, m.finish = opencodeUsage(f[5]), opencodeFinishes[f[6].Text()]
	case kind.Is("tool"):
		state := valuesOf(f[4], "status", "input", "raw", "output", "error", "metadata", "attachments")
		interrupted := state[5].Get("interrupted").IsTrue() && state[1].EmptyObject()
		if m.cut = state[0].Is("pending") || interrupted; m.cut { // the arguments received so far
			state[1] = withText(state[2])
		}
		if name, args := invalidCall(f[2], state[1]); args != nil {
			f[2], state[1], m.rejected = name, args, map[int]string{0: "opencode could not parse the arguments"}
		}
		m.parts = []json.Value{callBlock(f[3], f[2], state[1])}
		if state[0].Is("completed") {
			m.results = []json.Value{resultBlock(f[3], contentWith(state[3], state[6], "file"), false)}
		} else if state[0].Is("error") {
			m.results = []json.Value{resultBlock(f[3], state[4], true)}
		}
	}
}

// invalidCall returns the name and the arguments of a call whose arguments opencode could not parse. opencode records
// the tool "invalid" instead, with an error that quotes the arguments. For any other call, args is nil.
func invalidCall(tool, input json.Value) (name, args json.Value) {
	if !tool.Is("invalid") || !input.Get("tool").HasText() {
		return nil, nil
	}
	_, text, found := strings.Cut(input.Get("error").Text(), "JSON parsing failed: Text: ")
	if !found {
		return nil, nil
	}
	if end := strings.LastIndex(text, ".\nError message: "); end >= 0 {
		text = text[:end]
	}
	return input.Get("tool"), quoteText(text)
}

// readError reads the reason why a message ended early.
func (m *message) readError(err json.Value) {
	name := err.Get("name")
	switch {
	case err == nil:
	case name.Is("MessageAbortedError"):
		m.cut = true
	default:
		if m.errType, m.failure = name, withText(err.Get("data").Get("message")); m.failure == nil {
			m.failure = name
		}
		if status, ok := err.Get("data").Get("statusCode").Int(); ok {
			m.errType = quoteText(strconv.FormatInt(status, 10))
		}
	}
}

// opencodeFinishes maps opencode's finish reasons to Anthropic's stop reasons.
var opencodeFinishes = map[string]json.Value{
	"stop": quoteText("end_turn"), "tool-calls": quoteText("tool_use"), "length": quoteText("max_tokens"),
	"content-filter": quoteText("refusal"),
}

// opencodeUsage returns opencode's counts under Anthropic's names, or nil if there are none. opencode's input count
// excludes cached tokens. Reasoning is added to the output if the total shows that the output excludes it.
func opencodeUsage(tokens json.Value) json.Value {
	f := valuesOf(tokens, "input", "output", "reasoning", "cache", "total")
	if f[0] == nil && f[1] == nil {
		return nil
	}
	cache, output := valuesOf(f[3], "read", "write"), f[1]
	var details json.Value
	if thinking := countOf(f[2]); thinking > 0 {
		details = newObject(newField("thinking_tokens", f[2]))
		if countOf(f[4]) == countOf(f[0])+countOf(f[1])+countOf(cache[0])+countOf(cache[1])+thinking {
			output = newNumber(countOf(f[1]) + thinking)
		}
	}
	return newObject(newField("input_tokens", f[0]), newField("output_tokens", output),
		newField("cache_read_input_tokens", cache[0]),
		newField("cache_creation_input_tokens", cache[1]), newField("output_tokens_details", details))
}
