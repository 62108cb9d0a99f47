package panes

import (
	"sort"

	"toolscope/stream"
	"toolscope/ui/screen"
)

// turnRows is how many rows each turn of a session has, and so where it stands in the list. The
// turns of an agent stand under the call that started it.
type turnRows struct {
	rows    prefixSums  // by turn: its rows and those under it, 0 of a turn that is under another
	bads    prefixSums  // in the same way: what went wrong
	groups  []group     // by turn
	base    int         // how many turns had gone before the first that is in rows
	dropped int         // how many of rows went since: they have no rows of their own left
	quiet   bool        // side requests have no rows
	only    *TurnFilter // what it does not show has none either
	folded  map[int32]bool
	under   func(*stream.Turn) (i int, call int32)
}

// group is a turn and those that are under it.
type group struct {
	own      int         // rows of the turn itself and of its calls
	all      int         // and of those under it
	bad      int         // of the turn's calls went wrong, or else the turn did
	ill      int         // and of those under it
	up       int         // the turn that it is under, -1 for none
	children []childTurn // in the order of their calls, and of one call in the order they began
}

// childTurn is a turn under a call of another.
type childTurn struct {
	call int32
	at   int
}

// countTurns counts the turns that are new, or all of them, and returns how many it knew already. gone
// is how many went that began before these. When they are most of what is counted, all is counted
// anew.
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

// ownOf is how many rows a turn has without those under it, and how much of them went wrong.
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

// setCounts has a turn have so many rows of its own, of which so many went wrong, and reports whether it
// had another number.
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

// recountTurn takes turn i as it is now, and reports whether it had another number of rows.
func (r *turnRows) recountTurn(i int, t *stream.Turn) (changed bool) {
	own, bad := r.ownOf(t)
	return r.setCounts(r.dropped+i, own, bad)
}

// badBefore is how much went wrong on the rows before one; among is how much of the first n rows of a
// turn did.
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

// allBad is how much went wrong.
func (r *turnRows) allBad() int { return r.bads.sumBefore(r.bads.len()) }

// len is how many turns are counted.
func (r *turnRows) len() int { return len(r.groups) - r.dropped }

// totalRows is how many rows there are.
func (r *turnRows) totalRows() int { return r.rows.sumBefore(r.rows.len()) }

// firstRow is the row of turn i.
func (r *turnRows) firstRow(i int) int { return r.groupRow(r.dropped+i, 0) }

// rowOfCall is the row of call n of turn i, or of the turn itself.
func (r *turnRows) rowOfCall(i int, n int) int { return r.groupRow(r.dropped+i, n) }

// groupRow is where a turn's own row n stands.
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

// turnAt is which turn a row is of, and which of that turn's rows it is.
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

// resolveRow is what row n of a group is: a row of its own, or one of the turn under it.
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

// rowsOf is how many rows a turn has.
func rowsOf(t *stream.Turn) int { return 1 + len(t.Calls) }

// badIn is how much of a turn went wrong: so many of its calls, or else the turn itself.
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

// wentWrong reports whether a call is bad. That the client stopped it is not.
func wentWrong(c *stream.Call) bool { return isBad(c.Status()) && !c.StoppedByClient() }

// isBackground reports whether a turn answers a side request.
func isBackground(t *stream.Turn) bool { return t.Request != nil && t.Request.Background }
