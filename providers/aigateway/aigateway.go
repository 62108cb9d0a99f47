// Package aigateway decodes the language-model parts that Vercel's AI Gateway streams to the AI SDK.
//
// Wire facts are from vercel/ai (packages/provider/src/language-model, versions 2 to 4, and packages/gateway), and
// from the output of @ai-sdk/gateway 3.0.232 with ai 6.0.326. A turn is one response. The ids of the parts
// distinguish calls. The part named tool-call makes a call final. The SDK runs the call with the input in this
// part, even if the deltas were different. Without this part, the SDK doesn't run the call.
package aigateway

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the AI Gateway's protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "ai-gateway",
		Title:    "AI Gateway, AI SDK language model",
		Sniff:    sniffFrame,
		Findings: []*stream.Diagnosis{modelWarning},
		New:      func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o} },
		Tools:    readTools,
		Marks: marks.Protocol{
			Events: []marks.Event{
				{Type: "stream-start", Begins: true}, {Type: "response-metadata"}, {Type: "tool-input-end"}, {Type: "tool-call"},
			},
		},
		Quiet:         []string{"raw", "source", "file", "tool-approval-request"},
		HistoryTarget: &target,
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind := e.Get("type").Text()
	call, id := e.Get("toolCallId"), e.Get("id")
	switch {
	case kind == "tool-call" && call.IsString() && e.Get("input").IsString(),
		strings.HasPrefix(kind, "tool-input-") && id.IsString() && call == nil,
		kind == "tool-result" && call.IsString() && e.Get("result").IsPresent():
		return protocol.SniffScore{Points: protocol.Sure, Why: "part type " + kind}
	case kind == "stream-start", kind == "response-metadata", kind == "finish" && e.Get("usage").IsPresent():
		return protocol.SniffScore{Points: protocol.Strong, Why: "part type " + kind}
	case kind == "" && e.Get("content").Kind() == '[' && e.Get("finishReason").IsPresent() && e.Get("usage").IsPresent():
		return protocol.SniffScore{Points: protocol.Strong, Why: "a result with content and finishReason"}
	case strings.HasSuffix(e.Path, "/ai/language-model"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	case kind == "error" && strings.HasPrefix(e.Get("error").Get("name").Text(), "Gateway"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "a gateway error"}
	}
	return protocol.SniffScore{}
}

var modelWarning = &stream.Diagnosis{
	Code: "MODEL_WARNING", Severity: stream.Info, By: stream.Gateway,
	Meaning: "The SDK's model reports that it doesn't support a setting in the request, or that it changed the setting.",
	Advice:  "Remove the setting, or choose a model that supports it.",
}

// finishes are the SDK's finish reasons.
var finishes = protocol.FinishReasons{
	What: "finish reason", Calls: "tool-calls", Done: "stop",
	Codes: map[string]stream.Code{
		"stop": stream.FinishDone, "tool-calls": stream.FinishDone, "other": stream.FinishOther, "unknown": stream.FinishOther,
		"length": stream.FinishCut, "content-filter": stream.FinishCut, "error": stream.FinishFailed,
	},
}

// readTools returns the tools that a request declares.
func readTools(request []byte) (tools []protocol.Tool) {
	for tool := range json.Value(request).Get("tools").Elements() {
		if t := protocol.FunctionTool(tool, "inputSchema"); t.Name != "" {
			tools = append(tools, t)
		}
	}
	return tools
}

// target reads the history in requests. toolscope never writes history for the AI Gateway.
var target = protocol.Target{Name: "ai-gateway", Title: "AI Gateway", Protocol: "ai-gateway", Decode: readHistory, TakesUnpaired: true}

func readHistory(request []byte) (messages []protocol.Message, err error) {
	for m := range json.Value(request).Get("prompt").Elements() {
		message := protocol.Message{Raw: m, Role: protocol.User}
		switch role := m.Get("role"); {
		case role.Is("system"):
			message.Role = protocol.System
		case role.Is("assistant"):
			message.Role = protocol.Assistant
		}
		if content := m.Get("content"); content.IsString() {
			message.Parts = []protocol.Part{{Kind: protocol.TextPart, Text: content.Append(nil)}}
		}
		for p := range m.Get("content").Elements() {
			message.Parts = append(message.Parts, readPart(p))
		}
		messages = append(messages, message)
	}
	return messages, json.Read(request)
}

func readPart(p json.Value) protocol.Part {
	part := protocol.Part{Kind: protocol.OtherPart, Raw: p, ID: p.Get("toolCallId").Text(), Name: p.Get("toolName").Text()}
	switch p.Get("type").Text() {
	case "text":
		part.Kind, part.Text = protocol.TextPart, p.Get("text").Append(nil)
	case "reasoning":
		part.Kind, part.Text = protocol.ReasoningPart, p.Get("text").Append(nil)
	case "tool-call":
		part.Kind, part.Args, part.Form = protocol.CallPart, p.Get("input"), protocol.ObjectForm
		part.RunByProvider = p.Get("providerExecuted").IsTrue()
	case "tool-result":
		output := p.Get("output")
		part.Kind, part.Failed = protocol.ResultPart, strings.HasPrefix(output.Get("type").Text(), "error")
		part.Text, part.Media = protocol.ResultText(output.Get("value"))
	}
	return part
}

// decoder reads one exchange.
type decoder struct {
	*protocol.Out
	turn     *protocol.Turn
	calls    protocol.Calls
	finished bool
	failed   bool
}

// Frame reads one part, or a complete response.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) {
		d.turn.End()
		return nil
	}
	part := json.Value(f.Data)
	if err := json.Read(part); err != nil {
		return err
	}
	kind := part.Get("type").Text()
	if kind == "" && part.Get("content").Kind() == '[' {
		t := d.ensureTurn()
		for p := range part.Get("content").Elements() {
			d.readPart(t, p.Get("type").Text(), p)
		}
		response := part.Get("response")
		t.UpdateIDs(response.Get("id"), response.Get("modelId"))
		d.finishTurn(t, part)
		d.turn.End()
		return nil
	}
	switch kind {
	case "", "raw", "source", "file", "tool-approval-request":
		if err := part.Get("error"); kind == "" && protocol.IsError(err) {
			d.reportError(d.ensureTurn(), err)
			return nil
		}
		d.Unknown(kind)
	case "finish":
		if !d.finished {
			d.finishTurn(d.ensureTurn(), part)
		}
	default:
		switch {
		case d.turn.IsOpen() || partTypes[kind]:
			d.readPart(d.ensureTurn(), kind, part)
		case endTypes[kind]:
			d.Heartbeat()
		default:
			d.Unknown(kind)
		}
	}
	return nil
}

// endTypes are the types of known parts that don't open a turn.
var endTypes = map[string]bool{
	"tool-input-end": true, "text-start": true, "text-end": true, "reasoning-start": true, "reasoning-end": true,
}

// partTypes are the types of parts that open a turn if none is open.
var partTypes = map[string]bool{
	"stream-start": true, "response-metadata": true, "text-delta": true, "reasoning-delta": true, "error": true,
	"tool-input-start": true, "tool-input-delta": true, "tool-call": true, "tool-result": true,
}

func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn, d.calls, d.finished, d.failed = d.Open(stream.Opening{}), protocol.Calls{}, false, false
	}
	return d.turn
}

func (d *decoder) readPart(t *protocol.Turn, kind string, part json.Value) {
	switch kind {
	case "stream-start":
		for w := range part.Get("warnings").Elements() {
			t.Find(modelWarning, "the model warns: %s", stream.Fact(protocol.Clip(w)))
		}
	case "response-metadata":
		t.UpdateIDs(part.Get("id"), part.Get("modelId"))
	case "text", "text-delta":
		t.AppendText(firstPresent(part, "delta", "text"))
	case "reasoning", "reasoning-delta":
		t.AppendReasoning(0, firstPresent(part, "delta", "text"))
	case "tool-input-start":
		d.ensureCall(t, part, "id")
	case "tool-input-delta":
		d.ensureCall(t, part, "id").Args(part.Get("delta"))
	case "tool-call":
		d.sealCall(d.ensureCall(t, part, "toolCallId"), part.Get("input"))
	case "tool-result":
		if !part.Get("preliminary").IsTrue() {
			t.AddResultContent(part.Get("toolCallId").Text(), part.Get("isError").IsTrue(), part.Get("result"))
		}
	case "error":
		d.reportError(t, part.Get("error"))
	case "tool-input-end", "text-start", "text-end", "reasoning-start", "reasoning-end":
		d.Heartbeat()
	default:
		t.Unknown(kind)
	}
}

func firstPresent(part json.Value, keys ...string) (v json.Value) {
	for _, key := range keys {
		if v = part.Get(key); v.IsPresent() {
			break
		}
	}
	return v
}

func (d *decoder) ensureCall(t *protocol.Turn, part json.Value, key string) *protocol.Call {
	info := stream.CallInfo{ID: part.Get(key).Text(), Name: part.Get("toolName").Text(), Kind: "function"}
	if part.Get("providerExecuted").IsTrue() {
		info.Kind, info.RunByProvider = "server", true
	}
	return d.calls.Ensure(t, info)
}

// sealCall reads the complete input. It replaces deltas that differ from it, because the SDK runs the call with this
// input.
func (d *decoder) sealCall(c *protocol.Call, input json.Value) {
	differs := !c.Sealed && c.Bytes > 0 && !c.Matches(input)
	if differs {
		c.Rewrite(input.Append(nil), nil)
	}
	c.SealWhole(input)
	if differs {
		c.Find(protocol.DoneMismatch, "the input in tool-call differs from the earlier deltas: the SDK runs the call with the input in tool-call, %s", protocol.Clip(input))
	}
}

func (d *decoder) reportError(t *protocol.Turn, err json.Value) {
	id, message := protocol.ErrorOf(err)
	if name := err.Get("name"); id == "" {
		id = name.Text()
	}
	if err.IsString() {
		message = err.Text()
	}
	t.Fail(id, message)
	d.failed = true
}

// finishTurn reads the finish reason and the usage. The reason is either the SDK's word alone, or an object with the
// SDK's word and the provider's word.
func (d *decoder) finishTurn(t *protocol.Turn, part json.Value) {
	reason := part.Get("finishReason")
	word, shown := reason.Text(), reason.Text()
	if reason.Kind() == '{' {
		word = reason.Get("unified").Text()
		if shown = reason.Get("raw").Text(); shown == "" {
			shown = word
		}
	}
	code, _ := finishes.Codes.Of(word)
	if code == stream.FinishDone {
		for _, c := range t.OpenCalls() {
			c.Find(protocol.NotSealed, "the response ended without a tool-call part: the SDK doesn't run this call")
		}
	}
	t.Finish(shown, code)
	t.CheckStop(word, &finishes)
	d.finished = true
	u := part.Get("usage")
	in, out := u.Get("inputTokens"), u.Get("outputTokens")
	n := stream.Usage{Input: protocol.CountOf(in), Output: protocol.CountOf(out),
		CacheRead: protocol.CountOf(u.Get("cachedInputTokens")), Reasoning: protocol.CountOf(u.Get("reasoningTokens"))}
	if in.Kind() == '{' {
		n = stream.Usage{Input: protocol.CountOf(in.Get("total")), Output: protocol.CountOf(out.Get("total")),
			CacheRead: protocol.CountOf(in.Get("cacheRead")), CacheWrite: protocol.CountOf(in.Get("cacheWrite")),
			Reasoning: protocol.CountOf(out.Get("reasoning"))}
	}
	t.Usage(n)
}

// Close ends the turn at the end of the stream. If the finish part is missing, the turn is cut off.
func (d *decoder) Close() {
	switch {
	case d.finished:
		d.turn.End()
	case d.failed:
		d.turn.Cut("")
	default:
		d.turn.Cut("the stream ended without finish")
	}
}
