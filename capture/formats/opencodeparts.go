package formats

import (
	"strconv"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// part takes a part of a message of the model.
func (o *opencodeTalk) part(recs []capture.Record, p []byte) []capture.Record {
	f := json.Pick(p, "type", "text", "tool", "callID", "state", "tokens", "reason", "time")
	switch kind := f[0]; {
	case hasText(kind, "step-start"):
		recs = o.flush(recs)
		o.started = true
	case hasText(kind, "text") && nonEmptyText(f[1]) != nil:
		o.at(json.Find(f[7], "start"), json.Find(f[7], "end"))
		o.step.parts = append(o.step.parts, messagePart{kind: textPart, text: f[1]})
	case hasText(kind, "reasoning") && nonEmptyText(f[1]) != nil:
		o.at(json.Find(f[7], "start"), json.Find(f[7], "end"))
		o.step.parts = append(o.step.parts, messagePart{kind: thoughtPart, text: f[1]})
	case hasText(kind, "tool"):
		o.call(f[3], f[2], f[4])
	case hasText(kind, "step-finish"):
		o.step.usage, o.step.finish, o.started = opencodeUsage(f[5]), opencodeFinish(f[6]), true
		recs = o.flush(recs)
	}
	return recs
}

// at takes when something of the step began and ended, as far as the message does not say it.
func (o *opencodeTalk) at(began, ended []byte) {
	if o.asked.IsZero() {
		o.asked = parseLogTime(began)
	}
	if t := parseLogTime(ended); o.message == nil && t.After(o.answered) {
		o.answered = t
	}
}

// call takes a call, with what it gave if it has run. While its arguments arrive there is only as
// much of them as had come.
func (o *opencodeTalk) call(id, name, state []byte) {
	f := json.Pick(state, "status", "input", "raw", "output", "error", "time")
	call := messagePart{kind: callPart, id: id, name: name, args: f[1]}
	if hasText(f[0], "pending") {
		call.open, call.args = true, nonEmptyText(f[2])
	}
	o.step.parts = append(o.step.parts, call)
	o.at(json.Find(f[5], "start"), json.Find(f[5], "start"))
	switch {
	case hasText(f[0], "completed"):
		o.gave = append(o.gave, messagePart{kind: resultPart, id: id, name: name, text: f[3]})
	case hasText(f[0], "error"):
		o.gave = append(o.gave, messagePart{kind: resultPart, id: id, name: name, text: f[4], failed: true})
	}
}

// failed takes why a message has no more.
func (o *opencodeTalk) failed(err []byte) {
	f := json.Pick(err, "name", "data")
	if err == nil {
		return
	}
	why := nonEmptyText(json.Find(f[1], "message"))
	if o.started = true; hasText(f[0], "MessageAbortedError") {
		o.step.cut, o.step.by, o.step.why = true, capture.Client, why
		return
	}
	if why == nil {
		why = f[0]
	}
	o.step.failed, o.step.failure = f[0], why
}

// flush tells the step that is open, if there is any.
func (o *opencodeTalk) flush(recs []capture.Record) []capture.Record {
	if len(o.step.parts) > 0 || o.started && (o.step.usage != nil || o.step.failure != nil || o.step.cut) {
		recs = o.answer(recs, &o.step, o.asked, o.answered)
		o.hear(theUser, o.gave, time.Time{})
	}
	o.step, o.gave, o.started, o.asked = modelResponse{}, nil, false, time.Time{}
	if o.message == nil {
		o.answered = time.Time{}
	}
	return recs
}

func (o *opencodeTalk) close(recs []capture.Record) []capture.Record {
	o.step.cut = true // nothing told that it ended
	return o.talk.close(o.flush(recs))
}

func opencodeFinish(word []byte) []byte {
	switch {
	case hasText(word, "stop"):
		return []byte(`"end_turn"`)
	case hasText(word, "tool-calls"):
		return []byte(`"tool_use"`)
	case hasText(word, "length"):
		return []byte(`"max_tokens"`)
	case hasText(word, "content-filter"):
		return []byte(`"refusal"`)
	}
	return nil
}

// opencodeUsage is opencode's counts by Anthropic's names: input is what was not cached. Where the
// total tells that reasoning is not in the output, it is added.
func opencodeUsage(tokens []byte) []byte {
	f := json.Pick(tokens, "input", "output", "reasoning", "cache", "total")
	if f[0] == nil && f[1] == nil {
		return nil
	}
	cache := json.Pick(f[3], "read", "write")
	output := f[1]
	n := func(v []byte) int { i, _ := strconv.Atoi(string(v)); return i }
	if sum := n(f[0]) + n(f[1]) + n(cache[0]) + n(cache[1]) + n(f[2]); n(f[2]) > 0 && n(f[4]) == sum {
		output = intBytes(n(f[1]) + n(f[2]))
	}
	thinking := member{}
	if n(f[2]) > 0 {
		thinking = member{"output_tokens_details", objectOf(member{"thinking_tokens", f[2]})}
	}
	return objectOf(member{"input_tokens", f[0]}, member{"output_tokens", output},
		member{"cache_read_input_tokens", cache[0]}, member{"cache_creation_input_tokens", cache[1]}, thinking)
}
