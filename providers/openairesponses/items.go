package openairesponses

import (
	"slices"

	"toolscope/stream"
)

// items are the items of a turn, indexed: an event costs the same for any number of items, unless a
// provider gives many items the same name.
type items struct {
	all    []*item
	at     map[int64][]*item // by output_index: one item, if the provider counts correctly
	byID   map[string][]*item
	byCall map[string][]*item // by call_id
}

// add lists a new item. Items beyond the limit of calls are not listed, so later events don't find them.
func (s *items) add(it *item) {
	if len(s.all) >= stream.MaxCalls {
		return
	}
	if s.at == nil {
		s.at, s.byID, s.byCall = map[int64][]*item{}, map[string][]*item{}, map[string][]*item{}
	}
	it.place = len(s.all)
	s.all = append(s.all, it)
	s.at[it.index] = append(s.at[it.index], it)
	moveItem(s.byID, it, "", it.id)
}

func (s *items) setID(it *item, id string) {
	if s.isListed(it) {
		moveItem(s.byID, it, it.id, id)
	}
	it.id = id
}

func (s *items) setCallID(it *item, id string) {
	if s.isListed(it) {
		moveItem(s.byCall, it, it.callID, id)
	}
	it.callID = id
}

func (s *items) isListed(it *item) bool { return it.place < len(s.all) && s.all[it.place] == it }

// moveItem moves an item from one list to another. No item is listed under "".
func moveItem(lists map[string][]*item, it *item, from, to string) {
	if i := slices.Index(lists[from], it); i >= 0 {
		lists[from] = slices.Delete(lists[from], i, i+1)
	}
	if to != "" {
		lists[to] = append(lists[to], it)
	}
}

// latestWhere returns the last item of a list for which is returns true, or nil.
func latestWhere(list []*item, is func(*item) bool) *item {
	for _, it := range slices.Backward(list) {
		if is(it) {
			return it
		}
	}
	return nil
}

// findItem returns the item of that kind that an event is about, or nil. The first match counts: an
// item with both the output_index and the item id; an item with the id, for providers that count
// wrongly; an item with the index, for providers that change ids. An event with neither is about the
// open item.
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
			t.Once(indexWrong, "an event has the id of one item and the output_index of another: clients that merge by index join the items")
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
		"the id of an item changes from event to event: only output_index shows its item; clients that merge by item_id lose deltas")
}

// findAnnounced returns the existing item that output_item.added announces: its delta came first, or
// the event came twice. It returns nil for another item at the same index.
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

// matchItem returns the item that the complete response repeats at position i, or nil.
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
