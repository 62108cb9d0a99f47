package transcript

import (
	"strings"

	"toolscope/stream/json"
)

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
