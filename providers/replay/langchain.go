package replay

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxShortened limits how many bytes are cut from a text to parse it as LangChain does: each byte is a try.
const maxShortened = 1 << 10

// langChainRule is the rule of LangChain for Python for streamed calls: the result of its parser of cut JSON,
// or the text if that is not an object.
// https://github.com/langchain-ai/langchain, langchain_core/utils/json.py and messages/ai.py,
// langchain_openai/chat_models/base.py.
func langChainRule(r receivedCall, _ string) clientCall {
	if r.args == "" {
		return callWith([]byte("{}"))
	}
	text, known := closedByPython(r.args)
	if !known {
		return notStudied
	}
	f := factsOf([]byte(text), false)
	switch {
	case !isObject([]byte(text)):
		return callWith([]byte(r.args))
	case f.huge.is(), f.half.is(), f.invalid.is():
		return notStudied // Python writes Infinity for the first, and doesn't encode the others
	}
	out, _ := dumpPython(text, rewriteRules{python: true, spaced: true})
	return callWith(out)
}

// closedByPython returns the JSON that LangChain's parser reads from a text that may be cut: the text with
// its open strings and brackets closed, shortened until it parses. It returns "" if the parser reads nothing.
// known is false if the parser's result is not predicted.
func closedByPython(text string) (closed string, known bool) {
	open, closers, escaped, mended := endState(text)
	switch {
	case json.Valid([]byte(mended)) && !open:
		return mended, true
	case strings.Contains(text, "NaN"), strings.Contains(text, "Infinity"):
		return "", false // Python reads these
	case closers == nil:
		return "", true // a bracket is closed that is not open
	}
	if open && escaped {
		mended = mended[:len(mended)-1]
	}
	if open {
		mended += `"`
	}
	for n := len(mended); n > 0; n-- {
		if len(mended)-n > maxShortened {
			return "", false
		}
		if whole := mended[:n] + string(closers); json.Valid([]byte(whole)) {
			return whole, true
		}
	}
	return "", true
}

// endState reports how a text ends: inside a string, and after a backslash there. closers closes the open
// brackets; it is nil if a bracket is closed that is not open. mended is the text with control characters in
// strings escaped, because LangChain makes Python accept them.
func endState(text string) (inString bool, closers []byte, escaped bool, mended string) {
	var b strings.Builder
	var open []byte // closing bracket of each open one
	matched := true
	for i := range len(text) {
		c := text[i]
		switch {
		case inString && c < ' ' && !escaped: // after a backslash it stays invalid
			fmt.Fprintf(&b, `\u%04x`, c)
			continue
		case inString && c == '"' && !escaped:
			inString = false
		case inString:
			escaped = c == '\\' && !escaped
		case c == '"':
			inString, escaped = true, false
		case c == '{', c == '[':
			open = append(open, c+2) // } is two after {, ] two after [
		case c == '}', c == ']':
			n := len(open) - 1
			if matched = matched && n >= 0 && open[n] == c; n >= 0 {
				open = open[:n]
			}
		}
		b.WriteByte(c)
	}
	if matched {
		closers = []byte{}
		for n := len(open) - 1; n >= 0; n-- {
			closers = append(closers, open[n])
		}
	}
	return inString, closers, escaped, b.String()
}
