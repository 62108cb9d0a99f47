package claudecode

import (
	"bytes"
	"strconv"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// SessionWrapper is the name of the format of session files.
const SessionWrapper = "claude-code session"

// Session returns the protocol of Claude Code's session files in ~/.claude/projects, which contain messages in the
// protocol inner. An exchange consists of the entries of one message of the model. An entry of the assistant contains
// one content block and the id of its message. The fields are from files that Claude Code 2.1.330 wrote. The fields
// of older versions are from published programs that read its logs.
func Session(inner protocol.Protocol) *protocol.Protocol {
	p := inner
	p.Title, p.Request = "Claude Code session", requestOf
	p.Sniff = func(e protocol.SniffInput) protocol.SniffScore {
		if kind := json.Value(e.Data).Get("type"); kind.Is("assistant") || kind.Is("system") {
			return protocol.SniffScore{Points: protocol.Sure, Why: "an entry of a session"}
		}
		return protocol.SniffScore{}
	}
	p.New = func(o *protocol.Out) protocol.Decoder {
		return &session{out: o, inner: inner.New(o), calls: map[string]bool{}}
	}
	return &p
}

// session reads the entries of one exchange.
type session struct {
	out    *protocol.Out
	inner  protocol.Decoder
	blocks int             // content blocks so far
	held   json.Value      // the latest block, if a limit may have cut it off; nil otherwise
	calls  map[string]bool // ids of calls so far
	ending *stream.Frame   // the event that ends the message; nil before the message's first entry
}

// Frame reads one entry.
func (d *session) Frame(f stream.Frame) error {
	var kind, message, failed, err, errType json.Value
	if why := json.Read(f.Data, json.Field("type", &kind), json.Field("message", &message), json.Field("isApiErrorMessage", &failed),
		json.Field("error", &err), json.Field("apiErrorType", &errType)); why != nil {
		return why
	}
	switch {
	case kind.Is("system"):
		d.reportError(providerError(err))
	case failed.IsTrue():
		if !errType.IsPresent() {
			errType = err
		}
		text, _ := protocol.ResultText(message.Get("content"))
		words := newMember("message", json.AppendQuoted(nil, bytes.TrimPrefix(text, []byte("API Error: "))))
		if body := json.Value(providerError(newObject(words))); body.Get("type").HasText() { // the text contains the provider's error
			d.reportError(body)
			break
		}
		if errType.Is("unknown") {
			errType = nil
		}
		d.reportError(newObject(newMember("type", errType), newMember("message", json.AppendQuoted(nil, text))))
	default:
		d.readMessage(message)
	}
	return nil
}

// readMessage reads a message of the model, or some of its content blocks.
func (d *session) readMessage(message json.Value) {
	if d.ending == nil {
		feedFrame(d.inner, startOf(message))
	}
	content, limited := message.Get("content"), message.Get("stop_reason").Is("max_tokens")
	if content.HasText() {
		d.addBlock(newObject(newMember("type", []byte(`"text"`)), newMember("text", content)), false)
	}
	for block := range content.Elements() {
		id := block.Get("id").Text()
		if id == "" || !d.calls[id] { // some entries appear twice in the file
			d.addBlock(block, limited)
		}
		d.calls[id] = true
	}
	end := endOf(message)
	d.ending = &end
}

// addBlock adds a content block. If a limit ended the message and its last block is a call without arguments, the
// arguments were cut off: Claude Code writes {} in place of arguments that it didn't receive.
func (d *session) addBlock(block json.Value, limited bool) {
	if d.held != nil { // the message continues after this block, so it is added unchanged
		feedBlock(d.inner, d.blocks-1, d.held)
	}
	d.held = nil
	if limited && block.Get("type").Is("tool_use") && block.Get("input").EmptyObject() {
		d.held = block
	} else {
		feedBlock(d.inner, d.blocks, block)
	}
	d.blocks++
}

// reportError reports an error that the provider sent instead of a message.
func (d *session) reportError(err json.Value) {
	feedFrame(d.inner, newEvent("error", newMember("error", err)))
	d.ending = nil
}

// Close ends the message, because no entry records the end of a message.
func (d *session) Close() {
	if d.held != nil {
		index := newMember("index", strconv.AppendInt(nil, int64(d.blocks-1), 10))
		feedFrame(d.inner, newEvent("content_block_start", index, newMember("content_block", d.held)))
	}
	if d.ending != nil && !d.out.Interrupted {
		feedFrame(d.inner, *d.ending)
		feedFrame(d.inner, newEvent("message_stop"))
	}
	d.inner.Close()
}

// providerError returns the error that the provider sent, as far as the entry contains it. The error is either a
// value, or the text after the status in Claude Code's own message.
func providerError(err json.Value) json.Value {
	body := err.Get("error")
	if _, text, ok := strings.Cut(err.Get("message").Text(), " "); body.Kind() != '{' && ok && strings.HasPrefix(text, "{") {
		body = json.Value(text)
	}
	switch {
	case body.Get("error").Kind() == '{':
		return body.Get("error")
	case body.Kind() == '{':
		return body
	}
	return newObject(newMember("message", err.Get("message")))
}

// requestOf returns the request in the entries. The request consists of the messages and, in newer versions, the
// fields of the logged request.
func requestOf(entries []byte) []byte {
	var request, messages json.Writer
	request.Open('{')
	add := func(object json.Value) {
		for key, value := range json.Members(object) {
			request.Key(key).Raw(value)
		}
	}
	id := ""
	var blocks json.Writer // content blocks of one model message that has several entries
	endMessage := func() {
		if list := json.WrapArray(&blocks); list != nil {
			messages.Raw(newObject(newMember("role", []byte(`"assistant"`)), newMember("content", list)))
		}
		blocks = json.Writer{}
	}
	for line := range strings.Lines(string(entries)) {
		entry := json.Value(line)
		message := entry.Get("message")
		if kind := entry.Get("type").Text(); kind != "assistant" {
			endMessage()
			switch kind {
			case "api-request":
				add(entry.Get("params"))
			case "api-request-shape":
				add(entry.Get("shape"))
			default:
				messages.Raw(message)
			}
			continue
		}
		if next := message.Get("id").Text(); next != id {
			endMessage()
			id = next
		}
		for block := range message.Get("content").Elements() {
			blocks.Raw(block)
		}
	}
	endMessage()
	return request.Key("messages").Open('[').Raw(messages.Text).Close(']').Close('}').Text
}
