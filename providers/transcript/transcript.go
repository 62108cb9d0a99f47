// Package transcript decodes the session files of agents that write the messages of all providers in a form
// of their own.
//
// An exchange consists of unchanged entries of the file. The entries since the previous response are the
// request, and the entries of the response follow. A reader for the agent translates the content of each
// entry to the form of an inner protocol. The decoder of the inner protocol reads the translation. A request
// is derived in the same way.
package transcript

import (
	"iter"
	"slices"
	"strconv"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// message is the content of an entry. Its values are unchanged, or translated for the inner protocol.
type message struct {
	session json.Value // name of the conversation
	agent   json.Value // id of the sub-agent, if the entry is from a sub-agent
	byUser  bool       // whether the parts are from someone other than the model
	whole   json.Value // the unchanged message, if the inner protocol can read it
	parts   []json.Value
	results []json.Value // results of the model's calls, which the next request sends

	model, id, usage, finish json.Value     // facts about a response
	failure, errType         json.Value     // the error that ended the response, and its type
	cut                      bool           // whether the response was cut off
	rejected                 map[int]string // reasons why the agent refused calls, by the index of the part
}

// agent describes one format: an agent's session files, or messages in a known form.
type agent struct {
	wrapper string // name of the format
	title   string
	form    *form                                  // form of the inner protocol
	read    func() func(entry json.Value) *message // returns a reader for one exchange
}

var agents = []agent{
	{"gemini-cli session", "Gemini CLI session", &geminiForm, readGeminiCLI},
	{"qwen-code session", "Qwen Code session", &geminiForm, readQwenCode},
	{"cline screen", "Cline screen", &geminiForm, readClineScreen},
	{"cline task", "Cline task", &anthropicForm, readCline},
	{"copilot session", "Copilot session", &anthropicForm, readCopilot},
	{"pi session", "pi session", &anthropicForm, readPi},
	{"droid session", "droid session", &anthropicForm, readDroid},
	{"kimi session", "Kimi session", &anthropicForm, readKimi},
	{"opencode session", "opencode session", &anthropicForm, readOpencode},
	{"OpenAI messages", "OpenAI messages", &openAIForm, readWholeMessage},
	{"Gemini contents", "Gemini contents", &geminiForm, readContent},
	{"Anthropic messages", "Anthropic messages", &anthropicForm, readMessage},
	{"Bedrock messages", "Bedrock messages", &anthropicForm, readMessage},
	{"AI SDK messages", "AI SDK messages", &anthropicForm, readMessage},
	{"AI SDK UI messages", "AI SDK UI messages", &anthropicForm, readMessage},
	{"LangChain messages", "LangChain messages", &anthropicForm, readMessage},
	{"Continue history", "Continue history", &anthropicForm, readMessage},
	{"goose messages", "goose messages", &anthropicForm, readMessage},
	{"pi messages", "pi messages", &anthropicForm, readMessage},
	{"crush messages", "crush messages", &anthropicForm, readMessage},
	{"Responses items", "Responses items", &anthropicForm, readResponseItem},
	{"Zed thread", "Zed thread", &anthropicForm, readZed},
}

// Sessions returns the protocols of session files, by the names of their formats. Their inner protocols are Anthropic
// Messages, Google's generateContent, and Chat Completions.
func Sessions(anthropic, gemini, chat protocol.Protocol) map[string]*protocol.Protocol {
	all := map[string]*protocol.Protocol{}
	for _, a := range agents {
		p := gemini
		switch a.form {
		case &anthropicForm:
			p = anthropic
		case &openAIForm:
			p = chat
		}
		inner := p.New
		p.Title, p.Request, p.Values = a.title, a.requestOf, true
		p.Model = func(_ string, request []byte) string { return json.Value(request).Get("model").Text() }
		p.Sniff = func(protocol.SniffInput) protocol.SniffScore {
			return protocol.SniffScore{Points: protocol.Sure, Why: "an entry of a session"}
		}
		p.New = func(o *protocol.Out) protocol.Decoder {
			return &session{out: o, inner: inner(o), form: a.form, read: a.read()}
		}
		all[a.wrapper] = &p
	}
	return all
}

// session decodes the response in one exchange.
type session struct {
	out   *protocol.Out
	inner protocol.Decoder
	form  *form
	read  func(entry json.Value) *message

	now   message // the facts about the response so far, without its parts
	begun bool
	parts int // number of parts so far
}

// Frame reads one entry.
func (d *session) Frame(f stream.Frame) error {
	if err := json.Read(f.Data); err != nil {
		return err
	}
	m := d.read(f.Data)
	if m == nil || m.byUser {
		return nil
	}
	if m.finish != nil {
		d.now.finish = m.finish
	}
	if m.failure != nil {
		d.now.failure, d.now.errType = m.failure, m.errType
	}
	d.now.cut = d.now.cut || m.cut
	if len(m.parts) > 0 || m.failure == nil || m.whole != nil {
		d.form.feed(d, m)
		d.begun = true
	}
	return nil
}

// Close ends the response with its error or its finish reason. A response that was cut off without an error gets no end.
func (d *session) Close() {
	switch {
	case d.now.failure != nil:
		d.form.fail(d)
	case d.begun && !d.now.cut && !d.out.Interrupted:
		d.form.end(d)
	}
	d.inner.Close()
}

// feedFrame passes a frame that is not in the file to the inner decoder. This can't fail, because the frame consists
// of JSON that was already read.
func (d *session) feedFrame(kind string, members ...json.Member) {
	if kind != "" {
		members = append(members, newField("type", quoteText(kind)))
	}
	_ = d.inner.Frame(stream.Frame{Kind: stream.FrameData, Event: []byte(kind), Data: newObject(members...)})
}

// requestOf returns the request in the entries, as a request of the inner protocol.
func (a *agent) requestOf(entries []byte) []byte {
	read := a.read()
	var session, agent, model json.Value
	var messages, parts, results []json.Value
	add := func(role string, list []json.Value) {
		if len(list) > 0 {
			messages = append(messages, newObject(newField("role", quoteText(role)),
				newField(a.form.parts, newArray(list...))))
		}
	}
	endResponse := func() {
		add(a.form.model, parts)
		add("user", results)
		parts, results = nil, nil
	}
	for entry := range eachValue(entries) {
		if entry.IsString() {
			session = entry
			continue
		}
		m := read(entry)
		switch {
		case m == nil:
			continue
		case m.whole != nil:
			messages = append(messages, m.whole)
			continue
		case m.byUser:
			results = slices.DeleteFunc(results, func(r json.Value) bool { return slices.ContainsFunc(m.parts, sameResult(r)) })
			endResponse()
			add("user", m.parts)
		case len(m.parts) == 0 && m.model.IsPresent():
			model = m.model // model of the response that will follow
		}
		if !m.byUser {
			parts = append(parts, m.parts...)
			results = append(results, m.results...)
		}
		if m.session.HasText() {
			session = m.session
		}
		if m.agent != nil {
			agent = m.agent
		}
	}
	endResponse()
	if agent != nil {
		session = newObject(newField("id", session), newField("agent", agent))
	}
	return newObject(newField("model", model), newField("conversation", session),
		newField(a.form.history, newArray(messages...)))
}

// sameResult returns a function that reports whether a part in Google's form is a result of the same call as the
// given result.
func sameResult(result json.Value) func(part json.Value) bool {
	id := result.Get("functionResponse").Get("id").Text()
	return func(part json.Value) bool { return id != "" && part.Get("functionResponse").Get("id").Is(id) }
}

// eachValue iterates over consecutive JSON values in a text.
func eachValue(text []byte) iter.Seq[json.Value] {
	return func(yield func(json.Value) bool) {
		for {
			text = text[json.SpaceLen(text):]
			n, whole := json.ValueLen(text)
			if !whole || n == 0 || !yield(json.Value(text[:n])) {
				return
			}
			text = text[n:]
		}
	}
}

// withText returns v if it is a non-empty string, and nil otherwise.
func withText(v json.Value) json.Value {
	if !v.HasText() {
		return nil
	}
	return v
}

// valuesOf returns the values of the named fields of an object.
func valuesOf(object json.Value, names ...string) []json.Value {
	all := make([]json.Value, len(names))
	for i, v := range json.Pick(object, names...) {
		all[i] = v
	}
	return all
}

func quoteText(s string) json.Value { return json.AppendQuoted(nil, []byte(s)) }

func newField(name string, value json.Value) json.Member {
	return json.Member{Name: name, Value: value}
}

// newObject returns an object with the fields that have a value.
func newObject(members ...json.Member) json.Value { return json.ReplaceMembers(nil, members...) }

func newArray(list ...json.Value) json.Value {
	var w json.Writer
	w.Open('[')
	for _, v := range list {
		w.Raw(v)
	}
	return w.Close(']').Text
}

func newNumber(n int64) json.Value { return strconv.AppendInt(nil, n, 10) }

// countOf returns the value of a number, or 0 for any other value.
func countOf(v json.Value) int64 {
	n, _ := v.Float()
	return int64(n)
}
