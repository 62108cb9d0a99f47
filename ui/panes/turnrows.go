package panes

import (
	"sort"

	"toolscope/stream"
)

// turnRows is how many rows each turn of a session has, and so where it stands in the list.
type turnRows struct {
	rows tally
	base int // how many turns had gone before the first that is in rows
	gone int // how many of rows went since: they have none left
}

// extend counts the turns that are new, or all of them, and returns how many it knew already. gone
// is how many went that began before these. When they are most of what is counted, all is counted
// anew.
func (r *turnRows) extend(turns []*stream.Turn, gone int, all bool) (known int) {
	went := gone - r.base
	if left := r.rows.len() - went; all || went < r.gone || left < 0 || left > len(turns) || went > 2*len(turns) {
		*r, went = turnRows{base: gone}, 0
	}
	for ; r.gone < went; r.gone++ {
		r.rows.set(r.gone, 0)
	}
	known = r.rows.len() - r.gone
	for _, t := range turns[known:] {
		r.rows.push(rowsOf(t))
	}
	return known
}

// count takes turn i as it is now, and reports whether it had another number of rows.
func (r *turnRows) count(i int, t *stream.Turn) (changed bool) {
	return r.rows.set(r.gone+i, rowsOf(t))
}

// all is how many rows there are.
func (r *turnRows) all() int { return r.rows.before(r.rows.len()) }

// first is the row of turn i; those of its calls follow.
func (r *turnRows) first(i int) int { return r.rows.before(r.gone + i) }

// at is which turn a row is of, and which of that turn's rows it is.
func (r *turnRows) at(row int) (turn, n int) {
	turn, n = r.rows.into(row)
	return turn - r.gone, n
}

// rowsOf is how many rows a turn has.
func rowsOf(t *stream.Turn) int { return 1 + len(t.Calls) }

// indexOf is which of the session's turns t is, -1 if it is none. They are in the order in which
// they began.
func indexOf(s *stream.Session, t *stream.Turn) int {
	if t == nil {
		return -1
	}
	i := sort.Search(len(s.Turns), func(i int) bool { return s.Turns[i].OpenedBy >= t.OpenedBy })
	if i == len(s.Turns) || s.Turns[i].Number != t.Number {
		return -1
	}
	return i
}
