package replay

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxShortened is by how many bytes a text is shortened that LangChain may read: each is a try.
const maxShortened = 1 << 10

// langChainRule is the way of LangChain for Python, of what a model streams: what its parser of JSON
// that was cut makes of the arguments, or their text if that is no object.
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
		return notStudied // Python writes Infinity for the first, and does not encode the others
	}
	out, _ := dumpPython(text, rewriteRules{python: true, spaced: true})
	return callWith(out)
}

// closedByPython is what LangChain's parser reads in place of a text that may have been cut: the text
// with everything closed that is open at its end, shortened from there until it parses. It is ""
// where it reads nothing; known is false where that is not told here.
func closedByPython(text string) (closed string, known bool) {
	open, closers, escaped, mended := endState(text)
	switch {
	case json.Valid([]byte(mended)) && !open:
		return mended, true
	case strings.Contains(text, "NaN"), strings.Contains(text, "Infinity"):
		return "", false // which Python reads
	case closers == nil:
		return "", true // something is closed that is not open
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

// endState tells how a text ends: inside a string, behind a backslash there, and what would close the
// brackets that are open, nil where one closes what is not open. mended is the text with control
// characters in strings escaped: Python is told to read them.
func endState(text string) (inString bool, closers []byte, escaped bool, mended string) {
	var b strings.Builder
	var open []byte // what closes each bracket
	matched := true
	for i := range len(text) {
		c := text[i]
		switch {
		case inString && c < ' ' && !escaped: // behind a backslash it stays wrong
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
