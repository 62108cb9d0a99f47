package compare

import (
	"slices"
	"sort"

	"toolscope/providers"
	"toolscope/stream"
)

// group is rows of all columns that belong together: the same call in each turn, or their errors,
// or their texts.
type group struct {
	kind  groupKind
	calls callSet
	first int // row
	rows  int
}

type groupKind uint8

const (
	failureGroup groupKind = iota
	callGroup
	textGroup
)

// callSet is the same call of several turns, by column. Where a turn has none, it is the zero Ref,
// which names no call.
type callSet [most]stream.Ref

// in are the calls, nil where there is none or its arguments are not kept.
func (s callSet) in(v *providers.View) (calls [most]*stream.Call) {
	for i, r := range s {
		if t, c := v.Find(r); c != nil && t.Kept == stream.Whole {
			calls[i] = c
		}
	}
	return calls
}

// sealed are those that have all their arguments, and how many they are.
func (s callSet) sealed(v *providers.View) (set callSet, n int) {
	for i, call := range s.in(v) {
		if call != nil && !call.Arriving() {
			set[i] = s[i]
			n++
		}
	}
	return set, n
}

// callName names a call within its turn: the second of a name is not the first.
type callName struct {
	name string
	nth  int
}

// group makes the groups: errors, then calls by their names, then texts.
func (c *comparison) group(v *providers.View) {
	c.groups = c.groups[:0]
	c.add(failureGroup, callSet{})
	for _, set := range c.align(v) {
		c.add(callGroup, set)
	}
	c.add(textGroup, callSet{})
}

// align puts the calls of the same name beside each other.
func (c *comparison) align(v *providers.View) (sets []callSet) {
	at := map[callName]int{}
	for i := range c.columns {
		t := c.columns[i].find(v)
		if t == nil {
			continue
		}
		nth, after := map[string]int{}, -1
		for _, call := range t.Calls {
			name := callName{call.Name, nth[call.Name]}
			nth[call.Name]++
			n, known := at[name]
			if !known { // behind the one it follows in its own turn, or else behind all
				n = after + 1
				if after < 0 {
					n = len(sets)
				}
				sets = slices.Insert(sets, n, callSet{})
				for other, m := range at {
					if m >= n {
						at[other] = m + 1
					}
				}
				at[name] = n
			}
			sets[n][i] = call.Ref()
			after = max(after, n)
		}
	}
	return sets
}

// add adds a group, if it has rows.
func (c *comparison) add(kind groupKind, calls callSet) {
	g := group{kind: kind, calls: calls, first: c.rows()}
	for i := range c.columns {
		if kind == callGroup || i >= c.first && i < c.first+c.seen.shown { // calls stay where they are
			g.rows = max(g.rows, c.columns[i].rowsOf(kind, calls[i]))
		}
	}
	if g.rows > 0 {
		g.rows++ // a blank one
		c.groups = append(c.groups, g)
	}
}

// rowsOf is how many rows a column has in a group.
func (c *column) rowsOf(kind groupKind, call stream.Ref) int {
	switch kind {
	case failureGroup:
		return len(c.failure)
	case callGroup:
		if d := c.calls[call]; d != nil {
			return 1 + d.FullHeight()
		}
		return 1
	}
	if c.text == nil || len(c.text.Rows()) == 0 {
		return 0
	}
	return 1 + len(c.text.Rows())
}

// rows is how many rows there are.
func (c *comparison) rows() int {
	if n := len(c.groups); n > 0 {
		return c.groups[n-1].first + c.groups[n-1].rows
	}
	return 0
}

// groupAt is the group of a row, nil behind the last.
func (c *comparison) groupAt(row int) *group {
	n := sort.Search(len(c.groups), func(i int) bool { return c.groups[i].first > row }) - 1
	if n < 0 || row >= c.rows() {
		return nil
	}
	return &c.groups[n]
}
