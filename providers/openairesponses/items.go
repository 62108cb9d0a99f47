package openairesponses

import "slices"

// items are those of a turn, and how to find one among many: an event costs the
// same however many there are. Every list is in the order of the turn.
type items struct {
	all   []*item
	lists map[key][]*item
}

// key names a list of items.
type key struct {
	of    listOf
	index int64
	id    string
}

type listOf uint8

const (
	atIndex    listOf = iota
	vagueAt           // known by what came before they were announced; those in front are no more
	withID            // of the item
	withBoth          // at an index, with an id
	withCall          // call_id
	unfinished        // not done; those at its end are by now
)

// at are the items at an output_index: one, on hosts that count right.
func (s *items) at(index int64) []*item { return s.lists[key{of: atIndex, index: index}] }

// add takes a new item.
func (s *items) add(it *item) {
	if s.lists == nil {
		s.lists = map[key][]*item{}
	}
	it.place = len(s.all)
	s.all = append(s.all, it)
	s.enter(key{of: unfinished}, it)
	s.enter(key{of: atIndex, index: it.index}, it)
	if it.isVague() {
		s.enter(key{of: vagueAt, index: it.index}, it)
	}
	if it.id != "" {
		s.enter(key{of: withID, id: it.id}, it)
		s.enter(key{withBoth, it.index, it.id}, it)
	}
}

// isVague reports whether an item is known by what came before it was announced.
func (it *item) isVague() bool { return it.kind == "" || it.id == "" && !it.done }

func (s *items) enter(k key, it *item) {
	list := s.lists[k]
	n := len(list)
	if n > 0 && list[n-1].place > it.place {
		n, _ = slices.BinarySearchFunc(list, it, inOrder)
	}
	s.lists[k] = slices.Insert(list, n, it)
}

func (s *items) leave(k key, it *item) {
	if i, ok := slices.BinarySearchFunc(s.lists[k], it, inOrder); ok {
		s.lists[k] = slices.Delete(s.lists[k], i, i+1)
	}
}

func inOrder(a, b *item) int { return a.place - b.place }

func (s *items) idIs(it *item, id string) {
	s.leave(key{of: withID, id: it.id}, it)
	s.leave(key{withBoth, it.index, it.id}, it)
	it.id = id
	s.enter(key{of: withID, id: id}, it)
	s.enter(key{withBoth, it.index, id}, it)
}

func (s *items) callIs(it *item, id string) {
	s.leave(key{of: withCall, id: it.callID}, it)
	if it.callID = id; id == "" {
		return
	}
	s.enter(key{of: withCall, id: id}, it)
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
	open := s.lists[key{of: unfinished}]
	for n := len(open); n > 0 && open[n-1].done; n-- {
		open = open[:n-1]
		s.lists[key{of: unfinished}] = open
	}
	for _, it := range slices.Backward(open) {
		if !it.done && (it.kind == "" || it.kind == kind) {
			return it
		}
	}
	return nil
}

// find is the item of that kind that an event is about, or nil: the one that
// has both its output_index and its item id, or else the one that has its id, as
// on hosts that count wrong, or else the one that has its index, as on hosts that
// change ids. An event that has neither is about the item that is open.
func (t *turn) find(ev *event, kind string) (it *item) {
	n, indexed := ev.index.Int()
	id := ev.itemID.Or(nil)
	if indexed {
		if it = latest(t.items.lists[key{withBoth, n, string(id)}], kind); it != nil {
			return it
		}
	}
	if it = latest(t.items.lists[key{of: withID, id: string(id)}], kind); it != nil {
		if indexed {
			t.Once(indexWrong, "an event has the id of one item and the output_index of another: clients that go by the index glue items together")
		}
		return it
	}
	if indexed {
		it = latest(t.items.at(n), kind)
	} else {
		it = t.items.latestOpen(kind)
	}
	if it != nil && it.id != "" && len(id) > 0 {
		t.rotated()
	}
	return it
}

func (t *turn) rotated() {
	t.Once(itemIDRotated,
		"the id of an item changes from event to event: only output_index says what belongs together, clients that go by item_id lose deltas")
}

// announced is the item that output_item.added announces although there is one at
// its index: a delta of it was first, or it is said twice. It is nil for another
// item at the same index.
func (s *items) announced(w *wireItem, index int64) *item {
	named := s.lists[key{withBoth, index, w.id.Text()}]
	vague := s.lists[key{of: vagueAt, index: index}]
	for len(vague) > 0 && !vague[0].isVague() {
		vague = vague[1:]
		s.lists[key{of: vagueAt, index: index}] = vague
	}
	return earliest(named, vague)
}

// earliest is the first item of both lists, or nil.
func earliest(a, b []*item) *item {
	switch {
	case len(a) == 0 && len(b) == 0:
		return nil
	case len(b) == 0 || len(a) > 0 && a[0].place < b[0].place:
		return a[0]
	}
	return b[0]
}

// match is the item that the response as a whole repeats as its i-th, or nil.
func (s *items) match(w *wireItem, i int64) (found *item) {
	for _, k := range [...]key{{of: withID, id: w.id.Text()}, {of: withCall, id: w.callID.Text()}} {
		list := s.lists[k]
		n := slices.IndexFunc(list, func(it *item) bool { return w.kind.Is(it.kind) })
		if n >= 0 && (found == nil || list[n].place < found.place) {
			found = list[n]
		}
	}
	if found != nil {
		return found
	}
	for _, it := range slices.Backward(s.at(i)) {
		if w.kind.Is(it.kind) {
			return it
		}
	}
	return nil
}
