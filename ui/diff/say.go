package diff

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"toolscope/stream"
)

// Side is one turn of a comparison. Its turn may not have opened yet.
type Side struct {
	Name  string
	Turn  *stream.Turn  // nil until it opens
	Over  bool          // it gets no more data
	Fails string        // why there is no usable response: "HTTP 429"
	Took  time.Duration // from the request to the end, or NoTime
}

// CallSet is a set of matching calls, one per side, nil if a side has none, with their compared fields.
type CallSet struct {
	Calls []*stream.Call
	Rows  []Row
	Sums  []uint64
}

// Name returns the tool name of the calls.
func (s *CallSet) Name() string {
	for _, c := range s.Calls {
		if c != nil {
			return c.Name
		}
	}
	return ""
}

// Comparison compares turns, as far as they have arrived.
type Comparison struct {
	Sides []Side
	Base  int
	Sets  []CallSet
}

// Counts are the numbers of differences.
type Counts struct {
	Calls   int // sets without a call of a side whose turn has ended
	States  int // sets whose calls ended in different states
	Types   int // fields with a different type
	Absent  int // fields that some call lacks
	Values  int // fields with a different value of the same type
	Breaks  int // fields that break the schema, equal or not
	Pending bool
}

// DifferingFields returns the number of fields that differ.
func (c *Counts) DifferingFields() int { return c.Types + c.Absent + c.Values }

// Equal reports whether nothing differs so far.
func (c *Counts) Equal() bool { return c.Calls+c.States+c.DifferingFields() == 0 }

// Count counts the differences.
func (p *Comparison) Count() (n Counts) {
	for i := range p.Sides {
		n.Pending = n.Pending || !p.Sides[i].Over
	}
	for s := range p.Sets {
		set := &p.Sets[s]
		missing, other := false, false
		for i, c := range set.Calls {
			missing = missing || c == nil && p.Sides[i].Over
			other = other || p.otherState(set, i)
		}
		if missing {
			n.Calls++
		}
		if other {
			n.States++
		}
		for r := range set.Rows {
			n.countRow(set, &set.Rows[r], p.Base)
		}
	}
	return n
}

// countRow counts one field. The fields of a missing call do not count as missing.
func (n *Counts) countRow(set *CallSet, r *Row, base int) {
	if r.Split {
		return
	}
	var kind change
	for i := range r.Cells {
		kind = max(kind, changeOf(set, r, i, base))
	}
	switch kind {
	case otherType:
		n.Types++
	case leftOut, added:
		n.Absent++
	case otherValue:
		n.Values++
	}
	for i, c := range set.Calls {
		if c != nil && slices.ContainsFunc(CellFindings(c, &r.Cells[i]), BreaksSchema) {
			n.Breaks++
			break
		}
	}
}

// otherState reports whether the call of side i ended in a different state from the base's.
func (p *Comparison) otherState(set *CallSet, i int) bool {
	c, b := set.Calls[i], set.Calls[p.Base]
	return c != nil && b != nil && !c.MayGrow() && !b.MayGrow() && c.Status() != b.Status()
}

// change is how a cell differs from the base's. The last is the most serious.
type change uint8

const (
	noChange change = iota
	otherValue
	added
	leftOut
	otherType
)

func changeOf(set *CallSet, r *Row, i, base int) change {
	c, b := &r.Cells[i], &r.Cells[base]
	switch {
	case set.Calls[i] == nil || set.Calls[base] == nil || c.Agrees():
		return noChange
	case c.Relation == Absent:
		return leftOut
	case !b.Has():
		return added
	case typeOf(c.Kind) != typeOf(b.Kind):
		return otherType
	}
	return otherValue
}

// typeOf returns the JSON Schema name of a kind of value, with an article.
func typeOf(k stream.TokenKind) string {
	switch k {
	case stream.ObjectOpen:
		return "an object"
	case stream.ArrayOpen:
		return "an array"
	case stream.String:
		return "a string"
	case stream.Number:
		return "a number"
	case stream.True, stream.False:
		return "a boolean"
	case stream.Null:
		return "null"
	}
	return "free text"
}

// agreement says whether two sides agree.
type agreement uint8

const (
	undecided agreement = iota
	yes
	no
)

// agreementOf reports whether two sides made the same calls.
func (p *Comparison) agreementOf(i, j int) agreement {
	a, b := &p.Sides[i], &p.Sides[j]
	all := yes
	if !a.Over || !b.Over {
		all = undecided
	}
	if (a.Fails != "") != (b.Fails != "") {
		return no
	}
	for s := range p.Sets {
		set := &p.Sets[s]
		c, d := set.Calls[i], set.Calls[j]
		switch {
		case c == nil && d == nil:
		case c == nil && a.Over, d == nil && b.Over:
			return no
		case c == nil || d == nil:
			all = undecided
		case set.hasDifference(i, j, p.Base), !c.MayGrow() && !d.MayGrow() && c.Status() != d.Status():
			return no
		case set.argsHash(i) == 0 || set.argsHash(j) == 0:
			all = undecided
		case set.argsHash(i) != set.argsHash(j):
			return no
		}
	}
	return all
}

func (s *CallSet) argsHash(i int) uint64 {
	if i >= len(s.Sums) {
		return 0
	}
	return s.Sums[i]
}

// hasDifference reports whether a row differs between two calls, one of which is the base's.
func (s *CallSet) hasDifference(i, j, base int) bool {
	if j == base {
		i, j = j, i
	}
	return i == base && slices.ContainsFunc(s.Rows, func(r Row) bool { return !r.Cells[j].Agrees() })
}

// agreeingSides returns the largest group of sides that agree with one another. Between groups of the same
// size, the base's wins. decided is false while a pair may still come to agree or differ.
func (p *Comparison) agreeingSides() (group []int, decided bool) {
	decided = true
	for i := range p.Sides {
		one := []int{i}
		for j := range p.Sides {
			if i == j {
				continue
			}
			switch p.agreementOf(i, j) {
			case yes:
				one = append(one, j)
			case undecided:
				decided = false
			}
		}
		if len(one) > max(1, len(group)) || len(one) == len(group) && i == p.Base {
			group = one
		}
	}
	slices.Sort(group)
	return group, decided
}

// Agreement returns a sentence about the sides that agree: "None agree.", "A and B agree." It is "" while
// the sides are undecided.
func (p *Comparison) Agreement(name func(int) string) string {
	group, decided := p.agreeingSides()
	n := p.Count()
	switch {
	case len(p.Sets) == 0 && n.Pending:
		return "No calls yet."
	case len(p.Sets) == 0 && !slices.ContainsFunc(p.Sides, func(s Side) bool { return s.Fails != "" }):
		return "No turn calls a tool."
	case len(group) == len(p.Sides) && len(group) == 2:
		return "Both agree."
	case len(group) == len(p.Sides):
		return fmt.Sprintf("All %d agree.", len(group))
	case len(group) > 3:
		return fmt.Sprintf("%d of %d agree.", len(group), len(p.Sides))
	case len(group) > 1:
		who := make([]string, len(group))
		for i, g := range group {
			who[i] = name(g)
		}
		return joinNames(who) + " agree."
	case decided && len(p.Sides) > 2:
		return "None agree."
	case !decided && n.Equal():
		return "So far all agree."
	}
	return ""
}

// timeSentence names the slowest and the fastest side. It is "" if the slowest took less than 1.2 times as
// long.
func (p *Comparison) timeSentence(name func(int) string, say func(time.Duration) string) string {
	var timed []int
	for i := range p.Sides {
		if p.Sides[i].Took > 0 {
			timed = append(timed, i)
		}
	}
	if len(timed) < 2 {
		return ""
	}
	slices.SortStableFunc(timed, func(i, j int) int { return cmp.Compare(p.Sides[j].Took, p.Sides[i].Took) })
	slow, fast := timed[0], timed[len(timed)-1]
	if p.Sides[slow].Took < p.Sides[fast].Took*6/5 {
		return ""
	}
	return fmt.Sprintf("%s took %s, %s %s.", name(slow), say(p.Sides[slow].Took), name(fast), say(p.Sides[fast].Took))
}
