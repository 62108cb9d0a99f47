package panes

import (
	"sort"

	"toolscope/stream"
	"toolscope/ui/screen"
)

// turnRows counts the rows of each turn of a session, to find the turn's place in the list. The turns of a
// sub-agent are below the call that started it.
type turnRows struct {
	rows    prefixSums  // per turn: its rows and those below it; 0 for a turn that is below another
	bads    prefixSums  // per turn: the bad calls, counted in the same way
	groups  []group     // by turn
	base    int         // how many turns were dropped before the first one in rows
	dropped int         // how many turns were dropped since: they have no own rows left
	quiet   bool        // background requests have no rows
	only    *TurnFilter // turns that the filter hides have no rows either
	folded  map[int32]bool
	under   func(*stream.Turn) (i int, call int32)
}

// group is a turn and those that are under it.
type group struct {
	own      int         // rows of the turn itself and of its calls
	all      int         // and of those under it
	bad      int         // bad calls of the turn, or 1 for a bad turn
	ill      int         // and of those under it
	up       int         // the turn that it is under, -1 for none
	children []childTurn // in the order of their calls, then of their start
}

// childTurn is a turn under a call of another.
type childTurn struct {
	call int32
	at   int
}

// countTurns counts new turns, or all, and returns how many it knew before. gone is the number of dropped
// earlier turns. If these are most of the counted turns, it counts all again.
func (r *turnRows) countTurns(turns []*stream.Turn, gone int, all bool) (known int) {
	went := gone - r.base
	if left := r.rows.len() - went; all || went < r.dropped || left < 0 || left > len(turns) || went > 2*len(turns) {
		*r, went = turnRows{base: gone, quiet: r.quiet, only: r.only, folded: r.folded, under: r.under}, 0
	}
	for ; r.dropped < went; r.dropped++ {
		r.setCounts(r.dropped, 0, 0)
	}
	known = r.rows.len() - r.dropped
	for _, t := range turns[known:] {
		r.push(t)
	}
	return known
}

// push counts one more turn.
func (r *turnRows) push(t *stream.Turn) {
	at, up, call := len(r.groups), -1, int32(0)
	if r.under != nil {
		if i, of := r.under(t); i >= 0 && r.dropped+i < at {
			up, call = r.dropped+i, of
		}
	}
	r.groups = append(r.groups, group{up: up})
	r.rows.push(0)
	r.bads.push(0)
	if up >= 0 {
		g := &r.groups[up]
		i := sort.Search(len(g.children), func(i int) bool { return g.children[i].call > call })
		g.children = append(g.children, childTurn{})
		copy(g.children[i+1:], g.children[i:])
		g.children[i] = childTurn{call, at}
	}
	own, bad := r.ownOf(t)
	r.setCounts(at, own, bad)
}

// ownOf returns the number of a turn's own rows, and of the bad ones among them.
func (r *turnRows) ownOf(t *stream.Turn) (own, bad int) {
	switch {
	case r.isHidden(t):
		return 0, 0
	case r.folded[t.Number]:
		return 1, badIn(t)
	}
	return rowsOf(t), badIn(t)
}

// isHidden reports whether a turn has no rows.
func (r *turnRows) isHidden(t *stream.Turn) bool {
	return r.quiet && isBackground(t) || !r.only.Shows(t)
}

// setCounts sets the number of a turn's own rows and of the bad ones, and reports whether one changed.
func (r *turnRows) setCounts(at, own, bad int) (changed bool) {
	g := &r.groups[at]
	more, worse := own-g.own, bad-g.bad
	if more == 0 && worse == 0 {
		return false
	}
	g.own, g.bad = own, bad
	for ; g.up >= 0; at, g = g.up, &r.groups[g.up] {
		g.all, g.ill = g.all+more, g.ill+worse
	}
	g.all, g.ill = g.all+more, g.ill+worse
	r.rows.set(at, g.all)
	r.bads.set(at, g.ill)
	return more != 0
}

// recountTurn counts turn i again, and reports whether its number of rows changed.
func (r *turnRows) recountTurn(i int, t *stream.Turn) (changed bool) {
	own, bad := r.ownOf(t)
	return r.setCounts(r.dropped+i, own, bad)
}

// badBefore returns the number of bad rows before a row; among counts them in the first n rows of a turn.
func (r *turnRows) badBefore(row int, among func(turn, n int) int) int {
	at, n := r.rows.elementAt(row)
	bad := r.bads.sumBefore(min(at, r.bads.len()))
	for at < len(r.groups) {
		g, passed, into := &r.groups[at], 0, -1
		for _, k := range g.children {
			before := min(g.own, int(k.call)+1) - passed
			if n < before {
				break
			}
			n, passed = n-before, passed+before
			if n < r.groups[k.at].all {
				into = k.at
				break
			}
			n -= r.groups[k.at].all
			bad += r.groups[k.at].ill
		}
		if into < 0 {
			return bad + among(at-r.dropped, passed+n)
		}
		bad += among(at-r.dropped, passed)
		at = into
	}
	return bad
}

// allBad returns the number of bad rows.
func (r *turnRows) allBad() int { return r.bads.sumBefore(r.bads.len()) }

// len returns how many turns are counted.
func (r *turnRows) len() int { return len(r.groups) - r.dropped }

// totalRows returns the number of rows.
func (r *turnRows) totalRows() int { return r.rows.sumBefore(r.rows.len()) }

// firstRow returns the row of turn i.
func (r *turnRows) firstRow(i int) int { return r.groupRow(r.dropped+i, 0) }

// rowOfCall returns the row of call n of turn i, or of the turn itself.
func (r *turnRows) rowOfCall(i int, n int) int { return r.groupRow(r.dropped+i, n) }

// groupRow returns the list row of a turn's own row n.
func (r *turnRows) groupRow(at, n int) int {
	g, under := &r.groups[at], 0
	for _, k := range g.children {
		if int(k.call) < n {
			under += r.groups[k.at].all
		}
	}
	if n += under; g.up < 0 {
		return r.rows.sumBefore(at) + n
	}
	up := &r.groups[g.up]
	for _, k := range up.children {
		if k.at == at {
			return r.groupRow(g.up, 0) + min(up.own, int(k.call)+1) + n
		}
		n += r.groups[k.at].all
	}
	return n
}

// turnAt returns the turn of a row, and which of its rows it is.
func (r *turnRows) turnAt(row int) (turn, n int) {
	turn, n = r.rows.elementAt(row)
	for turn < len(r.groups) {
		under, rest, own := r.resolveRow(turn, n)
		if own {
			return turn - r.dropped, rest
		}
		turn, n = under, rest
	}
	return turn - r.dropped, n
}

// resolveRow returns what row n of a group is: an own row, or a row of a turn under it.
func (r *turnRows) resolveRow(at, n int) (under, rest int, own bool) {
	g, passed := &r.groups[at], 0
	for _, k := range g.children {
		before := min(g.own, int(k.call)+1) - passed
		if n < before {
			break
		}
		n, passed = n-before, passed+before
		if n < r.groups[k.at].all {
			return k.at, n, false
		}
		n -= r.groups[k.at].all
	}
	return at, passed + n, true
}

// rowsOf returns the number of a turn's own rows.
func rowsOf(t *stream.Turn) int { return 1 + len(t.Calls) }

// badIn returns the number of bad calls of a turn, or 1 if only the turn itself is bad.
func badIn(t *stream.Turn) (n int) {
	for _, c := range t.Calls {
		if c != nil && wentWrong(c) {
			n++
		}
	}
	for st, were := range t.DroppedCounts() {
		if isBad(stream.Status(st)) {
			n += int(were)
		}
	}
	if st, _, _ := screen.TurnLook(t); n == 0 && isBad(st) && t.EndedBy != stream.Client {
		n = 1
	}
	return n
}

// wentWrong reports whether a call is bad. A call that the client stopped is not.
func wentWrong(c *stream.Call) bool { return isBad(c.Status()) && !c.StoppedByClient() }

// isBackground reports whether a turn's request is a background request.
func isBackground(t *stream.Turn) bool { return t.Request != nil && t.Request.Background }
