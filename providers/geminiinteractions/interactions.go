// Package geminiinteractions decodes Google's Interactions API: its event stream and its complete bodies.
//
// Wire facts are from Google's reference and SDKs ("Interactions API" and "Streaming interactions" at
// ai.google.dev; interactions in js-genai). An interaction is a list of steps. A call is a step, and its slot is
// the step's index. Its arguments are {} at the start of the step, and JSON text in the deltas. If the provider
// runs the call, its arguments are an object in one delta. step.stop makes the arguments final. In older streams,
// the names of these events begin with content instead of step.
package geminiinteractions

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the protocol of the Interactions API.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "gemini-interactions",
		Title:    "Gemini Interactions",
		Sniff:    sniffFrame,
		Findings: findings,
		New: func(o *protocol.Out) protocol.Decoder {
			d := &decoder{Out: o}
			d.ev.bindShape()
			return d
		},
		Marks:         wireMarks,
		Tools:         readTools,
		Model:         readModel,
		HistoryTarget: &target,
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	other := e.Get("is_finished") != nil // a frame from version 1 of Cohere's protocol, which also has event types
	name, event := e.Get("event_type").Text(), string(e.Event)
	switch {
	case strings.HasPrefix(name, "interaction."), strings.HasPrefix(name, "step."), strings.HasPrefix(name, "content."):
		return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + name}
	case e.Get("object").Is("interaction"):
		return protocol.SniffScore{Points: protocol.Sure, Why: "an interaction"}
	case (e.Get("steps").Kind() == '[' || e.Get("outputs").Kind() == '[') && e.Get("status").IsString():
		return protocol.SniffScore{Points: protocol.Strong, Why: "steps and a status"}
	case name == "error":
		return protocol.SniffScore{Points: protocol.Likely, Why: "event type " + name}
	case strings.HasPrefix(event, "interaction."), strings.HasPrefix(event, "step."):
		return protocol.SniffScore{Points: protocol.Strong, Why: "event name " + event}
	case strings.HasSuffix(e.Path, "/interactions"), strings.Contains(e.Path, "/interactions/"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	case name != "" && !other:
		return protocol.SniffScore{Points: protocol.Weak, Why: "event type " + name}
	}
	return protocol.SniffScore{}
}

// endings are the final statuses of an interaction.
var endings = protocol.FinishReasons{
	What: "status", Calls: "requires_action", Done: "completed",
	Codes: map[string]stream.Code{
		"completed": stream.FinishDone, "requires_action": stream.FinishDone,
		"incomplete": stream.FinishCut, "budget_exceeded": stream.FinishCut,
		"failed": stream.FinishFailed, "cancelled": stream.FinishCancelled,
	},
}

// ignoredTypes are the known types of steps, contents and deltas that need no special handling.
var ignoredTypes = map[string]bool{
	"thought": true, "model_output": true, "user_input": true, "image": true, "audio": true, "video": true, "document": true,
	"thought_signature": true, "text_annotation": true, "text_annotation_delta": true,
}

// callOf describes the call in a step, content or delta of the given type. If the type is not a call, ok is false.
func callOf(kind string) (info stream.CallInfo, ok bool) {
	name, isCall := strings.CutSuffix(kind, "_call")
	switch kind {
	case "function_call":
		return stream.CallInfo{Kind: "function"}, true
	case "mcp_server_tool_call":
		return stream.CallInfo{Kind: "mcp", RunByProvider: true}, true
	}
	return stream.CallInfo{Kind: "server", RunByProvider: true, Name: name}, isCall
}

// readModel returns the model or the agent in a request.
func readModel(_ string, request []byte) string {
	if m := json.Value(request).Get("model").Text(); m != "" {
		return m
	}
	return json.Value(request).Get("agent").Text()
}

// readTools returns the tools that a request declares. A declaration is a flat object whose parameters are a
// JSON Schema. The name of a tool that the provider runs is its type.
func readTools(request []byte) (list []protocol.Tool) {
	s := json.Value(request).Get("tools").Scan()
	for ok := s.Array(); ok; ok = s.Element() {
		tool := s.Value()
		switch kind := tool.Get("type").Text(); kind {
		case "":
		case "function":
			list = append(list, protocol.Tool{
				Name: tool.Get("name").Text(), Kind: "function", Description: tool.Get("description").Text(), Schema: tool.Get("parameters"),
			})
		case "mcp_server": // the request doesn't list the tools of this server
		default:
			list = append(list, protocol.Tool{Name: kind, Kind: "server"})
		}
	}
	return list
}

// event is one event of the stream or one complete body, as it was sent.
type event struct {
	shape *json.Shape

	kind, index, status, step, interaction, err json.Value

	object, steps json.Value // fields of a body

	delta struct{ kind, text, arguments, summary, signature, whole json.Value }
}

func (ev *event) bindShape() {
	delta := &ev.delta
	ev.shape = json.ShapeOf(
		json.Field("event_type", &ev.kind),
		json.Field("index", &ev.index),
		json.Object("delta",
			json.Field("type", &delta.kind),
			json.Field("text", &delta.text),
			json.Field("arguments", &delta.arguments).Or("partial_arguments"),
			json.Object("content", json.Field("text", &delta.summary)),
			json.Field("signature", &delta.signature)).Into(&delta.whole),
		json.Field("step", &ev.step).Or("content"),
		json.Field("interaction", &ev.interaction),
		json.Field("status", &ev.status),
		json.Field("error", &ev.err),
		json.Field("object", &ev.object),
		json.Field("steps", &ev.steps).Or("outputs"))
}

// findings lists the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	responseUnfinished,
}

var (
	responseUnfinished = &stream.Diagnosis{
		Code: "RESPONSE_UNFINISHED", Severity: stream.Info, By: stream.Provider,
		Meaning: "The interaction is still running. The body is a snapshot of the interaction so far.",
		Advice:  "Fetch the interaction again when it has ended.",
	}
)

// wireMarks describes the Interactions API to code that doesn't decode it.
var wireMarks = marks.Protocol{
	Events: []marks.Event{
		{Type: "interaction.start", Begins: true},
		{Type: "interaction.created", Begins: true},
		{Type: "interaction.complete", Ends: true, Last: true},
		{Type: "interaction.completed", Ends: true, Last: true},
	},
	Prefixes: []string{"interaction.", "step."},
	TypeKeys: []string{"event_type"}, BlockKeys: []string{"index"},
	EventID: "interaction|answer.id",
}

// target describes the history in a request. The input of a request is a complete conversation, or only the new part
// of a conversation that the provider stores.
var target = protocol.Target{
	Name: "gemini-interactions", Title: "Gemini Interactions", Protocol: "gemini-interactions",
	Form: protocol.ObjectForm, Doubles: true, UnorderedKeys: true, Merges: true, HasPreviousID: true,
	ErrorFlag: true, Media: true, TakesUnpaired: true,
	Decode: decodeHistory,
}

// decodeHistory reads the input of a request and its system instruction.
func decodeHistory(request []byte) (messages []protocol.Message, err error) {
	s := json.Scan(request)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "system_instruction":
			if v := s.Value(); v.IsString() {
				system := protocol.Message{Role: protocol.System, Parts: []protocol.Part{{Text: v.Append(nil), Raw: v}}}
				messages = append([]protocol.Message{system}, messages...)
			}
		case "input":
			messages = append(messages, readMessages(s.Value())...)
		}
	}
	return messages, s.End()
}

// readMessages reads an input: a string, a content object, or a list of contents, steps or turns.
func readMessages(input json.Value) (messages []protocol.Message) {
	add := func(role protocol.Role, parts ...protocol.Part) {
		if n := len(messages) - 1; n >= 0 && messages[n].Role == role {
			messages[n].Parts = append(messages[n].Parts, parts...)
			return
		}
		messages = append(messages, protocol.Message{Role: role, Parts: parts})
	}
	item := func(v json.Value, role protocol.Role) {
		switch kind := v.Get("type").Text(); {
		case kind == "user_input":
			add(protocol.User, readParts(v.Get("content"))...)
		case kind == "model_output":
			add(protocol.Assistant, readParts(v.Get("content"))...)
		case kind == "thought", strings.HasSuffix(kind, "_call"):
			add(protocol.Assistant, readPart(v))
		default:
			add(role, readPart(v))
		}
	}
	switch input.Kind() {
	case '"':
		add(protocol.User, protocol.Part{Text: input.Append(nil), Raw: input})
	case '{':
		item(input, protocol.User)
	}
	for v := range input.Elements() {
		content := v.Get("content")
		switch role := protocol.User; {
		case !v.Get("role").IsString():
			item(v, role)
		case content.IsString():
			add(roleOf(v), protocol.Part{Text: content.Append(nil), Raw: content})
		default:
			role = roleOf(v)
			for c := range content.Elements() {
				item(c, role)
			}
		}
	}
	return messages
}

func roleOf(turn json.Value) protocol.Role {
	if turn.Get("role").Is("model") {
		return protocol.Assistant
	}
	return protocol.User
}

func readParts(list json.Value) (parts []protocol.Part) {
	for v := range list.Elements() {
		parts = append(parts, readPart(v))
	}
	return parts
}

// readPart reads a call, a result, a thought or other content.
func readPart(v json.Value) protocol.Part {
	p := protocol.Part{Kind: protocol.OtherPart, Signature: v.Get("signature").Text(), Raw: v}
	kind := v.Get("type").Text()
	info, isCall := callOf(kind)
	switch {
	case isCall:
		p.Kind, p.ToolKind, p.RunByProvider, p.ID, p.Name, p.MCPServer = protocol.CallPart, info.Kind, info.RunByProvider, v.Get("id").Text(), info.Name, v.Get("server_name").Text()
		if name := v.Get("name").Text(); name != "" {
			p.Name = name
		}
		p.SetArgs(v.Get("arguments"))
	case strings.HasSuffix(kind, "_result"):
		p.Kind, p.ID, p.Name, p.RunByProvider = protocol.ResultPart, v.Get("call_id").Text(), v.Get("name").Text(), kind != "function_result"
		p.Failed = v.Get("is_error").IsTrue()
		if result := v.Get("result"); result.Kind() == '{' {
			text, failed := protocol.ResponseText(result)
			p.Text, p.Failed = text, p.Failed || failed
		} else {
			p.Text, p.Media = protocol.ResultText(result)
		}
	case kind == "thought":
		p.Kind = protocol.ReasoningPart
		for item := range v.Get("summary").Elements() {
			p.Text = item.Get("text").Append(p.Text)
		}
		p.SignatureOnly = len(p.Text) == 0 && p.Signature != ""
	case kind == "text":
		p.Kind, p.Text = protocol.TextPart, v.Get("text").Append(nil)
	}
	return p
}
