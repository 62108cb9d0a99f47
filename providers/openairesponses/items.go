package openairesponses

import "slices"

// items are those of a turn, and how to find one among many: an event costs the same however many
// there are, unless a host gives many the same name.
type items struct {
	all    []*item
	at     map[int64][]*item // by output_index: one, on hosts that count right
	byID   map[string][]*item
	byCall map[string][]*item // by call_id
}

// add lists a new item.
func (s *items) add(it *item) {
	if s.at == nil {
		s.at, s.byID, s.byCall = map[int64][]*item{}, map[string][]*item{}, map[string][]*item{}
	}
	it.place = len(s.all)
	s.all = append(s.all, it)
	s.at[it.index] = append(s.at[it.index], it)
	moveItem(s.byID, it, "", it.id)
}

func (s *items) setID(it *item, id string) {
	moveItem(s.byID, it, it.id, id)
	it.id = id
}

func (s *items) setCallID(it *item, id string) {
	moveItem(s.byCall, it, it.callID, id)
	it.callID = id
}

// moveItem moves an item from one list to another; nothing is listed under "".
func moveItem(lists map[string][]*item, it *item, from, to string) {
	if i := slices.Index(lists[from], it); i >= 0 {
		lists[from] = slices.Delete(lists[from], i, i+1)
	}
	if to != "" {
		lists[to] = append(lists[to], it)
	}
}

// latestWhere is the last item of a list for which that is so, or nil.
func latestWhere(list []*item, is func(*item) bool) *item {
	for _, it := range slices.Backward(list) {
		if is(it) {
			return it
		}
	}
	return nil
}

// findItem is the item of that kind that an event is about, or nil: the one that has both its
// output_index and its item id, or else the one that has its id, as on hosts that count wrong, or
// else the one that has its index, as on hosts that change ids. An event that has neither is about
// the item that is open.
func (t *turn) findItem(ev *event, kind string) *item {
	may := func(it *item) bool { return it.kind == "" || it.kind == kind }
	n, indexed := ev.index.Int()
	id := ev.itemID.OrDefault(nil)
	named := t.items.byID[string(id)]
	if it := latestWhere(named, func(it *item) bool { return it.index == n && may(it) }); indexed && it != nil {
		return it
	}
	if it := latestWhere(named, may); it != nil {
		if indexed {
			t.Once(indexWrong, "an event has the id of one item and the output_index of another: clients that go by the index glue items together")
		}
		return it
	}
	var it *item
	if indexed {
		it = latestWhere(t.items.at[n], may)
	} else {
		it = latestWhere(t.items.all, func(it *item) bool { return !it.done && may(it) })
	}
	if it != nil && it.id != "" && len(id) > 0 {
		t.reportRotatedID()
	}
	return it
}

func (t *turn) reportRotatedID() {
	t.Once(itemIDRotated,
		"the id of an item changes from event to event: only output_index says what belongs together, clients that go by item_id lose deltas")
}

// findAnnounced is the item that output_item.added announces although there is one at its index: a
// delta of it was first, or it is said twice. It is nil for another item at the same index.
func (s *items) findAnnounced(w *wireItem, index int64) *item {
	if it := latestWhere(s.byID[w.id.Text()], func(it *item) bool { return it.index == index }); it != nil {
		return it
	}
	it := latestWhere(s.at[index], func(it *item) bool { return it.kind == "" || w.kind.Is(it.kind) })
	if it != nil && (it.kind == "" || it.id == "" && !it.done) {
		return it
	}
	return nil
}

// matchItem is the item that the response as a whole repeats as its i-th, or nil.
func (s *items) matchItem(w *wireItem, i int64) (found *item) {
	same := func(it *item) bool { return w.kind.Is(it.kind) }
	for _, list := range [...][]*item{s.byID[w.id.Text()], s.byCall[w.callID.Text()]} {
		n := slices.IndexFunc(list, same)
		if n >= 0 && (found == nil || list[n].place < found.place) {
			found = list[n]
		}
	}
	if found == nil {
		found = latestWhere(s.at[i], same)
	}
	return found
}
