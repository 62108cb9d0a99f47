// Package geminilive decodes the messages of Gemini's Live API.
//
// Wire facts are from @google/genai 2.32 and Google's reference for the Live API. A turn ends with
// turnComplete or interrupted. Calls that arrive after this message, but before the next turn begins, belong to
// the turn that ended. Calls arrive complete. The server can cancel calls, and then ignores their results.
package geminilive

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns the protocol of the Live API. The parameter inner is Gemini's protocol.
func Protocol(inner protocol.Protocol) protocol.Protocol {
	return protocol.Protocol{
		Name:     "gemini-live",
		Title:    "Gemini Live",
		Sniff:    sniffFrame,
		Findings: []*stream.Diagnosis{callCancelled, turnInterrupted, connectionEnds},
		New:      func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, calls: protocol.Calls{}} },
		Tools:    func(message []byte) []protocol.Tool { return inner.Tools(json.Value(message).Get("setup")) },
		Quiet:    []string{"setupComplete", "sessionResumptionUpdate", "voiceActivity"},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	for _, key := range []string{"setupComplete", "serverContent", "toolCallCancellation", "sessionResumptionUpdate", "goAway"} {
		if e.Get(key).Kind() == '{' {
			return protocol.SniffScore{Points: protocol.Sure, Why: "a message with " + key}
		}
	}
	if e.Get("toolCall").Get("functionCalls").Kind() == '[' {
		return protocol.SniffScore{Points: protocol.Sure, Why: "a message with toolCall"}
	}
	return protocol.SniffScore{}
}

var (
	callCancelled = &stream.Diagnosis{
		Code: "CALL_CANCELLED", Severity: stream.Info, By: stream.Provider,
		Meaning: "The server cancelled a call because the user interrupted the model. The server doesn't expect a result for this call.",
		Advice:  "Stop the tool and undo its work, if you can. Don't send its result.",
	}
	turnInterrupted = &stream.Diagnosis{
		Code: "TURN_INTERRUPTED", Severity: stream.Info, By: stream.Client,
		Meaning: "The user interrupted the model.",
		Advice:  "Stop playing the audio of the turn.",
	}
	connectionEnds = &stream.Diagnosis{
		Code: "CONNECTION_ENDS", Severity: stream.Info, By: stream.Provider,
		Meaning: "The server announced that it will close the connection.",
		Advice:  "Open another connection and resume the session.",
	}
)

// decoder reads the messages of one connection.
type decoder struct {
	*protocol.Out
	turn  *protocol.Turn
	calls protocol.Calls
	model string
	ended bool // whether the turn ends as soon as another turn begins or the connection ends
}

// Frame reads one message.
func (d *decoder) Frame(f stream.Frame) error {
	data := json.Value(f.Data)
	if err := json.Read(data); err != nil {
		return err
	}
	known := false
	if calls := data.Get("toolCall").Get("functionCalls"); calls != nil {
		known = true
		for c := range calls.Elements() {
			info := stream.CallInfo{ID: c.Get("id").Text(), Name: c.Get("name").Text(), Kind: "function"}
			call, args := d.calls.Ensure(d.ensureTurn(false), info), c.Get("args")
			if !args.IsPresent() {
				args = []byte("{}") // the field is missing if there are no arguments
			}
			call.SealWhole(args)
		}
	}
	if ids := data.Get("toolCallCancellation").Get("ids"); ids != nil {
		known = true
		for id := range ids.Elements() {
			if c := d.calls[id.Text()]; c != nil {
				c.Reject("the server cancelled it")
				c.Find(callCancelled, "the server cancelled the call")
			}
		}
	}
	if content := data.Get("serverContent"); content != nil {
		known = true
		d.readContent(content)
	}
	if u := data.Get("usageMetadata"); u != nil && d.turn.IsOpen() {
		known = true
		d.turn.Usage(stream.Usage{
			Input: protocol.CountOf(u.Get("promptTokenCount")), Output: protocol.CountOf(u.Get("responseTokenCount")),
			CacheRead: protocol.CountOf(u.Get("cachedContentTokenCount")), Reasoning: protocol.CountOf(u.Get("thoughtsTokenCount")),
		})
	}
	if left := data.Get("goAway"); left != nil {
		known = true
		d.Find(connectionEnds, "the server will close the connection in %s", left.Get("timeLeft").Text())
	}
	if !known {
		d.Unknown("")
	}
	return nil
}

// ReadMessage reads the model and the results of calls in a message from the client.
func (d *decoder) ReadMessage(message json.Value) {
	if model := message.Get("setup").Get("model"); model.IsString() {
		d.model = strings.TrimPrefix(model.Text(), "models/")
	}
	for result := range message.Get("toolResponse").Get("functionResponses").Elements() {
		if d.turn != nil {
			d.turn.AddResultContent(result.Get("id").Text(), false, result.Get("response"))
		}
	}
}

// ensureTurn returns the open turn. If content is set, the event contains content of the model. After the end of a
// turn, such content begins a new turn.
func (d *decoder) ensureTurn(content bool) *protocol.Turn {
	if content && d.ended {
		d.turn.End()
	}
	if !d.turn.IsOpen() {
		d.turn, d.ended = d.Open(stream.Opening{Model: d.model}), false
	}
	return d.turn
}

func (d *decoder) readContent(content json.Value) {
	for p := range content.Get("modelTurn").Get("parts").Elements() {
		d.ensureTurn(true).Part(p.Get("text"), p.Get("thoughtSignature"), p.Get("thought").IsTrue())
	}
	if spoken := content.Get("outputTranscription").Get("text"); spoken.HasText() {
		d.ensureTurn(true).AppendText(spoken)
	}
	if content.Get("interrupted").IsTrue() {
		d.ensureTurn(false).Find(turnInterrupted, "the user interrupted the turn")
		d.ended = true
	}
	if content.Get("turnComplete").IsTrue() {
		d.ensureTurn(false)
		d.ended = true
	}
}

// Close ends the turn at the end of the connection. A turn without turnComplete or interrupted is cut off.
func (d *decoder) Close() {
	if d.ended {
		d.turn.End()
	}
	d.turn.Cut("the connection ended without turnComplete")
}
