package openairesponses

import (
	"errors"

	"toolscope/providers/dialect"
)

// wireEvent is one event, or one whole body, as it is on the wire.
type wireEvent struct {
	kind, object, lane, response dialect.Raw
	output                       dialect.Raw // of a body
	index, itemID, part, item    dialect.Raw // part: content_index, summary_index or command_index
	delta, whole                 dialect.Raw // whole is what a .done event repeats: arguments, input, code, diff, command
	text                         dialect.Raw // what one of text or refusal repeats
	err, message, code, status   dialect.Raw
}

// parse reads data into ev.
func (ev *wireEvent) parse(data []byte) error {
	*ev = wireEvent{}
	s := dialect.Scan(data)
	if s.Kind() != '{' {
		return errors.New("not a JSON object")
	}
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "type":
			ev.kind = s.Value()
		case "delta":
			ev.delta = s.Value()
		case "item_id":
			ev.itemID = s.Value()
		case "output_index":
			ev.index = s.Value()
		case "content_index", "summary_index", "command_index":
			ev.part = s.Value()
		case "stream_id":
			ev.lane = s.Value()
		case "item":
			ev.item = s.Value()
		case "arguments", "input", "diff", "command":
			ev.whole = s.Value()
		case "text", "refusal":
			ev.text = s.Value()
		case "response":
			ev.response = s.Value()
		case "object":
			ev.object = s.Value()
		case "output":
			ev.output = s.Value()
		case "error":
			ev.err = s.Value()
		case "message", "detail": // ChatGPT's own back end has details
			ev.message = s.Value()
		case "code": // of an error, or the code of a code interpreter call
			ev.code = s.Value()
		case "status":
			ev.status = s.Value()
		}
	}
	return s.End()
}

// wireItem is an output item as it is on the wire.
type wireItem struct {
	raw                                  dialect.Raw
	kind, id, callID, name, status       dialect.Raw
	args, plainArgs, actions             dialect.Raw // args is the member its kind names
	caller, host, environment, execution dialect.Raw
	content, summary, err, output        dialect.Raw
	space, fingerprint, encrypted        dialect.Raw
}

// parseItem reads the members that matter.
func parseItem(raw dialect.Raw) (w wireItem) {
	w.raw, w.kind = raw, raw.Get("type")
	call, _ := callOf(w.kind.Text(), nil)
	args := call.member
	s := raw.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		key, value := string(s.Key()), s.Value()
		switch key {
		case "id":
			w.id = value
		case "call_id":
			w.callID = value
		case "name":
			w.name = value
		case "status":
			w.status = value
		case "arguments":
			w.plainArgs = value
		case "actions":
			w.actions = value
		case "caller":
			w.caller = value.Get("caller_id")
		case "server_label":
			w.host = value
		case "environment":
			w.environment = value.Get("type")
		case "execution":
			w.execution = value
		case "content":
			w.content = value
		case "summary":
			w.summary = value
		case "error":
			w.err = value
		case "output":
			w.output = value
		case "namespace":
			w.space = value
		case "fingerprint":
			w.fingerprint = value
		case "encrypted_content":
			w.encrypted = value
		}
		if key == args && args != "" {
			w.args = value
		}
	}
	return w
}

// arguments are what the call is to be run with. Where the protocol keeps them
// in a list, wrap is the name of the member of an object that stands for it.
func (w *wireItem) arguments() (value dialect.Raw, wrap string) {
	switch {
	case w.args.Kind() == '[' && w.kind.Is("file_search_call"):
		return w.args, "queries"
	case w.args.Given():
		return w.args, ""
	case w.actions.Given():
		return w.actions, "actions"
	}
	return w.plainArgs, "" // xAI has them so in every kind of item
}

// wireResponse is a response object as it is on the wire.
type wireResponse struct {
	id, model, status, output, usage, err, incomplete, tier dialect.Raw
}

func parseResponse(raw dialect.Raw) (r wireResponse) {
	s := raw.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "id":
			r.id = s.Value()
		case "model":
			r.model = s.Value()
		case "status":
			r.status = s.Value()
		case "output":
			r.output = s.Value()
		case "usage":
			r.usage = s.Value()
		case "error":
			r.err = s.Value()
		case "incomplete_details":
			r.incomplete = s.Value()
		case "service_tier":
			r.tier = s.Value()
		}
	}
	return r
}
