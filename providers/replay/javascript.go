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

// input is the text that the AI SDK has of a call's arguments; ok is false where it throws instead.
func (r *received) input() (text string, ok bool) {
	if !r.value {
		return r.args, true
	}
	v, ok := js.ParseSecure(r.args)
	if v.Kind <= js.Null {
		v = js.EmptyObject()
	}
	return string(asText(v)), ok
}

var noPrototypes = raises("it takes no JSON that names a prototype")

// aiSDK is the way of the AI SDK.
type aiSDK struct {
	page bool // from the history of a page (useChat): arguments that do not parse stay there as text
	six  bool // version 6, whose provider for Anthropic does not wrap
}

func (w aiSDK) send(r received, to string) sending {
	text, ok := r.input()
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
	return sends(w.write(v, to))
}

// write is what the provider of a protocol makes of the input of a call.
func (w aiSDK) write(v js.Value, to string) []byte {
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

// pi is the way of pi's library of models.
func pi(r received, to string) sending {
	v := js.Value{}
	if r.value {
		if v = r.parsed(); v.Kind <= js.Null {
			v = js.EmptyObject()
		}
	} else {
		v = js.ParseStreaming(r.args)
	}
	if v.Kind == js.Null && (to == messages || to == gemini) {
		v = js.EmptyObject()
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
			v = js.EmptyObject()
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
	v, ok := js.ParseClosed(r.args)
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
		n := js.NumberValue(float64(js.UTF16Len(r.args)))
		v = js.ObjectOf("__unparsedToolInput", js.ObjectOf("raw", js.StringValue(js.UTF16Prefix(r.args, 2048))).WithMember("len", n))
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
		v = js.EmptyObject()
	}
	return sends(v.JSON())
}

// opencode is the way of opencode, which runs on Bun.
func opencode(r received, _ string) sending {
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
		return sending{name: "invalid", args: js.ObjectOf("tool", js.StringValue(r.name)).WithMember("error", js.StringValue(said)).JSON()}
	case !v.IsPlain():
		v = js.ObjectOf("value", v)
	}
	return sends(v.JSON())
}

// codex is the way of Codex, which keeps the text.
func codex(r received, to string) sending {
	if js.WellFormed(r.args) != r.args {
		return raises("it reads no event that holds half a character, and asks again")
	}
	return asItCame(r, to)
}

// llamaIndexTS is the way of LlamaIndex TS: what a string holds is read once more.
func llamaIndexTS(r received, _ string) sending {
	v, ok := js.Parse(r.args)
	if !ok {
		return raises("JSON.parse throws, and the process ends")
	}
	if v.Kind != js.String {
		return sends(v.JSON())
	}
	inside, ok := js.Parse(v.Text)
	if !ok {
		inside = js.ObjectOf("rawInput", v)
	}
	return sends(asText(inside))
}

// cline is the way of Cline. What it gives to jsonrepair is not foretold.
func cline(r received, to string) sending {
	v, ok := js.Parse(r.args)
	switch {
	case js.Trim(r.args) == "":
		return sends([]byte("{}"))
	case !ok:
		return notStudied
	case v.Kind == js.String:
		v, ok = js.Parse(v.Text)
	}
	if !ok || v.Kind == js.Null {
		v = js.EmptyObject()
	}
	return sends(v.JSON())
}
