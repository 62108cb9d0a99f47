package replay

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolscope/providers/js"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Rules of clients in other languages, as in their source.

// pythonJSON returns a text after json.loads and json.dumps, without spaces and with all characters
// unescaped, as the libraries that send requests write it. ok is false if one of them raises an error.
// Integers stay as they are, and fractions get the digits of repr.
func pythonJSON(text string) (out []byte, ok bool) {
	return dumpPython(text, rewriteRules{python: true})
}

// dumpPython is pythonJSON with other rules for writing.
func dumpPython(text string, how rewriteRules) (out []byte, ok bool) {
	f := factsOf([]byte(text), false)
	if f.syntax != stream.SyntaxObject && f.syntax != stream.SyntaxOther && f.syntax != stream.SyntaxDouble {
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

// goJSON returns one object after Go's encoding/json: fields sorted, numbers as doubles.
func goJSON(text string) (out []byte, ok bool) {
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) != nil || object == nil {
		return nil, false
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(object)
	return bytes.TrimSpace(b.Bytes()), err == nil
}

// isText reports whether a protocol takes arguments as text.
func isText(to string) bool { return to == chat || to == responses || to == "cohere" }

// clientRaises returns a call for which the client sends no request.
func clientRaises(why string) clientCall { return clientCall{throws: why} }

// pydanticAIRule is the rule of Pydantic AI.
func pydanticAIRule(r receivedCall, to string) clientCall {
	object := isObject([]byte(r.args))
	switch {
	case strings.TrimSpace(r.args) == "":
		return callWith([]byte("{}"))
	case !object:
		var w protocol.Writer
		return callWith(w.Open('{').Key("INVALID_JSON").Bytes([]byte(r.args)).Close('}').Text)
	case isText(to):
		return callWith([]byte(r.args))
	}
	if out, ok := pythonJSON(r.args); ok {
		return callWith(out)
	}
	return clientRaises("Python can't write its arguments as JSON")
}

// pythonStrict is the rule of clients that keep the text, and read it with json.loads only for targets that
// take objects.
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
	return clientRaises("json.loads raises")
}

// fantasyRule is the rule of fantasy.
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

// crushRule is the rule of Crush, which replaces text that is not JSON by {} before fantasy gets it.
func crushRule(r receivedCall, to string) clientCall {
	if !json.Valid([]byte(r.args)) {
		r.args = "{}"
	}
	return fantasyRule(r, to)
}

// openAIAgentsRule is the rule of OpenAI Agents for Python.
func openAIAgentsRule(r receivedCall, to string) clientCall {
	if to == chat && r.args == "" {
		return callWith([]byte("{}"))
	}
	return asItCame(r, to)
}

// springAIRule is the rule of Spring AI.
func springAIRule(r receivedCall, to string) clientCall {
	out, ok := pythonJSON(r.args) // Jackson writes an object the same way: integers stay exact
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

// langChain4jRule is the rule of LangChain4j.
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
	case valid && isObject([]byte(r.args)):
		out, _ := pythonJSON(r.args)
		return callWith(out)
	}
	return clientRaises("Jackson can't read the arguments as an object")
}

// notStudied is a call whose treatment by the client is unknown.
var notStudied = clientCall{unknown: true}

// emptyOnError is the rule of agents that replace text that doesn't parse by {}. Among values that are not
// an object, only arrays were observed.
func emptyOnError(r receivedCall, to string) clientCall {
	v, ok := js.Parse(r.args)
	switch {
	case !ok:
		return callWith([]byte("{}"))
	case v.IsPlain(), v.Kind == js.Array:
		return callWith(v.JSON())
	}
	return notStudied
}

// continueCLIRule is the rule of Continue, which stops at a call from Anthropic without arguments.
func continueCLIRule(r receivedCall, to string) clientCall {
	if r.args == "" && r.from == messages {
		return clientRaises("it doesn't continue after a call without arguments")
	}
	return emptyOnError(r, to)
}
