package openairesponses

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// section is a list of parts that an item's text is in.
type section uint8

const (
	answer  section = iota // the content of a message
	thought                // the content of reasoning
	summary                // and its summary
)

// part is a part of an item's text.
type part struct {
	in section
	n  int64
}

func (d *decoder) answerDelta(it *item)  { it.say(part{answer, d.part()}, d.ev.delta) }
func (d *decoder) thoughtDelta(it *item) { it.say(part{thought, d.part()}, d.ev.delta) }
func (d *decoder) summaryDelta(it *item) { it.say(part{summary, d.part()}, d.ev.delta) }
func (d *decoder) answerDone(it *item)   { it.sayOnce(part{answer, d.part()}, d.ev.text) }
func (d *decoder) thoughtDone(it *item)  { it.sayOnce(part{thought, d.part()}, d.ev.text) }
func (d *decoder) summaryDone(it *item)  { it.sayOnce(part{summary, d.part()}, d.ev.text) }

// say appends to a part.
func (it *item) say(p part, text dialect.Raw) {
	if it.told == nil {
		it.told = map[part]bool{}
	}
	it.told[p] = true
	if !text.HasText() {
		return
	}
	it.turn.last = it
	if p.in == answer {
		it.turn.Text(text)
	} else {
		it.turn.Think(it.slot, text)
	}
}

// sayOnce takes what repeats a part, if nothing of it came.
func (it *item) sayOnce(p part, text dialect.Raw) {
	if !it.told[p] {
		it.say(p, text)
	}
}

// restOfText takes what an item holds and no event before brought.
func (it *item) restOfText(w *wireItem) {
	switch it.kind {
	case "message":
		it.rest(answer, w.content)
	case "reasoning":
		it.rest(thought, w.content)
		it.rest(summary, w.summary)
	}
}

func (it *item) rest(in section, parts dialect.Raw) {
	s := parts.Scan()
	for n, ok := int64(0), s.Array(); ok; n, ok = n+1, s.Element() {
		value := s.Value()
		text := value.Get("text")
		if !text.IsString() {
			text = value.Get("refusal")
		}
		it.sayOnce(part{in, n}, text)
	}
}

// sign takes the encrypted reasoning of an item that is done: it stands for the item's text, if
// that came last, or for reasoning of which nothing was shown. Its copies differ from event to
// event: that of output_item.done counts.
func (it *item) sign(w *wireItem) {
	if it.kind != "reasoning" || it.signed || !w.encrypted.HasText() {
		return
	}
	it.signed = true
	code := stream.SignedShown
	if it.turn.last != it {
		code = stream.SignedHidden
	}
	it.turn.Signed(w.encrypted, it.idOf(w), code)
}
