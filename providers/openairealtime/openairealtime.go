// Package openairealtime decodes the server events of OpenAI's Realtime API.
//
// Wire facts are from OpenAI's published API description and SDKs. The events about responses are events of
// the Responses protocol, whose decoder reads them. They differ in a few points: each event has an event_id, a
// response ends with response.done and its status, the details of the usage have other names, and speech has a
// transcript.
package openairealtime

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the Realtime protocol. The parameter inner is the Responses protocol.
func Protocol(inner protocol.Protocol) protocol.Protocol {
	return protocol.Protocol{
		Name:          "openai-realtime",
		Title:         "OpenAI Realtime",
		Sniff:         sniffFrame,
		Findings:      []*stream.Diagnosis{responseCancelled},
		ParallelTurns: true,
		Marks:         marks.Protocol{SocketAsks: []string{"response.create"}},
		Quiet: []string{
			"session.*", "conversation.*", "input_audio_buffer.*", "output_audio_buffer.*", "rate_limits.updated",
			"response.output_audio.*", "response.audio.*", "response.content_part.*",
		},
		New: func(o *protocol.Out) protocol.Decoder {
			return &decoder{Out: o, inner: inner.New(o.Nested(withoutItem)), items: map[string]bool{}}
		},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind := e.Get("type").Text()
	switch {
	case !e.Get("event_id").IsString() || e.Get("sequence_number").IsPresent():
	case kind == "error" && e.Get("error").Kind() == '{':
		return protocol.SniffScore{Points: protocol.Sure, Why: "an error with an event_id"}
	case hasPrefix(kind, "session.", "conversation.", "response.", "input_audio_buffer.", "output_audio_buffer.", "rate_limits."):
		return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + kind + " with an event_id"}
	}
	return protocol.SniffScore{}
}

func hasPrefix(word string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(word, p) {
			return true
		}
	}
	return false
}

var responseCancelled = &stream.Diagnosis{
	Code: "RESPONSE_CANCELLED", Severity: stream.Info, By: stream.Client,
	Meaning: "A realtime response was cancelled: the user began to speak, or the client cancelled it.",
	Advice:  "Don't run calls that were not complete before the response was cancelled.",
}

// cancelReasons maps the reasons why a response was cancelled to texts for messages.
var cancelReasons = map[string]string{"turn_detected": "the user spoke", "client_cancelled": "the client cancelled it"}

// withoutItem removes the item's id from an event about a call, because clients of this protocol send only the call's
// id.
func withoutItem(e stream.Event) stream.Event {
	if e.Kind == stream.CallOpen || e.Kind == stream.CallMeta {
		info := stream.PayloadOf[stream.CallInfo](e)
		info.Item = ""
		e.What = &info
	}
	return e
}

// decoder reads the events of one connection.
type decoder struct {
	*protocol.Out
	inner protocol.Decoder
	items map[string]bool // reported results, by the id of the item
}

// Frame reads one event.
func (d *decoder) Frame(f stream.Frame) error {
	data := json.Value(f.Data)
	if err := json.Read(data); err != nil {
		return err
	}
	switch kind := data.Get("type").Text(); {
	case kind == "response.done":
		return d.endResponse(f, data.Get("response"))
	case hasPrefix(kind, "response.output_audio_transcript.", "response.audio_transcript."):
		f.Data = json.ReplaceMembers(data, json.Member{Name: "type", Value: []byte(`"response.output_text.` + kind[strings.LastIndexByte(kind, '.')+1:] + `"`)})
		return d.inner.Frame(f)
	case kind == "response.text.delta", kind == "response.text.done":
		f.Data = json.ReplaceMembers(data, json.Member{Name: "type", Value: []byte(strings.Replace(`"`+kind+`"`, "text", "output_text", 1))})
		return d.inner.Frame(f)
	case kind == "conversation.item.added", kind == "conversation.item.created", kind == "conversation.item.done":
		d.readItem(data.Get("item"))
	case hasPrefix(kind, "response.output_audio.", "response.audio."), kind == "response.content_part.added", kind == "response.content_part.done":
		d.Heartbeat()
	case strings.HasPrefix(kind, "response."), kind == "error":
		return d.inner.Frame(f)
	default:
		d.Unknown(kind)
	}
	return nil
}

// readItem reads the result of a call from an item that the client added.
func (d *decoder) readItem(item json.Value) {
	id := item.Get("id").Text()
	if t := d.Last(); t != nil && item.Get("type").Is("function_call_output") && !d.items[id] {
		d.items[id] = true
		t.AddResultContent(item.Get("call_id").Text(), false, item.Get("output"))
		return
	}
	d.Unknown("conversation.item")
}

// endResponse reads the end of a response. It renames the fields of the usage to their names in the Responses
// protocol. It reports a cancelled response.
func (d *decoder) endResponse(f stream.Frame, response json.Value) error {
	if u := response.Get("usage"); u.Kind() == '{' {
		u = json.ReplaceMembers(u,
			json.Member{Name: "input_tokens_details", Value: u.Get("input_token_details")},
			json.Member{Name: "output_tokens_details", Value: u.Get("output_token_details")})
		response = json.ReplaceMembers(response, json.Member{Name: "usage", Value: u})
		f.Data = json.ReplaceMembers(f.Data, json.Member{Name: "response", Value: response})
	}
	open := d.Current() != nil
	err := d.inner.Frame(f)
	if reason := response.Get("status_details").Get("reason").Text(); open && response.Get("status").Is("cancelled") {
		why := cancelReasons[reason]
		if why == "" {
			why = "no reason given"
		}
		d.Find(responseCancelled, "the response was cancelled: %s (%s)", stream.Own(why), stream.Fact(reason))
	}
	return err
}

// Close reports the end of the connection to the inner decoder.
func (d *decoder) Close() { d.inner.Close() }
