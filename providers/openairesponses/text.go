package openairesponses

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// textSection is a list of parts that an item's text is in.
type textSection uint8

const (
	contentText   textSection = iota // the content of a message
	reasoningText                    // the content of reasoning
	summaryText                      // and its summary
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

// appendTextOnce takes what repeats a part, if nothing of it came.
func (it *item) appendTextOnce(p part, text protocol.Raw) {
	if !it.textSeen[p] {
		it.appendText(p, text)
	}
}

// appendMissingText takes what an item holds and no event before brought.
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

// signReasoning takes the encrypted reasoning of an item that is done: it stands for the item's text, if
// that came last, or for reasoning of which nothing was shown. Its copies differ from event to
// event: that of output_item.done counts.
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
