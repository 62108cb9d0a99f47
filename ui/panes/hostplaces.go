package panes

import (
	"slices"
	"strings"

	"toolscope/stream"
)

// named is the host of a name, nil where there is none.
func (r *hostRows) named(name string) *hostTurns {
	at, there := slices.BinarySearchFunc(r.hosts, name, func(h *hostTurns, name string) int { return strings.Compare(h.name, name) })
	if !there {
		return nil
	}
	return r.hosts[at]
}

// still is the host of another's name that has rows now; nil for none.
func (r *hostRows) still(of *hostTurns) *hostTurns {
	if of == nil {
		return nil
	}
	if h := r.named(of.name); h != nil && r.size(h) > 0 {
		return h
	}
	return nil
}

// add has hosts of these names be there. There may come thousands at once: their places are found once.
func (r *hostRows) add(names []string) {
	slices.Sort(names)
	var more []*hostTurns
	for _, name := range slices.Compact(names) {
		if r.named(name) != nil {
			continue
		}
		h := &hostTurns{name: name}
		h.count = turnRows{folded: r.plain.folded, quiet: r.plain.quiet, only: r.plain.only}
		h.count.under = func(t *stream.Turn) (int, int32) {
			up, call := r.up(t)
			return indexIn(h.turns, up), call
		}
		more = append(more, h)
	}
	if len(more) > 0 {
		r.hosts = append(r.hosts, more...)
		slices.SortFunc(r.hosts, func(a, b *hostTurns) int { return strings.Compare(a.name, b.name) })
		r.place()
	}
}

// drop has hosts be there no more of which nothing is known, and reports whether there were some.
func (r *hostRows) drop() bool {
	n := len(r.hosts)
	r.hosts = slices.DeleteFunc(r.hosts, func(h *hostTurns) bool { return h.state == nil && len(h.turns)+h.gone == 0 })
	if len(r.hosts) == n {
		return false
	}
	r.place()
	return true
}

// place counts the rows of all hosts anew, by name. As soon as there is a second one all are folded that
// nobody opened.
func (r *hostRows) place() {
	r.rows, r.bads = tally{}, tally{}
	for i, h := range r.hosts {
		h.at = i
		open, said := r.opened[h.name]
		h.shut = len(r.hosts) > 1 && !(said && open)
		r.rows.push(r.size(h))
		r.bads.push(h.count.allBad())
	}
}
