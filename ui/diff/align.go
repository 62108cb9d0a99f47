package diff

import (
	"slices"

	"toolscope/stream"
)

// NamedCall is the part of a call by which Align matches it.
type NamedCall struct {
	Name string
	Sum  uint64 // a hash of its arguments, 0 until they are complete or if they are not needed
}

// Calls returns the calls of each turn, without the discarded ones, and their NamedCalls. It computes a
// sum only if a turn has several calls of that name.
func Calls(turns []*stream.Turn, sum func(*stream.Call) uint64) (lists [][]*stream.Call, named [][]NamedCall) {
	lists, named = make([][]*stream.Call, len(turns)), make([][]NamedCall, len(turns))
	several := map[string]bool{}
	for i, t := range turns {
		if t == nil {
			continue
		}
		count := map[string]int{}
		for _, c := range t.Calls {
			if c.Discarded {
				continue
			}
			count[c.Name]++
			several[c.Name] = several[c.Name] || count[c.Name] > 1
			lists[i] = append(lists[i], c)
		}
	}
	for i, list := range lists {
		for _, c := range list {
			n := NamedCall{Name: c.Name}
			if several[c.Name] {
				n.Sum = sum(c)
			}
			named[i] = append(named[i], n)
		}
	}
	return lists, named
}

// Align matches the calls of several turns: first by name and arguments, then by name and order. A set has
// the index of each turn's call, or -1 if that turn has none. Sets have the order of the base's calls. A
// call that the base lacks follows the call that precedes it in its own turn.
func Align(turns [][]NamedCall, base int) (sets [][]int) {
	a := callAligner{width: len(turns)}
	if base < len(turns) {
		a.addTurn(base, turns[base])
	}
	for i, calls := range turns {
		if i != base {
			a.addTurn(i, calls)
		}
	}
	return a.sets
}

type callAligner struct {
	width int
	sets  [][]int
	first []NamedCall // the first call of each set
}

// addTurn adds the calls of one turn to the sets.
func (a *callAligner) addTurn(turn int, calls []NamedCall) {
	at := make([]int, len(calls)) // the set of each call, -1 for none
	for i := range at {
		at[i] = -1
	}
	for _, exact := range []bool{true, false} {
		for i, c := range calls {
			if at[i] >= 0 || exact && c.Sum == 0 {
				continue
			}
			at[i] = slices.IndexFunc(a.first, func(o NamedCall) bool { return o.Name == c.Name && (!exact || o.Sum == c.Sum) })
			for at[i] >= 0 && a.sets[at[i]][turn] >= 0 {
				more := slices.IndexFunc(a.first[at[i]+1:], func(o NamedCall) bool { return o.Name == c.Name && (!exact || o.Sum == c.Sum) })
				if more < 0 {
					at[i] = -1
					break
				}
				at[i] += 1 + more
			}
			if at[i] >= 0 {
				a.sets[at[i]][turn] = i
			}
		}
	}
	before := len(a.sets) - 1
	for i, c := range calls {
		if at[i] >= 0 {
			before = a.setIndex(turn, i)
			continue
		}
		before++
		set := make([]int, a.width)
		for j := range set {
			set[j] = -1
		}
		set[turn] = i
		a.sets, a.first = slices.Insert(a.sets, before, set), slices.Insert(a.first, before, c)
	}
}

// setIndex returns the set that contains a call.
func (a *callAligner) setIndex(turn, call int) int {
	return slices.IndexFunc(a.sets, func(set []int) bool { return set[turn] == call })
}
