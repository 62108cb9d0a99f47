package replay

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"toolscope/providers/js"
	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// A clientRule predicts how a client sends a call back: how its code reads the arguments when they arrive, and how it
// writes them in the target's protocol.
type clientRule func(r receivedCall, to string) clientCall

// receivedCall is a call as a client receives it.
type receivedCall struct {
	from  string // protocol of the call; "" if unknown
	name  string
	args  string // the arguments: the text or, for protocols that send a value, its JSON
	value bool   // the protocol sends arguments as a value, not as text in deltas

	id    string
	mates []receivedCall // all calls of the message, including this one
}

// clientCall is a call as the client sends it.
type clientCall struct {
	args    []byte // the text, or the value as JSON; empty if there are no arguments
	name    string // new name of the call; "" if the client keeps the name
	shape   string // template for the call; "" for the policy's templates
	leftOut bool   // the client leaves the call out
	throws  string // reason why the client sends no request

	unknown bool // the client's rule is unknown
}

// callWith returns a call with the given arguments.
func callWith(args []byte) clientCall { return clientCall{args: args} }

// leftOut is a call that the client leaves out.
var leftOut = clientCall{leftOut: true}

// byClient returns the arguments that the policy's client sends, or nil if the client sends none or they are unknown.
// It determines the outcome by comparing them with the original arguments.
func (c *previewBuilder) byClient(p *protocol.Part, f *argsFacts, sent *Sent) []byte {
	r := c.receiveCall(p, f)
	r.mates = c.mates
	s := c.Policy.way(r, c.To.Protocol)
	c.shape = s.shape
	switch {
	case s.unknown:
		sent.Outcome = Unknown
		return nil
	case s.leftOut:
		sent.Outcome = Dropped
		return nil
	case s.throws != "":
		sent.Outcome = Throws
		sent.noteRefusal("", sent.ID, sent.Name, c.Policy.Client.Title+" sends no request: "+s.throws)
		return nil
	}
	if s.name == "" {
		s.name = c.named.name
	}
	if c.setOutcome(p, f, sent, s.args); s.name != p.Name {
		c.addLoss(NameRewritten.newLoss("the call to %s is sent under the name %s", quoteShort(p.Name), quoteShort(s.name)))
		p.Name, sent.Outcome = s.name, Renamed
	}
	return s.args
}

// receiveCall returns a call in the form in which the client receives it.
func (c *previewBuilder) receiveCall(p *protocol.Part, f *argsFacts) receivedCall {
	from := c.ids.from
	return receivedCall{from: from, name: p.Name, args: string(f.raw), value: from == gemini || from == ollama, id: p.ID}
}

// receiveAll returns the calls of a message in the form in which the client receives them. The parameter number is
// the number of calls before the message.
func (c *previewBuilder) receiveAll(m *protocol.Message, number int) (all []receivedCall) {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == protocol.CallPart {
			all = append(all, c.receiveCall(p, c.src.facts[number]))
			number++
		}
	}
	return all
}

// setOutcome sets the outcome of a call for which the client sends args as the arguments. It also adds the losses.
func (c *previewBuilder) setOutcome(p *protocol.Part, f *argsFacts, sent *Sent, args []byte) {
	toText, fromText := c.To.Form == protocol.TextForm, p.Form == protocol.TextForm
	v := judgeText(f.raw, false, &protocol.Part{Args: args, Form: c.To.Form}, c.To)
	inside, isString := inString(f.raw)
	unwrapped := isString && v.treatment != Intact && (bytes.Equal(inside, args) || json.Same(inside, args))
	if unwrapped {
		v = argsVerdict{treatment: WasRepaired, loss: ArgsRepaired.newLoss("the model wrote a string: its content is sent")}
	}
	if v.loss.Kind != nil && v.treatment != WasReformatted {
		c.addLossAt(span{0, len(f.raw)}, v.loss)
	}
	switch v.treatment {
	case Intact:
		switch {
		case !bytes.Equal(f.raw, args):
			c.addLossAt(span{0, len(f.raw)}, ImpliedEmpty.newLoss("empty arguments are sent as {}"))
			sent.Outcome = max(sent.Outcome, AssumedEmpty)
		case fromText && !toText && f.syntax == json.SyntaxObject:
			sent.Outcome = max(sent.Outcome, Parsed)
		}
	case WasReformatted:
		c.addRewriteLosses(f, args)
		sent.Outcome = Reformatted
	case WasEmptied:
		sent.Outcome = Emptied
	case WasWrapped, WasEncoded:
		sent.Outcome = Wrapped
	case WasRepaired:
		if sent.Outcome = Repaired; unwrapped {
			sent.Outcome = Unwrapped
		}
	default:
		sent.Outcome = Repaired
	}
}

// addRewriteLosses adds the losses for args, which have the same value as the arguments in f but another form.
func (c *previewBuilder) addRewriteLosses(f *argsFacts, args []byte) {
	now, before := factsOf(args, false), len(c.Losses)
	gone := func(was, is span) span {
		if is.is() {
			return span{} // the new text still contains such a place, so nothing is lost
		}
		return was
	}
	c.addLossOf(f, DupKeys, gone(f.twice, now.twice), "only the last value of %s is sent")
	c.addLossOf(f, IntPrecision, gone(f.integer, now.integer), "%s doesn't fit in a double: it is rounded")
	c.addLossOf(f, NumPrecision, gone(f.fraction, now.fraction), "%s has more digits than a double can store: it is rounded")
	c.addLossOf(f, NumRange, gone(f.huge, now.huge), "%s is too large for a double: null is sent")
	c.addLossOf(f, NumSpelling, f.respelledIn(now), "%s is written differently")
	spelled := gone(f.respelledString(rewriteRules{}), now.respelledString(rewriteRules{}))
	if !utf8.Valid(f.raw) && utf8.Valid(args) {
		spelled = f.half // in valid UTF-8, half a character can only be an escape
	}
	c.addLossOf(f, StrSpelling, spelled, "%s is written with different escapes")
	c.addLossOf(f, KeyOrder, gone(f.numeric, now.numeric), "JavaScript moves keys that are numbers to the front: %s moves")
	if !now.unsorted.is() && f.numeric.is() == now.numeric.is() {
		c.addLossOf(f, KeyOrder, f.unsorted, "fields are sorted by their keys: %s moves")
	}
	c.addLossOf(f, Whitespace, gone(f.space, now.space), "the space between values, e.g. %s, is removed")
	if len(c.Losses) == before {
		c.addLossOf(f, StrSpelling, span{0, len(f.raw)}, "%s is written with different escapes")
	}
}

// respelledIn returns the span of the first number that is spelled differently in the rewritten arguments. The
// parameter now contains the facts about the rewritten arguments.
func (f *argsFacts) respelledIn(now *argsFacts) (at span) {
	there := map[string]bool{}
	for lit := range now.numberSpans() {
		there[string(now.raw[lit.start:lit.end])] = true
	}
	for lit := range f.numberSpans() {
		text := f.raw[lit.start:lit.end]
		if _, how := asDouble(text); how == spelledOther && !there[string(text)] {
			return lit
		}
	}
	return at
}

// numberSpans yields the spans of the numbers in a text.
func (f *argsFacts) numberSpans() iter.Seq[span] {
	return func(yield func(span) bool) {
		start := 0
		for _, t := range f.tokens.All() {
			if t.Kind == json.Number && !yield(span{start, int(t.End)}) {
				return
			}
			start = int(t.End)
		}
	}
}

// The rules of clients in JavaScript follow. Each rule reproduces the client's code. If the protocol sends arguments
// as values, JSON.parse has already read them before this code runs.

// parseArgs returns the value of the arguments, for a protocol that sends arguments as values.
func (r *receivedCall) parseArgs() js.Value {
	v, _ := js.Parse(r.args)
	return v
}

// asText returns arguments for a protocol that sends arguments as text: the string itself, or the output of
// JSON.stringify for any other value.
func asText(v js.Value) []byte {
	if v.Kind == js.String {
		return []byte(v.Text)
	}
	return v.JSON()
}

// inputText returns the text of a call's arguments as the AI SDK reads it. It returns false if the SDK throws an
// error instead.
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

// noPrototypes is the result for a call that the AI SDK rejects.
var noPrototypes = clientRaises("the client rejects JSON with a prototype property")

// aiSDK is the rule of the AI SDK.
type aiSDK struct {
	page bool // useChat, for the history of a web page: arguments that don't parse stay text
	six  bool // version 6, in which the provider for Anthropic doesn't wrap arguments
}

// sendCall implements clientRule.
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

// writeInput writes the input of a call in the same way as the SDK's provider for a protocol.
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

// piRule applies the rule of pi's model library.
func piRule(r receivedCall, _ string) clientCall {
	if r.value {
		if v := r.parseArgs(); v.Kind > js.Null {
			return callWith(v.JSON())
		}
	} else if v, ok := js.ParseRepaired(r.args); ok && v.IsPlain() {
		return callWith(v.JSON())
	}
	return callWith([]byte("{}"))
}

// langChainJSRule applies the rule of LangChain JS for streamed calls.
func langChainJSRule(r receivedCall, to string) clientCall {
	v, valid := r.langChainInput()
	ok := valid
	among := slices.ContainsFunc(r.mates, func(mate receivedCall) bool { _, valid := mate.langChainInput(); return valid })
	switch {
	case r.from == gemini && strings.ContainsAny(r.args, lineEnds):
		return clientCall{throws: "the client's reader for Gemini streams treats U+2028 as the end of a line"}
	case r.from == responses && to == r.from:
		return callWith([]byte(r.args)) // the item itself is sent back
	case r.from == messages && to == gemini:
		return clientCall{throws: "the client doesn't recognise input_json_delta"}
	case to == ollama && (r.from == responses || r.from == gemini):
		return leftOut // if the content of a message is a list, LangChain reads only the tool_use parts
	case r.from == messages && to == ollama && !valid && !among:
		return clientCall{throws: "the client's message has a tool_use block without a matching call"}
	case r.from == messages && to == messages && !valid:
		if v, ok = js.Parse(r.args); !ok {
			v = js.EmptyObject()
		}
	case r.from == chat && (to == r.from || to == responses) && !valid && !among:
		raw := callWith([]byte(r.args)) // the message keeps the original text
		if raw.shape = chatAsItCame; to == responses {
			raw.shape = nameFirst
		}
		return raw
	case !valid:
		return leftOut
	}
	return callWith(v.JSON())
}

// langChainInput returns the input that LangChain JS reads. LangChain treats a call as invalid if its arguments are
// not an object, or if its arguments arrived as text and it has no id. If another call of the message is valid,
// LangChain sends no invalid calls.
func (r *receivedCall) langChainInput() (v js.Value, valid bool) {
	text := js.Trim(r.args)
	if text == "" && !r.value {
		text = "{}"
	}
	v, ok := js.LangChain(text)
	return v, ok && v.IsPlain() && (r.id != "" || r.value)
}

// asItCame applies the rule of clients that keep the text unchanged.
func asItCame(r receivedCall, _ string) clientCall { return callWith([]byte(r.args)) }

// throughJSON applies the rule of clients that pass a value on through JSON.parse and JSON.stringify.
func throughJSON(r receivedCall, _ string) clientCall {
	if v := r.parseArgs(); v.Kind > js.Null {
		return callWith(v.JSON())
	}
	return callWith(nil)
}

// geminiCLIRule applies the rule of Gemini CLI.
func geminiCLIRule(r receivedCall, to string) clientCall {
	if strings.ContainsAny(r.args, lineEnds) {
		return clientRaises("the client's stream reader treats U+2028 as the end of a line, and the client retries the request")
	}
	return throughJSON(r, to)
}

// lineEnds contains the characters that JavaScript's patterns treat as line breaks but JSON doesn't escape.
const lineEnds = "\u2028\u2029"

// anthropicJSRule applies the rule of Anthropic's JavaScript library.
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

// claudeCodeRule applies the rule of Claude Code.
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

// qwenCodeRule applies the rule of Qwen Code. toolscope doesn't predict the result of jsonrepair.
func qwenCodeRule(r receivedCall, _ string) clientCall {
	v, ok := js.Parse(r.args)
	switch {
	case js.Trim(r.args) == "":
		return clientRaises("the client ignores a call without arguments, and retries the request")
	case !ok:
		return notStudied
	case v.Kind == js.Null:
		v = js.EmptyObject()
	}
	return callWith(v.JSON())
}

// opencodeRule applies the rule of opencode, which runs on Bun.
func opencodeRule(r receivedCall, _ string) clientCall {
	v, ok := js.ParseSecure(r.args)
	rest, begun := js.After(r.args)
	switch {
	case js.Trim(r.args) == "":
		v = js.EmptyObject()
	case r.from == chat && begun && js.Trim(rest) != "":
		return notStudied // opencode treats the call as complete at the first delta that ends a value
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

// codexRule applies the rule of Codex, which keeps the text unchanged.
func codexRule(r receivedCall, to string) clientCall {
	if js.WellFormed(r.args) != r.args {
		return clientRaises("the client rejects events that contain half a character, and retries the request")
	}
	return asItCame(r, to)
}

// llamaIndexTSRule applies the rule of LlamaIndex TS. If the arguments are a string, LlamaIndex TS also parses the
// string's content.
func llamaIndexTSRule(r receivedCall, _ string) clientCall {
	v, ok := js.Parse(r.args)
	if !ok {
		return clientRaises("JSON.parse throws an error, and the process ends")
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

// clineRule applies the rule of Cline. toolscope doesn't predict the result of jsonrepair.
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

// mastraRule applies the rule of Mastra, which uses the providers of AI SDK 6.
func mastraRule(r receivedCall, to string) clientCall {
	text, ok := r.inputText()
	if !ok {
		return noPrototypes
	}
	v, ok := js.Parse(text)
	if !ok {
		v = mastraRepaired(text)
	}
	switch {
	case v.Kind == js.Null && to == messages:
		return clientCall{shape: `{"type":"tool_use","id":ID,"name":NAME}`}
	case v.Kind <= js.Null:
		v = js.EmptyObject()
	}
	return callWith(aiSDK{six: true}.writeInput(v, to))
}

// mastraRepairs lists the changes that Mastra makes to arguments that don't parse, in the order in which Mastra makes
// them.
var mastraRepairs = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`([{,]` + blanks + `)([a-zA-Z_$][a-zA-Z0-9_$]*)"`), `$1"$2"`},
	{regexp.MustCompile(`([{,]` + blanks + `)([a-zA-Z_$][a-zA-Z0-9_$]*)` + blanks + `:`), `$1"$2":`},
	{regexp.MustCompile(`'`), `"`},
	{regexp.MustCompile(`,(` + blanks + `[}\]])`), `$1`},
	{regexp.MustCompile(`:` + blanks + `([0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:]+)?)` + blanks + `([,}])`), `: "$1"$2`},
}

// blanks matches the same characters as JavaScript's \s*.
const blanks = `[\s\v\p{Z}\x{feff}]*`

// markers matches the special tokens of models, which Mastra removes.
var markers = regexp.MustCompile(`<\|[^|]*\|>` + blanks)

// mastraRepaired returns the value that Mastra reads from a text that doesn't parse. It returns Undefined if Mastra
// can't repair the text.
func mastraRepaired(text string) (v js.Value) {
	text = js.Trim(markers.ReplaceAllString(text, ""))
	if v, ok := js.Parse(text); ok {
		return v
	}
	for _, r := range mastraRepairs {
		text = r.find.ReplaceAllString(text, r.put)
	}
	if v, ok := js.Parse(text); ok && v.Truthy() {
		return v
	}
	return v
}
