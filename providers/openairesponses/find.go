package openairesponses

import ()

// find is the item of that kind that an event is about, or nil: the one that
// has both its output_index and its item id, or else the one that has its id, as
// on hosts that count wrong, or else the one that has its index, as on hosts that
// change ids. An event that has neither is about the item that is open.
func (d *decoder) find(t *turn, ev *wireEvent, kind string) *item {
	n, indexed := ev.index.Int()
	named := ev.itemID.IsString() && !ev.itemID.Empty()
	var byID, byIndex, open *item
	for i := len(t.items) - 1; i >= 0; i-- {
		this := t.items[i]
		if this.kind != "" && this.kind != kind {
			continue
		}
		hasID, hasIndex := named && ev.itemID.Is(this.id), indexed && this.index == n
		switch {
		case hasID && (hasIndex || !indexed):
			return this
		case hasID && byID == nil:
			byID = this
		case hasIndex && byIndex == nil:
			byIndex = this
		case !indexed && !this.done && open == nil:
			open = this
		}
	}
	switch {
	case byID != nil:
		d.once(t, indexWrong, "an event has the id of one item and the output_index of another: clients that go by the index glue items together")
		return byID
	case byIndex == nil:
		byIndex = open
	}
	if byIndex != nil && byIndex.id != "" && named {
		d.rotated(t)
	}
	return byIndex
}

func (d *decoder) rotated(t *turn) {
	d.once(t, itemIDRotated,
		"the id of an item changes from event to event: only output_index says what belongs together, clients that go by item_id lose deltas")
}

// match is the item that the response as a whole repeats as its i-th, or nil.
func (t *turn) match(w *wireItem, i int64) *item {
	var byPlace *item
	for _, it := range t.items {
		switch {
		case !w.kind.Is(it.kind):
		case it.id != "" && w.id.Is(it.id), it.isCall && it.callID != "" && w.callID.Is(it.callID):
			return it
		case it.index == i:
			byPlace = it
		}
	}
	return byPlace
}
