package diff

import (
	"fmt"
	"strconv"
	"strings"

	"toolscope/stream"
)

// fieldID identifies a field of an object. A repeated name gets another nth.
type fieldID struct {
	name string
	nth  int
}

// alignFields matches the fields of containers. Each row has a field's node in every container, or -1.
// Rows have the base's order. A field that the base lacks follows the field that precedes it in its own
// container. ordered says for each container whether its fields have the base's order.
func (c *argsComparer) alignFields(in []int32) (sorted [][]int32, ordered []bool) {
	u := rowOrder{rows: map[fieldID]int{}, first: -1, last: -1}
	ordered = make([]bool, len(in))
	for _, i := range c.baseFirst() {
		ordered[i] = true
		if in[i] < 0 {
			continue
		}
		before, after := -1, -1 // the previous row, and the last row that the base has too
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

// add inserts a row after the row behind, or at the end if behind is -1.
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

// baseFirst returns the indexes of the calls, the base's first.
func (c *argsComparer) baseFirst() []int {
	order := []int{c.base}
	for i := range c.trees {
		if i != c.base {
			order = append(order, i)
		}
	}
	return order
}

// nameOf returns the display name of a field, from any call that has it.
func nameOf(trees []tree, at []int32) string {
	for i, n := range at {
		if n < 0 {
			continue
		}
		switch x := &trees[i].nodes[n]; {
		case trees[i].text[x.key] == '"' && x.key != x.start:
			return "." + x.name
		default:
			return "[" + strconv.Itoa(x.nth) + "]"
		}
	}
	return ""
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// pointerStep returns a name as a step of a JSON pointer.
func pointerStep(name string) string {
	switch {
	case name == "":
		return ""
	case name[0] == '[':
		return "/" + name[1:len(name)-1]
	}
	return "/" + escapePointer.Replace(name[1:])
}

// maxItems is the maximum number of items in an array whose items are compared one by one.
const maxItems = 1000

// compareLists sets, for a field that is an array of scalars, the items that each call lacks and adds.
func (c *argsComparer) compareLists(r *Row, at []int32) {
	b := at[c.base]
	if b < 0 || c.trees[c.base].nodes[b].kind != stream.ArrayOpen {
		return
	}
	for i, n := range at {
		cell := &r.Cells[i]
		if i == c.base || cell.Relation != Differs || cell.Kind != stream.ArrayOpen || !c.trees[i].isPlainList(n) {
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

// itemsWithout returns the items that others lacks. An item that occurs more often in items is returned as
// often as it is in excess.
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

// firstOf returns the first item, and the number of further ones.
func firstOf(items []item) string {
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0].text
	}
	return fmt.Sprintf("%s +%d", items[0].text, len(items)-1)
}
