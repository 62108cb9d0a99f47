package panes

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"toolscope/providers"
	"toolscope/stream"
)

// TestHostRows checks that turns from other machines are below the row of their machine. Machines are sorted by name,
// and turns by start time. A folded machine's turns share the machine's row. While turns and machines arrive and
// machines are folded, the test compares rows counted step by step with rows counted all at once.
func TestHostRows(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var in providers.Inspector
	of := map[string]*stream.Machine{}
	var news Changes
	var verdicts Verdicts
	rows := machineRows{plain: rowSettings{verdicts: &verdicts}, up: func(*stream.Turn) (*stream.Turn, int32) { return nil, 0 }}
	for step := range 300 {
		for range random.IntN(3) {
			name := fmt.Sprintf("h%d", random.IntN(1+step/20))
			of[name] = &stream.Machine{Host: name, Agent: string(rune('d' - random.IntN(4)))}
			in.Write(stream.Record{Exchange: 1 + in.View().Events() + 1000*step + random.IntN(900), Head: &stream.Head{File: name, Origin: of[name], Status: 200},
				Data: []byte(`{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\""}}]},"finish_reason":"tool_calls"}]}`), End: true})
		}
		v := in.View()
		news.Advance(v)
		verdicts.Extend(v, &news)
		rows.countTurns(v, step%50 == 49)
		if len(rows.machines) > 1 {
			h := rows.machines[random.IntN(len(rows.machines))]
			rows.setFolded(h, random.IntN(2) == 0)
		}
		type line struct {
			host string
			turn int32
			n    int
		}
		var want []line
		var names []string
		for name := range of {
			names = append(names, name)
		}
		slices.Sort(names)
		bad, counted := 0, 0
		for _, name := range names {
			h := rows.machineNamed(name)
			if !slices.IsSorted(h.agents) || len(slices.Compact(slices.Clone(h.agents))) < len(h.agents) {
				t.Fatalf("agents %v", h.agents)
			}
			want = append(want, line{name, -1, 0})
			for _, turn := range v.Session().Turns {
				if host, _ := machineOf(v, turn); host != name {
					continue
				}
				for _, harm := range verdicts.RowsOf(turn) {
					if harm.IsBad() {
						bad++
					}
				}
				for n := 0; n < h.count.rowsOf(turn) && !h.shut; n++ {
					want = append(want, line{name, turn.Number, n})
				}
				if h.shut {
					if got := rows.rowOf(v, turn, 1); got != rows.firstRow(h) {
						t.Fatalf("step %d: a call of a folded machine is on row %d, want %d", step, got, rows.firstRow(h))
					}
				}
			}
			counted += h.count.bad
		}
		if rows.totalRows() != len(want) || counted != bad || verdicts.Counts.Bad() != bad {
			t.Fatalf("step %d: %d rows and %d bad, want %d and %d", step, rows.totalRows(), counted, len(want), bad)
		}
		for row, w := range want {
			h, turn, n := rows.rowTarget(row)
			got := line{h.name, -1, n}
			if turn != nil {
				got.turn = turn.Number
				if back := rows.rowOf(v, turn, n); back != row {
					t.Fatalf("step %d: row %d is %v, which is on row %d", step, row, got, back)
				}
			}
			if got != w {
				t.Fatalf("step %d: row %d is %v, want %v", step, row, got, w)
			}
		}
		if h, turn, _ := rows.rowTarget(len(want)); h != nil || turn != nil {
			t.Fatalf("step %d: there is something behind the last row", step)
		}
	}
	if len(rows.machines) < 10 || verdicts.Counts.Bad() == 0 {
		t.Fatalf("%d machines, %d bad: nothing was tested", len(rows.machines), verdicts.Counts.Bad())
	}
}

// TestHostRowsGrowth checks that the work for each new machine is the same whether there are few or many. Allocations
// are the measure of the work.
func TestHostRowsGrowth(t *testing.T) {
	cost := func(hosts int) uint64 {
		states := make([]MachineState, hosts)
		for i := range states {
			states[i].Name = fmt.Sprintf("h%05d", (i*7919)%hosts)
		}
		var rows machineRows
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rows.updateStates(states)
		runtime.ReadMemStats(&after)
		if len(rows.machines) != hosts || rows.totalRows() != hosts {
			t.Fatalf("%d hosts have %d rows", len(rows.machines), rows.totalRows())
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := cost(500), cost(4000); many > 16*few {
		t.Errorf("500 machines take %d bytes, 4000 take %d", few, many)
	}
}

// TestHostRowsGone checks that a machine that is no longer reported has no row, unless it has turns.
func TestHostRowsGone(t *testing.T) {
	var in providers.Inspector
	rows := machineRows{up: func(*stream.Turn) (*stream.Turn, int32) { return nil, 0 }}
	in.Write(stream.Record{Exchange: 1, Head: &stream.Head{File: "b", Origin: &stream.Machine{Host: "b"}, Status: 200}, Data: []byte(`{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}]}`), End: true})
	rows.countTurns(in.View(), false)
	rows.updateStates([]MachineState{{Name: "a"}, {Name: "b"}, {Name: "c"}})
	if gone := rows.updateStates([]MachineState{{Name: "c"}}); !gone || len(rows.machines) != 2 || rows.machineNamed("b").state != nil || rows.machineNamed("c").at != 1 || rows.rows.len() != 2 {
		t.Errorf("%d hosts", len(rows.machines))
	}
	if rows.updateStates([]MachineState{{Name: "c"}}) {
		t.Error("nothing went")
	}
	if gone := rows.updateStates(nil); !gone || len(rows.machines) != 1 || rows.machineNamed("b") == nil {
		t.Errorf("of none there are %d hosts", len(rows.machines))
	}
	if rows.updateStates(nil) {
		t.Error("nothing went")
	}
}
