package panes

import (
	"slices"
	"strings"

	"toolscope/stream"
)

// machineNamed returns the machine of a name, or nil.
func (r *machineRows) machineNamed(name string) *machineTurns {
	at, there := slices.BinarySearchFunc(r.machines, name, func(h *machineTurns, name string) int { return strings.Compare(h.name, name) })
	if !there {
		return nil
	}
	return r.machines[at]
}

// shownMachine returns the machine of the same name that has rows now, or nil.
func (r *machineRows) shownMachine(of *machineTurns) *machineTurns {
	if of == nil {
		return nil
	}
	if h := r.machineNamed(of.name); h != nil && r.rowCount(h) > 0 {
		return h
	}
	return nil
}

// addMachines adds machines with these names. There may be thousands at once, so it computes their places
// only once.
func (r *machineRows) addMachines(names []string) {
	slices.Sort(names)
	var more []*machineTurns
	for _, name := range slices.Compact(names) {
		if r.machineNamed(name) != nil {
			continue
		}
		h := &machineTurns{name: name}
		h.count = turnRows{folded: r.plain.folded, quiet: r.plain.quiet, only: r.plain.only}
		h.count.under = func(t *stream.Turn) (int, int32) {
			up, call := r.up(t)
			return indexIn(h.turns, up), call
		}
		more = append(more, h)
	}
	if len(more) > 0 {
		r.machines = append(r.machines, more...)
		slices.SortFunc(r.machines, func(a, b *machineTurns) int { return strings.Compare(a.name, b.name) })
		r.recountAll()
	}
}

// dropUnknown removes machines without turns and state, and reports whether there were any.
func (r *machineRows) dropUnknown() bool {
	n := len(r.machines)
	r.machines = slices.DeleteFunc(r.machines, func(h *machineTurns) bool { return h.state == nil && len(h.turns)+h.dropped == 0 })
	if len(r.machines) == n {
		return false
	}
	r.recountAll()
	return true
}

// recountAll counts the rows of all machines again, ordered by name. With a second machine, all machines
// that the user did not open are folded.
func (r *machineRows) recountAll() {
	r.rows, r.bads = prefixSums{}, prefixSums{}
	for i, h := range r.machines {
		h.at = i
		open, said := r.opened[h.name]
		h.shut = len(r.machines) > 1 && !(said && open)
		r.rows.push(r.rowCount(h))
		r.bads.push(h.count.allBad())
	}
}
