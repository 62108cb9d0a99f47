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

// The ways of clients that are written in other languages, as their source has them.

// pythonJSON is what json.loads and json.dumps make of a text, without spaces and with all
// characters, as the libraries that send requests write it; ok is false where one of them raises.
// Integers stay as they are, and fractions get the digits of repr.
func pythonJSON(text string) (out []byte, ok bool) {
	return dumpPython(text, rewriteRules{python: true})
}

// dumpPython is pythonJSON written in one of Python's ways.
func dumpPython(text string, how rewriteRules) (out []byte, ok bool) {
	f := factsOf([]byte(text), false)
	if f.syntax != stream.SyntaxObject && f.syntax != stream.SyntaxOther && f.syntax != stream.SyntaxDouble {
		return nil, false
	}
	if f.huge.is() || f.half.is() || f.invalid.is() {
		return nil, false // infinity, and half a character, are refused on the way out
	}
	return newTree(f.raw, f.tokens).write(nil, 0, how), true
}

// appendPython writes a number as Python does.
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

// goJSON is what Go's encoding/json makes of one object: members sorted, numbers as doubles.
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

// isText reports whether a protocol takes arguments as a text.
func isText(to string) bool { return to == chat || to == responses || to == "cohere" }

// clientRaises is a request that is not sent.
func clientRaises(why string) clientCall { return clientCall{throws: why} }

// pydanticAIRule is the way of Pydantic AI.
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
	return clientRaises("its arguments have no JSON in Python")
}

// pythonStrict is the way of clients that keep the text, and read it with json.loads only where an
// object must be.
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

// fantasyRule is the way of fantasy.
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

// crushRule is the way of Crush, which puts {} in place of what is no JSON before fantasy has it.
func crushRule(r receivedCall, to string) clientCall {
	if !json.Valid([]byte(r.args)) {
		r.args = "{}"
	}
	return fantasyRule(r, to)
}

// openAIAgentsRule is the way of OpenAI Agents for Python.
func openAIAgentsRule(r receivedCall, to string) clientCall {
	if to == chat && r.args == "" {
		return callWith([]byte("{}"))
	}
	return asItCame(r, to)
}

// springAIRule is the way of Spring AI.
func springAIRule(r receivedCall, to string) clientCall {
	out, ok := pythonJSON(r.args) // of one object Jackson makes the same: integers stay whole
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
	return clientRaises("Jackson cannot read the arguments as an object")
}

// langChain4jRule is the way of LangChain4j.
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
		return clientRaises("the text is pasted into the body, which is no JSON then")
	case valid && isObject([]byte(r.args)):
		out, _ := pythonJSON(r.args)
		return callWith(out)
	}
	return clientRaises("Jackson cannot read the arguments as an object")
}

// notStudied is a call of which nobody has seen what becomes of it.
var notStudied = clientCall{unknown: true}

// emptyOnError is the way of agents that put {} in place of what does not parse. Of values that are no
// object only arrays have been seen.
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

// continueCLIRule is the way of Continue, which does not go on where Anthropic's call has no arguments.
func continueCLIRule(r receivedCall, to string) clientCall {
	if r.args == "" && r.from == messages {
		return clientRaises("it does not go on after a call without arguments")
	}
	return emptyOnError(r, to)
}
