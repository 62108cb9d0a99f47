package codexexec

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// SessionWrapper is the name of the format of rollout files.
const SessionWrapper = "codex rollout"

// Session returns the protocol of Codex's rollout files in ~/.codex/sessions, which contain items of the protocol
// inner, OpenAI's Responses. An exchange consists of the items of one response and the entry with its usage or its
// error. In older files, each entry is an item itself. In newer files, the item is the payload of the entry.
func Session(inner protocol.Protocol) *protocol.Protocol {
	p := inner
	p.Title, p.Request = "Codex rollout", requestOf
	p.Sniff = func(e protocol.SniffInput) protocol.SniffScore {
		kind := json.Value(e.Data).Get("type").Text()
		if kind == "" || kind == "error" || strings.HasPrefix(kind, "response.") { // older captures contain events of Responses
			return protocol.SniffScore{}
		}
		return protocol.SniffScore{Points: protocol.Sure, Why: "an entry of a rollout"}
	}
	p.Model = func(_ string, request []byte) string { return json.Value(request).Get("model").Text() }
	p.New = func(o *protocol.Out) protocol.Decoder { return &session{Decoder: inner.New(o)} }
	return &p
}

// session reads the entries of one exchange with the decoder of Responses.
type session struct {
	protocol.Decoder
	begun bool
	items int
}

// payloadOf returns the type and the payload of an entry. In older files, the entry itself is an item.
func payloadOf(entry json.Value) (kind string, payload json.Value) {
	if payload = entry.Get("payload"); payload != nil {
		return entry.Get("type").Text(), payload
	}
	return "response_item", entry
}

// Frame reads one entry.
func (d *session) Frame(f stream.Frame) error {
	if why := json.Read(f.Data); why != nil {
		return why
	}
	kind, payload := payloadOf(f.Data)
	info := payload.Get("info")
	if !d.begun {
		d.begun = true
		d.feedEvent("response.created", func(w *json.Writer) { writeFields(w.Key("response").Open('{'), info, "model").Close('}') })
	}
	switch {
	case kind == "response_item":
		// The decoder gets an item that the model wrote as two events: its beginning and its end.
		d.feedEvent("response.output_item.added", func(w *json.Writer) {
			w.Key("output_index").Int(d.items).Key("item").Open('{').Member("status", "in_progress")
			writeFields(w, payload, "type", "id", "call_id", "name", "namespace", "server_label", "caller", "execution", "environment").Close('}')
		})
		d.feedEvent("response.output_item.done", func(w *json.Writer) { w.Key("output_index").Int(d.items).Key("item").Raw(payload) })
		d.items++
	case kind == "token_usage_record":
		d.completeResponse(payload, payload.Get("usage"))
	case payload.Get("type").Is("token_count"):
		d.completeResponse(info, info.Get("last_token_usage"))
	case payload.Get("type").Is("error"):
		d.feedEvent("error", func(w *json.Writer) { writeFields(w, payload, "message") })
	}
	return nil
}

// completeResponse ends the response with its usage. The parameter about is an object that contains the response's id
// or model.
func (d *session) completeResponse(about, usage json.Value) {
	d.feedEvent("response.completed", func(w *json.Writer) {
		w.Key("response").Open('{').Member("object", "response").Member("status", "completed")
		writeFields(w, about, "response_id:id", "model").Key("usage").Open('{')
		writeFields(w, usage, "input_tokens", "output_tokens", "total_tokens")
		writeFields(w.Key("input_tokens_details").Open('{'), usage,
			"cached_input_tokens:cached_tokens", "cache_write_input_tokens:cache_write_tokens").Close('}')
		writeFields(w.Key("output_tokens_details").Open('{'), usage, "reasoning_output_tokens:reasoning_tokens").Close('}')
		w.Close('}').Close('}')
	})
}

// feedEvent passes an event to the decoder, with the fields that the function write adds. This can't fail, because
// the event consists of JSON that was already read.
func (d *session) feedEvent(kind string, write func(*json.Writer)) {
	var w json.Writer
	write(w.Open('{').Member("type", kind))
	_ = d.Decoder.Frame(stream.Frame{Kind: stream.FrameData, Event: []byte(kind), Data: w.Close('}').Text})
}

// writeFields writes the named fields of an object, if they have a value. A name may be followed by a colon and the
// key under which the field is written.
func writeFields(w *json.Writer, of json.Value, names ...string) *json.Writer {
	for _, name := range names {
		name, as, renamed := strings.Cut(name, ":")
		if !renamed {
			as = name
		}
		if v := of.Get(name); v.IsPresent() {
			w.Key(as).Raw(v)
		}
	}
	return w
}

// failedOutput matches the beginnings that Codex writes into the result of a call that it could not run, or of a command
// that ended with another exit code than 0.
var failedOutput = lazyregexp.New(`^(?:failed to parse function arguments: |unsupported call: |apply_patch verification failed: |` +
	`Exit code: -?[1-9]\d*\nWall time: |(?:Chunk ID: \w+\n)?Wall time: [0-9.]+ seconds\nProcess exited with code -?[1-9]\d*\n)`)

// saysFailure reports whether Codex wrote into a result that its call failed. Older versions write an object with the
// exit code.
func saysFailure(output json.Value) bool {
	text := output.Unquoted()
	code, exited := json.Value(text).Get("metadata").Get("exit_code").Int()
	return output.IsString() && (exited && code != 0 || failedOutput().Match(text))
}

// requestOf returns the request in the entries. The request contains only the additions to the previous
// request. The result of a failed call gets the status "failed".
func requestOf(entries []byte) []byte {
	var w, input json.Writer
	var context, session json.Value
	failed := map[string]bool{} // ids of calls whose results follow an event that says that the call failed
	for line := range strings.Lines(string(entries)) {
		switch kind, payload := payloadOf(json.Value(line)); {
		case kind == "turn_context":
			context = payload
		case kind == "event_msg" && payload.Get("call_id").IsString():
			failed[payload.Get("call_id").Text()] = true
		case kind == "event_msg":
			context = payload.Get("info")
		case kind == "compacted":
			for item := range payload.Get("replacement_history").Elements() {
				input.Raw(item)
			}
		case kind == "session_meta", !payload.Get("type").IsString():
			session = payload
		case strings.HasSuffix(payload.Get("type").Text(), "_output") &&
			(failed[payload.Get("call_id").Text()] || saysFailure(payload.Get("output"))):
			input.Raw(json.ReplaceMembers(payload, json.Member{Name: "status", Value: []byte(`"failed"`)}))
		default:
			input.Raw(payload)
		}
	}
	writeFields(w.Open('{').Key("input").Open('[').Raw(input.Text).Close(']'), context, "model")
	if base := session.Get("base_instructions"); base.IsPresent() {
		writeFields(&w, base, "text:instructions")
	} else {
		writeFields(&w, session, "instructions")
	}
	return w.Close('}').Text
}
