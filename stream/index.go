package stream

import (
	"cmp"
	"slices"
)

// turnIndex maps turn numbers to positions among all turns that ever began. Turns are numbered in the
// order they begin; those that are not are odd. A past session shares the index of the live one, because
// the live session's turns begin with those of the past one. The zero value is ready.
type turnIndex struct {
	odd map[int32]int
	all int
}

// add adds the turn at position i. A past session adds turns that are in the index already.
func (x *turnIndex) add(number int32, i int) {
	if i < x.all {
		return
	}
	x.all++
	if int(number) != i {
		if x.odd == nil {
			x.odd = map[int32]int{}
		}
		x.odd[number] = i
	}
}

// positionOf returns the position of the turn with that number, if there is one.
func (x *turnIndex) positionOf(number int32) int {
	if x == nil {
		return -1
	}
	if i, ok := x.odd[number]; ok {
		return i
	}
	return int(number)
}

// maxIDs is how many ids are remembered. The oldest is forgotten first: by then its call is no longer
// sent back.
const maxIDs = 1 << 16

// callIDs holds the latest call of each id.
type callIDs struct {
	calls map[string]Ref
	order []string // in order of arrival, a ring once it is full
	next  int
}

// assignID gives an id to a call. It returns the call that had it before, NoRef if none is known.
func (x *callIDs) assignID(id string, by Ref) Ref {
	before, known := x.calls[id]
	if !known {
		x.rememberID(id)
		before = NoRef
	}
	x.calls[id] = by
	return before
}

func (x *callIDs) rememberID(id string) {
	if x.calls == nil {
		x.calls = map[string]Ref{}
	}
	if len(x.order) < maxIDs {
		x.order = append(x.order, id)
		return
	}
	delete(x.calls, x.order[x.next])
	x.order[x.next] = id
	x.next = (x.next + 1) % maxIDs
}

// slotTable holds the calls of a turn by slot: the latest call of each, in the order of the slots.
type slotTable []slotEntry

type slotEntry struct{ key, call int32 }

func (s slotTable) findSlot(key int32) (at int, found bool) {
	n := len(s)
	switch {
	case n == 0 || s[n-1].key < key:
		return n, false
	case s[n-1].key == key:
		return n - 1, true
	}
	return slices.BinarySearchFunc(s, key, func(a slotEntry, key int32) int { return cmp.Compare(a.key, key) })
}

// set gives a slot to a call.
func (s *slotTable) set(key, call int32) {
	at, found := s.findSlot(key)
	if !found {
		*s = slices.Insert(*s, at, slotEntry{key: key})
	}
	(*s)[at].call = call
}
