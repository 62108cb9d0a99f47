package panes

import (
	"slices"
	"sort"

	"toolscope/providers"
	"toolscope/stream"
)

// machineRows is which row of the list is what. Turns that come from other machines stand under a row
// of their machine, by name; where none do there are no such rows.
type machineRows struct {
	machines   []*machineTurns
	rows       prefixSums // by host: its rows
	bads       prefixSums // and what went wrong there
	known      int        // turns that were counted, those that went too
	dropped    int
	plain      turnRows                                         // what all have: what is folded, and what has no rows
	opened     map[string]bool                                  // what somebody folded or unfolded
	lastStates *MachineState                                    // the first of what was said of machines last
	up         func(*stream.Turn) (up *stream.Turn, call int32) // the call that started the agent of a turn
}

// machineTurns are the turns of one machine, "" for this one.
type machineTurns struct {
	name    string
	agents  []string // what its captures are called there, by name; not more than are told
	at      int      // among the hosts
	turns   []*stream.Turn
	dropped int
	count   turnRows
	shut    bool // its turns have no rows
	state   *MachineState
}

// maxAgents is how many agents of a machine are told apart.
const maxAgents = 8

// hasMachines reports whether turns stand under rows of machines.
func (r *machineRows) hasMachines() bool {
	return len(r.machines) > 1 || len(r.machines) == 1 && r.machines[0].name != ""
}

// headRows is how many rows stand above the turns of a host.
func (r *machineRows) headRows() int {
	if r.hasMachines() {
		return 1
	}
	return 0
}

// machineOf is the machine a turn comes from, and what its capture is called there.
func machineOf(v *providers.View, t *stream.Turn) (host, agent string) {
	if x := v.Exchange(t.Exchange); x != nil && x.Head.Origin != nil {
		return x.Head.Origin.Host, x.Head.Origin.Agent
	}
	return "", ""
}

// countTurns counts the turns that are new, or all of them, and returns how many it knew already.
func (r *machineRows) countTurns(v *providers.View, again bool) (known int) {
	s := v.Session()
	if again || s.TrimmedTurns()+len(s.Turns) < r.known || r.known < s.TrimmedTurns() {
		*r = machineRows{plain: r.plain, opened: r.opened, up: r.up, dropped: s.TrimmedTurns(), known: s.TrimmedTurns()}
		again = true
	}
	known = r.known - s.TrimmedTurns()
	touched := map[*machineTurns]bool{}
	var names []string
	for _, t := range s.Turns[known:] {
		name, _ := machineOf(v, t)
		names = append(names, name)
	}
	r.addMachines(names)
	for _, t := range s.Turns[known:] {
		name, agent := machineOf(v, t)
		h := r.machineNamed(name)
		h.turns = append(h.turns, t)
		if at, told := slices.BinarySearch(h.agents, agent); !told && len(h.agents) <= maxAgents {
			h.agents = slices.Insert(h.agents, at, agent)
		}
		touched[h] = true
	}
	if s.TrimmedTurns() != r.dropped {
		for _, h := range r.machines {
			if h.dropTurns(s) {
				touched[h] = true
			}
		}
	}
	r.dropped, r.known = s.TrimmedTurns(), s.TrimmedTurns()+len(s.Turns)
	for h := range touched {
		h.count.quiet, h.count.only = r.plain.quiet, r.plain.only
		h.count.countTurns(h.turns, h.dropped, again)
		r.updateCounts(h)
	}
	return known
}

// dropTurns forgets turns that went, and reports whether there were some.
func (h *machineTurns) dropTurns(s *stream.Session) bool {
	n := len(h.turns)
	if len(s.Turns) > 0 {
		n = sort.Search(n, func(i int) bool { return h.turns[i].OpenedBy >= s.Turns[0].OpenedBy })
	}
	h.turns, h.dropped = h.turns[n:], h.dropped+n
	return n > 0
}

// rowCount is how many rows a host has. One of which nothing is meant by a filter has none.
func (r *machineRows) rowCount(h *machineTurns) int {
	n := h.count.totalRows()
	switch {
	case n == 0 && r.plain.only.Active():
		return 0
	case h.shut:
		return r.headRows()
	}
	return n + r.headRows()
}

func (r *machineRows) updateCounts(h *machineTurns) {
	r.rows.set(h.at, r.rowCount(h))
	r.bads.set(h.at, h.count.allBad())
}

// setFolded has a host's turns have no rows, or have them again.
func (r *machineRows) setFolded(h *machineTurns, shut bool) {
	if r.opened == nil {
		r.opened = map[string]bool{}
	}
	h.shut, r.opened[h.name] = shut, !shut
	r.updateCounts(h)
}

// recountTurn takes a turn as it is now, and reports whether it had another number of rows.
func (r *machineRows) recountTurn(v *providers.View, t *stream.Turn) (changed bool) {
	h, i := r.find(v, t)
	if h == nil || i >= h.count.len() {
		return false
	}
	changed = h.count.recountTurn(i, t)
	r.updateCounts(h)
	return changed && !h.shut
}

// find is where a turn is: the host, and which of its turns. The host is nil where it is not
// counted yet.
func (r *machineRows) find(v *providers.View, t *stream.Turn) (h *machineTurns, i int) {
	if t == nil {
		return nil, -1
	}
	name, _ := machineOf(v, t)
	if h = r.machineNamed(name); h == nil {
		return nil, -1
	}
	if i = indexIn(h.turns, t); i < 0 {
		return nil, -1
	}
	return h, i
}

// totalRows is how many rows there are.
func (r *machineRows) totalRows() int { return r.rows.sumBefore(r.rows.len()) }

// allBad is how much went wrong.
func (r *machineRows) allBad() int { return r.bads.sumBefore(r.bads.len()) }

// rowOf is where row n of a turn stands: that of its host, if that is folded. It is -1 of a turn that is
// not counted.
func (r *machineRows) rowOf(v *providers.View, t *stream.Turn, n int) int {
	h, i := r.find(v, t)
	switch {
	case h == nil || i >= h.count.len():
		return -1
	case h.shut:
		return r.firstRow(h)
	case r.plain.folded[t.Number]:
		n = 0
	}
	return r.firstRow(h) + r.headRows() + h.count.rowOfCall(i, n)
}

// firstRow is the first row of a host.
func (r *machineRows) firstRow(h *machineTurns) int { return r.rows.sumBefore(h.at) }

// rowTarget is what a row is of: a turn and which of its rows, or with no turn a host. Both are nil behind
// the last row.
func (r *machineRows) rowTarget(row int) (h *machineTurns, t *stream.Turn, n int) {
	i, n := r.rows.elementAt(row)
	if row < 0 || i >= len(r.machines) {
		return nil, nil, 0
	}
	h = r.machines[i]
	if n -= r.headRows(); n < 0 {
		return h, nil, 0
	}
	turn, n := h.count.turnAt(n)
	if turn < 0 || turn >= len(h.turns) {
		return nil, nil, 0
	}
	return h, h.turns[turn], n
}

// badBefore is how much went wrong on the rows before one; among is how much of the first n rows of
// a turn did.
func (r *machineRows) badBefore(row int, among func(t *stream.Turn, n int) int) int {
	i, n := r.rows.elementAt(row)
	bad := r.bads.sumBefore(min(i, len(r.machines)))
	if i >= len(r.machines) || n <= r.headRows() {
		return bad
	}
	h := r.machines[i]
	return bad + h.count.badBefore(n-r.headRows(), func(turn, n int) int {
		if turn < 0 || turn >= len(h.turns) {
			return 0
		}
		return among(h.turns[turn], n)
	})
}

// nextTurn is the turn whose rows come behind those of another, round the list.
func (r *machineRows) nextTurn(h *machineTurns, i int) (*machineTurns, int) {
	for i++; i >= len(h.turns); i = 0 { // ends: some host has turns
		h = r.machines[(h.at+1)%len(r.machines)]
	}
	return h, i
}

// indexIn is which of the turns t is, -1 if it is none. They are in the order in which they began.
func indexIn(turns []*stream.Turn, t *stream.Turn) int {
	if t == nil {
		return -1
	}
	i := sort.Search(len(turns), func(i int) bool { return turns[i].OpenedBy >= t.OpenedBy })
	if i == len(turns) || turns[i].Number != t.Number {
		return -1
	}
	return i
}

// turnCount is how many are counted.
func (r *machineRows) turnCount() (n int) {
	for _, h := range r.machines {
		n += len(h.turns)
	}
	return n
}

// newestTurn is the newest turn of a host that has rows, or would have; nil where none has.
func (h *machineTurns) newestTurn(of *turnRows) *stream.Turn {
	for i := len(h.turns) - 1; i >= 0 && i >= len(h.turns)-maxTurnsScanned; i-- {
		if !of.isHidden(h.turns[i]) {
			return h.turns[i]
		}
	}
	return nil
}
