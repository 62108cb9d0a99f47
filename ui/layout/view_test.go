package layout

import (
	"math/rand/v2"
	"testing"
)

// TestView checks that each row that is not hidden is shown once, in order, followed by its inserted rows.
func TestView(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		var v FoldedRows
		rows := 1 + random.IntN(30)
		var cuts []RowEdit
		for row := range rows {
			if random.IntN(4) == 0 {
				cuts = append(cuts, RowEdit{Row: row, Add: random.IntN(3), Hide: random.IntN(min(4, rows-row))})
			}
		}
		v.Set(cuts)
		place := 0
		for row, c := 0, 0; row < rows; row++ {
			if v.Place(row) != place || v.Hidden(row) != -1 {
				t.Fatalf("%v: row %d is at %d, want %d", cuts, row, v.Place(row), place)
			}
			for c < len(cuts) && cuts[c].Row < row {
				c++
			}
			cut := RowEdit{Row: row}
			if c < len(cuts) && cuts[c].Row == row {
				cut = cuts[c]
			}
			for behind := 0; behind <= cut.Add; behind++ {
				if r, b := v.At(place); r != row || b != behind {
					t.Fatalf("%v: at %d is row %d and %d, want %d and %d", cuts, place, r, b, row, behind)
				}
				place++
			}
			for range cut.Hide {
				row++
				if v.Place(row) != v.Place(cut.Row) || v.Hidden(row) != cut.Row {
					t.Fatalf("%v: row %d is not hidden by %d", cuts, row, cut.Row)
				}
			}
		}
		if v.Len(rows) != place {
			t.Fatalf("%v: %d of %d rows are shown, want %d", cuts, v.Len(rows), rows, place)
		}
	}
}
