package gemini

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// reportFinish reports a candidate's finishReason, unless it is missing or unspecified.
func (d *decoder) reportFinish(ch *candidateState, k *candidate) {
	reason := enumWord(k.finish)
	if reason == "" || reason == "0" || reason == "FINISH_REASON_UNSPECIFIED" {
		return
	}
	code, known := finishCodes[reason]
	ch.flush()
	switch {
	case code == stream.FinishRefused && !ch.finished:
		d.reportRefusal(ch, reason, k.message)
	case ch.active != nil && code == stream.FinishDone:
		code = stream.FinishCut
		ch.active.Find(stream.FinishContradicts,
			"the finish reason is %s, but more of this call was announced: the call is cut off", stream.Fact(reason))
	}
	d.turn.FinishChoice(ch.index, reason, "", code)
	switch {
	case !known:
		d.turn.Once(protocol.FinishUnknown, "finish reason %q is not documented", stream.Fact(reason))
	case code == stream.FinishCut && finishCodes[reason] == code && reason != "MAX_TOKENS" && reason != "2":
		d.turn.Once(stream.ProviderError, "a filter stopped the response: %s%s", stream.Fact(reason), afterColon(k.message))
	case code == stream.FinishDone && ch.first != nil && !d.signed && strings.Contains(d.turn.Model, "gemini-3"):
		ch.first.Find(signatureMissing,
			"the first call has no thoughtSignature: Gemini 3 refuses a history without it")
	}
	if !ch.finished {
		d.running--
	}
	ch.active, ch.finished = nil, true
}

// reportRefusal reports why a response was discarded, and shows the call that was discarded with it.
func (d *decoder) reportRefusal(ch *candidateState, reason string, message protocol.Raw) {
	attempt := reason == malformedCall || reason == "10" || reason == unexpectedCall && message.HasText()
	if !attempt || ch.active != nil || reason == unexpectedCall && ch.first != nil {
		d.turn.Once(stream.ProviderError, "refused: %s%s", stream.Fact(reason), afterColon(message))
		return
	}
	c := d.openNextCall(stream.CallInfo{
		Name: attemptName(message.Text()), Kind: "function", Choice: ch.index, Freeform: true, Discarded: true,
	})
	if message.HasText() {
		c.Args(message)
	}
	d.turn.Once(protocol.GenerationRejected,
		"%s: the provider discarded a call that the model wrote; the call shown is the provider's account of it", stream.Fact(reason))
}

// attemptName returns the name of the call in a finishMessage, which quotes the model:
// print(default_api.NAME(…)), or call:default_api:NAME{…}; "" if there is none.
func attemptName(message string) string {
	for i, c := range message {
		if c != '(' && c != '{' {
			continue
		}
		start := i
		for start > 0 && isNameByte(message[start-1]) {
			start--
		}
		name := message[start:i]
		_, api, isAPI := strings.Cut(name, "default_api")
		if isAPI {
			name = strings.TrimLeft(api, ".:")
		}
		if name = strings.TrimPrefix(name, "call:"); name != "" && !notNames[name] && (c == '(' || isAPI) {
			return name
		}
	}
	return ""
}

// notNames are words before a bracket that are not the name of a call.
var notNames = map[string]bool{"print": true, "call": true, "calls": true}

// isNameByte reports whether the name of a function can contain c.
func isNameByte(c byte) bool {
	return c == '_' || c == '.' || c == ':' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// reportPromptFeedback reports that the prompt was refused. Then there are no candidates.
func (d *decoder) reportPromptFeedback(feedback protocol.Raw) {
	if feedback.Kind() != '{' {
		return
	}
	reason, message := feedback.Get("blockReason"), feedback.Get("blockReasonMessage")
	if !reason.IsPresent() {
		reason, message = feedback.Get("block_reason"), feedback.Get("block_reason_message")
	}
	why := enumWord(reason)
	if why == "" || why == "0" || why == "BLOCK_REASON_UNSPECIFIED" || d.promptRefused {
		return
	}
	d.promptRefused = true
	d.turn.Finish(why, stream.FinishRefused)
	d.turn.Find(stream.ProviderError, "the prompt was refused: %s%s", stream.Fact(why), afterColon(message))
}

// reportError reports an error: a complete body, an element of the array, or a frame of the stream,
// whose HTTP status was already 200.
func (d *decoder) reportError(err protocol.Raw) {
	d.failed = true
	d.flush()
	d.turn.Fail(protocol.GoogleErrorOf(err))
}

// enumWord returns the value of an enum, by name or by number.
func enumWord(r protocol.Raw) string {
	if _, isNumber := r.Int(); isNumber {
		return string(r)
	}
	return r.Text()
}

// afterColon returns a colon and the text, or nothing if the text is empty.
func afterColon(text protocol.Raw) stream.Message {
	if !text.HasText() {
		return stream.Message{}
	}
	return stream.Messagef(": %s", text.Text())
}

// tokenCounts are the wire's own counts. A count that is missing in a chunk keeps its last value.
type tokenCounts struct{ prompt, tool, cached, candidates, thoughts stream.Count }

// reportUsage reports the usage if it has changed.
func (d *decoder) reportUsage(u *usage) {
	t := &d.tokens
	told := false
	for _, c := range [...]struct {
		count *stream.Count
		now   protocol.Raw
	}{{&t.prompt, u.prompt}, {&t.tool, u.tool}, {&t.cached, u.cached}, {&t.candidates, u.candidates}, {&t.thoughts, u.thoughts}} {
		if n := c.now.Count(); n.Reported {
			*c.count, told = n, true
		}
	}
	if !told {
		return
	}
	usage := stream.Usage{
		Input:     stream.Count{N: t.prompt.N + t.tool.N, Reported: t.prompt.Reported || t.tool.Reported},
		CacheRead: t.cached,
		Output:    stream.Count{N: t.candidates.N + t.thoughts.N, Reported: t.candidates.Reported || t.thoughts.Reported},
		Reasoning: t.thoughts,
		Tier:      d.usage.Tier,
	}
	if v := u.tier.Text(); v != "" {
		usage.Tier = v
	}
	if v := tiers[string(u.traffic.Word())]; v != "" {
		usage.Tier = v
	}
	if usage != d.usage {
		d.usage = usage
		d.turn.Usage(usage)
	}
}
