package diff

import (
	"slices"

	"toolscope/stream"
)

// Relation says how a turn's value compares with the base's.
type Relation uint8

const (
	Own     Relation = iota // it is the base's value
	Same                    // equal to the base's
	Alike                   // equal, but written differently
	Differs                 // different, whatever arrives later
	Absent                  // the turn has no such value
	Open                    // a part arrived, and the value may become equal
	NotYet                  // nothing arrived yet
	Unknown                 // its bytes are not in memory
)

func (m Relation) String() string {
	return [...]string{"own", "same", "alike", "differs", "absent", "open", "not yet", "unknown"}[m]
}

// Agrees reports whether the value equals the base's, or may still become equal.
func (m Relation) Agrees() bool { return m != Differs && m != Absent }

// Row is one field in all calls that are compared.
type Row struct {
	Name  string // ".city", "[1]"
	Path  string // a JSON pointer
	Depth int    // the number of enclosing fields that are rows too
	Cells []Cell // one per call
	Split bool   // rows for its own fields follow
	Equal bool   // all existing calls agree, or still may
}

// Cell is one field in one call. Offsets are in the bytes of the call's arguments.
type Cell struct {
	Relation
	Kind       stream.TokenKind // of the value's first token
	Growing    bool             // its end may still arrive
	Cut        bool             // its end will not arrive
	Key        int32            // start of the field
	Start, End int32            // of the value, up to now
	At         int32            // where it begins to differ, relative to Start
	Holds      int32            // number of values in an array or object
	Differing  int32            // number of them that differ, if they have rows
	List       *Items           // for a differing array of scalars
}

// Items lists how an array differs from the base's: the first differing item as it is written, and the
// number of further ones.
type Items struct{ Lacks, Adds string }

// Has reports whether the value exists, at least in part.
func (c *Cell) Has() bool { return c.Kind != none }

// maxDepth is the depth to which fields get rows of their own.
const maxDepth = 8

// argsComparer compares the arguments of calls with those of one call, the base.
type argsComparer struct {
	trees []tree
	calls []*Args
	base  int
	rows  []Row
}

// CompareArgs returns the fields of matching calls, and a hash of each call's arguments. Equal arguments
// have equal hashes; the hash is 0 until the arguments are final. A nil call does not exist; coming says
// whether its turn may still make it.
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

// compareRoots compares the root values. If they are not all objects, they get one row.
func (c *argsComparer) compareRoots(roots []int32, whole []bool) {
	for i, r := range roots {
		if r >= 0 && c.trees[i].nodes[r].kind != stream.ObjectOpen {
			c.compareField("", "", 0, roots, whole)
			return
		}
	}
	c.compareChildren("", 0, roots, whole)
}

// compareChildren compares the contents of containers, and returns each container's relation.
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

// worseRelation combines the relation of a container with that of one of its values.
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

// compareField compares one field and returns each call's relation. at has the field's node in each call,
// -1 if the call lacks it.
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

// makeCell returns the cell of call i. inside has the relations of the field's own fields, nil if they
// were not compared.
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

// compareNode sets the relation of call i's node to the base's node.
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

// compareContainers compares two containers by hash. It is used if their fields are too deep for rows.
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

// canSplit reports whether the fields of a value can be compared one by one: every call that has the value
// has the same kind of container, and the base and at least one other call have it.
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

// needsRows reports whether the contents of a value need rows. An array of scalars needs none: its own row
// shows the difference.
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

// isPlainList reports whether an array contains only scalars.
func (t *tree) isPlainList(n int32) bool {
	return !slices.ContainsFunc(t.nodes[n].children, func(k int32) bool {
		kind := t.nodes[k].kind
		return kind == stream.ObjectOpen || kind == stream.ArrayOpen
	})
}

// countDiffering counts, for each call, the differing fields directly inside r. Their rows start at first.
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
