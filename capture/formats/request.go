package formats

import (
	"bytes"
	stdjson "encoding/json"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// request reads the body of a single request that was saved from a log or a debugger, without its response. Each
// message in the history that contains calls is shown as an exchange. The body itself is the last exchange.
var request = capture.Format{
	Name: "request", Title: "a single request: its tools, calls and results",
	Sniff: sniffRequest,
	New:   func(in *capture.Input) capture.Reader { return &requestReader{recordWriter: recordWriter{in: in}} },
}

// maxRequestBytes is the maximum size of a body whose history is read. A larger body is shown as it is.
const maxRequestBytes = 64 << 20

// sniffRequest accepts only a complete body. It returns Maybe for an incomplete body as long as the body has keys of
// a request.
func sniffRequest(first []byte, whole bool) capture.SniffResult {
	text := bytes.TrimLeft(first, " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return capture.SniffResult{}
	}
	all, _, end := json.AppendFields(nil, text)
	history, known := false, false
	for _, m := range all {
		for _, of := range *marks.All() {
			history = history || containsText(of.HistoryKeys, m.Key) && isArray(m.Value)
			isModel := string(m.Key) == "model" && opensObject(m.Value) // in Zed's threads, the value of this key is an object
			known = known || containsText(of.RequestKeys, m.Key) && !isModel
		}
	}
	switch {
	case len(all) > 0 && !known && !history:
		return capture.SniffResult{}
	case history && known && (whole || end):
		return capture.SniffResult{Is: capture.Yes, Why: "a history with other fields of a request"}
	case whole || end:
		return capture.SniffResult{}
	}
	return capture.SniffResult{Is: capture.Maybe}
}

// requestReader holds the body until it is complete, because the exchanges of its history come first.
type requestReader struct {
	recordWriter
	body []byte
	rest int64 // number of bytes beyond maxRequestBytes
}

func (r *requestReader) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	kept := p[:min(len(p), maxRequestBytes-len(r.body))]
	r.body = append(r.body, kept...)
	r.rest += int64(len(p) - len(kept))
	return recs, nil
}

func (r *requestReader) Close(recs []capture.Record, end capture.End, why string, _ time.Duration) []capture.Record {
	writeRequest(&r.recordWriter, r.body, end == capture.EndCut, why)
	if r.rest > 0 {
		r.addNote(true, "the body is %d bytes longer than the limit (%d): the rest is left out, and its history is not read", r.rest, maxRequestBytes)
	}
	return r.recordWriter.takeWritten(recs)
}

// writeRequest writes an exchange for each message with calls in a request's history, and one for the request itself.
func writeRequest(o *recordWriter, body []byte, cut bool, why string) {
	if len(body) <= maxRequestBytes && stdjson.Valid(body) {
		o.writeHistory("request", body)
	}
	o.writeExchange(&recordedExchange{
		layers: []string{"request"}, request: body, lacks: []capture.Lack{capture.NoTimes, capture.NoBody}, cut: cut, why: why,
	})
}

// writeHistory writes an exchange for each message with calls in a request's history.
func (o *recordWriter) writeHistory(layer string, body []byte) {
	tools := toolsIn(body)
	for _, answer := range responsesIn(body) {
		o.writeExchange(&recordedExchange{
			layers: []string{layer, "history"}, request: tools, response: answer,
			lacks: []capture.Lack{capture.Resent, capture.NoDeltas, capture.NoTimes, capture.NoEnding, capture.Composed},
		})
	}
}

// toolsIn returns a request with only the tools, for the responses of the history. The messages before each response
// are not repeated. The result is nil if there are no tools.
func toolsIn(body []byte) []byte {
	var tools []member
	for _, of := range *marks.All() {
		for _, key := range of.ToolKeys {
			if value := json.Find(body, key); value != nil && !slices.ContainsFunc(tools, func(m member) bool { return m.key == key }) {
				tools = append(tools, member{key, value})
			}
		}
	}
	if tools == nil {
		return nil
	}
	return objectOf(tools...)
}

// sentRule is a prepared marks.Sent.
type sentRule struct {
	marks.Sent
	when, group []condition
}

func prepareSent(sent marks.Sent) sentRule {
	r := sentRule{Sent: sent}
	for _, text := range strings.Fields(sent.When) {
		r.when = append(r.when, *parseCondition(text))
	}
	for _, text := range sent.Group {
		r.group = append(r.group, *parseCondition(text))
	}
	return r
}

// responsesIn returns the messages with calls in a history, each enclosed in a response of its protocol. toolscope
// adds only the text around the message.
func responsesIn(body []byte) (responses [][]byte) {
	model := json.Find(body, "model")
	if len(model) > 0 {
		model = slices.Concat([]byte(`"model":`), model, []byte(","))
	}
	byList := map[string][]sentRule{}
	var lists []string
	for _, of := range *marks.All() {
		for _, sent := range of.Sent {
			r := prepareSent(sent)
			if byList[sent.List] == nil {
				lists = append(lists, sent.List)
			}
			byList[sent.List] = append(byList[sent.List], r)
		}
	}
	for _, list := range lists {
		responses = append(responses, responsesOf(byList[list], json.Find(body, list), model)...)
	}
	return responses
}

// responsesOf returns the responses in one list of messages.
func responsesOf(rules []sentRule, list, model []byte) (responses [][]byte) {
	var group [][]byte
	var by *sentRule // the rule for the message with calls in the group
	endGroup := func() {
		if by != nil {
			responses = append(responses, fillBody(by.Body, model, bytes.Join(group, []byte(","))))
		}
		group, by = nil, nil
	}
	for message := range json.Elements(list) {
		holds := func(c condition) bool { return c.holdsAt(json.Find(message, c.keys[0]), c.path) != c.not }
		i := slices.IndexFunc(rules, func(r sentRule) bool {
			return !slices.ContainsFunc(r.when, func(c condition) bool { return !holds(c) })
		})
		switch {
		case i >= 0 && rules[i].group != nil:
			group, by = append(group, message), &rules[i]
		case slices.ContainsFunc(rules, func(r sentRule) bool { return slices.ContainsFunc(r.group, holds) }):
			group = append(group, message)
		default:
			endGroup()
		}
		if i >= 0 && rules[i].group == nil {
			taken := message
			if key := rules[i].Take; key != "" {
				taken = json.Find(message, key)
			}
			responses = append(responses, fillBody(rules[i].Body, model, taken))
		}
	}
	endGroup()
	return responses
}

// fillBody returns the template in the parameter around, with the model in place of MODEL and the model's message in
// place of MESSAGE.
func fillBody(around string, model, message []byte) []byte {
	before, after, _ := strings.Cut(around, "MESSAGE")
	return slices.Concat([]byte(strings.Replace(before, "MODEL", string(model), 1)), message, []byte(after))
}

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
