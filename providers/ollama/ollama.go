// Package ollama decodes Ollama's own protocol, /api/chat and /api/generate: one JSON object per line, and
// the last object has "done":true. A response that is not streamed is one such object.
//
// Calls are complete in message.tool_calls. Their arguments are an object, whose exact bytes are kept. A line
// opens its calls and makes them final. The slot of a call is its position among the calls in the response,
// because old versions send neither id nor index. The finish reason of a response with calls is
// also "stop". A line with a string in "error" ends the response.
//
// Wire facts are from Ollama's sources and docs/api.md (api/types.go, server/routes.go).
package ollama

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns Ollama's protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:    "ollama",
		Title:   "Ollama",
		Sniff:   sniffFrame,
		New:     func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, line: newLine()} },
		Marks:   wireMarks,
		Speaker: &speaker,
		Tools:   protocol.FunctionTools,

		Targets: []protocol.Target{target},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	var model, created, response, done, err json.Value
	message := false
	s := json.Scan(e.Data)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "model":
			model = s.Value()
		case "created_at":
			created = s.Value()
		case "message":
			message = s.Kind() == '{'
		case "response":
			response = s.Value()
		case "done":
			done = s.Value()
		case "error":
			err = s.Value()
		}
	}
	whole := s.End() == nil
	isAnswer := model.IsString() && (message || response.IsString())
	path := ""
	isObject := len(e.Data) == 0 || json.Value(e.Data).Kind() == '{'
	if isObject && (strings.HasSuffix(e.Path, "/api/chat") || strings.HasSuffix(e.Path, "/api/generate")) {
		path = e.Path
	}
	switch {
	case isAnswer && whole && done != nil && created.IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a line with model, created_at and done"}
	case isAnswer && whole && done != nil:
		return protocol.SniffScore{Points: protocol.Strong, Why: "a line with model and done"}
	case isAnswer && !whole && created.IsString():
		return protocol.SniffScore{Points: protocol.Likely, Why: "the beginning of a line with model, created_at and a response"}
	case path != "" && err.IsString():
		return protocol.SniffScore{Points: protocol.Strong, Why: "an error on path " + path}
	case path != "":
		// The path is weak evidence if the frame doesn't look like Ollama's, because web frameworks use the same
		// path.
		points := protocol.Weak
		if len(e.Data) == 0 {
			points = protocol.Likely
		}
		return protocol.SniffScore{Points: points, Why: "path " + path}
	case len(e.Header["Content-Type"]) > 0 && strings.HasPrefix(e.Header["Content-Type"][0], "application/x-ndjson"):
		return protocol.SniffScore{Points: protocol.Weak, Why: "content type application/x-ndjson"}
	}
	return protocol.SniffScore{}
}

// finishCodes are the values of done_reason. The values load and unload are for requests that only load a model into
// memory or unload it.
var finishCodes = protocol.FinishCodes{
	"stop": stream.FinishDone, "load": stream.FinishDone, "unload": stream.FinishDone,
	"length": stream.FinishCut,
}

// line is one line or a complete body, as it was sent.
type line struct {
	shape *json.Shape

	model, created, done, doneReason, err json.Value
	promptCount, cachedCount, outCount    json.Value

	message           json.Value // field of /api/chat
	content, response json.Value // /api/chat has content, and /api/generate has response
	thinking, calls   json.Value // fields of both endpoints, in the message or at the top level
}

func newLine() *line {
	l := new(line)
	l.shape = json.ShapeOf(
		json.Field("model", &l.model),
		json.Field("created_at", &l.created),
		json.Object("message",
			json.Field("content", &l.content),
			json.Field("thinking", &l.thinking),
			json.Field("tool_calls", &l.calls)).Into(&l.message),
		json.Field("response", &l.response),
		json.Field("thinking", &l.thinking),
		json.Field("tool_calls", &l.calls),
		json.Field("done", &l.done),
		json.Field("done_reason", &l.doneReason),
		json.Field("error", &l.err),
		json.Field("prompt_eval_count", &l.promptCount),
		json.Field("prompt_eval_cached_count", &l.cachedCount),
		json.Field("eval_count", &l.outCount))
	return l
}

// writeRequest writes a request to Ollama's chat endpoint. The last line of the response contains the token counts.
func writeRequest(r protocol.Request, _ protocol.HostFeatures) (path string, body []byte) {
	var w json.Writer
	w.Open('{').Member("model", r.Model).Flag("stream", true)
	if r.MaxTokens > 0 {
		w.Key("options").Open('{').Key("num_predict").Int(r.MaxTokens).Close('}')
	}
	w.WriteList("messages", r.WithSystem())
	r.WriteFunctionTools(&w, false)
	return "/api/chat", w.Close('}').Text
}

// wireMarks describes Ollama's protocol to code that doesn't decode it.
var wireMarks = marks.Protocol{
	Asides: []string{"/api/embed", "/api/show", "/api/pull", "/api/push", "/api/create"},
	Rules:  []marks.Rule{{Is: marks.Chunk, When: "model created_at done", Ends: "done:t", Last: true}},
	Ending: "total_duration", Unnamed: true, Lines: true,
	Identity: &marks.Identity{Model: "model", Made: "created_at", Took: "total_duration"},

	RequestKeys: []string{"model", "tools", "stream", "options"},
	HistoryKeys: []string{"messages"}, ToolKeys: []string{"tools"},
	Sent: []marks.Sent{{
		List: "messages", When: "role=assistant tool_calls.0.function.arguments:{", Body: `{MODEL"message":MESSAGE,"done":true}`,
	}},
	Arguments: []marks.Place{{Path: "arguments"}},
	TextKeys:  []string{"content", "thinking"},
	Refusal: marks.Refusal{
		Paths:  []string{"/api/chat", "/api/generate"},
		Bodies: []string{`"created_at":"`},
		Body:   func(_ int, message string) any { return map[string]any{"error": message} },
	},
}

// decoder reads one exchange, which may have several responses. Between responses, turn is the latest turn.
type decoder struct {
	*protocol.Out
	line *line
	turn *protocol.Turn

	first time.Time // the first time stamp in a line
	lines int       // number of lines of the open turn
	last  []byte    // the last line of the latest turn that had several lines
}

// Frame reads one line.
func (d *decoder) Frame(f stream.Frame) error {
	d.Stamp(stream.NoTime)
	l := d.line
	if err := l.shape.Read(f.Data); err != nil {
		return err
	}
	if !d.turn.IsOpen() && len(d.last) > 0 && bytes.Equal(f.Data, d.last) {
		d.Heartbeat() // the last line arrived again
		return nil
	}
	d.readTimestamp(l.created)
	done := l.done.IsTrue()
	switch {
	case protocol.IsError(l.err):
		t, message := d.ensureTurn(), l.err.Text()
		if message == "" {
			_, message = protocol.ErrorOf(l.err)
		}
		t.Fail("", message)
		t.Cut("an error ended the response")
	case l.message.Kind() != '{' && !l.response.IsString() && l.calls.Kind() != '[' && !done:
		d.Unknown("a line without a response")
	default:
		t := d.ensureTurn()
		t.AppendReasoning(0, l.thinking)
		t.AppendText(l.content)
		t.AppendText(l.response)
		for call := range l.calls.Elements() {
			var w protocol.FunctionCall
			w.Read(call)
			reportCall(t, &w)
		}
		if done {
			d.endTurn(t)
		}
	}
	d.countLine(f.Data)
	return nil
}

// Close ends the stream. A turn without "done":true is cut off.
func (d *decoder) Close() { d.turn.Cut(`the lines ended without "done":true`) }

// readTimestamp sets the frame's time to the time between the creation of the first line and that of this line.
func (d *decoder) readTimestamp(created json.Value) {
	var made time.Time
	if made.UnmarshalText(created.OrDefault(nil)) != nil {
		return
	}
	if d.first.IsZero() {
		d.first = made
	}
	d.Stamp(max(0, made.Sub(d.first)))
}

// countLine counts the lines of a turn. If a turn had several lines, countLine keeps its last line.
func (d *decoder) countLine(line []byte) {
	switch d.lines++; {
	case d.turn.IsOpen():
		return
	case d.lines > 1:
		d.last = append(d.last[:0], line...)
	}
	d.lines = 0
}

// ensureTurn returns the open turn. If there is none, it opens a turn.
func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn = d.Open(stream.Opening{Model: d.line.model.Text()})
	}
	return d.turn
}

// reportCall reports a call, which is always complete in its line.
func reportCall(t *protocol.Turn, w *protocol.FunctionCall) {
	c := t.NextCall(stream.CallInfo{ID: w.ID.Text(), Name: w.Name.Text(), Kind: "function"})
	if c.ID == "" {
		c.Find(protocol.IDMissing.WithSeverity(stream.Info).WithCause(stream.Provider),
			"the call has no id, as in old versions: Ollama matches a result to its call by the tool's name or by the result's position")
	}
	switch {
	case w.Args == nil:
		c.Find(protocol.ArgsMissing, "the call has no arguments field: toolscope uses {} instead")
	case !w.Args.IsPresent():
		c.Find(protocol.ArgsNull, "the arguments are null: toolscope uses {} instead")
	default:
		if w.Args.IsString() {
			c.Find(protocol.ArgsString, "the arguments are a string, not an object: Ollama's own clients fail on a string")
		}
		c.Args(w.Args)
	}
	c.Seal()
}

// endTurn reads the last line of a response. prompt_eval_count includes the cached tokens.
func (d *decoder) endTurn(t *protocol.Turn) {
	l := d.line
	u := stream.Usage{Input: protocol.CountOf(l.promptCount), CacheRead: protocol.CountOf(l.cachedCount), Output: protocol.CountOf(l.outCount)}
	if u != (stream.Usage{}) {
		t.Usage(u)
	}
	if reason := l.doneReason.Text(); reason != "" { // old versions send no reason
		code, known := finishCodes.Of(reason)
		t.Finish(reason, code)
		if !known {
			t.Find(protocol.FinishUnknown, "done reason %q is not documented", stream.Fact(reason))
		}
	}
	t.End()
}

// target describes how Ollama's /api/chat accepts history. Arguments are an object. Ollama keeps the order of the
// keys and reads the numbers as float64 (ToolCallFunctionArguments in api/types.go). Because the model's template
// combines the parts of the history, Ollama refuses only arguments that are not an object. This refusal is documented
// in neuron-core/neuron-ai#219 and aliasrobotics/cai#76.
var target = protocol.Target{
	Name: "ollama", Title: "Ollama", Protocol: "ollama",
	Form:          protocol.ObjectForm,
	Doubles:       true,
	Reasoning:     protocol.PlainReasoning,
	TakesUnpaired: true,
	Refusal: protocol.Refusal{
		Args: "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments",
	},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

func encodeHistory(messages []protocol.Message) [][]byte {
	return protocol.WriteMessages(messages, encodeResult, encodeMessage)
}

// encodeMessage writes one message. Each kind of part has its own field, so the order of text and other parts is
// lost.
func encodeMessage(m *protocol.Message, parts []protocol.Part) []byte {
	var text, thinking []byte
	var images, calls json.Writer
	number := 0
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case protocol.TextPart:
			text = append(text, p.Text...)
		case protocol.ReasoningPart:
			thinking = append(thinking, p.Text...)
		case protocol.CallPart:
			if p.Raw != nil {
				calls.Raw(p.Raw)
			} else {
				calls.Open('{').MemberIfSet("id", p.ID).Key("function").Open('{').Key("index").Int(number)
				protocol.WriteArgs(calls.Member("name", p.Name).Key("arguments"), p).Close('}').Close('}')
			}
			number++
		case protocol.OtherPart:
			if p.Raw.IsString() {
				images.Raw(p.Raw)
			}
		}
	}
	content := json.Member{Name: "content", Value: json.AppendQuoted(nil, text)}
	if len(text) == 0 && m.Raw != nil && len(m.Raw.Get("content").Unquoted()) == 0 {
		content.Value = m.Raw.Get("content")
	}
	var thought json.Writer
	if len(thinking) > 0 {
		thought.Bytes(thinking)
	}
	return json.ReplaceMembers(m.Raw, m.RoleMember(), content,
		json.UpdatedMember(m.Raw, "thinking", thought.Text),
		json.UpdatedMember(m.Raw, "images", json.WrapArray(&images)),
		json.UpdatedMember(m.Raw, "tool_calls", json.WrapArray(&calls)))
}

// encodeResult writes a result. Ollama matches the result to its call by the tool's name, or by the id if the
// template supports ids.
func encodeResult(p *protocol.Part) []byte {
	var w json.Writer
	w.Open('{').Member("role", "tool").Key("content").Bytes(p.Text)
	return w.MemberIfSet("tool_name", p.Name).MemberIfSet("tool_call_id", p.ID).Close('}').Text
}

func decodeHistory(request []byte) ([]protocol.Message, error) {
	return protocol.ReadChat(request, readResult, readParts)
}

// readParts reads the parts of a message. Images are only in Raw.
func readParts(v json.Value) (parts []protocol.Part) {
	if thinking := v.Get("thinking").Unquoted(); len(thinking) > 0 {
		parts = append(parts, protocol.Part{Kind: protocol.ReasoningPart, Text: thinking})
	}
	if text := v.Get("content").Unquoted(); len(text) > 0 {
		parts = append(parts, protocol.Part{Kind: protocol.TextPart, Text: text})
	}
	for image := range v.Get("images").Elements() {
		parts = append(parts, protocol.Part{Kind: protocol.OtherPart, Raw: image})
	}
	for raw := range v.Get("tool_calls").Elements() {
		var call protocol.FunctionCall
		call.Read(raw)
		p := protocol.Part{Kind: protocol.CallPart, ID: call.ID.Text(), Name: call.Name.Text(), ToolKind: "function", Raw: raw}
		p.SetArgs(call.Args)
		parts = append(parts, p)
	}
	return parts
}

func readResult(v json.Value) protocol.Part {
	p := protocol.Part{
		Kind: protocol.ResultPart, ID: v.Get("tool_call_id").Text(), Name: v.Get("tool_name").Text(),
		Text: v.Get("content").Unquoted(), Raw: v,
	}
	if p.Name == "" {
		p.Name = v.Get("name").Text() // sent by clients of the first versions that supported tools
	}
	for range v.Get("images").Elements() {
		p.Media++
	}
	return p
}

// speaker writes the lines of a stream. Each call is contained in a single line and has no id.
var speaker = protocol.Speaker{
	Lines: true, Whole: true, WriteStep: writeStep,
	Body: func(model, text string) []byte {
		return fmt.Appendf(nil, `{"model":%s,"created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":%s}%s}`,
			protocol.Quote(model), protocol.Quote(text), spokenEnd("stop"))
	},
	ErrorBody: func(int) []byte { return []byte(`{"error":"try again later"}`) },
}

func writeStep(w *protocol.ScriptWriter, s *protocol.Step) {
	line := func(content, more, end string) {
		w.Add("", `{"model":%s,"created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":%s%s}%s}`,
			protocol.Quote(w.Model), protocol.Quote(content), more, end)
	}
	switch s.Kind {
	case protocol.TextStep:
		line(s.Text, "", `,"done":false`)
	case protocol.SealStep:
		args := w.Call.Args
		if len(args) == 0 {
			args = []byte("{}")
		}
		line("", fmt.Sprintf(`,"tool_calls":[{"function":{"name":%s,"arguments":%s}}]`, protocol.Quote(w.Call.Tool.Name), args), `,"done":false`)
	case protocol.NoiseStep:
		line("", "", fmt.Sprintf(`,"done":false,%s:[1,null]`, protocol.Quote(s.Text)))
	case protocol.FailStep:
		w.Add("", `{"error":"overloaded"}`)
	case protocol.EndStep:
		reason := "stop"
		if s.Text == protocol.EndLength {
			reason = "length"
		}
		line("", "", spokenEnd(reason))
	}
}

func spokenEnd(reason string) string {
	return `,"done_reason":"` + reason + `","done":true,"total_duration":1000000,"prompt_eval_count":50,"eval_count":20`
}
