package openaichat

import (
	"bytes"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// readContent reads the text and reasoning of a choice.
func (d *decoder) readContent(says *choiceContent) {
	appendText(d.turn, says.content)
	appendText(d.turn, says.refusal)
	d.readReasoning(says)
	d.turn.SignLast(thoughtSignature(says.extra), "", stream.SignedShown)
}

// appendText appends a string, or a list of parts.
func appendText(t *protocol.Turn, v protocol.Raw) {
	t.AppendText(v)
	for part := range v.Elements() {
		appendText(t, part.Get("text"))
		appendReasoning(t, part.Get("thinking"))
	}
}

// appendReasoning appends reasoning: a string, or a list of parts.
func appendReasoning(t *protocol.Turn, v protocol.Raw) {
	t.AppendReasoning(0, v)
	for part := range v.Elements() {
		appendReasoning(t, part.Get("text"))
		appendReasoning(t, part.Get("thinking"))
	}
}

// readReasoning reads reasoning from one of the fields in which providers send it.
func (d *decoder) readReasoning(says *choiceContent) {
	told := 0
	inPieces := false // the list repeats the field, and each element has its own signature
	for _, field := range [...]protocol.Raw{says.reasoningContent, says.reasoning, says.reasoningText} {
		if !field.IsPresent() || field.Empty() {
			continue
		}
		if told++; told == 1 {
			if inPieces = repeatsField(says.reasoningDetails, field); !inPieces {
				appendReasoning(d.turn, field)
			}
		}
	}
	if told > 1 {
		d.turn.Once(reasoningTwice, "the reasoning is in two fields: one of them is shown")
	}
	for item := range says.reasoningDetails.Elements() {
		if told == 0 || inPieces {
			appendReasoning(d.turn, item.Get("text"))
			appendReasoning(d.turn, item.Get("summary"))
		}
		if item.Get("data").IsPresent() || item.Get("signature").IsPresent() {
			d.turn.Once(reasoningDetails, "the response has encrypted or signed reasoning: it must be sent back unchanged")
		}
		d.signDetail(item)
	}
}

// repeatsField reports whether reasoning_details has several elements whose texts together equal field.
func repeatsField(details, field protocol.Raw) bool {
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

// signDetail reports the signature or the encrypted data of an element of reasoning_details. A
// signature may come in a delta without text, and belong to reasoning that is not shown.
func (d *decoder) signDetail(item protocol.Raw) {
	id := item.Get("id").Text()
	if data := item.Get("data"); data.HasText() {
		d.turn.SignLast(data, id, stream.SignedHidden)
	} else if signature := item.Get("signature"); signature.HasText() {
		d.turn.BeginThinking(0)
		d.turn.SignLast(signature, id, stream.SignedShown)
	}
}
