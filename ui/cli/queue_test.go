package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// teller is a printer that records its own output.
type teller struct{ told []string }

func (p *teller) addTurn(_ *providers.View, _ string, t *stream.Turn) {
	p.told = append(p.told, fmt.Sprint("turn ", t.Number))
}

func (p *teller) sentBack(calls []sentBackCall) {
	for _, r := range calls {
		p.told = append(p.told, fmt.Sprint("back ", r.of, r.name))
	}
}

func (p *teller) flush() error { return nil }

func (p *teller) wants(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(p.told, want) {
		t.Errorf("printed %q, want %q", p.told, want)
	}
	p.told = nil
}

// TestPrintLooksOnce checks that with many open turns, a record that ends no turn causes no allocation. The printer
// must keep only open turns.
func TestPrintLooksOnce(t *testing.T) {
	in := new(providers.Inspector)
	q := newTurnPrinter(in, "a", &jsonPrinter{lineWriter: lineWriter{to: io.Discard}, prices: price.Embedded()})
	const open = 100
	for n := range int32(open) {
		in.Write(stream.Record{Exchange: int(n) + 1, Data: []byte("event: message_start\n")})
		in.Timeline.Append(stream.Event{Kind: stream.TurnOpen, Turn: n, What: &stream.Opening{Exchange: int(n) + 1}})
	}
	if err := q.printEnded(false); err != nil || len(q.open) != open {
		t.Fatalf("%d turns wait, %v", len(q.open), err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = q.printEnded(false) }); n > 0 {
		t.Errorf("%v allocations, and nothing has ended", n)
	}
	in.Timeline.Append(stream.Event{Kind: stream.TurnClose, Turn: 7})
	if err := q.printEnded(false); err != nil || len(q.open) != open-1 {
		t.Errorf("one has ended, and %d of %d wait, %v", len(q.open), open, err)
	}
	if err := q.printEnded(true); err != nil || len(q.open)+len(q.waiting)+len(q.unbegun) > 0 {
		t.Errorf("after all %+v, %v", q, err)
	}
}

// TestPrintOrder checks that turns that end together are printed once, in the order of their start. A sent-back
// call must be printed after its turn.
func TestPrintOrder(t *testing.T) {
	in, to := new(providers.Inspector), new(teller)
	q := newTurnPrinter(in, "a", to)
	event := func(kind stream.EventKind, turn int32) {
		e := stream.Event{Kind: kind, Turn: turn}
		switch kind {
		case stream.CallOpen:
			e.Slot, e.What = 3, &stream.CallInfo{ID: "id", Name: "f"}
		case stream.CallMeta:
			e.Slot, e.What = 3, &stream.CallInfo{Name: "g"}
		case stream.SentBack:
			e.Slot, e.What = 1, &stream.SentBackReport{}
		}
		in.Timeline.Append(e)
	}
	print := func(all bool, want ...string) {
		t.Helper()
		if err := q.printEnded(all); err != nil {
			t.Fatal(err)
		}
		to.wants(t, want...)
	}
	for _, turn := range []int32{0, 1, 3, 2} { // one turn begins after a turn with a higher number
		event(stream.TurnOpen, turn)
		event(stream.CallOpen, turn)
		print(false)
	}
	event(stream.TurnClose, 2)
	event(stream.SentBack, 3)
	event(stream.TurnClose, 3)
	event(stream.TurnClose, 3)
	event(stream.SentBack, 2)
	event(stream.SentBack, 0)
	print(false, "turn 3", "turn 2", "back {3 1}f", "back {2 1}f")
	event(stream.TurnClose, 3)
	event(stream.SentBack, 0)
	event(stream.CallMeta, 0)
	event(stream.SentBack, 3)
	event(stream.TurnClose, 0)
	print(false, "back {3 1}f", "turn 0", "back {0 1}g", "back {0 1}g")
	print(true, "turn 1")
	print(true)
}

// TestPrintWhileOneIsOpen checks that the printer's memory does not grow with the number of ended turns while one
// turn stays open.
func TestPrintWhileOneIsOpen(t *testing.T) {
	in, to := new(providers.Inspector), new(teller)
	q := newTurnPrinter(in, "a", to)
	in.Timeline.Append(stream.Event{Kind: stream.TurnOpen, Turn: 0})
	for n := range int32(5_000) {
		in.Timeline.Append(stream.Event{Kind: stream.TurnOpen, Turn: n + 1}, stream.Event{Kind: stream.TurnClose, Turn: n + 1})
		if err := q.printEnded(false); err != nil || len(q.open)+len(q.waiting)+len(q.unbegun) > 2 {
			t.Fatalf("after %d turns %+v, %v", n, q, err)
		}
	}
	if printed := strings.Join(to.told, " "); len(to.told) != 5_000 || strings.Contains(printed, "turn 0 ") {
		t.Errorf("%d printed", len(to.told))
	}
}

// TestFaultToTheEnd checks that a turn with an injected fault is printed only at the end of its exchange, when the
// fault's effect is known.
func TestFaultToTheEnd(t *testing.T) {
	for _, note := range []string{"", "bent by toolscope (--fault cut)"} {
		in, to := new(providers.Inspector), new(teller)
		q := newTurnPrinter(in, "a", to)
		printed := func(rec stream.Record) int {
			in.Write(rec)
			if err := q.printEnded(false); err != nil {
				t.Fatal(err)
			}
			return len(to.told)
		}
		head := &stream.Head{Method: "POST", URL: "https://api.openai.com/v1/chat/completions", Status: 200}
		early := printed(stream.Record{Exchange: 1, Head: head, Data: chat(toolChunk(`{}`), finishChunk, "[DONE]"), Note: note})
		late := printed(stream.Record{Exchange: 1, End: true, Note: note})
		if want := map[bool]int{true: 1, false: 0}[note == ""]; early != want || late != 1 {
			t.Errorf("%q: %d turns are printed, and then %d", note, early, late)
		}
	}
}
