package panes

import (
	"slices"
	"sort"

	"toolscope/providers"
	"toolscope/stream"
)

// hostRows is which row of the list is what. Turns that come from other machines stand under a row
// of their machine, by name; where none do there are no such rows.
type hostRows struct {
	hosts  []*hostTurns
	rows   tally // by host: its rows
	bads   tally // and what went wrong there
	known  int   // turns that were counted, those that went too
	gone   int
	plain  turnRows                                         // what all have: what is folded, and what has no rows
	opened map[string]bool                                  // what somebody folded or unfolded
	told   *HostState                                       // the first of what was said of machines last
	up     func(*stream.Turn) (up *stream.Turn, call int32) // the call that started the agent of a turn
}

// hostTurns are the turns of one machine, "" for this one.
type hostTurns struct {
	name   string
	agents []string // what its captures are called there, by name; not more than are told
	at     int      // among the hosts
	turns  []*stream.Turn
	gone   int
	count  turnRows
	shut   bool // its turns have no rows
	state  *HostState
}

// mostAgents is how many agents of a machine are told apart.
const mostAgents = 8

// several reports whether turns stand under rows of machines.
func (r *hostRows) several() bool {
	return len(r.hosts) > 1 || len(r.hosts) == 1 && r.hosts[0].name != ""
}

// head is how many rows stand above the turns of a host.
func (r *hostRows) head() int {
	if r.several() {
		return 1
	}
	return 0
}

// hostOf is the machine a turn comes from, and what its capture is called there.
func hostOf(v *providers.View, t *stream.Turn) (host, agent string) {
	if x := v.Exchange(t.Exchange); x != nil && x.Head.Origin != nil {
		return x.Head.Origin.Host, x.Head.Origin.Agent
	}
	return "", ""
}

// extend counts the turns that are new, or all of them, and returns how many it knew already.
func (r *hostRows) extend(v *providers.View, again bool) (known int) {
	s := v.Session()
	if again || s.Gone()+len(s.Turns) < r.known || r.known < s.Gone() {
		*r = hostRows{plain: r.plain, opened: r.opened, up: r.up, gone: s.Gone(), known: s.Gone()}
		again = true
	}
	known = r.known - s.Gone()
	touched := map[*hostTurns]bool{}
	var names []string
	for _, t := range s.Turns[known:] {
		name, _ := hostOf(v, t)
		names = append(names, name)
	}
	r.add(names)
	for _, t := range s.Turns[known:] {
		name, agent := hostOf(v, t)
		h := r.named(name)
		h.turns = append(h.turns, t)
		if at, told := slices.BinarySearch(h.agents, agent); !told && len(h.agents) <= mostAgents {
			h.agents = slices.Insert(h.agents, at, agent)
		}
		touched[h] = true
	}
	if s.Gone() != r.gone {
		for _, h := range r.hosts {
			if h.drop(s) {
				touched[h] = true
			}
		}
	}
	r.gone, r.known = s.Gone(), s.Gone()+len(s.Turns)
	for h := range touched {
		h.count.quiet, h.count.only = r.plain.quiet, r.plain.only
		h.count.extend(h.turns, h.gone, again)
		r.set(h)
	}
	return known
}

// drop forgets turns that went, and reports whether there were some.
func (h *hostTurns) drop(s *stream.Session) bool {
	n := len(h.turns)
	if len(s.Turns) > 0 {
		n = sort.Search(n, func(i int) bool { return h.turns[i].OpenedBy >= s.Turns[0].OpenedBy })
	}
	h.turns, h.gone = h.turns[n:], h.gone+n
	return n > 0
}

// size is how many rows a host has. One of which nothing is meant by a filter has none.
func (r *hostRows) size(h *hostTurns) int {
	n := h.count.all()
	switch {
	case n == 0 && r.plain.only.On():
		return 0
	case h.shut:
		return r.head()
	}
	return n + r.head()
}

func (r *hostRows) set(h *hostTurns) {
	r.rows.set(h.at, r.size(h))
	r.bads.set(h.at, h.count.allBad())
}

// fold has a host's turns have no rows, or have them again.
func (r *hostRows) fold(h *hostTurns, shut bool) {
	if r.opened == nil {
		r.opened = map[string]bool{}
	}
	h.shut, r.opened[h.name] = shut, !shut
	r.set(h)
}

// recount takes a turn as it is now, and reports whether it had another number of rows.
func (r *hostRows) recount(v *providers.View, t *stream.Turn) (changed bool) {
	h, i := r.find(v, t)
	if h == nil || i >= h.count.len() {
		return false
	}
	changed = h.count.count(i, t)
	r.set(h)
	return changed && !h.shut
}

// find is where a turn is: the host, and which of its turns. The host is nil where it is not
// counted yet.
func (r *hostRows) find(v *providers.View, t *stream.Turn) (h *hostTurns, i int) {
	if t == nil {
		return nil, -1
	}
	name, _ := hostOf(v, t)
	if h = r.named(name); h == nil {
		return nil, -1
	}
	if i = indexIn(h.turns, t); i < 0 {
		return nil, -1
	}
	return h, i
}

// all is how many rows there are.
func (r *hostRows) all() int { return r.rows.before(r.rows.len()) }

// allBad is how much went wrong.
func (r *hostRows) allBad() int { return r.bads.before(r.bads.len()) }

// row is where row n of a turn stands: that of its host, if that is folded. It is -1 of a turn that is
// not counted.
func (r *hostRows) row(v *providers.View, t *stream.Turn, n int) int {
	h, i := r.find(v, t)
	switch {
	case h == nil || i >= h.count.len():
		return -1
	case h.shut:
		return r.top(h)
	case r.plain.folded[t.Number]:
		n = 0
	}
	return r.top(h) + r.head() + h.count.of(i, n)
}

// top is the first row of a host.
func (r *hostRows) top(h *hostTurns) int { return r.rows.before(h.at) }

// at is what a row is of: a turn and which of its rows, or with no turn a host. Both are nil behind
// the last row.
func (r *hostRows) at(row int) (h *hostTurns, t *stream.Turn, n int) {
	i, n := r.rows.into(row)
	if row < 0 || i >= len(r.hosts) {
		return nil, nil, 0
	}
	h = r.hosts[i]
	if n -= r.head(); n < 0 {
		return h, nil, 0
	}
	turn, n := h.count.at(n)
	if turn < 0 || turn >= len(h.turns) {
		return nil, nil, 0
	}
	return h, h.turns[turn], n
}

// badBefore is how much went wrong on the rows before one; among is how much of the first n rows of
// a turn did.
func (r *hostRows) badBefore(row int, among func(t *stream.Turn, n int) int) int {
	i, n := r.rows.into(row)
	bad := r.bads.before(min(i, len(r.hosts)))
	if i >= len(r.hosts) || n <= r.head() {
		return bad
	}
	h := r.hosts[i]
	return bad + h.count.badBefore(n-r.head(), func(turn, n int) int {
		if turn < 0 || turn >= len(h.turns) {
			return 0
		}
		return among(h.turns[turn], n)
	})
}

// after is the turn whose rows come behind those of another, round the list.
func (r *hostRows) after(h *hostTurns, i int) (*hostTurns, int) {
	for i++; i >= len(h.turns); i = 0 { // ends: some host has turns
		h = r.hosts[(h.at+1)%len(r.hosts)]
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

// turns is how many are counted.
func (r *hostRows) turns() (n int) {
	for _, h := range r.hosts {
		n += len(h.turns)
	}
	return n
}

// newest is the newest turn of a host that has rows, or would have; nil where none has.
func (h *hostTurns) newest(of *turnRows) *stream.Turn {
	for i := len(h.turns) - 1; i >= 0 && i >= len(h.turns)-mostSide; i-- {
		if !of.hides(h.turns[i]) {
			return h.turns[i]
		}
	}
	return nil
}
