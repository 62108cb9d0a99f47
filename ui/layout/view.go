package layout

import "sort"

// FoldedRows maps rows to displayed rows: rows after a folded one are hidden, and rows may be inserted
// after a row. Its cost depends on the number of cuts, not of rows.
type FoldedRows struct {
	cuts  []RowEdit
	first []int // for each cut, the place of its row on the display
}

// A RowEdit inserts Add rows after a row, and hides the Hide rows that follow it.
type RowEdit struct{ Row, Add, Hide int }

// Set replaces the cuts. They must be ordered by row. A cut inside hidden rows is dropped.
func (v *FoldedRows) Set(cuts []RowEdit) {
	v.cuts, v.first = v.cuts[:0], v.first[:0]
	shown, next := 0, 0 // row next is displayed at place shown
	for _, c := range cuts {
		if c.Row < next {
			continue
		}
		shown += c.Row - next
		v.cuts, v.first = append(v.cuts, c), append(v.first, shown)
		shown, next = shown+1+c.Add, c.Row+1+c.Hide
	}
}

// Len returns the number of displayed rows for the given number of rows.
func (v *FoldedRows) Len(rows int) int {
	n := len(v.cuts) - 1
	if n < 0 {
		return rows
	}
	return v.first[n] + 1 + v.cuts[n].Add + max(0, rows-v.cuts[n].Row-1-v.cuts[n].Hide)
}

// At returns the row at a place on the display. The second result is 0 for the row itself, or n for the
// nth row inserted after it.
func (v *FoldedRows) At(place int) (row, behind int) {
	n := sort.Search(len(v.first), func(i int) bool { return v.first[i] > place }) - 1
	if n < 0 {
		return place, 0
	}
	c := v.cuts[n]
	if behind = place - v.first[n]; behind <= c.Add {
		return c.Row, behind
	}
	return c.Row + c.Hide + behind - c.Add, 0
}

// Place returns the place of a row, or of the row that hides it.
func (v *FoldedRows) Place(row int) int {
	n := sort.Search(len(v.cuts), func(i int) bool { return v.cuts[i].Row >= row })
	if n < len(v.cuts) && v.cuts[n].Row == row {
		return v.first[n]
	}
	if n--; n < 0 {
		return row
	}
	c := v.cuts[n]
	if row <= c.Row+c.Hide {
		return v.first[n]
	}
	return v.first[n] + row - c.Row - c.Hide + c.Add
}

// Hidden returns the row that hides a row, or -1.
func (v *FoldedRows) Hidden(row int) int {
	n := sort.Search(len(v.cuts), func(i int) bool { return v.cuts[i].Row >= row }) - 1
	if n < 0 || row > v.cuts[n].Row+v.cuts[n].Hide {
		return -1
	}
	return v.cuts[n].Row
}
