package stream

import (
	"iter"
	"slices"
	"sort"
)

// Subject returns the kind of event n and its subject: a call, if one is known, or a turn, or nothing
// that is kept. It is cheaper than Event, which makes the text.
func (t *Timeline) Subject(n int) (EventKind, Ref) {
	b := &t.blocks[n/blockEvents]
	if b.events.n == 0 {
		return 0, NoRef
	}
	f := b.events.at(n % blockEvents)
	return f.kindAndCode(), Ref{f.turn, int32(f.call)}
}

// EventPrefix returns event n with at most so many bytes of its text: one event may bring megabytes.
func (t *Timeline) EventPrefix(n, most int) Event {
	e, text, _, _ := t.eventWithKeptText(n, nil)
	if most > 0 {
		t.wireFormOf(&e, n, text)
	}
	if e.Text = e.Text[:min(len(e.Text), most)]; len(text) > 0 && most > 0 {
		e.Text = string(text[:min(len(text), most)])
	}
	return e
}

// EventsOf iterates over the numbers of the events about a turn, starting at number from. It skips blocks
// without events of the turn.
func (t *Timeline) EventsOf(turn *Turn, from int) iter.Seq[int] {
	return func(yield func(n int) bool) {
		first, _ := slices.BinarySearch(turn.blocks, int32(from/blockEvents))
		for _, b := range turn.blocks[first:] {
			list := &t.blocks[b].events
			for i := range list.n {
				if n := int(b)*blockEvents + i; list.turnAt(i) == turn.Number && n >= from && !yield(n) {
					return
				}
			}
		}
	}
}

// EventsBefore iterates over the numbers of the events about a turn before that number, the latest first.
func (t *Timeline) EventsBefore(turn *Turn, before int) iter.Seq[int] {
	return func(yield func(n int) bool) {
		end := sort.Search(len(turn.blocks), func(i int) bool { return int(turn.blocks[i])*blockEvents >= before })
		for _, b := range slices.Backward(turn.blocks[:end]) {
			list := &t.blocks[b].events
			for i := list.n - 1; i >= 0; i-- {
				if n := int(b)*blockEvents + i; n < before && list.turnAt(i) == turn.Number && !yield(n) {
					return
				}
			}
		}
	}
}
