package panes

import (
	"math/rand/v2"
	"testing"

	"toolscope/stream"
)

// TestTurnRows holds what is counted bit by bit against what is counted at once, while turns come,
// get calls, lose them, and go from the front.
func TestTurnRows(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var turns []*stream.Turn
	var rows turnRows
	gone := 0
	for step := range 2_000 {
		for range random.IntN(4) {
			turns = append(turns, &stream.Turn{Calls: make([]*stream.Call, random.IntN(3))})
		}
		went := random.IntN(1 + min(3, len(turns)))
		if step == 1_000 {
			went = len(turns)
		}
		gone, turns = gone+went, turns[went:]
		known := rows.extend(turns, gone, step == 500)
		for range 3 {
			if len(turns) == 0 {
				break
			}
			i := random.IntN(len(turns))
			turns[i].Calls = make([]*stream.Call, random.IntN(4))
			rows.count(i, turns[i])
		}
		if known > len(turns) || rows.rows.len() > 3*len(turns)+3 {
			t.Fatalf("%d known and %d counted, of %d", known, rows.rows.len(), len(turns))
		}
		row := 0
		for i, turn := range turns {
			if got := rows.first(i); got != row {
				t.Fatalf("step %d: turn %d is on row %d, want %d", step, i, got, row)
			}
			for n := range rowsOf(turn) {
				if at, in := rows.at(row + n); at != i || in != n {
					t.Fatalf("step %d: row %d is of turn %d, %d; want %d, %d", step, row+n, at, in, i, n)
				}
			}
			row += rowsOf(turn)
		}
		if got := rows.all(); got != row {
			t.Fatalf("step %d: %d rows, want %d", step, got, row)
		}
	}
}
