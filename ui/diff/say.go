package diff

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"toolscope/stream"
)

// Side is a turn that is compared, or its place while none has come.
type Side struct {
	Name  string
	Turn  *stream.Turn  // nil until it opens
	Over  bool          // nothing more of it comes
	Fails string        // why nothing of use came: "HTTP 429"
	Took  time.Duration // from the request to the end, or NoTime
}

// Set is the call of each side that belong together, nil where it has none, and what is known of
// them.
type Set struct {
	Calls []*stream.Call
	Rows  []Row
	Sums  []uint64
}

// Name is how the calls of a set are called.
func (s *Set) Name() string {
	for _, c := range s.Calls {
		if c != nil {
			return c.Name
		}
	}
	return ""
}

// Picture is turns side by side, as far as they have come.
type Picture struct {
	Sides []Side
	Base  int
	Sets  []Set
}

// Counts are how much differs.
type Counts struct {
	Calls   int // sets that not every side has, though its turn is over
	States  int // sets whose calls ended in other states
	Types   int // members that are of another type
	Absent  int // members that not every call has
	Values  int // members that are something else, of the same type
	Breaks  int // members, of those that differ or not, that break the schema
	Pending bool
}

// Members is how many members differ.
func (c *Counts) Members() int { return c.Types + c.Absent + c.Values }

// Equal reports whether nothing differs, as far as it has come.
func (c *Counts) Equal() bool { return c.Calls+c.States+c.Members() == 0 }

// Count counts what differs.
func (p *Picture) Count() (n Counts) {
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
			n.row(set, &set.Rows[r], p.Base)
		}
	}
	return n
}

// row counts one member. Where a call is not there, its members are not missed too.
func (n *Counts) row(set *Set, r *Row, base int) {
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
		if c != nil && slices.ContainsFunc(Found(c, &r.Cells[i]), BreaksSchema) {
			n.Breaks++
			break
		}
	}
}

// otherState reports whether the call of a side ended in another state than that of the base.
func (p *Picture) otherState(set *Set, i int) bool {
	c, b := set.Calls[i], set.Calls[p.Base]
	return c != nil && b != nil && !c.Arriving() && !b.Arriving() && c.Status() != b.Status()
}

// change is how a cell differs from the base's, the gravest last.
type change uint8

const (
	noChange change = iota
	otherValue
	added
	leftOut
	otherType
)

func changeOf(set *Set, r *Row, i, base int) change {
	c, b := &r.Cells[i], &r.Cells[base]
	switch {
	case set.Calls[i] == nil || set.Calls[base] == nil || c.Agrees():
		return noChange
	case c.Mark == Absent:
		return leftOut
	case !b.Has():
		return added
	case typeOf(c.Kind) != typeOf(b.Kind):
		return otherType
	}
	return otherValue
}

// typeOf is a kind of value as JSON Schema calls it, with an article.
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

// agreement is whether two sides agree.
type agreement uint8

const (
	undecided agreement = iota
	yes
	no
)

// agree reports whether two sides made the same calls.
func (p *Picture) agree(i, j int) agreement {
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
		case set.differ(i, j, p.Base), !c.Arriving() && !d.Arriving() && c.Status() != d.Status():
			return no
		case set.sum(i) == 0 || set.sum(j) == 0:
			all = undecided
		case set.sum(i) != set.sum(j):
			return no
		}
	}
	return all
}

func (s *Set) sum(i int) uint64 {
	if i >= len(s.Sums) {
		return 0
	}
	return s.Sums[i]
}

// differ reports whether the rows tell that two calls differ, one of which is the base's.
func (s *Set) differ(i, j, base int) bool {
	if j == base {
		i, j = j, i
	}
	return i == base && slices.ContainsFunc(s.Rows, func(r Row) bool { return !r.Cells[j].Agrees() })
}

// agreeing are the sides that agree with one another: of several such groups the largest, and of
// two as large that of the base. Decided is whether it is known of all.
func (p *Picture) agreeing() (group []int, decided bool) {
	decided = true
	for i := range p.Sides {
		one := []int{i}
		for j := range p.Sides {
			if i == j {
				continue
			}
			switch p.agree(i, j) {
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

// Agreement says who agrees: "None agree.", "A and B agree.", "" where that is not to be said yet.
func (p *Picture) Agreement(name func(int) string) string {
	group, decided := p.agreeing()
	n := p.Count()
	switch {
	case len(p.Sets) == 0 && n.Pending:
		return "No call has come yet."
	case len(p.Sets) == 0 && !slices.ContainsFunc(p.Sides, func(s Side) bool { return s.Fails != "" }):
		return "None of them calls a tool."
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
		return names(who) + " agree."
	case decided && len(p.Sides) > 2:
		return "None agree."
	case !decided && n.Equal():
		return "So far all agree."
	}
	return ""
}

// took says, of sides that agree, who took longest and who least, where that is not much the same.
func (p *Picture) took(name func(int) string, say func(time.Duration) string) string {
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
