package formats

import (
	"strconv"

	"toolscope/stream/json"
)

// messageOf is a message as JSON: in parts, as the conventions have it, or as Chat Completions.
func messageOf(m []byte) (by messageRole, parts []messagePart) {
	f := json.Pick(m, "role", "parts", "content", "tool_calls", "tool_call_id")
	role, _ := json.Text(f[0])
	by = roleOf(string(role), theUser)
	if f[1] != nil {
		return by, partsOf(f[1])
	}
	if (string(role) == "tool" || f[4] != nil) && f[2] != nil {
		return theUser, []messagePart{{kind: resultPart, id: f[4], text: f[2]}}
	}
	parts = contentOf(f[2])
	for c := range json.Elements(f[3]) {
		of := json.Pick(c, "id", "function", "name", "arguments")
		if of[1] != nil {
			function := json.Pick(of[1], "name", "arguments")
			of[2], of[3] = function[0], function[1]
		}
		parts = append(parts, messagePart{kind: callPart, id: of[0], name: of[2], args: of[3]})
	}
	return by, parts
}

func roleOf(role string, other messageRole) messageRole {
	switch role {
	case "assistant", "model", "ai":
		return theModel
	case "system", "developer":
		return theSystem
	case "user", "tool", "human":
		return theUser
	}
	return other
}

// contentOf is a content: text, or a list of blocks.
func contentOf(content []byte) []messagePart {
	if text := nonEmptyText(content); text != nil {
		return []messagePart{{kind: textPart, text: text}}
	}
	return partsOf(content)
}

// partsOf are the parts of a message; what has no text and is no call, such as pictures, is left
// out.
func partsOf(list []byte) (parts []messagePart) {
	for p := range json.Elements(list) {
		f := json.Pick(p, "type", "content", "text", "id", "name", "arguments", "response", "result")
		text := f[1]
		if text == nil {
			text = f[2]
		}
		switch kind, _ := json.Text(f[0]); string(kind) {
		case "tool_call":
			parts = append(parts, messagePart{kind: callPart, id: f[3], name: f[4], args: f[5]})
		case "tool_call_response":
			if f[6] == nil {
				f[6] = f[7]
			}
			parts = append(parts, messagePart{kind: resultPart, id: f[3], name: f[4], text: resultText(f[6])})
		case "reasoning", "thinking":
			if nonEmptyText(text) != nil {
				parts = append(parts, messagePart{kind: thoughtPart, text: text})
			}
		default:
			if nonEmptyText(text) != nil {
				parts = append(parts, messagePart{kind: textPart, text: text})
			}
		}
	}
	return parts
}

func resultText(value []byte) []byte {
	if value == nil {
		return []byte(`""`)
	}
	return value
}

// hasObjects reports whether arguments of a call, asked or answered, are no strings.
func (s *otelSpan) hasObjects() bool {
	all := s.answer.parts
	for _, m := range s.history {
		all = append(all[:len(all):len(all)], m.parts...)
	}
	for i := range all {
		if p := &all[i]; p.kind == callPart && p.args != nil && kindOf(p.args) != '"' {
			return true
		}
	}
	return false
}

// chooseShape is the one that holds the span's arguments as they stand.
func (s *otelSpan) chooseShape() *messageShape {
	if s.hasObjects() {
		return &anthropicShape
	}
	return &chatShape
}

// finishes are the words for why an answer finished, and what the shapes have for them.
var finishes = map[string]struct{ chat, anthropic string }{
	"stop": {"stop", "end_turn"}, "end_turn": {"stop", "end_turn"}, "STOP": {"stop", "end_turn"}, "stop_sequence": {"stop", "end_turn"},
	"tool_call": {"tool_calls", "tool_use"}, "tool_calls": {"tool_calls", "tool_use"}, "tool_use": {"tool_calls", "tool_use"},
	"function_call": {"tool_calls", "tool_use"},
	"length":        {"length", "max_tokens"}, "max_tokens": {"length", "max_tokens"}, "MAX_TOKENS": {"length", "max_tokens"},
	"content_filter": {"content_filter", "refusal"}, "refusal": {"content_filter", "refusal"}, "SAFETY": {"content_filter", "refusal"},
}

// finishReason is why the answer finished, in a word of the shape; nil where that is not told.
func (s *otelSpan) finishReason(as *messageShape) []byte {
	words, known := finishes[s.word]
	if !known {
		return nil
	}
	calls := false
	for i := range s.answer.parts {
		calls = calls || s.answer.parts[i].kind == callPart
	}
	if calls && words.chat == "stop" { // the conventions have one word where providers have two
		words = finishes["tool_call"]
	}
	word := words.chat
	if as == &anthropicShape {
		word = words.anthropic
	}
	return []byte(strconv.Quote(word))
}

// usageJSON is the counts by the shape's names. The conventions count what was cached as input, and
// Anthropic does not.
func (s *otelSpan) usageJSON(as *messageShape) []byte {
	input := s.attrCount("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
	output := s.attrCount("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
	read := s.attrCount("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.details.cache_read_tokens", "gen_ai.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read")
	write := s.attrCount("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.details.cache_write_tokens", "gen_ai.usage.cache_creation_input_tokens", "llm.token_count.prompt_details.cache_write")
	if input < 0 && output < 0 {
		return nil
	}
	told := func(key string, n int) member {
		if n < 0 {
			return member{}
		}
		return member{key, intBytes(n)}
	}
	if as == &anthropicShape {
		rest := input - max(read, 0) - max(write, 0)
		if rest < 0 {
			rest = input // it is counted as Anthropic does
		}
		return objectOf(told("input_tokens", rest), told("output_tokens", output), told("cache_read_input_tokens", read), told("cache_creation_input_tokens", write))
	}
	details := member{}
	if read >= 0 {
		details = member{"prompt_tokens_details", objectOf(told("cached_tokens", read))}
	}
	return objectOf(told("prompt_tokens", input), told("completion_tokens", output), details)
}

// toolsIn are the tools as the shape has them.
func (s *otelSpan) toolsIn(as *messageShape) []byte {
	var all [][]byte
	for _, t := range s.tools {
		function := t
		if inner := json.Find(t, "function"); inner != nil {
			function = inner
		}
		f := json.Pick(function, "name", "description", "parameters", "input_schema")
		if f[2] == nil {
			f[2] = f[3]
		}
		if as == &anthropicShape {
			all = append(all, objectOf(member{"name", f[0]}, member{"description", f[1]}, member{"input_schema", f[2]}))
		} else {
			all = append(all, objectOf(member{"type", []byte(`"function"`)}, member{"function", objectOf(member{"name", f[0]}, member{"description", f[1]}, member{"parameters", f[2]})}))
		}
	}
	if all == nil {
		return nil
	}
	return arrayOf(all...)
}
