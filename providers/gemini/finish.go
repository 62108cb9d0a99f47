package gemini

import (
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// finish takes a candidate's finishReason, unless it is absent or says nothing.
func (d *decoder) finish(ch *choice, k *candidate, emit func(stream.Event)) {
	reason := word(k.finish)
	if reason == "" || reason == "0" || reason == "FINISH_REASON_UNSPECIFIED" {
		return
	}
	code, known := finishCodes[reason]
	message := k.message.Text()
	d.flush(ch, emit)
	switch {
	case code == stream.FinishRefused && !ch.finished:
		d.refused(ch, reason, message, emit)
	case ch.active != nil && code == stream.FinishDone:
		code = stream.FinishCut
		d.about(emit, ch.active.slot, stream.FinishContradicts,
			"the finish reason is %s, but more of this call was announced: it is cut", reason)
	}
	emit(stream.Event{Kind: stream.Finish, Turn: d.Number, Slot: ch.index, Text: reason, Code: code})
	switch {
	case !known:
		d.once(emit, dialect.FinishUnknown, "finish reason %q is not documented", reason)
	case code == stream.FinishCut && finishCodes[reason] == code && reason != "MAX_TOKENS" && reason != "2":
		d.once(emit, stream.ProviderError, "a filter stopped the response: %s%s", reason, quoted(message))
	case code == stream.FinishDone && ch.calls > 0 && !d.signed && strings.Contains(d.model, "gemini-3"):
		d.about(emit, ch.first, signatureMissing,
			"the first call has no thoughtSignature: Gemini 3 refuses history without it")
	}
	if !ch.finished {
		d.running--
	}
	ch.active, ch.finished = nil, true
}

// refused says why a response was thrown away, and shows the call that was
// thrown away with it.
func (d *decoder) refused(ch *choice, reason, message string, emit func(stream.Event)) {
	attempt := reason == malformedCall || reason == "10" || reason == unexpectedCall && message != ""
	if !attempt || ch.active != nil || reason == unexpectedCall && ch.calls > 0 {
		d.once(emit, stream.ProviderError, "refused: %s%s", reason, quoted(message))
		return
	}
	slot := d.slots
	d.slots++
	emit(stream.Event{Kind: stream.CallOpen, Turn: d.Number, Slot: slot, More: &stream.Detail{
		Name: attemptName(message), CallKind: "function", Choice: ch.index, Freeform: true, Attempt: true,
	}})
	if message != "" {
		emit(stream.Event{Kind: stream.Args, Turn: d.Number, Slot: slot, Text: message})
	}
	d.once(emit, dialect.GenerationRejected,
		"%s: the provider threw away a call that the model wrote, and gives this account of it in its place", reason)
}

// attemptName is the name of the call in a finishMessage, which quotes what the
// model wrote: print(default_api.NAME(…)), or call:default_api:NAME{…}; "" if
// none can be found.
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

// notNames are words before a bracket that are not what is called.
var notNames = map[string]bool{"print": true, "call": true, "calls": true}

// isNameByte reports whether c may be in the name of a function.
func isNameByte(c byte) bool {
	return c == '_' || c == '.' || c == ':' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// promptFeedback takes what says that the prompt was refused: then there are no
// candidates.
func (d *decoder) promptFeedback(feedback dialect.Raw, emit func(stream.Event)) {
	if feedback.Kind() != '{' {
		return
	}
	reason, message := feedback.Get("blockReason"), feedback.Get("blockReasonMessage")
	if !reason.Given() {
		reason, message = feedback.Get("block_reason"), feedback.Get("block_reason_message")
	}
	why := word(reason)
	if why == "" || why == "0" || why == "BLOCK_REASON_UNSPECIFIED" || d.barred {
		return
	}
	d.barred = true
	emit(stream.Event{Kind: stream.Finish, Turn: d.Number, Slot: stream.AllChoices, Text: why, Code: stream.FinishRefused})
	d.Diagnose(emit, stream.ProviderError, "the prompt was refused: %s%s", why, quoted(message.Text()))
}

// fail takes an error: as a whole body, as an element of the array, or as a
// frame of the stream, whose HTTP status was 200 by then.
func (d *decoder) fail(err dialect.Raw, emit func(stream.Event)) {
	d.failed = true
	for _, ch := range d.choices {
		d.flush(ch, emit)
	}
	message := err.Get("message").Text()
	switch {
	case err.IsString():
		message = err.Text()
	case message == "":
		message = string(err)
	}
	id := err.Get("status").Text()
	if code := err.Get("code"); id == "" && code.Given() {
		id = string(code.Append(nil))
	}
	emit(stream.Event{Kind: stream.Failure, Turn: d.Number, Text: message, More: &stream.Detail{ID: id}})
}

// tokenCounts are the wire's own counts. Cached tokens are part of the prompt;
// all others exclude each other.
type tokenCounts struct{ prompt, tool, cached, candidates, thoughts stream.Count }

// tell takes usage. Chunks in mid-stream may have no counts in it; a count that
// is absent keeps its last value.
func (d *decoder) tell(u dialect.Raw, emit func(stream.Event)) {
	t := &d.tokens
	tier, told := d.usage.Tier, false
	s := u.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		var c *stream.Count
		switch string(s.Key()) {
		case "promptTokenCount", "prompt_token_count":
			c = &t.prompt
		case "toolUsePromptTokenCount", "tool_use_prompt_token_count":
			c = &t.tool
		case "cachedContentTokenCount", "cached_content_token_count":
			c = &t.cached
		case "candidatesTokenCount", "candidates_token_count":
			c = &t.candidates
		case "thoughtsTokenCount", "thoughts_token_count":
			c = &t.thoughts
		case "serviceTier", "service_tier":
			if v := s.Value().Text(); v != "" {
				tier = v
			}
		case "trafficType", "traffic_type":
			if v := tiers[s.Value().Text()]; v != "" {
				tier = v
			}
		}
		if c == nil {
			continue
		}
		if n := s.Value().Count(); n.Told {
			*c, told = n, true
		}
	}
	usage := stream.Usage{
		Input:     stream.Count{N: t.prompt.N + t.tool.N, Told: t.prompt.Told || t.tool.Told},
		CacheRead: t.cached,
		Output:    stream.Count{N: t.candidates.N + t.thoughts.N, Told: t.candidates.Told || t.thoughts.Told},
		Reasoning: t.thoughts,
		Tier:      tier,
	}
	if told && usage != d.usage {
		d.usage = usage
		emit(stream.Event{Kind: stream.UsageEvent, Turn: d.Number, More: &stream.Detail{Usage: usage}})
	}
}
