package replay

import (
	"strings"

	"toolscope/providers/js"
)

// Rules of clients in JavaScript, each as in the client's code. If the protocol carries values, JSON.parse
// has read them before the client gets them.

// parseArgs returns the value of arguments in a protocol that carries values.
func (r *receivedCall) parseArgs() js.Value {
	v, _ := js.Parse(r.args)
	return v
}

// asText returns arguments for a protocol that carries text: the string itself, or another value as
// JSON.stringify writes it.
func asText(v js.Value) []byte {
	if v.Kind == js.String {
		return []byte(v.Text)
	}
	return v.JSON()
}

// inputText returns the text that the AI SDK has of a call's arguments; ok is false if it throws instead.
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

// noPrototypes is a call that the AI SDK rejects.
var noPrototypes = clientRaises("it rejects JSON that names a prototype")

// aiSDK is the rule of the AI SDK.
type aiSDK struct {
	page bool // the history of a page (useChat): arguments that don't parse stay text
	six  bool // version 6, whose Anthropic provider doesn't wrap
}

// sendCall is the clientRule.
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

// writeInput writes the input of a call as the SDK's provider for a protocol does.
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

// piRule is the rule of pi's model library.
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

// langChainJSRule is the rule of LangChain JS for streamed calls.
func langChainJSRule(r receivedCall, to string) clientCall {
	text := js.Trim(r.args)
	if text == "" {
		text = "{}"
	}
	v, ok := js.LangChain(text)
	valid := ok && v.IsPlain()
	switch {
	case r.from == gemini && strings.ContainsAny(r.args, lineEnds):
		return clientCall{throws: "its reader of Gemini's stream ends lines at U+2028"}
	case r.from == responses && to == r.from:
		return callWith([]byte(r.args)) // the item itself goes back
	case r.from == messages && to == gemini:
		return clientCall{throws: "it doesn't know input_json_delta"}
	case to == ollama && (r.from == responses || r.from == gemini):
		return leftOut // if the content of a message is a list, only its tool_use is read
	case r.from == messages && to == ollama && !valid:
		return clientCall{throws: "it has a tool_use but no call for it"}
	case r.from == messages && to == messages && !valid:
		if v, ok = js.Parse(r.args); !ok {
			v = js.EmptyObject()
		}
	case r.from == chat && (to == r.from || to == responses) && !valid:
		raw := callWith([]byte(r.args)) // the message keeps the text of the wire
		if raw.shape = chatAsItCame; to == responses {
			raw.shape = nameFirst
		}
		return raw
	case !valid:
		return leftOut
	}
	return callWith(v.JSON())
}

// asItCame is the rule of clients that keep the text.
func asItCame(r receivedCall, _ string) clientCall { return callWith([]byte(r.args)) }

// throughJSON is the rule of clients that pass a value on.
func throughJSON(r receivedCall, _ string) clientCall {
	if v := r.parseArgs(); v.Kind > js.Null {
		return callWith(v.JSON())
	}
	return callWith(nil)
}

// geminiCLIRule is the rule of Gemini CLI.
func geminiCLIRule(r receivedCall, to string) clientCall {
	if strings.ContainsAny(r.args, lineEnds) {
		return clientRaises("its stream reader ends lines at U+2028, and it retries the request")
	}
	return throughJSON(r, to)
}

// lineEnds holds characters that end a line in JavaScript's patterns and that JSON doesn't escape.
const lineEnds = "\u2028\u2029"

// anthropicJSRule is the rule of Anthropic's JavaScript library.
func anthropicJSRule(r receivedCall, _ string) clientCall {
	if r.args == "" {
		return callWith([]byte("{}"))
	}
	v, ok := js.ParseClosed(r.args)
	if !ok {
		return clientCall{throws: "the arguments are neither JSON nor the beginning of JSON"}
	}
	return callWith(v.JSON())
}

// claudeCodeRule is the rule of Claude Code.
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

// qwenCodeRule is the rule of Qwen Code. The result of jsonrepair is not predicted.
func qwenCodeRule(r receivedCall, _ string) clientCall {
	v, ok := js.Parse(r.args)
	switch {
	case js.Trim(r.args) == "":
		return clientRaises("it ignores a call without arguments, and retries the request")
	case !ok:
		return notStudied
	case v.Kind == js.Null:
		v = js.EmptyObject()
	}
	return callWith(v.JSON())
}

// opencodeRule is the rule of opencode, which runs on Bun.
func opencodeRule(r receivedCall, _ string) clientCall {
	v, ok := js.ParseSecure(r.args)
	rest, begun := js.After(r.args)
	switch {
	case js.Trim(r.args) == "":
		v = js.EmptyObject()
	case r.from == chat && begun && js.Trim(rest) != "":
		return notStudied // it takes the call as complete at the first delta that ends a value
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

// codexRule is the rule of Codex, which keeps the text.
func codexRule(r receivedCall, to string) clientCall {
	if js.WellFormed(r.args) != r.args {
		return clientRaises("it rejects events that contain half a character, and retries the request")
	}
	return asItCame(r, to)
}

// llamaIndexTSRule is the rule of LlamaIndex TS, which parses the content of a string again.
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

// clineRule is the rule of Cline. The result of jsonrepair is not predicted.
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
