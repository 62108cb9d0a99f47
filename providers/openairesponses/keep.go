package openairesponses

import "toolscope/stream"

// kept is what a call's item has to be replayed with, besides what a call has
// in all protocols.
type kept struct {
	id          string // of the item, where that is not what a result names
	space       string // namespace of the tool: a call that comes back without it is refused
	fingerprint string // of a program
}

// keep takes it from a copy of the item, and says in more what is new. On hosts
// that change ids from event to event the first one stays until the item is
// done: then it has the id that it was stored under.
func (it *item) keep(w *wireItem, from string, more *stream.Detail) (news bool) {
	id := w.id.Text()
	if id == "" {
		id = it.id
	}
	if it.callID != "" && id != it.callID && (it.kept.id == "" || from == itemDone && !it.done) {
		news = update(&it.kept.id, id, &more.Item)
	}
	if it.kept.space == "" || !it.done {
		news = update(&it.kept.space, w.space.Text(), &more.Space) || news
	}
	if it.kept.fingerprint == "" || !it.done {
		news = update(&it.kept.fingerprint, w.fingerprint.Text(), &more.Signature) || news
	}
	return news
}

// update sets what is kept, and what is said of it, to a value that is new.
func update(kept *string, value string, said *string) bool {
	if value == "" || value == *kept {
		return false
	}
	*kept, *said = value, value
	return true
}

// sign takes the encrypted reasoning of an item that is done: it stands for the
// item's text, if that came last, or for reasoning of which nothing was shown.
// Its copies differ from event to event: that of output_item.done counts.
func (d *decoder) sign(t *turn, it *item, w *wireItem) {
	if it.kind != "reasoning" || it.signed || !w.encrypted.IsString() || w.encrypted.Empty() {
		return
	}
	it.signed = true
	id := w.id.Text()
	if id == "" {
		id = it.id
	}
	d.buf = w.encrypted.Append(d.buf[:0])
	e := stream.Event{Kind: stream.Signed, Turn: t.number, Text: d.text.Hold(d.buf), More: &stream.Detail{ID: id}}
	if t.last != it {
		e.Code = stream.SignedHidden
	}
	d.emit(e)
}
