package panes

import (
	"slices"

	"toolscope/providers"
	"toolscope/stream"
)

// Changes lists the turns with new events in the last batch. Caches update only these turns, because a
// session may have very many.
type Changes struct {
	Turns []int32 // numbers of the turns, ascending
	All   bool    // there is a new session: all caches are invalid

	session *stream.Session
	events  int
	named   map[int32]bool // is in Turns
}

// Advance collects the changes since the last call.
func (n *Changes) Advance(v *providers.View) {
	s := v.Session()
	n.All = s != n.session || v.Events() < n.events
	n.Turns, n.session = n.Turns[:0], s
	if n.All {
		n.events, n.named = v.Events(), map[int32]bool{}
		return
	}
	clear(n.named)
	for last := stream.NoTurn; n.events < v.Events(); n.events++ {
		_, of := v.Subject(n.events)
		if of.Turn == last || of.Turn == stream.NoTurn {
			continue
		}
		if last = of.Turn; !n.named[last] {
			n.named[last] = true
			n.Turns = append(n.Turns, last)
		}
	}
	slices.Sort(n.Turns)
}
