package openairesponses

import (
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// item is one output item of a turn.
type item struct {
	place  int // in the turn
	slot   int32
	index  int64 // output_index, or noIndex
	id     string
	kind   string // type of the item
	isCall bool
	call   callKind
	callID string
	name   string
	remote bool // the provider runs it
	kept   kept

	args []byte // as they were emitted
	same int    // copies that said the same after the first
	from string // the copy they are from, "" before any came
	grow growing
	done bool // output_item.done came

	told map[part]bool // which parts of its text have come

	saidObject bool
	signed     bool // its signature was emitted
}

const (
	noIndex   = int64(-1)
	extraSlot = int32(1 << 20) // slots of items that have no index of their own begin here
)

// added takes response.output_item.added.
func (d *decoder) added(t *turn, ev *wireEvent) {
	w := parseItem(ev.item)
	index, indexed := ev.index.Int()
	if !indexed {
		index = noIndex
		d.once(t, dialect.IndexMissing, "items have no output_index: they are told apart by their ids")
	}
	if there := t.items.at(index).items; indexed && len(there) > 0 {
		it := t.items.announced(&w, index)
		if it != there[0] {
			d.once(t, dialect.IndexReused,
				"several items share output_index %d: clients that go by it glue them together", index)
		}
		if it != nil {
			d.updateItem(t, it, &w, itemAdded)
			return
		}
	}
	d.updateItem(t, d.addItem(t, &w, index), &w, itemAdded)
}

// addItem begins an item, and a call if it proposes one.
func (d *decoder) addItem(t *turn, w *wireItem, index int64) *item {
	it := &item{index: index, id: w.id.Text(), kind: w.kind.Text(), slot: int32(index)}
	it.call, it.isCall = callOf(it.kind, w)
	if index < 0 || index >= int64(extraSlot) || it.slot < 0 || t.items.slots[it.slot] {
		it.slot = extraSlot + int32(len(t.items.all))
	}
	t.items.add(it)
	if _, known := callKinds[it.kind]; !known && !otherItems[it.kind] && !strings.HasSuffix(it.kind, "_output") && it.kind != "" {
		d.emit(stream.Event{Kind: stream.Unknown, Turn: t.number, Text: "item " + it.kind})
	}
	if it.isCall {
		d.openCall(t, it, w)
	}
	return it
}

func (d *decoder) openCall(t *turn, it *item, w *wireItem) {
	t.items.callIs(it, w.callID.Text())
	it.name = w.name.Text()
	if it.name == "" && it.call.word == "server" {
		it.name = it.kind
	}
	it.remote = it.call.byProvider(w)
	more := &stream.Detail{
		ID: it.resultID(), Name: it.name, CallKind: it.call.word, Server: it.remote, Freeform: it.call.freeform,
		Parent: w.caller.Text(), Host: w.host.Text(),
	}
	it.keep(w, itemAdded, more)
	t.last = nil
	d.emit(stream.Event{Kind: stream.CallOpen, Turn: t.number, Slot: it.slot, More: more})
}

// resultID is what a result must name: the call_id, and of items that have none
// the item's own id.
func (it *item) resultID() string {
	if it.callID != "" {
		return it.callID
	}
	return it.id
}

func (c callKind) byProvider(w *wireItem) bool {
	switch c.runner {
	case byEnvironment:
		return w.environment.Given() && !w.environment.Is("local")
	case byExecution:
		return !w.execution.Is("client")
	}
	return c.runner != byClient
}

// doneItem takes response.output_item.done, which is the last word on an item.
func (d *decoder) doneItem(t *turn, ev *wireEvent) {
	w := parseItem(ev.item)
	ev.itemID = w.id
	it := d.find(t, ev, w.kind.Text())
	index, indexed := ev.index.Int()
	if !indexed {
		index = noIndex
	}
	if it != nil && (it.kind != "" && !w.kind.Is(it.kind) || (it.done || !indexed) && it.id != "" && !w.id.Is(it.id)) {
		it = nil // another item, under an index that is used twice or without one
	}
	if it == nil {
		it = d.addItem(t, &w, index)
		if it.isCall {
			d.about(t, it, stream.ProtocolViolation.As(stream.Warn), "output_item.done came without output_item.added before it")
		}
	}
	d.endItem(t, it, &w, itemDone)
}

// endItem takes an item as it finally is.
func (d *decoder) endItem(t *turn, it *item, w *wireItem, from string) {
	d.updateItem(t, it, w, from)
	d.restOfText(t, it, w)
	d.sign(t, it, w)
	again := it.done
	it.done = true
	switch {
	case again:
	case it.isCall:
		d.emit(stream.Event{Kind: stream.Seal, Turn: t.number, Slot: it.slot})
		if it.call.word == "function" && it.callID == "" || it.call.word == "custom" && it.callID == "" {
			d.about(t, it, dialect.IDMissing, "the item has no call_id: a result has nothing to refer to; its own id is shown")
		}
		if len(it.args) == 0 && it.call.member == "arguments" && w.plainArgs.Kind() == 'n' {
			d.about(t, it, dialect.ArgsNull, "the arguments are null: meant as {}")
		}
		d.answer(t, it, w)
	case strings.HasSuffix(it.kind, "_output"):
		d.result(t, w)
	}
}

// answer says how a call ended that the provider ran within its item.
func (d *decoder) answer(t *turn, it *item, w *wireItem) {
	failed := w.err.Given() || w.status.Is("failed")
	if it.call.runner == byProvider && (failed || w.status.Is("completed") || w.output.Given()) {
		d.answered(t, it.resultID(), failed)
	}
}

// result takes an item that is the result of a call; one of a tool search in
// the provider does not say of which.
func (d *decoder) result(t *turn, w *wireItem) {
	id := w.callID.Text()
	for i := len(t.items.search) - 1; i >= 0 && id == "" && w.kind.Is("tool_search_output"); i-- {
		id = t.items.search[i].resultID()
	}
	d.answered(t, id, w.status.Is("failed") || w.err.Given())
}

func (d *decoder) answered(t *turn, id string, failed bool) {
	code := stream.AnswerOK
	if failed {
		code = stream.AnswerFailed
	}
	d.emit(stream.Event{Kind: stream.Answer, Turn: t.number, Code: code, More: &stream.Detail{ID: id}})
}

// updateItem takes what a later copy of an item says of it.
func (d *decoder) updateItem(t *turn, it *item, w *wireItem, from string) {
	if it.kind == "" && w.kind.Text() != "" {
		t.items.kindIs(it, w.kind.Text())
	}
	before := it.resultID()
	if id := w.id.Text(); id != "" && id != it.id {
		if it.id != "" {
			d.rotated(t)
		}
		if !it.done {
			t.items.idIs(it, id)
		}
	}
	if !it.isCall {
		return
	}
	d.callMeta(t, it, w, before, from)
	if value, wrap := w.arguments(); value.Given() {
		d.takeCopy(t, it, value, wrap, from)
	}
}

// callMeta takes the id and name of a call from a later copy. Once the call is
// sealed they are only compared.
func (d *decoder) callMeta(t *turn, it *item, w *wireItem, before, from string) {
	var more stream.Detail
	if id := w.callID.Text(); id != "" && id != it.callID {
		if it.callID != "" {
			d.about(t, it, dialect.CallIDChanged.As(stream.Info),
				"%s gives the call the id %q, before it was %q: the one of output_item.done counts", from, id, it.callID)
		}
		if it.callID == "" || !it.done {
			t.items.callIs(it, id)
		}
	}
	if name := w.name.Text(); name != "" && name != it.name {
		if it.name != "" && it.name != it.kind {
			d.about(t, it, nameChanged, "%s names the call %q, before it was %q", from, name, it.name)
		}
		if it.name == "" || !it.done {
			it.name, more.Name = name, name
		}
	}
	if id := it.resultID(); id != before {
		more.ID = id
	}
	if it.keep(w, from, &more) || more.ID != "" || more.Name != "" {
		d.emit(stream.Event{Kind: stream.CallMeta, Turn: t.number, Slot: it.slot, More: &more})
	}
}
