package openairesponses

import (
	"slices"

	"toolscope/providers/dialect"
)

// event is one event, or one whole body, as it is on the wire.
type event struct {
	shape *dialect.Shape

	kind, object, streamID, response dialect.Raw
	output                           dialect.Raw // of a body
	index, itemID, part, item        dialect.Raw // part: content_index, summary_index or command_index
	delta, whole                     dialect.Raw // whole is what a .done event repeats: arguments, input, diff, command
	text                             dialect.Raw // what one of text or refusal repeats
	err, message, code               dialect.Raw // code is that of an error, or what a code interpreter runs
}

func (ev *event) bindShape() {
	ev.shape = dialect.ShapeOf(
		dialect.Value("type", &ev.kind),
		dialect.Value("item_id", &ev.itemID),
		dialect.Value("output_index", &ev.index),
		dialect.Value("content_index", &ev.part).Or("summary_index", "command_index"),
		dialect.Value("delta", &ev.delta),
		dialect.Value("stream_id", &ev.streamID),
		dialect.Value("item", &ev.item),
		dialect.Value("arguments", &ev.whole).Or("input", "diff", "command"),
		dialect.Value("text", &ev.text).Or("refusal"),
		dialect.Value("response", &ev.response),
		dialect.Value("object", &ev.object),
		dialect.Value("output", &ev.output),
		dialect.Value("error", &ev.err),
		dialect.Value("message", &ev.message).Or("detail"), // ChatGPT's own back end has details
		dialect.Value("code", &ev.code))
}

// wireItem is an output item as it is on the wire. The zero value is ready to read one.
type wireItem struct {
	shape *dialect.Shape

	raw                                  dialect.Raw
	kind, id, callID, name, status       dialect.Raw
	caller, host, environment, execution dialect.Raw
	content, summary, err, output        dialect.Raw
	space, fingerprint, encrypted        dialect.Raw
	actions                              dialect.Raw
	args                                 [len(argMembers)]dialect.Raw
}

// argMembers are the members that hold arguments: each type of item has one of them.
var argMembers = [...]string{"arguments", "input", "code", "action", "operation", "queries"}

// read reads an item, and the next one into the same place.
func (w *wireItem) read(raw dialect.Raw) {
	if w.shape == nil {
		w.bindShape()
	}
	w.raw = raw
	_ = w.shape.Read(raw) // what is no object has no members
}

func (w *wireItem) bindShape() {
	fields := []dialect.Field{
		dialect.Value("type", &w.kind),
		dialect.Value("id", &w.id),
		dialect.Value("call_id", &w.callID),
		dialect.Value("name", &w.name),
		dialect.Value("status", &w.status),
		dialect.Object("caller", dialect.Value("caller_id", &w.caller)),
		dialect.Value("server_label", &w.host),
		dialect.Object("environment", dialect.Value("type", &w.environment)),
		dialect.Value("execution", &w.execution),
		dialect.Value("content", &w.content),
		dialect.Value("summary", &w.summary),
		dialect.Value("error", &w.err),
		dialect.Value("output", &w.output),
		dialect.Value("namespace", &w.space),
		dialect.Value("fingerprint", &w.fingerprint),
		dialect.Value("encrypted_content", &w.encrypted),
		dialect.Value("actions", &w.actions),
	}
	for i, name := range argMembers {
		fields = append(fields, dialect.Value(name, &w.args[i]))
	}
	w.shape = dialect.ShapeOf(fields...)
}

// callArguments are what the call is to be run with. Where the protocol keeps them in a list, wrap is
// the name of the member of an object that stands for it.
func (w *wireItem) callArguments() (value dialect.Raw, wrap string) {
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
	return w.args[0], "" // xAI has them so in every kind of item
}

// wireResponse is a response object as it is on the wire.
type wireResponse struct {
	shape *dialect.Shape

	id, model, status, output, usage, err, reason, tier dialect.Raw
}

func (r *wireResponse) read(raw dialect.Raw) *wireResponse {
	if r.shape == nil {
		r.shape = dialect.ShapeOf(
			dialect.Value("id", &r.id),
			dialect.Value("model", &r.model),
			dialect.Value("status", &r.status),
			dialect.Value("output", &r.output),
			dialect.Value("usage", &r.usage),
			dialect.Value("error", &r.err),
			dialect.Object("incomplete_details", dialect.Value("reason", &r.reason)),
			dialect.Value("service_tier", &r.tier))
	}
	_ = r.shape.Read(raw) // what is no object has no members
	return r
}
