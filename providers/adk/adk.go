// Package adk decodes the event stream of Google's Agent Development Kit, /run_sse.
//
// Wire facts are from ADK's documentation and public sources; the server was not run. A turn is one event of the
// model, with the partial events before it. The complete event repeats the text of the partial ones. Calls arrive
// complete. The stream ends only when the connection does.
package adk

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns ADK's protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "adk",
		Title: "Agent Development Kit (Google)",
		Sniff: sniffFrame,
		New:   func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, calls: protocol.Calls{}} },
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	if e.Get("invocationId").IsString() && e.Get("author").IsString() {
		return protocol.SniffScore{Points: protocol.Sure, Why: "an event with invocationId and author"}
	}
	return protocol.SniffScore{}
}

// decoder reads one run.
type decoder struct {
	*protocol.Out
	turn    *protocol.Turn
	calls   protocol.Calls
	partial bool   // whether the turn has partial events
	ended   string // id of the event that ended the latest turn
}

// Frame reads one event.
func (d *decoder) Frame(f stream.Frame) error {
	data := json.Value(f.Data)
	if err := json.Read(data); err != nil {
		return err
	}
	switch {
	case data.Get("author").IsString():
		d.readEvent(data)
	case data.Get("error").IsPresent():
		if !d.turn.IsOpen() {
			d.turn = d.Open(stream.Opening{})
		}
		d.turn.Fail("", data.Get("error").Text())
		d.turn.Cut("")
	default:
		d.Unknown("an event without an author")
	}
	return nil
}

// readEvent reads an event of the model or of a tool.
func (d *decoder) readEvent(event json.Value) {
	partial, byModel := event.Get("partial").IsTrue(), event.Get("content").Get("role").Is("model")
	id := event.Get("id").Text()
	if id != "" && id == d.ended && !partial {
		d.Heartbeat() // the same event arrived again
		return
	}
	if byModel && !d.turn.IsOpen() {
		d.turn, d.partial = d.Open(stream.Opening{ID: id, Model: event.Get("modelVersion").Text()}), false
	}
	for p := range event.Get("content").Get("parts").Elements() {
		call, result := p.Get("functionCall"), p.Get("functionResponse")
		switch {
		case result != nil && d.turn != nil:
			d.turn.AddResultContent(result.Get("id").Text(), false, result.Get("response"))
		case !byModel:
		case call != nil && !partial:
			info := stream.CallInfo{ID: call.Get("id").Text(), Name: call.Get("name").Text(), Kind: "function"}
			args := call.Get("args")
			if !args.IsPresent() {
				args = []byte("{}")
			}
			d.calls.Ensure(d.turn, info).SealWhole(args)
		case call == nil && (partial || !d.partial):
			d.turn.Part(p.Get("text"), p.Get("thoughtSignature"), p.Get("thought").IsTrue())
		}
	}
	if d.partial = d.partial || partial; partial || !byModel {
		return
	}
	if u := event.Get("usageMetadata"); u.IsPresent() {
		d.turn.Usage(stream.Usage{
			Input: protocol.CountOf(u.Get("promptTokenCount")), Output: protocol.CountOf(u.Get("candidatesTokenCount")),
			CacheRead: protocol.CountOf(u.Get("cachedContentTokenCount")), Reasoning: protocol.CountOf(u.Get("thoughtsTokenCount")),
		})
	}
	if reason := event.Get("finishReason").Text(); reason != "" {
		code, known := protocol.GoogleFinishCodes.Of(reason)
		d.turn.Finish(reason, code)
		if !known {
			d.turn.Find(protocol.FinishUnknown, "finish reason %q is not documented", stream.Fact(reason))
		}
	}
	if code := event.Get("errorCode"); code.HasText() {
		d.turn.Fail(code.Text(), event.Get("errorMessage").Text())
		d.turn.Cut("")
	}
	d.turn.End()
	d.ended = id
}

// Close cuts off a turn that has only partial events.
func (d *decoder) Close() { d.turn.Cut("the stream ended after a partial event") }
