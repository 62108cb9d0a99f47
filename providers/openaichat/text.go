package openaichat

import (
	"bytes"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// answer takes the text and reasoning of a delta.
func (d *decoder) answer(ch *choice, emit func(stream.Event)) {
	d.content(stream.TextDelta, ch.content, emit)
	d.content(stream.TextDelta, ch.refusal, emit)
	d.reasoning(ch, emit)
}

// reasoning shows one of the fields hosts put reasoning in.
func (d *decoder) reasoning(ch *choice, emit func(stream.Event)) {
	told := 0
	for _, field := range [...]dialect.Raw{ch.reasoningContent, ch.reasoning, ch.reasoningText} {
		if !field.Given() || field.Empty() {
			continue
		}
		if told++; told == 1 {
			d.content(stream.ThinkDelta, field, emit)
		}
	}
	if told > 1 {
		d.once("REASONING_FIELDS", stream.Info, "reasoning comes in two fields at once: one is shown", emit)
	}
	if ch.reasoningDetails.Kind() != '[' {
		return
	}
	details := ch.reasoningDetails.Scan()
	for ok := details.Array(); ok; ok = details.Element() {
		item := details.Value()
		if told == 0 {
			d.content(stream.ThinkDelta, item.Get("text"), emit)
			d.content(stream.ThinkDelta, item.Get("summary"), emit)
		}
		if item.Get("data").Given() || item.Get("signature").Given() {
			d.once("REASONING_DETAILS", stream.Info, "encrypted or signed reasoning came: it must be sent back unmodified", emit)
		}
	}
}

// content emits a string, or the text parts of a list of parts.
func (d *decoder) content(kind stream.EventKind, value dialect.Raw, emit func(stream.Event)) {
	switch value.Kind() {
	case '"':
		if d.buf = value.Append(d.buf[:0]); len(d.buf) == 0 {
			return
		}
		if kind == stream.TextDelta && d.leak.sees(d.buf) {
			d.once("TEXT_TOOLCALL", stream.Warn, "a tool call leaked into the text: the host's parser missed it", emit)
		}
		emit(stream.Event{Kind: kind, Turn: d.number, Text: d.text.Hold(d.buf)})
	case '[':
		parts := value.Scan()
		for ok := parts.Array(); ok; ok = parts.Element() {
			part := parts.Value()
			d.content(kind, part.Get("text"), emit)
			d.content(stream.ThinkDelta, part.Get("thinking"), emit)
		}
	}
}

// leakDetector finds the markers models use for calls in their own text, also
// when they are split over deltas.
type leakDetector struct {
	window []byte // the last bytes seen
}

var leakMarkers = [][]byte{
	[]byte("<tool_call>"), []byte("[TOOL_CALLS]"), []byte("<|tool_call"), []byte("<function="),
	[]byte("<|channel|>commentary to=functions."),
}

const longestMarker = 40

func (l *leakDetector) sees(text []byte) bool {
	l.window = append(l.window, text...)
	found := false
	for _, m := range leakMarkers {
		found = found || bytes.Contains(l.window, m)
	}
	if n := len(l.window); n > longestMarker {
		l.window = append(l.window[:0], l.window[n-longestMarker:]...)
	}
	return found
}

// usage takes token counts from wherever hosts put them. The last value wins;
// summing would count hosts that repeat totals several times.
func (d *decoder) usage(c *chunk, emit func(stream.Event)) {
	told := c.usage
	if !told.Given() {
		told = c.groqUsage
	}
	for i := range c.choices {
		if u := c.choices[i].usage; u.Given() && !told.Given() {
			told = u
			d.once("USAGE_IN_CHOICE", stream.Info, "usage is inside a choice instead of the chunk", emit)
		}
	}
	if told.Kind() != '{' {
		return
	}
	if d.usages++; d.usages == 3 {
		d.once("USAGE_CUMULATIVE", stream.Info, "usage is repeated on many chunks: the last one counts, summing over-counts", emit)
	}
	emit(stream.Event{Kind: stream.UsageEvent, Turn: d.number, More: &stream.Detail{Usage: readUsage(told)}})
}

// readUsage brings the wire's counts to normal form. Cached tokens are inside
// prompt_tokens. Reasoning is inside completion_tokens for most hosts and
// outside for some (xAI); the total tells which.
func readUsage(u dialect.Raw) stream.Usage {
	prompt, completion, total := u.Get("prompt_tokens").Count(), u.Get("completion_tokens").Count(), u.Get("total_tokens").Count()
	in, out := u.Get("prompt_tokens_details"), u.Get("completion_tokens_details")
	n := stream.Usage{
		Input:      prompt,
		CacheRead:  first(in.Get("cached_tokens"), u.Get("prompt_cache_hit_tokens"), u.Get("cached_tokens")),
		CacheWrite: first(in.Get("cache_write_tokens"), u.Get("cache_creation_input_tokens")),
		Output:     completion,
		Reasoning:  first(out.Get("reasoning_tokens"), u.Get("reasoning_tokens")),
	}
	outside := n.Reasoning.N > 0 && total.Told && prompt.N+completion.N+n.Reasoning.N == total.N
	if outside {
		n.Output.N += n.Reasoning.N
	}
	n.CostUSD, n.CostTold = u.Get("cost").Float()
	return n
}

func first(fields ...dialect.Raw) stream.Count {
	for _, f := range fields {
		if n := f.Count(); n.Told {
			return n
		}
	}
	return stream.Count{}
}
