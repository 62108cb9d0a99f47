package formats

import (
	"bytes"

	"toolscope/capture"
	"toolscope/stream/json"
)

// liteLLM is the StandardLoggingPayload that LiteLLM hands to its callbacks: one object for each
// call, a file each, one a line, or in an array. What was asked and answered stand in it in the
// form of the provider that LiteLLM plays, mostly Chat Completions.
var liteLLM = capture.Format{
	Name:  "litellm payload",
	Title: "LiteLLM: StandardLoggingPayload, JSON or JSONL",
	Sniff: sniffLiteLLM,
	New: func(in *capture.Input) capture.Reader {
		l := &liteLLMLog{in: in}
		return &jsonValues{jsonDocument: jsonDocument{entryReader: entryReader{in: in, book: l}, found: l.takeValue, decided: true, one: true}}
	},
}

func sniffLiteLLM(first []byte, whole bool) capture.SniffResult {
	p := bytes.TrimLeft(first, " \t\r\n")
	if len(p) > 0 && p[0] == '[' {
		p = afterSpace(p[1:])
	}
	s := sniffAny(p, whole, "call_type", "startTime", "model_parameters", "response_cost", "completionStartTime", "hidden_params", "custom_llm_provider", "trace_id")
	s.Why = "it has call_type and startTime, as LiteLLM logs them"
	return s
}

// liteLLMLog reads payloads.
type liteLLMLog struct{ in *capture.Input }

func (l *liteLLMLog) takeValue(recs []capture.Record, _ int, value []byte) []capture.Record {
	return l.entry(recs, value)
}

func (l *liteLLMLog) close(recs []capture.Record) []capture.Record { return recs }

func (l *liteLLMLog) entry(recs []capture.Record, payload []byte) []capture.Record {
	if inner := json.Find(payload, "standard_logging_object"); inner != nil {
		payload = inner
	}
	f := json.Pick(payload, "call_type", "status", "startTime", "endTime", "completionStartTime", "api_base", "response", "error_str", "error_information", "messages", "stream")
	if f[0] == nil || f[2] == nil {
		return recs
	}
	n := l.in.NextExchange()
	began, ended, first := parseLogTime(f[2]), parseLogTime(f[3]), parseLogTime(f[4])
	head := l.in.NewHead([]string{"litellm payload"}, capture.NoDeltas)
	head.URL, head.Start = string(textOr(f[5])), began
	recs = append(recs, capture.Record{Exchange: n, Side: capture.Request, At: l.in.RecordTime(began), Head: head, Data: liteLLMRequest(payload, f[9])})
	answer := &capture.Head{Start: first}
	body := f[6]
	if kindOf(body) == '"' { // LiteLLM keeps it as text where it was told so
		body, _ = json.Text(body)
	}
	if hasText(f[1], "failure") {
		body = liteLLMFailure(f[7], f[8])
		answer.Status = int(parseNumber(textOr(json.Pick(f[8], "error_code")[0])))
	}
	recs = append(recs, capture.Record{Exchange: n, At: l.in.RecordTime(first), Head: answer})
	if len(body) > 0 {
		recs = append(recs, capture.Record{Exchange: n, At: l.in.RecordTime(ended), Data: body})
	}
	return append(recs, capture.Record{Exchange: n, At: l.in.RecordTime(ended), End: capture.EndEOF})
}

// textOr is what a string reads, or the value itself.
func textOr(value []byte) []byte {
	if text, ok := json.Text(value); ok {
		return text
	}
	return value
}

// liteLLMRequest is what was asked: the model, what was said, and the parameters as they stand.
func liteLLMRequest(payload, messages []byte) []byte {
	f := json.Pick(payload, "model", "model_parameters")
	members := []member{{"model", f[0]}}
	switch kindOf(messages) {
	case '[':
		members = append(members, member{"messages", messages})
	case '"':
		members = append(members, member{"input", messages})
	case '{':
		for k, v := range json.Members(messages) {
			members = append(members, member{k, v})
		}
	}
	for k, v := range json.Members(f[1]) {
		members = append(members, member{k, nilIfNull(v)})
	}
	return objectOf(members...)
}

func liteLLMFailure(text, information []byte) []byte {
	f := json.Pick(information, "error_class", "error_code", "error_message")
	if nonEmptyText(text) == nil {
		text = f[2]
	}
	if nonEmptyText(text) == nil {
		text = f[0]
	}
	return objectOf(member{"error", objectOf(member{"message", text}, member{"type", f[0]}, member{"code", f[1]})})
}
