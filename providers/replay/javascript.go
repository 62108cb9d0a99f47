package replay

import (
	"strings"

	"toolscope/providers/js"
)

// The ways of clients that are written in JavaScript, each as its code has it. A value of a protocol
// that carries values has been through JSON.parse before the client sees it.

// parseArgs is the value that a protocol which carries values has brought.
func (r *receivedCall) parseArgs() js.Value {
	v, _ := js.Parse(r.args)
	return v
}

// asText are arguments toward a protocol that carries a text: the string itself, or what
// JSON.stringify makes of another value.
func asText(v js.Value) []byte {
	if v.Kind == js.String {
		return []byte(v.Text)
	}
	return v.JSON()
}

// inputText is the text that the AI SDK has of a call's arguments; ok is false where it throws instead.
func (r *receivedCall) inputText() (text string, ok bool) {
	if !r.value {
		return r.args, true
	}
	v, ok := js.ParseSecure(r.args)
	if v.Kind <= js.Null {
		v = js.EmptyObject()
	}
	return string(asText(v)), ok
}

var noPrototypes = clientRaises("it takes no JSON that names a prototype")

// aiSDK is the way of the AI SDK.
type aiSDK struct {
	page bool // from the history of a page (useChat): arguments that do not parse stay there as text
	six  bool // version 6, whose provider for Anthropic does not wrap
}

func (w aiSDK) sendCall(r receivedCall, to string) clientCall {
	text, ok := r.inputText()
	if !ok {
		return noPrototypes
	}
	v, ok := js.ParseSecure(text)
	switch {
	case js.Trim(text) == "":
		v = js.EmptyObject()
	case !ok && w.page:
		v = js.StringValue(text)
	case !ok:
		v = js.EmptyObject()
	}
	return callWith(w.writeInput(v, to))
}

// writeInput is what the provider of a protocol makes of the input of a call.
func (w aiSDK) writeInput(v js.Value, to string) []byte {
	inside, unwraps := js.Value{}, false // the value in a string
	if v.Kind == js.String {
		inside, unwraps = js.ParseSecure(v.Text)
	}
	switch to {
	case chat:
		switch {
		case v.IsPlain():
			return v.JSON()
		case inside.IsPlain() && unwraps:
			return []byte(v.Text)
		}
		return []byte("{}")
	case responses:
		if unwraps {
			return []byte(v.Text)
		}
		return v.JSON()
	case gemini:
		if unwraps {
			v = inside
		}
		return v.JSON()
	case messages:
		if unwraps && inside.IsPlain() {
			v = inside
		}
		if v.IsPlain() || w.six {
			return v.JSON()
		}
	}
	if v.IsPlain() {
		return v.JSON()
	}
	return js.ObjectOf("rawInvalidInput", v).JSON()
}

// piRule is the way of pi's library of models.
func piRule(r receivedCall, to string) clientCall {
	v := js.Value{}
	if r.value {
		if v = r.parseArgs(); v.Kind <= js.Null {
			v = js.EmptyObject()
		}
	} else {
		v = js.ParseStreaming(r.args)
	}
	if v.Kind == js.Null && (to == messages || to == gemini) {
		v = js.EmptyObject()
	}
	return callWith(v.JSON())
}

// langChainJSRule is the way of LangChain JS with what a model streams.
func langChainJSRule(r receivedCall, to string) clientCall {
	text := js.Trim(r.args)
	if text == "" {
		text = "{}"
	}
	v, ok := js.LangChain(text)
	valid := ok && v.IsPlain()
	switch {
	case r.from == gemini && strings.ContainsAny(r.args, lineEnds):
		return clientCall{throws: "its reader of Gemini's stream ends a line at U+2028"}
	case r.from == responses && to == r.from:
		return callWith([]byte(r.args)) // the item itself goes back
	case r.from == messages && to == gemini:
		return clientCall{throws: "it knows no input_json_delta"}
	case to == ollama && (r.from == responses || r.from == gemini):
		return leftOut // of a message whose content is a list only its tool_use is read
	case r.from == messages && to == ollama && !valid:
		return clientCall{throws: "it has a tool_use without a call"}
	case r.from == messages && to == messages && !valid:
		if v, ok = js.Parse(r.args); !ok {
			v = js.EmptyObject()
		}
	case r.from == chat && (to == r.from || to == responses) && !valid:
		raw := callWith([]byte(r.args)) // what the message keeps of the wire
		if raw.shape = chatAsItCame; to == responses {
			raw.shape = nameFirst
		}
		return raw
	case !valid:
		return leftOut
	}
	return callWith(v.JSON())
}

// asItCame is the way of clients that keep the text.
func asItCame(r receivedCall, _ string) clientCall { return callWith([]byte(r.args)) }

// throughJSON is the way of clients that pass a value on.
func throughJSON(r receivedCall, _ string) clientCall {
	if v := r.parseArgs(); v.Kind > js.Null {
		return callWith(v.JSON())
	}
	return callWith(nil)
}

// geminiCLIRule is the way of Gemini CLI.
func geminiCLIRule(r receivedCall, to string) clientCall {
	if strings.ContainsAny(r.args, lineEnds) {
		return clientRaises("its reader of the stream ends a line at U+2028, and it asks again")
	}
	return throughJSON(r, to)
}

// lineEnds are what a pattern of JavaScript takes for the end of a line, and JSON does not escape.
const lineEnds = "\u2028\u2029"

// anthropicJSRule is the way of Anthropic's library for JavaScript.
func anthropicJSRule(r receivedCall, _ string) clientCall {
	if r.args == "" {
		return callWith([]byte("{}"))
	}
	v, ok := js.ParseClosed(r.args)
	if !ok {
		return clientCall{throws: "the arguments are not JSON that was cut"}
	}
	return callWith(v.JSON())
}

// claudeCodeRule is the way of Claude Code.
func claudeCodeRule(r receivedCall, _ string) clientCall {
	v, ok := js.Parse(r.args)
	switch {
	case r.args == "", v.Kind == js.Null:
		return callWith([]byte("{}"))
	case !ok:
		n := js.NumberValue(float64(js.UTF16Len(r.args)))
		v = js.ObjectOf("__unparsedToolInput", js.ObjectOf("raw", js.StringValue(js.UTF16Prefix(r.args, 2048))).WithMember("len", n))
	}
	return callWith(v.WithoutPrototypes().WellFormed().JSON())
}

// qwenCodeRule is the way of Qwen Code. What it gives to jsonrepair is not foretold.
func qwenCodeRule(r receivedCall, _ string) clientCall {
	v, ok := js.Parse(r.args)
	switch {
	case js.Trim(r.args) == "":
		return clientRaises("it ignores a call without arguments, and asks again")
	case !ok:
		return notStudied
	case v.Kind == js.Null:
		v = js.EmptyObject()
	}
	return callWith(v.JSON())
}

// opencodeRule is the way of opencode, which runs on Bun.
func opencodeRule(r receivedCall, _ string) clientCall {
	v, ok := js.ParseSecure(r.args)
	rest, begun := js.After(r.args)
	switch {
	case js.Trim(r.args) == "":
		v = js.EmptyObject()
	case r.from == chat && begun && js.Trim(rest) != "":
		return notStudied // it takes the call for whole at the first piece that ends in a value
	case !ok:
		why := "Object contains forbidden prototype property"
		if said := js.ParseErrorText(r.args); said != "" {
			why = "JSON Parse error: " + said
		}
		said := "Invalid input for tool " + r.name + ": JSON parsing failed: Text: " + r.args + ".\nError message: " + why
		return clientCall{name: "invalid", args: js.ObjectOf("tool", js.StringValue(r.name)).WithMember("error", js.StringValue(said)).JSON()}
	case !v.IsPlain():
		v = js.ObjectOf("value", v)
	}
	return callWith(v.JSON())
}

// codexRule is the way of Codex, which keeps the text.
func codexRule(r receivedCall, to string) clientCall {
	if js.WellFormed(r.args) != r.args {
		return clientRaises("it reads no event that holds half a character, and asks again")
	}
	return asItCame(r, to)
}

// llamaIndexTSRule is the way of LlamaIndex TS: what a string holds is read once more.
func llamaIndexTSRule(r receivedCall, _ string) clientCall {
	v, ok := js.Parse(r.args)
	if !ok {
		return clientRaises("JSON.parse throws, and the process ends")
	}
	if v.Kind != js.String {
		return callWith(v.JSON())
	}
	inside, ok := js.Parse(v.Text)
	if !ok {
		inside = js.ObjectOf("rawInput", v)
	}
	return callWith(asText(inside))
}

// clineRule is the way of Cline. What it gives to jsonrepair is not foretold.
func clineRule(r receivedCall, to string) clientCall {
	v, ok := js.Parse(r.args)
	switch {
	case js.Trim(r.args) == "":
		return callWith([]byte("{}"))
	case !ok:
		return notStudied
	case v.Kind == js.String:
		v, ok = js.Parse(v.Text)
	}
	if !ok || v.Kind == js.Null {
		v = js.EmptyObject()
	}
	return callWith(v.JSON())
}
