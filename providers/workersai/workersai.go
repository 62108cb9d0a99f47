// Package workersai decodes the native protocol of Cloudflare's Workers AI: its event stream and its complete
// bodies.
//
// Wire facts are from Cloudflare's documentation and public reports; the service was not queried. A turn is
// one response. Calls arrive complete and without ids. The response has no finish reason.
package workersai

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns the protocol of Workers AI.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "workers-ai",
		Title: "Cloudflare Workers AI",
		Sniff: sniffFrame,
		New:   func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o} },
		Tools: protocol.FunctionTools,
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	result := e.Get("result")
	switch {
	case e.Get("done").IsPresent() || e.Get("created_at").IsPresent(): // Ollama
	case result.Kind() == '{' && e.Get("success").IsPresent() && e.Get("errors").Kind() == '[' && hasResponse(result):
		return protocol.SniffScore{Points: protocol.Sure, Why: "a result with success and errors"}
	case e.Get("response") != nil && (e.Get("p").IsString() || hasCalls(e.Get("tool_calls"))):
		return protocol.SniffScore{Points: protocol.Sure, Why: "a chunk with response and its own fields"}
	case e.Get("response").IsString() && e.Get("usage").Get("prompt_tokens").IsPresent():
		return protocol.SniffScore{Points: protocol.Likely, Why: "a chunk with response and usage"}
	}
	return protocol.SniffScore{}
}

func hasResponse(v json.Value) bool { return v.Get("response") != nil }

// hasCalls reports whether the first call in a list has its name and arguments at the top level, as Workers AI
// writes them.
func hasCalls(calls json.Value) bool {
	for c := range calls.Elements() {
		return c.Get("name").IsString() && c.Get("arguments").IsPresent()
	}
	return false
}

// decoder reads one exchange.
type decoder struct {
	*protocol.Out
	turn *protocol.Turn
}

// Frame reads one chunk, or a complete body.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) {
		d.turn.End()
		return nil
	}
	data := json.Value(f.Data)
	if err := json.Read(data); err != nil {
		return err
	}
	result := data.Get("result")
	switch {
	case result.Kind() == '{':
		d.readChunk(result)
		d.turn.End()
	case hasResponse(data) || hasCalls(data):
		d.readChunk(data)
	case data.Get("errors").Kind() == '[':
		for e := range data.Get("errors").Elements() {
			d.ensureTurn().Fail(string(e.Get("code")), e.Get("message").Text())
		}
	default:
		d.Unknown("")
	}
	return nil
}

func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn = d.Open(stream.Opening{})
	}
	return d.turn
}

func (d *decoder) readChunk(data json.Value) {
	t := d.ensureTurn()
	t.AppendText(data.Get("response"))
	for c := range data.Get("tool_calls").Elements() {
		call := t.NextCall(stream.CallInfo{ID: c.Get("id").Text(), Name: c.Get("name").Text(), Kind: "function"})
		call.SealWhole(c.Get("arguments"))
	}
	if u := data.Get("usage"); u.IsPresent() {
		t.Usage(stream.Usage{Input: protocol.CountOf(u.Get("prompt_tokens")), Output: protocol.CountOf(u.Get("completion_tokens"))})
	}
}

// Close cuts off a stream that has no [DONE].
func (d *decoder) Close() { d.turn.Cut("the stream ended without [DONE]") }
