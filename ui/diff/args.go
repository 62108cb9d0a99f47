// Package diff compares turns. It matches their calls, compares each call's fields with those of one turn, the
// base, and describes the differences in a sentence. It draws nothing and keeps no state. Its results are plain
// data that the caller keeps. The caller looks up turns and calls again when it needs them.
//
// A growing value differs only when it can no longer become equal. The package compares values, not their
// spelling: 3 equals 3.0. Strings that differ only in their escapes are equal, and so are objects that differ
// only in the order of fields. White space between tokens is ignored.
package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolscope/stream/json"
)

// Relation says how a turn's value compares with the base's value.
type Relation uint8

const (
	Own     Relation = iota // the value is the base's own
	Same                    // equal to the base's value
	Alike                   // equal, but written in another way
	Differs                 // different, regardless of later bytes
	Absent                  // the turn does not have the value
	Open                    // part of the value has arrived, and it may become equal
	NotYet                  // nothing has arrived so far
	Unknown                 // the value's bytes are not in memory
)

func (m Relation) String() string {
	return [...]string{"own", "same", "alike", "differs", "absent", "open", "not yet", "unknown"}[m]
}

// Agrees reports whether the value equals the base's value, or may still become equal.
func (m Relation) Agrees() bool { return m != Differs && m != Absent }

// Row is one field in all compared calls.
type Row struct {
	Name  string // ".city", "[1]"
	Path  string // a JSON pointer
	Depth int    // number of enclosing fields that have rows too
	Cells []Cell // one per call
	Split bool   // rows for the fields inside this one follow
	Equal bool   // all existing calls agree, or may still agree
}

// Cell is one field in one call. Offsets are in the bytes of the call's arguments.
type Cell struct {
	Relation
	Kind       json.TokenKind // kind of the value's first token
	Growing    bool           // the end of the value may still arrive
	Cut        bool           // the end of the value will not arrive
	Key        int32          // start of the field
	Start, End int32          // range of the value so far
	At         int32          // offset of the first difference, relative to Start
	Holds      int32          // number of values in an array or object
	Differing  int32          // number of values in the array or object that differ, if they have rows
	List       *Items         // set for a differing array of scalars
}

// Items says how an array of scalars differs from the base's array. Each text has the first differing item as
// written, and the number of further items.
type Items struct{ Lacks, Adds string }

// Has reports whether at least a part of the value exists.
func (c *Cell) Has() bool { return c.Kind != none }

// maxDepth is the maximum depth of fields that have their own rows.
const maxDepth = 8

// argsComparer compares the arguments of several calls with those of the base.
type argsComparer struct {
	trees []tree
	calls []*Args
	base  int
	rows  []Row
}

// CompareArgs returns the fields of matching calls, and a hash of each call's arguments. Equal arguments have
// equal hashes. The hash is 0 until the arguments are final. A nil call means that the turn has no such call.
// The parameter coming says for each turn whether it may still make the call.
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
	objects := true
	for i, r := range roots {
		objects = objects && (r < 0 || c.trees[i].nodes[r].kind == json.ObjectOpen)
	}
	switch {
	case some && objects:
		c.compareChildren("", 0, roots, whole)
	case some:
		c.compareField("", "", 0, roots, whole) // the roots get one row
	}
	return c.rows, sums
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

// worseRelation combines the relation of a container with the relation of one of its values.
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

// compareField compares one field and returns each call's relation. The parameter at has the field's node in
// each call, or -1 if the call lacks the field.
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

// makeCell returns the cell of call i. The parameter inside has the relations of the values inside the field,
// or is nil if they were not compared.
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

// compareNode sets the relation between call i's node and the base's node.
func (cell *Cell) compareNode(c *argsComparer, b int32, i int, n int32, inside []Relation) {
	x, y := &c.trees[i].nodes[n], &c.trees[c.base].nodes[b]
	switch {
	case x.kind != y.kind || x.kind != json.ObjectOpen && x.kind != json.ArrayOpen:
		m, at := compareScalars(&c.trees[c.base], y, &c.trees[i], x)
		cell.Relation, cell.At = m, int32(at)
	case inside != nil:
		cell.Relation = inside[i]
	// Containers whose fields are nested too deeply for rows are compared by hash.
	case !x.ends || !y.ends:
		cell.Relation = Open
	case c.trees[c.base].valueHash(b) == c.trees[i].valueHash(n):
		cell.Relation = Same
	default:
		cell.Relation = Differs
	}
}

// canSplit reports whether the fields in a value can be compared one by one. Every call that has the value
// must have the same kind of container. The base and at least one other call must have the value.
func (c *argsComparer) canSplit(at []int32) bool {
	b := at[c.base]
	if b < 0 {
		return false
	}
	kind := c.trees[c.base].nodes[b].kind
	if kind != json.ObjectOpen && kind != json.ArrayOpen {
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

// needsRows reports whether the contents of a value need their own rows. An array of scalars does not need
// them, because the array's row shows the difference.
func (c *argsComparer) needsRows(at []int32) bool {
	if c.trees[c.base].nodes[at[c.base]].kind == json.ObjectOpen {
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
		return kind == json.ObjectOpen || kind == json.ArrayOpen
	})
}

// countDiffering counts, for each call, the differing fields directly inside r. The rows of those fields start at
// first.
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

// fieldID identifies a field in an object. Fields with the same name have different values of nth.
type fieldID struct {
	name string
	nth  int
}

// alignFields matches the fields of containers. Each row contains a field's node in every container, or -1 for a
// container without the field. Rows are in the base's order. A field that the base lacks follows the field that
// precedes it in its own container. The result ordered says for each container whether its fields are in the base's
// order.
func (c *argsComparer) alignFields(in []int32) (sorted [][]int32, ordered []bool) {
	u := rowOrder{rows: map[fieldID]int{}, first: -1, last: -1}
	ordered = make([]bool, len(in))
	order := []int{c.base} // the base first
	for i := range c.trees {
		if i != c.base {
			order = append(order, i)
		}
	}
	for _, i := range order {
		ordered[i] = true
		if in[i] < 0 {
			continue
		}
		before, after := -1, -1 // the previous row, and the last row with a field of the base
		for _, k := range c.trees[i].nodes[in[i]].children {
			x := &c.trees[i].nodes[k]
			m := fieldID{x.name, x.nth}
			n, known := u.rows[m]
			if !known {
				n = u.add(m, len(in), before)
			} else if u.all[n][c.base] >= 0 {
				ordered[i] = ordered[i] && n > after
				after = n
			}
			u.all[n][i] = k
			before = n
		}
	}
	for n := u.first; n >= 0; n = u.next[n] {
		sorted = append(sorted, u.all[n])
	}
	return sorted, ordered
}

// rowOrder is a linked list of rows, so that a row can be inserted between others.
type rowOrder struct {
	rows        map[fieldID]int
	all         [][]int32
	next        []int
	first, last int
}

// add inserts a row and returns its number. The parameter behind is the number of the row before it, or -1 to add it
// at the end.
func (u *rowOrder) add(m fieldID, cells, behind int) (n int) {
	n = len(u.all)
	at := make([]int32, cells)
	for i := range at {
		at[i] = -1
	}
	u.rows[m], u.all = n, append(u.all, at)
	if behind < 0 {
		behind = u.last
	}
	if behind < 0 {
		u.first, u.last, u.next = n, n, append(u.next, -1)
		return n
	}
	u.next = append(u.next, u.next[behind])
	if u.next[behind] = n; behind == u.last {
		u.last = n
	}
	return n
}

// nameOf returns the display name of a field, from any call that has the field, or "".
func nameOf(trees []tree, at []int32) string {
	for i, n := range at {
		if n < 0 {
			continue
		}
		x := &trees[i].nodes[n]
		if trees[i].text[x.key] == '"' && x.key != x.start {
			return "." + x.name
		}
		return "[" + strconv.Itoa(x.nth) + "]"
	}
	return ""
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// pointerStep converts a name to a step in a JSON pointer.
func pointerStep(name string) string {
	switch {
	case name == "":
		return ""
	case name[0] == '[':
		return "/" + name[1:len(name)-1]
	}
	return "/" + escapePointer.Replace(name[1:])
}

// maxItems is the maximum length of an array whose items are compared one by one.
const maxItems = 1000

// compareLists sets Cell.List for a field that is an array of scalars: the items that each call lacks and adds.
func (c *argsComparer) compareLists(r *Row, at []int32) {
	b := at[c.base]
	if b < 0 || c.trees[c.base].nodes[b].kind != json.ArrayOpen {
		return
	}
	for i, n := range at {
		cell := &r.Cells[i]
		if i == c.base || cell.Relation != Differs || cell.Kind != json.ArrayOpen || !c.trees[i].isPlainList(n) {
			continue
		}
		own, base := c.trees[i].listItems(n), c.trees[c.base].listItems(b)
		if len(own) > maxItems || len(base) > maxItems {
			continue
		}
		cell.List = &Items{Adds: firstOf(itemsWithout(own, base))}
		if !cell.Growing {
			cell.List.Lacks = firstOf(itemsWithout(base, own))
		}
	}
}

// item is a scalar in an array.
type item struct {
	sum  uint64
	text string
}

func (t *tree) listItems(n int32) (all []item) {
	for _, k := range t.nodes[n].children {
		if x := &t.nodes[k]; x.ends {
			all = append(all, item{t.valueHash(k), string(t.text[x.start:x.end])})
		}
	}
	return all
}

// itemsWithout returns the items that are not in others. If an item occurs more often in items than in others, it is
// returned once for each extra occurrence.
func itemsWithout(items, others []item) (left []item) {
	count := map[uint64]int{}
	for _, o := range others {
		count[o.sum]++
	}
	for _, i := range items {
		if count[i.sum]--; count[i.sum] < 0 {
			left = append(left, i)
		}
	}
	return left
}

// firstOf returns the text of the first item, followed by the number of further items, if there are any. It
// returns "" if there are no items.
func firstOf(items []item) string {
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0].text
	}
	return fmt.Sprintf("%s +%d", items[0].text, len(items)-1)
}

// DifferingSpans returns the span of a field in two calls' arguments, and the differing spans in each. An
// empty path selects all of the arguments.
func DifferingSpans(args [2]*Args, path string) (spans [2][2]int, marks [2][][2]int) {
	rows, _ := CompareArgs(args[:], 0, make([]bool, 2))
	for i, a := range args {
		if a != nil {
			spans[i] = [2]int{0, len(a.Text)}
		}
	}
	for r := range rows {
		row := &rows[r]
		inside := path == "" || row.Path == path || strings.HasPrefix(row.Path, path+"/")
		for i := range row.Cells {
			cell := &row.Cells[i]
			if row.Path == path && args[i] != nil {
				spans[i] = [2]int{int(cell.Start), int(cell.End)}
			}
			if inside && !row.Split && !row.Equal && cell.Has() {
				marks[i] = append(marks[i], differingSpan(args, row, i))
			}
		}
	}
	for i := range marks {
		slices.SortFunc(marks[i], func(a, b [2]int) int { return a[0] - b[0] })
	}
	return spans, marks
}

// differingSpan returns the differing part of a field. For two strings, it leaves out their common start and end.
func differingSpan(args [2]*Args, row *Row, i int) [2]int {
	a, b := &row.Cells[i], &row.Cells[1-i]
	whole := [2]int{int(a.Start), int(a.End)}
	if a.Kind != json.String || b.Kind != json.String {
		return whole
	}
	one, other := args[i].Text[a.Start:a.End], args[1-i].Text[b.Start:b.End]
	n := commonPrefixLen(one, other)
	for n > 0 && n < len(one) && one[n]&0xc0 == 0x80 {
		n--
	}
	end := 0
	for end < len(one)-n && end < len(other)-n && one[len(one)-1-end] == other[len(other)-1-end] {
		end++
	}
	if len(one)-end <= n {
		return [2]int{int(a.Start) + max(0, n-1), int(a.Start) + min(n+1, len(one))}
	}
	return [2]int{int(a.Start) + n, int(a.End) - end}
}
