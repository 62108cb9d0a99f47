package openaichat

import (
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
		if kind == stream.TextDelta {
			d.leak.Look(d.buf, d.Number, emit)
		}
		emit(stream.Event{Kind: kind, Turn: d.Number, Text: d.text.Hold(d.buf)})
	case '[':
		parts := value.Scan()
		for ok := parts.Array(); ok; ok = parts.Element() {
			part := parts.Value()
			d.content(kind, part.Get("text"), emit)
			d.content(stream.ThinkDelta, part.Get("thinking"), emit)
		}
	}
}
