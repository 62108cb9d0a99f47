package formats

import (
	"bytes"

	"toolscope/stream/json"
)

// geminiParts are the parts of a content: a text, one part, or a list of both.
func geminiParts(content []byte) (parts []messagePart) {
	switch kindOf(content) {
	case '"':
		if text := nonEmptyText(content); text != nil {
			parts = append(parts, messagePart{kind: textPart, text: text})
		}
	case '{':
		parts = append(parts, messagePart{kind: textPart, raw: content})
	case '[':
		for p := range json.Elements(content) {
			if kindOf(p) != '[' { // lists of lists there are none
				parts = append(parts, geminiParts(p)...)
			}
		}
	}
	for i := range parts {
		if json.Find(parts[i].raw, "functionResponse") != nil {
			parts[i].kind = resultPart
		}
	}
	return parts
}

func geminiThoughts(thoughts []byte) (parts []messagePart) {
	for t := range json.Elements(thoughts) {
		if text := nonEmptyText(json.Find(t, "description")); text != nil {
			parts = append(parts, messagePart{kind: thoughtPart, text: text})
		}
	}
	return parts
}

// geminiResults are the results of a call in what was kept of its result, which may have those of
// the calls beside it too.
func geminiResults(result, id []byte) (parts []messagePart) {
	for _, p := range geminiParts(result) {
		if p.kind == resultPart && bytes.Equal(json.Find(p.raw, "functionResponse", "id"), id) {
			parts = append(parts, p)
		}
	}
	return parts
}

// geminiUsage is Gemini CLI's counts by the names that the provider has for them.
func geminiUsage(tokens []byte) []byte {
	f := json.Pick(tokens, "input", "output", "cached", "thoughts", "tool", "total")
	return objectOf(member{"promptTokenCount", f[0]}, member{"candidatesTokenCount", f[1]}, member{"cachedContentTokenCount", f[2]},
		member{"thoughtsTokenCount", f[3]}, member{"toolUsePromptTokenCount", f[4]}, member{"totalTokenCount", f[5]})
}
