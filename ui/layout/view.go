package layout

import "sort"

// FoldedRows is rows as they are shown: some left out behind one that is folded, others put in behind one.
// It costs what the cuts cost, however many rows there are.
type FoldedRows struct {
	cuts  []RowEdit
	first []int // of each cut: the place where its row is shown
}

// A RowEdit is what is different behind a row: so many more rows are shown, and so many are not.
type RowEdit struct{ Row, Add, Hide int }

// Set makes the view of cuts, which are in the order of their rows. What hides a cut swallows it.
func (v *FoldedRows) Set(cuts []RowEdit) {
	v.cuts, v.first = v.cuts[:0], v.first[:0]
	shown, next := 0, 0 // the row next is shown at the place shown
	for _, c := range cuts {
		if c.Row < next {
			continue
		}
		shown += c.Row - next
		v.cuts, v.first = append(v.cuts, c), append(v.first, shown)
		shown, next = shown+1+c.Add, c.Row+1+c.Hide
	}
}

// Len is how many are shown of so many rows.
func (v *FoldedRows) Len(rows int) int {
	n := len(v.cuts) - 1
	if n < 0 {
		return rows
	}
	return v.first[n] + 1 + v.cuts[n].Add + max(0, rows-v.cuts[n].Row-1-v.cuts[n].Hide)
}

// At is the row at a place, and how manyth of those put in behind it: 0 for the row itself.
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

// Place is where a row is shown, or the one that hides it.
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

// Hidden is the row that hides another, or -1.
func (v *FoldedRows) Hidden(row int) int {
	n := sort.Search(len(v.cuts), func(i int) bool { return v.cuts[i].Row >= row }) - 1
	if n < 0 || row > v.cuts[n].Row+v.cuts[n].Hide {
		return -1
	}
	return v.cuts[n].Row
}
