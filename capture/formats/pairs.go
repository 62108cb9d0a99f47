package formats

import (
	"bytes"
	"slices"

	"toolscope/capture"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// pairs reads logs in which programs record their own requests to a model. Each object has the messages that were
// sent and, next to them, the response, for example {"messages":[…],"response":{…}}. The keys differ between
// programs, so the fields are recognised by their values. The response is a body from a provider, a stream, or only
// the model's message. It may be inside a string.
var pairs = capture.Format{
	Name:  "message log",
	Title: "messages and their response in one object, JSON or JSONL",
	Sniff: sniffPairs,
	New:   func(in *capture.Input) capture.Reader { return newEntries(in, "entry", readPair, []string{}) },
}

// messagePair is an object with messages and their response.
type messagePair struct {
	messages, model []byte
	response        []byte          // the response as a provider sends it
	of              *marks.Protocol // protocol of the response; nil if unknown
	message         bool            // the response is only the model's message
	tools           []member
}

// minLongPair is the size from which an object with messages is accepted as a pair before its response has arrived.
const minLongPair = 48 << 10

func sniffPairs(first []byte, whole bool) capture.SniffResult {
	text, ok := objectText(first)
	if !ok || len(text) == 0 {
		return capture.SniffResult{}
	}
	all, _, closed := json.AppendFields(nil, text)
	if !slices.ContainsFunc(all, func(m json.FoundField) bool { return isMessageList(m.Value) }) {
		return capture.SniffResult{}
	}
	switch p := pairIn(all); {
	case p != nil:
		return capture.SniffResult{Is: capture.Yes, Why: "messages with their response in one object"}
	case !closed && whole && len(first) >= minLongPair: // accept the object early: the response comes last
		return capture.SniffResult{Is: capture.Yes, Why: "a long object with messages"}
	case !closed:
		return sniffMaybe(whole)
	}
	return capture.SniffResult{}
}

// pairIn returns the messages and the response among the fields of an object, or nil if the object isn't a
// pair. A field whose key belongs to requests is never the response.
func pairIn(all []json.FoundField) *messagePair {
	p := new(messagePair)
	for i, m := range all {
		if text, is := json.Text(m.Value); is && slices.Contains(inputKeys, string(m.Key)) && isWhole(text) {
			if text = afterSpace(text); opensObject(text) || isArray(text) { // Langfuse may write the input as a string
				all = slices.Clone(all)
				all[i].Value, m.Value = text, text
			}
		}
		switch {
		case string(m.Key) == "model":
			p.model = m.Value
		case p.messages == nil && isMessageList(m.Value):
			p.messages = m.Value
		case p.messages == nil && slices.Contains(inputKeys, string(m.Key)) && isMessageList(json.Find(m.Value, "messages")):
			p.messages = json.Find(m.Value, "messages")
		case ofRequestKeys(m.Key):
		case p.response == nil:
			p.readResponse(m.Value)
		}
	}
	if p.messages == nil || p.response == nil {
		return nil
	}
	p.addTools(all)
	for _, m := range all { // {"kwargs":{"tools":[…]}}
		if opensObject(m.Value) && len(p.tools) == 0 {
			inner, _, _ := json.AppendFields(nil, m.Value)
			p.addTools(inner)
		}
	}
	return p
}

// inputKeys are the keys of an object with the messages and the tools of a request.
var inputKeys = []string{"input", "inputs", "prompt"}

// isMessageList reports whether a value is a list of messages, which may be cut off.
func isMessageList(value []byte) bool {
	first := json.FirstElement(value)
	if !isArray(value) || !opensObject(first) {
		return false
	}
	all, _, _ := json.AppendFields(nil, first)
	role := slices.ContainsFunc(all, func(m json.FoundField) bool { return string(m.Key) == "role" })
	return role && currentRules().isContent(all)
}

func ofRequestKeys(key []byte) bool {
	for _, of := range *marks.All() {
		if containsText(of.RequestKeys, key) || containsText(of.ToolKeys, key) {
			return true
		}
	}
	return false
}

func (p *messagePair) addTools(all []json.FoundField) {
	for _, m := range all {
		for _, of := range *marks.All() {
			if containsText(of.ToolKeys, m.Key) && isArray(m.Value) && !slices.ContainsFunc(p.tools, func(t member) bool { return t.key == string(m.Key) }) {
				p.tools = append(p.tools, member{string(m.Key), m.Value})
			}
		}
	}
}

// readResponse sets the response if a value is a response.
func (p *messagePair) readResponse(value []byte) {
	if text, is := json.Text(value); is {
		value = bytes.TrimSpace(text)
		if isField(value) {
			p.response = text
			return
		}
	}
	if isArray(value) {
		element := json.FirstElement(value)
		if info, is := newUnwrapper(capture.NewInput("", nil)).chunkOf(element); is {
			p.response, p.of = value, info.of
			return
		}
		value = element
	}
	if !opensObject(value) || !isObject(value) {
		return
	}
	all, _, _ := json.AppendFields(nil, value)
	info := currentRules().readInfo(all)
	switch {
	case info.is == aBody && !info.weak:
		p.response, p.of = value, info.of
	case currentRules().isContent(all) && hasText(json.Find(value, "role"), "assistant"):
		p.response, p.message = bodyOf(value, p.model), true
	}
}

// bodyOf returns the body of a response that contains the model's message.
func bodyOf(message, model []byte) []byte {
	if len(model) > 0 {
		model = slices.Concat([]byte(`"model":`), model, []byte(","))
	}
	list := arrayOf(message)
	for _, of := range *marks.All() {
		for _, sent := range of.Sent {
			rules := []sentRule{prepareSent(sent)}
			if responses := responsesOf(rules, list, model); len(responses) > 0 {
				return responses[0]
			}
		}
	}
	return fillBody(`{"object":"chat.completion",MODEL"choices":[{"index":0,"message":MESSAGE}]}`, model, message)
}

func readPair(r *valuesReader, object []byte, cut bool) {
	all, _, _ := json.AppendFields(nil, object)
	p := pairIn(all)
	if cut || p == nil {
		writeRequest(&r.recordWriter, object, cut, "")
		return
	}
	r.writePair(p, nil)
}

// writePair writes the exchange of a pair, which is at path in a larger text.
func (o *recordWriter) writePair(p *messagePair, path []string) {
	history := "messages"
	if p.of != nil && len(p.of.HistoryKeys) > 0 {
		history = p.of.HistoryKeys[0]
	}
	x := recordedExchange{
		layers: append(path, "message log"), request: objectOf(append([]member{{"model", p.model}, {history, p.messages}}, p.tools...)...),
		response: p.response, lacks: []capture.Lack{capture.NoDeltas, capture.NoTimes, capture.Composed},
	}
	if p.message {
		x.addLack(capture.NoEnding)
	}
	o.writeExchange(&x)
}
