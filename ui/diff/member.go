package diff

import (
	"slices"

	"toolscope/stream"
)

// Relation is what a turn has of something, held against what the base has.
type Relation uint8

const (
	Own     Relation = iota // it is the base's own
	Same                    // as the base has it
	Alike                   // the same meaning, written otherwise
	Differs                 // something else, whatever may follow
	Absent                  // it has none
	Open                    // part of it has come, and it may become the same
	NotYet                  // nothing of it has come, and may
	Unknown                 // its bytes are not kept
)

func (m Relation) String() string {
	return [...]string{"own", "same", "alike", "differs", "absent", "open", "not yet", "unknown"}[m]
}

// Agrees reports whether it is what the base has, or may become that.
func (m Relation) Agrees() bool { return m != Differs && m != Absent }

// Row is a member, of all calls that are compared.
type Row struct {
	Name  string // ".city", "[1]"
	Path  string // a JSON pointer
	Depth int    // of how many members it is part that are rows too
	Cells []Cell // one for each call
	Split bool   // its own members follow
	Equal bool   // all that are there agree, or may
}

// Cell is what one call has of a member. The bytes are those of its arguments.
type Cell struct {
	Relation
	Kind       stream.TokenKind // of the value's first token
	Growing    bool             // its end has not come, and may
	Cut        bool             // its end has not come, and will not
	Key        int32            // where the member begins
	Start, End int32            // of the value, as far as it has come
	At         int32            // where it differs, from Start
	Holds      int32            // of an array or object: how many values
	Differing  int32            // of those, how many differ, where they are rows
	List       *Items           // of a list of plain values that differs
}

// Items are those of a list that differ from the base's: the first, as it is written, and how many
// more.
type Items struct{ Lacks, Adds string }

// Has reports whether there is a value, or the beginning of one.
func (c *Cell) Has() bool { return c.Kind != none }

// maxDepth is how deep members are told apart.
const maxDepth = 8

// argsComparer is the arguments of calls, held against those of one of them.
type argsComparer struct {
	trees []tree
	calls []*Args
	base  int
	rows  []Row
}

// CompareArgs are the members of calls that belong together, and of each call a hash of its arguments,
// the same for those that are alike; 0 while they are not whole. A call that is nil is not there;
// that its turn may still make it is told by coming.
func CompareArgs(calls []*Args, base int, coming []bool) (rows []Row, sums []uint64) {
	sums = make([]uint64, len(calls))
	c := argsComparer{trees: make([]tree, len(calls)), calls: calls, base: base}
	roots, whole, some := make([]int32, len(calls)), make([]bool, len(calls)), false
	for i, call := range calls {
		roots[i], whole[i] = -1, call == nil && !coming[i]
		if call == nil {
			continue
		}
		whole[i] = call.Over
		if c.trees[i] = call.parseTree(); len(c.trees[i].nodes) > 0 {
			roots[i], some = 0, true
		}
		sums[i] = c.trees[i].argsHash(call)
	}
	if some {
		c.compareRoots(roots, whole)
	}
	return c.rows, sums
}

// compareRoots compares the values that hold all others. Where they are not all objects they are a row
// themselves.
func (c *argsComparer) compareRoots(roots []int32, whole []bool) {
	for i, r := range roots {
		if r >= 0 && c.trees[i].nodes[r].kind != stream.ObjectOpen {
			c.compareField("", "", 0, roots, whole)
			return
		}
	}
	c.compareChildren("", 0, roots, whole)
}

// compareChildren compares what containers hold, and returns for each of them what becomes of it.
func (c *argsComparer) compareChildren(path string, depth int, in []int32, whole []bool) []Relation {
	all := make([]Relation, len(in))
	for i := range all {
		all[i] = Same
		if in[i] >= 0 {
			whole[i] = c.trees[i].nodes[in[i]].ends || whole[i]
		}
	}
	order, ordered := c.alignFields(in)
	for _, at := range order {
		marks := c.compareField(path, nameOf(c.trees, at), depth, at, whole)
		for i, m := range marks {
			all[i] = worseRelation(all[i], m)
		}
	}
	for i := range all {
		switch {
		case all[i] == Same && !ordered[i]:
			all[i] = Alike
		case all[i] != Differs && (!whole[i] || !whole[c.base]):
			all[i] = Open
		}
	}
	return all
}

// worseRelation is what two marks make of what holds them.
func worseRelation(a, b Relation) Relation {
	switch b {
	case Absent:
		b = Differs
	case NotYet, Unknown:
		b = Open
	case Own:
		b = Same
	}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

var rank = [...]int{Same: 0, Alike: 1, Open: 2, Differs: 3}

// compareField compares one member, which a call has at its node, -1 if it has none. It returns what becomes
// of it in each of them.
func (c *argsComparer) compareField(path, name string, depth int, at []int32, whole []bool) []Relation {
	n := len(c.rows)
	r := Row{Name: name, Path: path + pointerStep(name), Depth: depth, Cells: make([]Cell, len(at)), Equal: true}
	c.rows = append(c.rows, r)
	var inside []Relation
	if depth < maxDepth && c.canSplit(at) {
		inside = c.compareChildren(r.Path, depth+1, at, slices.Clone(whole))
	}
	marks := make([]Relation, len(at))
	for i := range at {
		r.Cells[i] = c.makeCell(at, i, whole, inside)
		marks[i] = r.Cells[i].Relation
		r.Equal = r.Equal && (marks[i].Agrees() || c.calls[i] == nil || c.calls[c.base] == nil)
	}
	if r.Split = inside != nil && !r.Equal && c.needsRows(at); r.Split {
		c.countDiffering(&r, n+1)
	} else {
		c.rows = c.rows[:n+1]
		c.compareLists(&r, at)
	}
	c.rows[n] = r
	return marks
}

// makeCell is what call i has of a member; inside is what its own members come to, where they were
// looked at.
func (c *argsComparer) makeCell(at []int32, i int, whole []bool, inside []Relation) (cell Cell) {
	t, b := &c.trees[i], at[c.base]
	if at[i] < 0 || t.nodes[at[i]].kind == none {
		switch {
		case t.unknown:
			cell.Relation = Unknown
		case c.calls[i] != nil && i != c.base && b < 0 && !c.trees[c.base].unknown:
			cell.Relation = Same
		case whole[i]:
			cell.Relation = Absent
		default:
			cell.Relation = NotYet
		}
		return cell
	}
	x := &t.nodes[at[i]]
	cell = Cell{
		Kind: x.kind, Key: int32(x.key), Start: int32(x.start), End: int32(x.end),
		Growing: !x.ends, Cut: x.ends && !x.closed, Holds: int32(len(x.children)),
	}
	switch {
	case i == c.base:
		cell.Relation = Own
	case c.trees[c.base].unknown, b < 0 && !whole[c.base]:
		cell.Relation = Open
	case b < 0:
		cell.Relation = Differs
	default:
		cell.compareNode(c, b, i, at[i], inside)
	}
	return cell
}

// compareNode holds the node of call i against that of the base.
func (cell *Cell) compareNode(c *argsComparer, b int32, i int, n int32, inside []Relation) {
	x, y := &c.trees[i].nodes[n], &c.trees[c.base].nodes[b]
	switch {
	case x.kind != y.kind || x.kind != stream.ObjectOpen && x.kind != stream.ArrayOpen:
		m, at := compareScalars(&c.trees[c.base], y, &c.trees[i], x)
		cell.Relation, cell.At = m, int32(at)
	case inside != nil:
		cell.Relation = inside[i]
	default:
		cell.Relation = c.compareContainers(b, i, n)
	}
}

// compareContainers compares two containers as a whole, where their members are no rows: too deep down.
func (c *argsComparer) compareContainers(b int32, i int, x int32) Relation {
	one, other := &c.trees[c.base].nodes[b], &c.trees[i].nodes[x]
	switch {
	case !one.ends || !other.ends:
		return Open
	case c.trees[c.base].valueHash(b) == c.trees[i].valueHash(x):
		return Same
	}
	return Differs
}

// canSplit reports whether the members of a value are to be told apart: where it is the same kind of
// container in at least two of the calls, the base among them.
func (c *argsComparer) canSplit(at []int32) bool {
	b := at[c.base]
	if b < 0 {
		return false
	}
	kind := c.trees[c.base].nodes[b].kind
	if kind != stream.ObjectOpen && kind != stream.ArrayOpen {
		return false
	}
	same := 0
	for i, n := range at {
		if n >= 0 && c.trees[i].nodes[n].kind != kind {
			return false
		}
		if n >= 0 {
			same++
		}
	}
	return same > 1
}

// needsRows reports whether the members of a value are worth rows: a list of plain values says in one
// row what differs.
func (c *argsComparer) needsRows(at []int32) bool {
	if c.trees[c.base].nodes[at[c.base]].kind == stream.ObjectOpen {
		return true
	}
	for i, n := range at {
		if n >= 0 && !c.trees[i].isPlainList(n) {
			return true
		}
	}
	return false
}

// isPlainList reports whether an array holds no containers.
func (t *tree) isPlainList(n int32) bool {
	return !slices.ContainsFunc(t.nodes[n].children, func(k int32) bool {
		kind := t.nodes[k].kind
		return kind == stream.ObjectOpen || kind == stream.ArrayOpen
	})
}

// countDiffering says of each call how many of its members differ, of those in rows from first on.
func (c *argsComparer) countDiffering(r *Row, first int) {
	for n := first; n < len(c.rows); n++ {
		if c.rows[n].Depth != r.Depth+1 {
			continue
		}
		for i := range r.Cells {
			if !c.rows[n].Cells[i].Agrees() {
				r.Cells[i].Differing++
			}
		}
	}
}
