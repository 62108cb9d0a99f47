package openairesponses

import (
	"slices"

	"toolscope/providers/protocol"
)

// event is one event, or one complete body, on the wire.
type event struct {
	shape *protocol.Shape

	kind, object, streamID, response protocol.Raw
	output                           protocol.Raw // of a body
	index, itemID, part, item        protocol.Raw // part: content_index, summary_index or command_index
	delta, whole                     protocol.Raw // whole: arguments, input, diff or command in a .done event
	text                             protocol.Raw // text or refusal in a .done event
	err, message, code               protocol.Raw // code: of an error, or the program of a code interpreter
}

func (ev *event) bindShape() {
	ev.shape = protocol.ShapeOf(
		protocol.Value("type", &ev.kind),
		protocol.Value("item_id", &ev.itemID),
		protocol.Value("output_index", &ev.index),
		protocol.Value("content_index", &ev.part).Or("summary_index", "command_index"),
		protocol.Value("delta", &ev.delta),
		protocol.Value("stream_id", &ev.streamID),
		protocol.Value("item", &ev.item),
		protocol.Value("arguments", &ev.whole).Or("input", "diff", "command"),
		protocol.Value("text", &ev.text).Or("refusal"),
		protocol.Value("response", &ev.response),
		protocol.Value("object", &ev.object),
		protocol.Value("output", &ev.output),
		protocol.Value("error", &ev.err),
		protocol.Value("message", &ev.message).Or("detail"), // ChatGPT's own back end sends detail
		protocol.Value("code", &ev.code))
}

// wireItem is an output item on the wire. The zero value is ready to read one.
type wireItem struct {
	shape *protocol.Shape

	raw                                  protocol.Raw
	kind, id, callID, name, status       protocol.Raw
	caller, host, environment, execution protocol.Raw
	content, summary, err, output        protocol.Raw
	space, fingerprint, encrypted        protocol.Raw
	actions                              protocol.Raw
	args                                 [len(argMembers)]protocol.Raw
}

// argMembers are the fields with arguments. Each item type has one of them.
var argMembers = [...]string{"arguments", "input", "code", "action", "operation", "queries"}

// read reads an item. The next one replaces it.
func (w *wireItem) read(raw protocol.Raw) {
	if w.shape == nil {
		w.bindShape()
	}
	w.raw = raw
	_ = w.shape.Read(raw) // a value that is not an object has no fields
}

func (w *wireItem) bindShape() {
	fields := []protocol.Field{
		protocol.Value("type", &w.kind),
		protocol.Value("id", &w.id),
		protocol.Value("call_id", &w.callID),
		protocol.Value("name", &w.name),
		protocol.Value("status", &w.status),
		protocol.Object("caller", protocol.Value("caller_id", &w.caller)),
		protocol.Value("server_label", &w.host),
		protocol.Object("environment", protocol.Value("type", &w.environment)),
		protocol.Value("execution", &w.execution),
		protocol.Value("content", &w.content),
		protocol.Value("summary", &w.summary),
		protocol.Value("error", &w.err),
		protocol.Value("output", &w.output),
		protocol.Value("namespace", &w.space),
		protocol.Value("fingerprint", &w.fingerprint),
		protocol.Value("encrypted_content", &w.encrypted),
		protocol.Value("actions", &w.actions),
	}
	for i, name := range argMembers {
		fields = append(fields, protocol.Value(name, &w.args[i]))
	}
	w.shape = protocol.ShapeOf(fields...)
}

// callArguments returns the arguments of the call. If the protocol has a list instead of an object,
// wrap is the field name for wrapping it in an object.
func (w *wireItem) callArguments() (value protocol.Raw, wrap string) {
	call, _ := callOf(w.kind.Text(), nil)
	if i := slices.Index(argMembers[:], call.member); i >= 0 {
		value = w.args[i]
	}
	switch {
	case value.Kind() == '[' && call.member == "queries":
		return value, "queries"
	case value.IsPresent():
		return value, ""
	case w.actions.IsPresent():
		return w.actions, "actions"
	}
	return w.args[0], "" // xAI uses this field in every item type
}

// wireResponse is a response object on the wire.
type wireResponse struct {
	shape *protocol.Shape

	id, model, status, output, usage, err, reason, tier protocol.Raw
}

func (r *wireResponse) read(raw protocol.Raw) *wireResponse {
	if r.shape == nil {
		r.shape = protocol.ShapeOf(
			protocol.Value("id", &r.id),
			protocol.Value("model", &r.model),
			protocol.Value("status", &r.status),
			protocol.Value("output", &r.output),
			protocol.Value("usage", &r.usage),
			protocol.Value("error", &r.err),
			protocol.Object("incomplete_details", protocol.Value("reason", &r.reason)),
			protocol.Value("service_tier", &r.tier))
	}
	_ = r.shape.Read(raw) // a value that is not an object has no fields
	return r
}
