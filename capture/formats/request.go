package formats

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
)

// request is the body of a request, alone in a file: what a client sent, saved from a log or a
// debugger. Its answer is not there. The calls of its history are: each message of the model that
// has some is an exchange, as the client sends it back, and the body itself is the last one.
var request = capture.Format{
	Name: "request", Title: "a single request: calls and results of its history, tools",
	Sniff: sniffRequest,
	New:   func(in *capture.Input) capture.Reader { return &requestReader{recordWriter: recordWriter{in: in}} },
}

// maxRequestBytes is the longest body whose history is read; a longer one is shown as it is.
const maxRequestBytes = 64 << 20

// sniffRequest: only a whole body is known for sure. What is not whole yet may become one as long
// as its members are those of a request.
func sniffRequest(first []byte, whole bool) capture.SniffResult {
	text := bytes.TrimLeft(first, " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return capture.SniffResult{}
	}
	members, end := topMembers(text)
	switch asked, other := askedBy(members); {
	case other:
		return capture.SniffResult{}
	case asked && (whole || end):
		return capture.SniffResult{Is: capture.Yes, Why: "a history with other fields of a request"}
	case whole || end:
		return capture.SniffResult{}
	}
	return capture.SniffResult{Is: capture.Maybe}
}

// topMembers are the keys of an object as far as it has come, each with the first byte of its
// value; end says that the object is whole.
func topMembers(text []byte) (members map[string]byte, end bool) {
	members = map[string]byte{}
	d := json.NewDecoder(bytes.NewReader(text))
	_, _ = d.Token()
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if value := bytes.TrimLeft(text[d.InputOffset():], ": \t\r\n"); err == nil && ok && len(value) > 0 {
			members[name] = value[0]
		}
		if d.Decode(new(json.RawMessage)) != nil {
			return members, false
		}
	}
	_, err := d.Token()
	return members, err == nil
}

// asked are members that requests have beside the conversation.
var asked = []string{
	"model", "max_tokens", "tools", "system", "temperature", "stream", "tool_choice", "generationConfig", "systemInstruction",
	"inferenceConfig", "instructions", "store", "include", "options", "toolConfig",
}

// askedBy reports whether an object with these members is a request, and whether it is none
// whatever else comes.
func askedBy(members map[string]byte) (is, never bool) {
	for _, name := range []string{"messages", "input", "contents"} {
		is = is || members[name] == '['
	}
	known := members["contents"] == '['
	for _, name := range asked {
		known = known || members[name] != 0
	}
	never = len(members) > 0 && !known && !is
	return is && known, never
}

// requestReader holds the body until it is whole: what was asked is told before what became of it.
type requestReader struct {
	recordWriter
	body []byte
	rest int64 // bytes beyond maxRequestBytes
}

func (r *requestReader) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	kept := p[:min(len(p), maxRequestBytes-len(r.body))]
	r.body = append(r.body, kept...)
	r.rest += int64(len(p) - len(kept))
	return recs, nil
}

func (r *requestReader) Close(recs []capture.Record, end capture.End, why string, _ time.Duration) []capture.Record {
	if r.rest == 0 {
		tools := toolsIn(r.body)
		for _, answer := range answersIn(r.body) {
			r.writeExchange(&recordedExchange{
				layers: []string{"request", "history"}, request: tools, response: answer,
				lacks: []capture.Lack{capture.Resent, capture.NoDeltas, capture.NoTimes, capture.NoEnding, capture.Composed},
			})
		}
	}
	r.writeExchange(&recordedExchange{
		layers: []string{"request"}, request: r.body, lacks: []capture.Lack{capture.NoTimes, capture.NoBody},
		cut: end == capture.EndCut, why: why,
	})
	if r.rest > 0 {
		r.addNote(true, "the body is %d bytes longer than the limit (%d): the rest is left out, and its history is not read", r.rest, maxRequestBytes)
	}
	return r.recordWriter.takeWritten(recs)
}

// toolsIn is a request of the tools alone, for the answers of the history: what was asked before
// each is not told again. It is nil where there are none.
func toolsIn(body []byte) []byte {
	var of map[string]json.RawMessage
	if json.Unmarshal(body, &of) != nil {
		return nil
	}
	var members [][]byte
	for _, name := range []string{"tools", "functions", "toolConfig"} {
		if of[name] != nil {
			members = append(members, slices.Concat([]byte(`"`+name+`":`), of[name]))
		}
	}
	if members == nil {
		return nil
	}
	return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}"))
}

// answersIn are the messages of the model in a request's history that have calls, each in the body
// of an answer of its protocol: only what stands around the message is ours.
func answersIn(body []byte) (answers [][]byte) {
	var history struct {
		Model    json.RawMessage
		Messages []json.RawMessage
		Input    json.RawMessage // a list, or text
		Contents []json.RawMessage
	}
	if json.Unmarshal(body, &history) != nil {
		return nil
	}
	model := ""
	if len(history.Model) > 0 {
		model = `"model":` + string(history.Model) + ","
	}
	for _, message := range history.Messages {
		if around, has := aroundMessage(message); has != nil {
			answers = append(answers, fillBody(around, model, has))
		}
	}
	for _, content := range history.Contents {
		var of struct {
			Role  string
			Parts []map[string]json.RawMessage
		}
		if json.Unmarshal(content, &of) == nil && of.Role == "model" && slices.ContainsFunc(of.Parts, hasKey("functionCall")) {
			answers = append(answers, fillBody(`{"candidates":[{"content":MESSAGE}]}`, "", content))
		}
	}
	return append(answers, outputsIn(model, history.Input)...)
}

// fillBody puts a message of the model into the body of an answer.
func fillBody(around, model string, message []byte) []byte {
	before, after, _ := strings.Cut(around, "MESSAGE")
	return slices.Concat([]byte(strings.Replace(before, "MODEL", model, 1)), message, []byte(after))
}

func hasKey(key string) func(map[string]json.RawMessage) bool {
	return func(m map[string]json.RawMessage) bool { return len(m[key]) > 0 }
}

// aroundMessage is the body of an answer with a place for what a message of the model has, by how
// it has its calls. What it has is nil where that is no calls.
func aroundMessage(message []byte) (around string, has []byte) {
	var of struct {
		Role    string
		Content json.RawMessage
		Calls   []struct {
			Function struct{ Arguments json.RawMessage }
		} `json:"tool_calls"`
		Call json.RawMessage `json:"function_call"`
	}
	if json.Unmarshal(message, &of) != nil || of.Role != "assistant" {
		return "", nil
	}
	if len(of.Calls) > 0 && bytes.HasPrefix(of.Calls[0].Function.Arguments, []byte("{")) {
		return `{MODEL"message":MESSAGE,"done":true}`, message // as Ollama has it
	}
	if len(of.Calls)+len(of.Call) > 0 {
		return `{"object":"chat.completion",MODEL"choices":[{"index":0,"message":MESSAGE}]}`, message
	}
	var blocks []map[string]json.RawMessage
	if json.Unmarshal(of.Content, &blocks) != nil {
		return "", nil
	}
	if slices.ContainsFunc(blocks, hasKey("toolUse")) {
		return `{"output":{"message":MESSAGE}}`, message
	}
	calls := func(b map[string]json.RawMessage) bool { return strings.HasSuffix(string(b["type"]), `tool_use"`) }
	if !slices.ContainsFunc(blocks, calls) {
		return "", nil
	}
	// A message of the history lacks the type that one of an answer has.
	return `{"type":"message",MODEL"role":"assistant","content":MESSAGE}`, of.Content
}

// outputsIn are the items of a Responses request that the model wrote, those that stand together in
// one answer.
func outputsIn(model string, input []byte) (answers [][]byte) {
	var items []json.RawMessage
	if json.Unmarshal(input, &items) != nil {
		return nil
	}
	var group [][]byte
	calls := false
	end := func() {
		if calls {
			answers = append(answers, fillBody(`{"object":"response",MODEL"output":[MESSAGE]}`, model, bytes.Join(group, []byte(","))))
		}
		group, calls = nil, false
	}
	for _, item := range items {
		var of struct{ Type, Role string }
		_ = json.Unmarshal(item, &of) // what is no object was not written by the model
		switch {
		case strings.HasSuffix(of.Type, "_call"):
			calls = true
			fallthrough
		case of.Type == "reasoning", of.Role == "assistant":
			group = append(group, item)
		default:
			end()
		}
	}
	end()
	return answers
}
