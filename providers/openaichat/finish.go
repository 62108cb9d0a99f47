package openaichat

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// finishReason describes a finish reason.
type finishReason struct {
	code stream.Code
	// rejected reports whether the provider discarded a call.
	rejected bool
}

// finishReasons contains the known finish reasons, with their sources. A content filter cuts off a response in the
// same way as a limit.
var finishReasons = map[string]finishReason{
	"stop":          {code: stream.FinishDone}, // this reason and the next two: OpenAI's API description
	"tool_calls":    {code: stream.FinishDone},
	"function_call": {code: stream.FinishDone},

	"length":                        {code: stream.FinishCut}, // OpenAI's API description
	"content_filter":                {code: stream.FinishCut}, // OpenAI's API description
	"model_length":                  {code: stream.FinishCut}, // Mistral's API description
	"max_tokens":                    {code: stream.FinishCut}, // gateways in front of Anthropic and Gemini
	"model_context_window_exceeded": {code: stream.FinishCut}, // Anthropic's word, from gateways; also GLM's word
	"sensitive":                     {code: stream.FinishCut}, // GLM's content filter

	"error":                        {code: stream.FinishFailed}, // OpenRouter, Mistral
	"network_error":                {code: stream.FinishFailed}, // GLM
	"insufficient_system_resource": {code: stream.FinishFailed}, // DeepSeek
	"abort":                        {code: stream.FinishFailed}, // vLLM and SGLang, if the request was aborted

	"malformed_function_call": {code: stream.FinishRefused, rejected: true}, // Gemini, through gateways
	"function_call_filter":    {code: stream.FinishRefused, rejected: true}, // Gemini's compatible endpoint
}

// readFinish looks up a finish reason. If it is unknown, readFinish looks up the part before a colon, because
// Gemini's compatible endpoint puts its own reason after a colon. If that is unknown too, the code is
// stream.FinishOther, and the result known is false.
func readFinish(word string) (r finishReason, known bool) {
	if r, known = finishReasons[word]; known {
		return r, true
	}
	before, _, _ := strings.Cut(word, ":")
	if r, known = finishReasons[before]; !known {
		r.code = stream.FinishOther
	}
	return r, known
}

// cutWords contains the upstream finish reasons that mean that a limit was reached, whatever finish_reason the
// gateway sends.
var cutWords = map[string]bool{
	"length": true, "max_tokens": true, "max_output_tokens": true, "model_length": true, "MAX_TOKENS": true,
}

// toolFinish contains the finish reasons for a response that has calls.
var toolFinish = map[string]bool{"tool_calls": true, "function_call": true}

// reportFinish reports a finish reason. The protocol has no other sign that a call is final, so reportFinish makes
// the calls of the choice final. There are two exceptions: the reason is an error, or it is a normal end and
// arguments arrived after an earlier finish reason.
func (d *decoder) reportFinish(st *choiceState, c *choice) {
	word := c.finish.Text()
	reason, known := readFinish(word)
	code := reason.code
	usual := code == stream.FinishDone || !known
	if native := c.native.Text(); usual && cutWords[native] {
		code = stream.FinishCut
		d.turn.Once(finishRewritten,
			"the finish reason is %q, but the upstream's is %q: the gateway rewrote the reason, and the response is cut off", stream.Fact(word), stream.Fact(native))
	}
	if !st.finished {
		d.running--
	}
	st.finished, st.finish = true, word
	if code != stream.FinishFailed && !(st.early && usual) {
		st.sealCalls(code == stream.FinishCut)
	}
	d.turn.FinishChoice(st.index, word, "", code)
	switch {
	case !known:
		d.turn.Once(protocol.FinishUnknown, "finish reason %q is not documented", stream.Fact(word))
	case word == "stop" && len(st.calls) > len(st.answered):
		d.turn.Once(protocol.FinishStop, "the finish reason is stop, but the response has calls: clients that wait for tool_calls never run the calls")
	case reason.rejected:
		d.turn.Once(protocol.GenerationRejected, "the finish reason is %s: the provider discarded a call that the model wrote", stream.Fact(word))
	case code == stream.FinishFailed:
		d.turn.Once(protocol.FinishError, "the finish reason is an error: %s", stream.Fact(word))
	}
}

// sealCalls makes the open calls of the choice final and checks them.
func (st *choiceState) sealCalls(cut bool) {
	for _, k := range st.open {
		if !cut && k.IsNull() {
			k.reportNull()
		}
		k.Seal()
		k.checkCall(cut)
	}
	st.open = nil
}

// noteEmptyList counts a delta if it contains only an empty list of calls.
func (st *choiceState) noteEmptyList(says *choiceContent) {
	if s := says.callList.Scan(); s.Kind() != '[' || s.Array() || st.isBody {
		return
	}
	for _, v := range [...]json.Value{says.content, says.reasoning, says.reasoningContent, says.reasoningText, says.reasoningDetails, says.role} {
		if v.IsPresent() && !v.Empty() {
			return
		}
	}
	st.emptyLists++
}

// minEmptyLists is the minimum number of deltas with only an empty list of calls that show that a call was lost. LM
// Studio sends such a list in the first and the last delta of text.
const minEmptyLists = 4

// checkChoices compares the finish reasons with the calls.
func (d *decoder) checkChoices() {
	split := d.reportSplit()
	for _, st := range d.choices {
		if st.early {
			st.sealCalls(false)
		}
		switch {
		case len(st.calls) == 0 && st.emptyLists >= minEmptyLists:
			d.turn.Once(callsEmpty, "%s had only an empty list of calls, and no call followed: the server's parser removed the call",
				stream.Own(count.Of(st.emptyLists, "delta")))
		case split:
		case len(st.calls) == 0 && toolFinish[st.finish]:
			d.turn.Once(protocol.FinishWithoutCall,
				"the finish reason is %s, but the response has no call: the call was lost before it arrived", stream.Fact(st.finish))
		case len(st.calls) > 0 && !st.finished:
			d.turn.Once(protocol.FinishMissing, "the response has no finish reason: nothing confirms that its calls are complete")
			for _, k := range st.calls {
				k.checkCall(false)
			}
		}
	}
}

// reportSplit reports a response whose calls are not in the choice with the finish reason for calls. It also reports
// a response with calls in which a choice without calls never finishes.
func (d *decoder) reportSplit() bool {
	var without, with *choiceState
	for _, st := range d.choices {
		switch {
		case len(st.calls) > 0 && with == nil:
			with = st
		case len(st.calls) == 0 && without == nil && (toolFinish[st.finish] || !st.finished):
			without = st
		}
	}
	if without == nil || with == nil {
		return false
	}
	d.turn.Once(choicesSplit, "the call is in choice %d, but choice %d, which has no call, is part of the same response: clients that read only one choice miss the call",
		with.index, without.index)
	return true
}
