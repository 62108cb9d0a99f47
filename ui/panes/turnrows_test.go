package panes

import (
	"math/rand/v2"
	"testing"

	"toolscope/stream"
)

// TestTurnRows compares rows counted step by step with rows counted all at once, while turns arrive, get calls, lose
// them, and are dropped from the front.
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
		known := rows.countTurns(turns, gone, step == 500)
		for range 3 {
			if len(turns) == 0 {
				break
			}
			i := random.IntN(len(turns))
			turns[i].Calls = make([]*stream.Call, random.IntN(4))
			rows.recountTurn(i, turns[i])
		}
		if known > len(turns) || rows.rows.len() > 3*len(turns)+3 {
			t.Fatalf("%d known and %d counted, of %d", known, rows.rows.len(), len(turns))
		}
		row := 0
		for i, turn := range turns {
			if got := rows.rowOf(i, 0); got != row {
				t.Fatalf("step %d: turn %d is on row %d, want %d", step, i, got, row)
			}
			for n := range rows.rowsOf(turn) {
				if at, in := rows.turnAt(row + n); at != i || in != n {
					t.Fatalf("step %d: row %d is of turn %d, %d; want %d, %d", step, row+n, at, in, i, n)
				}
			}
			row += rows.rowsOf(turn)
		}
		if got := rows.totalRows(); got != row {
			t.Fatalf("step %d: %d rows, want %d", step, got, row)
		}
	}
}

// TestTurnsUnderCalls checks that the turns of an agent are below the call that started it, at any depth.
// If the turn of that call was dropped, they must keep their places.
func TestTurnsUnderCalls(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var turns []*stream.Turn
	var ups []stream.Ref // the call that started each turn's agent, by turn number; its field Turn is -1 if no call did
	rows := turnRows{}
	gone := 0
	rows.under = func(t *stream.Turn) (int, int32) { return int(ups[t.Number].Turn) - gone, ups[t.Number].Call }
	for step := range 600 {
		n := int32(len(ups))
		up := stream.Ref{Turn: -1}
		if of := n - 1 - int32(random.IntN(4)); of >= int32(gone) && random.IntN(3) > 0 && len(turns[of-int32(gone)].Calls) > 0 {
			up = stream.Ref{Turn: of, Call: 1 + int32(random.IntN(len(turns[of-int32(gone)].Calls)))}
		}
		ups = append(ups, up)
		turns = append(turns, &stream.Turn{Number: n, Calls: make([]*stream.Call, random.IntN(3))})
		rows.countTurns(turns, gone, false)
		i := random.IntN(len(turns))
		turns[i].Calls = append(turns[i].Calls, nil)
		rows.recountTurn(i, turns[i])
		var want [][2]int
		var write func(number int32)
		write = func(number int32) {
			at := int(number) - gone
			for row := -1; row <= 40; row++ {
				if at >= 0 && row >= 0 && row < rows.rowsOf(turns[at]) {
					want = append(want, [2]int{at, row})
				}
				for kid, of := range ups {
					if of.Turn == number && int(of.Call) == row+1 {
						write(int32(kid))
					}
				}
			}
		}
		for number, of := range ups {
			if of.Turn < 0 {
				write(int32(number))
			}
		}
		if rows.totalRows() != len(want) {
			t.Fatalf("step %d: %d rows, want %d", step, rows.totalRows(), len(want))
		}
		for row, w := range want {
			if at, n := rows.turnAt(row); at != w[0] || n != w[1] || rows.rowOf(at, n) != row {
				t.Fatalf("step %d: row %d is %d.%d, want %v; that is row %d", step, row, at, n, w, rows.rowOf(at, n))
			}
		}
		if step%7 == 6 && len(turns) > 4 {
			gone++
			turns = turns[1:]
			rows.countTurns(turns, gone, false)
		}
		if step%60 == 59 { // long runs have their own test
			turns, ups, gone = nil, nil, 0
			rows.countTurns(turns, gone, true)
		}
	}
}
