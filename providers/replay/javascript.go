package replay

import (
	"strings"

	"toolscope/providers/js"
)

// The ways of clients that are written in JavaScript, each as its code has it. A value of a protocol
// that carries values has been through JSON.parse before the client sees it.

// parsed is the value that a protocol which carries values has brought.
func (r *received) parsed() js.Value {
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

// aiSDK is the way of the AI SDK.
type aiSDK struct {
	page bool // from the history of a page (useChat): arguments that do not parse stay there as text
	six  bool // version 6, whose provider for Anthropic does not wrap
}

func (w aiSDK) send(r received, to string) sending {
	text := r.args
	if r.value {
		v, ok := js.Secure(text)
		switch {
		case !ok:
			return sending{throws: "it takes no JSON that names a prototype"}
		case v.Kind == js.Null, v.Kind == js.Undefined:
			text = "{}"
		default:
			text = string(asText(v))
		}
	}
	v, ok := js.Secure(text)
	switch {
	case js.Trim(text) == "":
		v = js.Empty()
	case !ok && w.page:
		v = js.Text(text)
	case !ok:
		v = js.Empty()
	}
	return sends(w.write(v, to))
}

// write is what the provider of a protocol makes of the input of a call.
func (w aiSDK) write(v js.Value, to string) []byte {
	inside, unwraps := js.Value{}, false // the value in a string
	if v.Kind == js.String {
		inside, unwraps = js.Secure(v.Text)
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
	return js.With("rawInvalidInput", v).JSON()
}

// pi is the way of pi's library of models.
func pi(r received, to string) sending {
	v := js.Value{}
	if r.value {
		if v = r.parsed(); v.Kind <= js.Null {
			v = js.Empty()
		}
	} else {
		v = js.Streaming(r.args)
	}
	if v.Kind == js.Null && (to == messages || to == gemini) {
		v = js.Empty()
	}
	return sends(v.JSON())
}

// langChainJS is the way of LangChain JS with what a model streams.
func langChainJS(r received, to string) sending {
	text := js.Trim(r.args)
	if text == "" {
		text = "{}"
	}
	v, ok := js.LangChain(text)
	valid := ok && v.IsPlain()
	switch {
	case r.from == gemini && strings.ContainsAny(r.args, lineEnds):
		return sending{throws: "its reader of Gemini's stream ends a line at U+2028"}
	case r.from == responses && to == r.from:
		return sends([]byte(r.args)) // the item itself goes back
	case r.from == messages && to == gemini:
		return sending{throws: "it knows no input_json_delta"}
	case to == ollama && (r.from == responses || r.from == gemini):
		return leftOut // of a message whose content is a list only its tool_use is read
	case r.from == messages && to == ollama && !valid:
		return sending{throws: "it has a tool_use without a call"}
	case r.from == messages && to == messages && !valid:
		if v, ok = js.Parse(r.args); !ok {
			v = js.Empty()
		}
	case r.from == chat && (to == r.from || to == responses) && !valid:
		raw := sends([]byte(r.args)) // what the message keeps of the wire
		if raw.shape = chatAsItCame; to == responses {
			raw.shape = nameFirst
		}
		return raw
	case !valid:
		return leftOut
	}
	return sends(v.JSON())
}

// asItCame is the way of clients that keep the text.
func asItCame(r received, _ string) sending { return sends([]byte(r.args)) }

// throughJSON is the way of clients that pass a value on.
func throughJSON(r received, _ string) sending {
	if v := r.parsed(); v.Kind > js.Null {
		return sends(v.JSON())
	}
	return sends(nil)
}

// geminiCLI is the way of Gemini CLI.
func geminiCLI(r received, to string) sending {
	if strings.ContainsAny(r.args, lineEnds) {
		return raises("its reader of the stream ends a line at U+2028, and it asks again")
	}
	return throughJSON(r, to)
}

// lineEnds are what a pattern of JavaScript takes for the end of a line, and JSON does not escape.
const lineEnds = "\u2028\u2029"

// anthropicJS is the way of Anthropic's library for JavaScript.
func anthropicJS(r received, _ string) sending {
	if r.args == "" {
		return sends([]byte("{}"))
	}
	v, ok := js.Closed(r.args)
	if !ok {
		return sending{throws: "the arguments are not JSON that was cut"}
	}
	return sends(v.JSON())
}

// claudeCode is the way of Claude Code.
func claudeCode(r received, _ string) sending {
	v, ok := js.Parse(r.args)
	switch {
	case r.args == "", v.Kind == js.Null:
		return sends([]byte("{}"))
	case !ok:
		n := js.Double(float64(js.Len(r.args)))
		v = js.With("__unparsedToolInput", js.With("raw", js.Text(js.Cut(r.args, 2048))).And("len", n))
	}
	return sends(v.WithoutPrototypes().WellFormed().JSON())
}

// qwenCode is the way of Qwen Code. What it gives to jsonrepair is not foretold.
func qwenCode(r received, _ string) sending {
	v, ok := js.Parse(r.args)
	switch {
	case js.Trim(r.args) == "":
		return raises("it ignores a call without arguments, and asks again")
	case !ok:
		return notStudied
	case v.Kind == js.Null:
		v = js.Empty()
	}
	return sends(v.JSON())
}
