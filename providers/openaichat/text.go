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
	if signature := ch.signature.Text(); signature != "" {
		d.sign(stream.Event{Text: signature}, emit)
	}
}

// reasoning shows one of the fields hosts put reasoning in.
func (d *decoder) reasoning(ch *choice, emit func(stream.Event)) {
	told := 0
	inPieces := false // the list says the same as the field, and each piece is signed by itself
	for _, field := range [...]dialect.Raw{ch.reasoningContent, ch.reasoning, ch.reasoningText} {
		if !field.Given() || field.Empty() {
			continue
		}
		if told++; told == 1 {
			if inPieces = repeats(ch.reasoningDetails, field); !inPieces {
				d.content(stream.ThinkDelta, field, emit)
			}
		}
	}
	if told > 1 {
		d.once(emit, reasoningTwice, "reasoning comes in two fields at once: one is shown")
	}
	if ch.reasoningDetails.Kind() != '[' {
		return
	}
	details := ch.reasoningDetails.Scan()
	for ok := details.Array(); ok; ok = details.Element() {
		item := details.Value()
		if told == 0 || inPieces {
			d.content(stream.ThinkDelta, item.Get("text"), emit)
			d.content(stream.ThinkDelta, item.Get("summary"), emit)
		}
		if item.Get("data").Given() || item.Get("signature").Given() {
			d.once(emit, reasoningDetails, "encrypted or signed reasoning came: it must be sent back unmodified")
		}
		d.signDetail(item, emit)
	}
}

// repeats reports whether the pieces of reasoning_details are several and
// together say what field does.
func repeats(details, field dialect.Raw) bool {
	pieces := 0
	s := details.Scan()
	for ok := s.Array(); ok; ok = s.Element() {
		pieces++
	}
	if pieces < 2 {
		return false
	}
	var said []byte
	s = details.Scan()
	for ok := s.Array(); ok; ok = s.Element() {
		p := readDetail(s.Value())
		said = append(said, p.Text...)
	}
	return bytes.Equal(said, field.Append(nil))
}

// signDetail takes the signature of a piece of reasoning_details, or what is
// encrypted in it. A signature may come in a delta without text, and be of
// reasoning that is not shown.
func (d *decoder) signDetail(item dialect.Raw, emit func(stream.Event)) {
	e := stream.Event{Text: item.Get("signature").Text()}
	if data := item.Get("data").Text(); data != "" {
		e.Text, e.Code = data, stream.SignedHidden
	}
	if e.Text == "" {
		return
	}
	if e.Code == stream.SignedShown && !d.thinking {
		emit(stream.Event{Kind: stream.ThinkDelta, Turn: d.Number})
	}
	if id := item.Get("id").Text(); id != "" {
		e.More = &stream.Detail{ID: id}
	}
	d.sign(e, emit)
}

func (d *decoder) sign(e stream.Event, emit func(stream.Event)) {
	e.Kind, e.Turn = stream.Signed, d.Number
	emit(e)
	d.thinking = false
}

// content emits a string, or the text parts of a list of parts.
func (d *decoder) content(kind stream.EventKind, value dialect.Raw, emit func(stream.Event)) {
	switch value.Kind() {
	case '"':
		if d.buf = value.Append(d.buf[:0]); len(d.buf) == 0 {
			return
		}
		if d.thinking = kind == stream.ThinkDelta; !d.thinking {
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
