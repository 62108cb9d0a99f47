package openairesponses

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// textSection is a list of parts that contains text of an item.
type textSection uint8

const (
	contentText   textSection = iota // the content of a message
	reasoningText                    // the content of reasoning
	summaryText                      // the summary of reasoning
)

// part is a part of an item's text.
type part struct {
	in textSection
	n  int64
}

func (d *decoder) readTextDelta(it *item) {
	it.appendText(part{contentText, d.partNumber()}, d.ev.delta)
}
func (d *decoder) readReasoningDelta(it *item) {
	it.appendText(part{reasoningText, d.partNumber()}, d.ev.delta)
}
func (d *decoder) readSummaryDelta(it *item) {
	it.appendText(part{summaryText, d.partNumber()}, d.ev.delta)
}
func (d *decoder) readTextDone(it *item) {
	it.appendTextOnce(part{contentText, d.partNumber()}, d.ev.text)
}
func (d *decoder) readReasoningDone(it *item) {
	it.appendTextOnce(part{reasoningText, d.partNumber()}, d.ev.text)
}
func (d *decoder) readSummaryDone(it *item) {
	it.appendTextOnce(part{summaryText, d.partNumber()}, d.ev.text)
}

// appendText appends to a part.
func (it *item) appendText(p part, text protocol.Raw) {
	if it.textSeen == nil {
		it.textSeen = map[part]bool{}
	}
	it.textSeen[p] = true
	if !text.HasText() {
		return
	}
	it.turn.last = it
	if p.in == contentText {
		it.turn.AppendText(text)
	} else {
		it.turn.AppendReasoning(it.slot, text)
	}
}

// appendTextOnce reads the text that repeats a part, if nothing of the part came.
func (it *item) appendTextOnce(p part, text protocol.Raw) {
	if !it.textSeen[p] {
		it.appendText(p, text)
	}
}

// appendMissingText reads the text of an item that no earlier event had.
func (it *item) appendMissingText(w *wireItem) {
	switch it.kind {
	case "message":
		it.appendMissingSection(contentText, w.content)
	case "reasoning":
		it.appendMissingSection(reasoningText, w.content)
		it.appendMissingSection(summaryText, w.summary)
	}
}

func (it *item) appendMissingSection(in textSection, parts protocol.Raw) {
	s := parts.Scan()
	for n, ok := int64(0), s.Array(); ok; n, ok = n+1, s.Element() {
		value := s.Value()
		text := value.Get("text")
		if !text.IsString() {
			text = value.Get("refusal")
		}
		it.appendTextOnce(part{in, n}, text)
	}
}

// signReasoning reports the encrypted reasoning of a final item. It belongs to the item's text if that
// text was last, or to reasoning that is not shown. The copies of it differ from event to event: the
// one in output_item.done counts.
func (it *item) signReasoning(w *wireItem) {
	if it.kind != "reasoning" || it.signed || !w.encrypted.HasText() {
		return
	}
	it.signed = true
	code := stream.SignedShown
	if it.turn.last != it {
		code = stream.SignedHidden
	}
	it.turn.SignLast(w.encrypted, it.idOf(w), code)
}
