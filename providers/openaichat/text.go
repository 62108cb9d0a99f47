package openaichat

import (
	"bytes"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// answer takes the text and reasoning of a choice.
func (d *decoder) answer(says *said) {
	text(d.turn, says.content)
	text(d.turn, says.refusal)
	d.reasoning(says)
	d.turn.Signed(thoughtSignature(says.extra), "", stream.SignedShown)
}

// text takes a string, or a list of parts.
func text(t *dialect.Turn, v dialect.Raw) {
	t.Text(v)
	for part := range v.Elements() {
		text(t, part.Get("text"))
		think(t, part.Get("thinking"))
	}
}

// think takes reasoning: a string, or a list of parts.
func think(t *dialect.Turn, v dialect.Raw) {
	t.Think(0, v)
	for part := range v.Elements() {
		think(t, part.Get("text"))
		think(t, part.Get("thinking"))
	}
}

// reasoning shows one of the fields hosts put reasoning in.
func (d *decoder) reasoning(says *said) {
	told := 0
	inPieces := false // the list says the same as the field, and each piece is signed by itself
	for _, field := range [...]dialect.Raw{says.reasoningContent, says.reasoning, says.reasoningText} {
		if !field.Given() || field.Empty() {
			continue
		}
		if told++; told == 1 {
			if inPieces = repeats(says.reasoningDetails, field); !inPieces {
				think(d.turn, field)
			}
		}
	}
	if told > 1 {
		d.turn.Once(reasoningTwice, "reasoning comes in two fields at once: one is shown")
	}
	for item := range says.reasoningDetails.Elements() {
		if told == 0 || inPieces {
			think(d.turn, item.Get("text"))
			think(d.turn, item.Get("summary"))
		}
		if item.Get("data").Given() || item.Get("signature").Given() {
			d.turn.Once(reasoningDetails, "encrypted or signed reasoning came: it must be sent back unmodified")
		}
		d.signDetail(item)
	}
}

// repeats reports whether the pieces of reasoning_details are several and together say what field
// does.
func repeats(details, field dialect.Raw) bool {
	pieces := 0
	for range details.Elements() {
		pieces++
	}
	if pieces < 2 {
		return false
	}
	var said []byte
	for item := range details.Elements() {
		said = append(said, readDetail(item).Text...)
	}
	return bytes.Equal(said, field.Append(nil))
}

// signDetail takes the signature of a piece of reasoning_details, or what is encrypted in it. A
// signature may come in a delta without text, and be of reasoning that is not shown.
func (d *decoder) signDetail(item dialect.Raw) {
	id := item.Get("id").Text()
	if data := item.Get("data"); data.HasText() {
		d.turn.Signed(data, id, stream.SignedHidden)
	} else if signature := item.Get("signature"); signature.HasText() {
		d.turn.BeginThinking(0)
		d.turn.Signed(signature, id, stream.SignedShown)
	}
}
