package diff

import (
	"slices"

	"toolscope/stream"
)

// Named is a call as calls are known again.
type Named struct {
	Name string
	Sum  uint64 // of its arguments, 0 while they are not whole
}

// Calls are those of a turn that the wire has, as they are known again. Sums are made only where
// they tell calls apart: where there are several of a name.
func Calls(turns []*stream.Turn, sum func(*stream.Call) uint64) (lists [][]*stream.Call, named [][]Named) {
	lists, named = make([][]*stream.Call, len(turns)), make([][]Named, len(turns))
	several := map[string]bool{}
	for i, t := range turns {
		if t == nil {
			continue
		}
		count := map[string]int{}
		for _, c := range t.Calls {
			if c.Attempt {
				continue
			}
			count[c.Name]++
			several[c.Name] = several[c.Name] || count[c.Name] > 1
			lists[i] = append(lists[i], c)
		}
	}
	for i, list := range lists {
		for _, c := range list {
			n := Named{Name: c.Name}
			if several[c.Name] {
				n.Sum = sum(c)
			}
			named[i] = append(named[i], n)
		}
	}
	return lists, named
}

// Align puts the calls of turns beside each other: those of the same name and the same arguments,
// and then of the same name in order. A set has the index of each turn's call, -1 where it has none.
// Sets are in the order of the base's calls; what only others have stands behind what it follows
// there.
func Align(turns [][]Named, base int) (sets [][]int) {
	a := aligning{width: len(turns)}
	if base < len(turns) {
		a.take(base, turns[base])
	}
	for i, calls := range turns {
		if i != base {
			a.take(i, calls)
		}
	}
	return a.sets
}

type aligning struct {
	width int
	sets  [][]int
	of    []Named // what the first call of each set is
}

// take puts the calls of one turn into sets.
func (a *aligning) take(turn int, calls []Named) {
	at := make([]int, len(calls)) // the set of each
	for i := range at {
		at[i] = -1
	}
	for _, exact := range []bool{true, false} {
		for i, c := range calls {
			if at[i] >= 0 || exact && c.Sum == 0 {
				continue
			}
			at[i] = slices.IndexFunc(a.of, func(o Named) bool { return o.Name == c.Name && (!exact || o.Sum == c.Sum) })
			for at[i] >= 0 && a.sets[at[i]][turn] >= 0 {
				more := slices.IndexFunc(a.of[at[i]+1:], func(o Named) bool { return o.Name == c.Name && (!exact || o.Sum == c.Sum) })
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
			before = a.where(turn, i)
			continue
		}
		before++
		set := make([]int, a.width)
		for j := range set {
			set[j] = -1
		}
		set[turn] = i
		a.sets, a.of = slices.Insert(a.sets, before, set), slices.Insert(a.of, before, c)
	}
}

// where is the set that has a call.
func (a *aligning) where(turn, call int) int {
	return slices.IndexFunc(a.sets, func(set []int) bool { return set[turn] == call })
}
