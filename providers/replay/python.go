package replay

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolscope/providers/js"
	"toolscope/stream/json"
)

// The rules of clients in other languages follow. They reproduce the clients' source code.

// pythonJSON returns a text as json.loads and json.dumps would rewrite it. The result has no spaces and as few
// escapes as possible, because the libraries that send requests write JSON in this form. Integers stay unchanged, and
// fractions get the digits of repr. The result ok is false if one of the functions raises an error, or if the result
// can't be sent.
func pythonJSON(text string) (out []byte, ok bool) {
	return dumpPython(text, rewriteRules{python: true})
}

// dumpPython does the same as pythonJSON, but writes the text by the given rules.
func dumpPython(text string, how rewriteRules) (out []byte, ok bool) {
	f := factsOf([]byte(text), false)
	if f.syntax != json.SyntaxObject && f.syntax != json.SyntaxOther && f.syntax != json.SyntaxDouble {
		return nil, false
	}
	if f.huge.is() || f.half.is() || f.invalid.is() {
		return nil, false // infinity and half a character can't be sent
	}
	return newTree(f.raw, f.tokens).write(nil, 0, how), true
}

// appendPython appends a number as Python writes it.
func appendPython(dst, lit []byte) []byte {
	if !bytes.ContainsAny(lit, ".eE") {
		if string(lit) == "-0" {
			lit = lit[1:]
		}
		return append(dst, lit...)
	}
	v, _ := strconv.ParseFloat(string(lit), 64)
	if a := math.Abs(v); v != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(dst, v, 'e', -1, 64)
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return append(dst, text...)
}

// goJSON returns one object as Go's encoding/json would rewrite it, with sorted fields and numbers as doubles. The
// result ok is false if the text is not one object.
func goJSON(text string) (out []byte, ok bool) {
	var object map[string]any
	if stdjson.Unmarshal([]byte(text), &object) != nil || object == nil {
		return nil, false
	}
	var b bytes.Buffer
	e := stdjson.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(object)
	return bytes.TrimSpace(b.Bytes()), err == nil
}

// isText reports whether a protocol sends arguments as text.
func isText(to string) bool { return to == chat || to == responses || to == "cohere" }

// clientRaises returns a call for which the client sends no request.
func clientRaises(why string) clientCall { return clientCall{throws: why} }

// pydanticAIRule applies the rule of Pydantic AI.
func pydanticAIRule(r receivedCall, to string) clientCall {
	object := json.IsObject([]byte(r.args))
	switch {
	case strings.TrimSpace(r.args) == "":
		return callWith([]byte("{}"))
	case !object:
		var w json.Writer
		return callWith(w.Open('{').Key("INVALID_JSON").Bytes([]byte(r.args)).Close('}').Text)
	case isText(to):
		return callWith([]byte(r.args))
	}
	if out, ok := pythonJSON(r.args); ok {
		return callWith(out)
	}
	return clientRaises("Python can't write the arguments as JSON")
}

// pythonStrict applies the rule of clients that keep the text. They read it with json.loads only if the target needs
// objects.
func pythonStrict(r receivedCall, to string) clientCall {
	if isText(to) {
		return asItCame(r, to)
	}
	if strings.TrimSpace(r.args) == "" {
		return callWith([]byte("{}"))
	}
	if out, ok := pythonJSON(r.args); ok {
		return callWith(out)
	}
	return clientRaises("json.loads raises an error")
}

// fantasyRule applies the rule of fantasy.
func fantasyRule(r receivedCall, to string) clientCall {
	if isText(to) {
		return asItCame(r, to)
	}
	out, ok := goJSON(r.args)
	switch {
	case ok:
		return callWith(out)
	case to == gemini && r.args != "":
		return leftOut
	}
	return callWith([]byte("{}"))
}

// crushRule applies the rule of Crush. Crush replaces text that is not JSON with {} before fantasy receives it.
func crushRule(r receivedCall, to string) clientCall {
	if !json.Valid([]byte(r.args)) {
		r.args = "{}"
	}
	return fantasyRule(r, to)
}

// openAIAgentsRule applies the rule of OpenAI Agents for Python.
func openAIAgentsRule(r receivedCall, to string) clientCall {
	if to == chat && r.args == "" {
		return callWith([]byte("{}"))
	}
	return asItCame(r, to)
}

// springAIRule applies the rule of Spring AI.
func springAIRule(r receivedCall, to string) clientCall {
	out, ok := pythonJSON(r.args) // Jackson writes an object in the same form as pythonJSON: integers stay exact
	switch {
	case strings.TrimSpace(r.args) == "":
		return callWith([]byte("{}"))
	case isText(to):
		return asItCame(r, to)
	case ok && out[0] == '{':
		return callWith(out)
	case to == messages:
		return callWith([]byte("{}"))
	case ok && to == gemini:
		return callWith(objectOf("result", out))
	}
	return clientRaises("Jackson can't read the arguments as an object")
}

// langChain4jRule applies the rule of LangChain4j.
func langChain4jRule(r receivedCall, to string) clientCall {
	switch valid := json.Valid([]byte(r.args)); {
	case isText(to):
		return asItCame(r, to)
	case !utf8.ValidString(r.args):
		return notStudied
	case strings.TrimSpace(r.args) == "":
		return callWith([]byte("{}"))
	case to == messages && valid:
		return callWith([]byte(strings.TrimSpace(r.args)))
	case to == messages:
		return clientRaises("the text is pasted into the body, which is then not JSON")
	case valid && json.IsObject([]byte(r.args)):
		if out, ok := pythonJSON(r.args); ok {
			return callWith(out)
		}
		return notStudied // half a surrogate pair, or a number beyond a double
	}
	return clientRaises("Jackson can't read the arguments as an object")
}

// notStudied is the result for a call that the client treats in an unknown way.
var notStudied = clientCall{unknown: true}

// continueCLIRule applies the rule of Continue, which stops at a call from Anthropic without arguments.
func continueCLIRule(r receivedCall, to string) clientCall {
	if r.args == "" && r.from == messages {
		return clientRaises("the client doesn't continue after a call without arguments")
	}
	// The client sends {} instead of text that doesn't parse. Arrays are the only JSON values other than objects that were
	// observed.
	v, ok := js.Parse(r.args)
	switch {
	case !ok:
		return callWith([]byte("{}"))
	case v.IsPlain(), v.Kind == js.Array:
		return callWith(v.JSON())
	}
	return notStudied
}

const (
	maxDigits = 4300 // maximum number of digits in an integer: Python's default limit
	maxNested = 200  // maximum number of nesting levels; whether Python reads more depends on its version
)

// reprOf appends Python's repr of the value that json.loads reads from a text. If json.loads raises an error, reprOf
// appends the repr of the text. If inner is set, strings that contain a list or a dict as JSON are also parsed. The
// result ok is false if toolscope can't predict Python's result.
func reprOf(dst, text []byte, inner bool) (out []byte, ok bool) {
	return pythonWriter{inner: inner}.writeText(dst, text, false)
}

// pythonWriter writes values in the form of Python's repr.
type pythonWriter struct {
	inner bool
	depth int
}

// writeText writes the value of a JSON text. If looks is set, the text is parsed only if it looks like a list or a
// dict. The result ok is false if Python may read or write the text differently.
func (p pythonWriter) writeText(dst, text []byte, looks bool) (out []byte, ok bool) {
	isNested := bytes.HasPrefix(text, []byte("{")) && bytes.HasSuffix(text, []byte("}")) ||
		bytes.HasPrefix(text, []byte("[")) && bytes.HasSuffix(text, []byte("]"))
	if looks && !isNested {
		return appendRepr(dst, text), true
	}
	if !json.Valid(text) {
		mayRead := bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("Infinity"))
		return appendRepr(dst, text), !mayRead && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= maxNested
	}
	var lex json.Lexer
	lex.Write(text)
	lex.Close()
	t := newTree(text, lex.Tokens())
	return p.writeValue(dst, t, 0)
}

// writeValue writes the value at token n. The result ok is false if the value is nested too deeply, or if it contains
// a number that Python refuses.
func (p pythonWriter) writeValue(dst []byte, t *tokenTree, n int) (out []byte, ok bool) {
	if p.depth++; p.depth > maxNested {
		return dst, false
	}
	lit := t.literalAt(n)
	switch t.tokens[n].Kind {
	case json.ObjectOpen:
		return p.writeDict(dst, t, n)
	case json.ArrayOpen:
		return p.writeList(dst, t, n)
	case json.String:
		text := json.Value(lit).Append(nil)
		if p.inner {
			return p.writeText(dst, text, true)
		}
		return appendRepr(dst, text), true
	case json.Number:
		return reprNumber(dst, lit)
	}
	return append(dst, map[string]string{"true": "True", "false": "False", "null": "None"}[string(lit)]...), true
}

func (p pythonWriter) writeDict(dst []byte, t *tokenTree, n int) (out []byte, ok bool) {
	dst = append(dst, '{')
	for i, m := range t.membersOf(n) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendRepr(dst, []byte(m.key)), ": "...)
		if dst, ok = p.writeValue(dst, t, m.value); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

func (p pythonWriter) writeList(dst []byte, t *tokenTree, n int) (out []byte, ok bool) {
	dst = append(dst, '[')
	for i := n + 1; t.tokens[i].Kind != json.ArrayClose; i = int(t.close[i]) + 1 {
		if t.tokens[i].Kind == json.Comma {
			dst = append(dst, ", "...)
			continue
		}
		if dst, ok = p.writeValue(dst, t, i); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

// reprNumber writes a number. The result ok is false for an integer that Python refuses.
func reprNumber(dst, lit []byte) (out []byte, ok bool) {
	if !bytes.ContainsAny(lit, ".eE") {
		return appendPython(dst, lit), len(bytes.TrimPrefix(lit, []byte("-"))) <= maxDigits
	}
	switch v, _ := strconv.ParseFloat(string(lit), 64); {
	case math.IsInf(v, 1):
		return append(dst, "inf"...), true
	case math.IsInf(v, -1):
		return append(dst, "-inf"...), true
	}
	return appendPython(dst, lit), true
}

// appendRepr appends a string as Python's repr writes it: in double quotes if it contains single quotes but no double
// quotes, and otherwise in single quotes.
func appendRepr(dst, text []byte) []byte {
	quote := byte('\'')
	if bytes.IndexByte(text, '\'') >= 0 && bytes.IndexByte(text, '"') < 0 {
		quote = '"'
	}
	dst = append(dst, quote)
	for i := 0; i < len(text); {
		if json.IsHalf(text[i:]) {
			half := rune(text[i]&0xf)<<12 | rune(text[i+1]&0x3f)<<6 | rune(text[i+2]&0x3f)
			dst, i = fmt.Appendf(dst, `\u%04x`, half), i+3
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		dst, i = appendReprRune(dst, r, quote), i+n
	}
	return append(dst, quote)
}

func appendReprRune(dst []byte, r rune, quote byte) []byte {
	switch {
	case r == rune(quote), r == '\\':
		return append(dst, '\\', byte(r))
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == '\t':
		return append(dst, `\t`...)
	case unicode.IsPrint(r):
		return utf8.AppendRune(dst, r)
	case r < 0x100:
		return fmt.Appendf(dst, `\x%02x`, r)
	case r < 0x10000:
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	return fmt.Appendf(dst, `\U%08x`, r)
}

// maxShortened is the maximum number of bytes that are cut off a text in order to parse it as LangChain does. Each
// byte needs one attempt.
const maxShortened = 1 << 10

// langChainRule applies the rule of LangChain for Python for streamed calls. The client sends the result of its
// parser for incomplete JSON, or the text if the result is not an object.
// See https://github.com/langchain-ai/langchain: langchain_core/utils/json.py and messages/ai.py,
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
	case !json.IsObject([]byte(text)):
		return callWith([]byte(r.args))
	case f.huge.is(), f.half.is(), f.invalid.is():
		return notStudied // Python writes Infinity for a huge number, and can't encode half a character or invalid bytes
	}
	out, _ := dumpPython(text, rewriteRules{python: true, spaced: true})
	return callWith(out)
}

// closedByPython returns the JSON that LangChain's parser reads from a text that may be cut off. It is the
// text with its open strings and brackets closed, shortened until it parses. It is "" if the parser reads
// nothing. If toolscope can't predict the parser's result, known is false.
func closedByPython(text string) (closed string, known bool) {
	open, closers, escaped, fixed := endState(text)
	switch {
	case json.Valid([]byte(fixed)) && !open:
		return fixed, true
	case strings.Contains(text, "NaN"), strings.Contains(text, "Infinity"):
		return "", false // Python also reads NaN and Infinity
	case closers == nil:
		return "", true // a closing bracket doesn't match an open bracket
	}
	if open && escaped {
		fixed = fixed[:len(fixed)-1]
	}
	if open {
		fixed += `"`
	}
	for n := len(fixed); n > 0; n-- {
		if len(fixed)-n > maxShortened {
			return "", false
		}
		if whole := fixed[:n] + string(closers); json.Valid([]byte(whole)) {
			return whole, true
		}
	}
	return "", true
}

// endState describes the end of a text. The result inString reports whether the end is inside a string, and escaped
// whether a backslash precedes it there. The result closers closes the open brackets. It is nil if a closing bracket
// doesn't match an open bracket. The result fixed is the text with the control characters in strings escaped, because
// LangChain makes Python accept them.
func endState(text string) (inString bool, closers []byte, escaped bool, fixed string) {
	var b strings.Builder
	var open []byte // closing bracket of each open bracket
	matched := true
	for i := range len(text) {
		c := text[i]
		switch {
		case inString && c < ' ' && !escaped: // after a backslash, the character stays invalid
			fmt.Fprintf(&b, `\u%04x`, c)
			continue
		case inString && c == '"' && !escaped:
			inString = false
		case inString:
			escaped = c == '\\' && !escaped
		case c == '"':
			inString, escaped = true, false
		case c == '{', c == '[':
			open = append(open, c+2) // '}' is '{' + 2, and ']' is '[' + 2
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
