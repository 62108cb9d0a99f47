package openairesponses

import (
	"slices"

	"toolscope/providers/dialect"
)

// items are those of a turn, and how to find one among many: an event costs the
// same however many there are. Every list is in the order of the turn.
type items struct {
	all     []*item
	byID    map[string][]*item
	byCall  map[string][]*item
	byIndex map[int64]*place
	slots   map[int32]bool // that are taken
	open    []*item        // not done; those at its end that are by now are dropped
	search  []*item        // calls of the provider's own tool search
}

// place is what stands at one output_index: one item, on hosts that count right.
type place struct {
	items []*item
	vague []*item // that may yet turn out to be the next one announced there
}

// add takes a new item.
func (s *items) add(it *item) {
	if s.byIndex == nil {
		s.byID, s.byCall = map[string][]*item{}, map[string][]*item{}
		s.byIndex, s.slots = map[int64]*place{}, map[int32]bool{}
	}
	it.place = len(s.all)
	s.all, s.open = append(s.all, it), append(s.open, it)
	s.slots[it.slot] = true
	at := s.byIndex[it.index]
	if at == nil {
		at = new(place)
		s.byIndex[it.index] = at
	}
	at.items = append(at.items, it)
	if it.isVague() {
		at.vague = append(at.vague, it)
	}
	if it.id != "" {
		s.byID[it.id] = append(s.byID[it.id], it)
	}
	s.kindIs(it, it.kind)
}

// isVague reports whether an item is known by what came before it was announced.
func (it *item) isVague() bool { return it.kind == "" || it.id == "" && !it.done }

func (s *items) kindIs(it *item, kind string) {
	it.kind = kind
	if kind == "tool_search_call" {
		s.search = append(s.search, it)
	}
}

func (s *items) idIs(it *item, id string) {
	rename(s.byID, it, it.id, id)
	it.id = id
}

func (s *items) callIs(it *item, id string) {
	rename(s.byCall, it, it.callID, id)
	it.callID = id
}

// rename moves an item from one list to another.
func rename(lists map[string][]*item, it *item, from, to string) {
	order := func(a *item, place int) int { return a.place - place }
	if i, ok := slices.BinarySearchFunc(lists[from], it.place, order); ok {
		lists[from] = slices.Delete(lists[from], i, i+1)
	}
	if to != "" {
		i, _ := slices.BinarySearchFunc(lists[to], it.place, order)
		lists[to] = slices.Insert(lists[to], i, it)
	}
}

// latest is the last item of a list that is, or may be, of a kind.
func latest(list []*item, kind string) *item {
	for _, it := range slices.Backward(list) {
		if it.kind == "" || it.kind == kind {
			return it
		}
	}
	return nil
}

// latestOpen is that of the items that are not done.
func (s *items) latestOpen(kind string) *item {
	for n := len(s.open); n > 0 && s.open[n-1].done; n-- {
		s.open = s.open[:n-1]
	}
	for _, it := range slices.Backward(s.open) {
		if !it.done && (it.kind == "" || it.kind == kind) {
			return it
		}
	}
	return nil
}

// at is what stands at an output_index.
func (s *items) at(index int64) place {
	if at := s.byIndex[index]; at != nil {
		return *at
	}
	return place{}
}

// find is the item of that kind that an event is about, or nil: the one that
// has both its output_index and its item id, or else the one that has its id, as
// on hosts that count wrong, or else the one that has its index, as on hosts that
// change ids. An event that has neither is about the item that is open.
func (d *decoder) find(t *turn, ev *wireEvent, kind string) *item {
	n, indexed := ev.index.Int()
	named := ev.itemID.IsString() && !ev.itemID.Empty()
	var ofID, atIndex []*item
	if named {
		d.buf = ev.itemID.Append(d.buf[:0])
		ofID = t.items.byID[string(d.buf)]
	}
	if indexed {
		atIndex = t.items.at(n).items
		if it := latestOfBoth(ofID, atIndex, n, ev.itemID, kind); it != nil {
			return it
		}
	}
	if it := latest(ofID, kind); it != nil {
		if indexed {
			d.once(t, indexWrong, "an event has the id of one item and the output_index of another: clients that go by the index glue items together")
		}
		return it
	}
	it := latest(atIndex, kind)
	if it == nil && !indexed {
		it = t.items.latestOpen(kind)
	}
	if it != nil && it.id != "" && named {
		d.rotated(t)
	}
	return it
}

// latestOfBoth is the last item of a kind that is in both lists: of an id, and of
// an index. It looks through the shorter one.
func latestOfBoth(ofID, atIndex []*item, index int64, id dialect.Raw, kind string) *item {
	list := ofID
	if len(atIndex) < len(ofID) {
		list = atIndex
	}
	for _, it := range slices.Backward(list) {
		if it.index == index && id.Is(it.id) && (it.kind == "" || it.kind == kind) {
			return it
		}
	}
	return nil
}

func (d *decoder) rotated(t *turn) {
	d.once(t, itemIDRotated,
		"the id of an item changes from event to event: only output_index says what belongs together, clients that go by item_id lose deltas")
}

// announced is the item that output_item.added announces although there is one at
// its index: a delta of it was first, or it is said twice. It is nil for another
// item at the same index.
func (s *items) announced(w *wireItem, index int64) *item {
	at := s.byIndex[index]
	for len(at.vague) > 0 && !at.vague[0].isVague() {
		at.vague = at.vague[1:]
	}
	list := s.byID[w.id.Text()]
	if len(at.items) < len(list) {
		list = at.items
	}
	for _, it := range list {
		if it.index == index && w.id.Is(it.id) && (len(at.vague) == 0 || it.place < at.vague[0].place) {
			return it
		}
	}
	if len(at.vague) > 0 {
		return at.vague[0]
	}
	return nil
}

// match is the item that the response as a whole repeats as its i-th, or nil.
func (s *items) match(w *wireItem, i int64) *item {
	same := func(it *item) bool { return w.kind.Is(it.kind) }
	var found *item
	if id := w.id.Text(); id != "" {
		found = first(s.byID[id], same)
	}
	if id := w.callID.Text(); id != "" {
		it := first(s.byCall[id], func(it *item) bool { return same(it) && it.isCall })
		if it != nil && (found == nil || it.place < found.place) {
			found = it
		}
	}
	if found != nil {
		return found
	}
	for _, it := range slices.Backward(s.at(i).items) {
		if same(it) {
			return it
		}
	}
	return nil
}

func first(list []*item, is func(*item) bool) *item {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}
