package stream

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// turnsOf returns the events of n turns, each with two calls and some text. Up to three turns are open at a time.
// Some turns have a call that is sent back later.
func turnsOf(rng *rand.Rand, n int32) (events []Event) {
	lists := make([][]Event, n)
	for i := range lists {
		id := fmt.Sprint("id", rng.IntN(5))
		lists[i] = []Event{
			{Kind: TurnOpen, What: &Opening{ID: fmt.Sprint("r", i), Model: "m", Exchange: i}}, {Kind: TextDelta, Text: "I look"}, {Kind: ThinkDelta, Text: "hm"},
			opened(0, id, "f"), args(0, `{"a":`), args(0, ""), args(0, fmt.Sprint(i)), args(0, `}`), sealed(0),
			opened(1, id+"x", "g"), args(1, `{"b":`), {Kind: Rewrite, Slot: 1, Text: `{"c":`}, args(1, "\"\xed\xa0\xbd"), args(1, "\xed\xb8\x80\"}"), sealed(1),
			{Kind: UsageEvent, What: &Usage{Input: Tokens(int64(i))}}, {Kind: Signed, Text: "sig", What: &Signature{Item: "it"}},
			{Kind: UsageEvent, What: &Usage{Output: Tokens(9)}},
			found(0, (&Diagnosis{Code: "ODD", By: Gateway}).Finding("so")), finish(FinishDone, "tool_use"), closed(CloseEnd),
		}
		if i%3 == 0 {
			lists[i] = append(lists[i], Event{Kind: SentBack, Slot: 1, Text: "intact", Code: ResultOK, What: &SentBackReport{Exchange: i + 1}})
		}
	}
	for open := 0; open < int(n); {
		i := open + rng.IntN(min(3, int(n)-open))
		if len(lists[i]) > 0 {
			events = append(events, inTurn(int32(i), lists[i][0]))
			lists[i] = lists[i][1:]
		}
		for open < int(n) && len(lists[open]) == 0 {
			open++
		}
	}
	return stamped(events)
}

// TestReloadedTurn checks that a turn that was evicted and reloaded is the same as before, in the present and in the
// past.
func TestReloadedTurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 6 {
		events := turnsOf(rng, 6)
		want, got := Timeline{Every: 1 + rng.IntN(30)}, Timeline{Every: 1 + rng.IntN(30)}
		want.Append(events...)
		got.Append(events...)
		for _, turn := range got.Session().Turns {
			before := view(want.Session())
			got.Evict(turn.Number)
			if c := turn.Calls[0]; turn.Retention != Evicted || c.Args() != nil || c.ArgsLen() == 0 || c.Status() != Complete || turn.Text != nil {
				t.Fatalf("a cold turn is %v, its call %s", turn.Retention, c.Status())
			}
			for n := range got.EventsOf(turn, 0) {
				e, _ := got.Event(n)
				e.Text = events[n].Text
				if _, lost := events[n].What.(*Usage); !lost && !reflect.DeepEqual(e, events[n]) {
					t.Fatalf("event %d of a cold turn is %v, not %v", n, e, events[n])
				}
			}
			cold := got.At(len(events) / 2) // a past session is made while the turn is evicted
			alone := new(Timeline)
			for _, e := range events {
				if e.Turn == turn.Number && e.Kind != SentBack {
					alone.Append(inTurn(0, e))
				}
			}
			if !got.Reload(turn.Number, alone, 0) {
				t.Fatalf("turn %d stays cold", turn.Number)
			}
			if diff := diffViews(before, view(got.Session())); diff != "" || cold.Events() != len(events)/2 {
				t.Fatalf("turn %d had again (-before +after):\n%s", turn.Number, diff)
			}
		}
		for n := range events {
			if diff := diffViews(view(want.At(n)), view(got.At(n))); diff != "" {
				t.Fatalf("At(%d) after that (-before +after):\n%s", n, diff)
			}
			if e, kept := got.Event(n); !reflect.DeepEqual(e, events[n]) || !kept {
				t.Fatalf("event %d is %v, not %v", n, e, events[n])
			}
			if kind, at := got.KindAndTime(n); kind != events[n].Kind || at != events[n].At {
				t.Fatalf("event %d is at %v, not at %v", n, at, events[n].At)
			}
		}
	}
}

// TestReloadOtherContent checks that Reload rejects a turn with different content.
func TestReloadOtherContent(t *testing.T) {
	var tl Timeline
	tl.Append(opened(0, "a", "f"), args(0, `{}`), closed(CloseEnd))
	tl.Evict(0)
	for _, events := range [][]Event{
		{}, {opened(0, "a", "f"), args(0, `{} `), closed(CloseEnd)}, {opened(0, "a", "f"), args(0, `{`), args(0, `}`)},
		{opened(0, "a", "g"), args(0, `{}`)}, {opened(0, "a", "f"), args(0, `{}`), {Kind: TextDelta, Text: "x"}},
	} {
		other := new(Timeline)
		other.Append(events...)
		if tl.Reload(0, other, 0) {
			t.Errorf("%v was taken", events)
		}
	}
}

// TestDrop checks that only the row of a dropped turn is left, and that the other turns stay as they are. It also
// checks that a block of events is freed when its last turn is dropped, and that rows can be removed.
func TestDrop(t *testing.T) {
	const turns = 500
	rng := rand.New(rand.NewPCG(5, 6))
	events := turnsOf(rng, turns)
	var whole, tl Timeline
	whole.Append(events...)
	for _, e := range events {
		tl.Append(e)
		if on := tl.Session().Turn(e.Turn); on.Closed() && rng.IntN(50) == 0 {
			tl.Drop(e.Turn) // later events about the turn find its row
		}
	}
	for n := range int32(turns) {
		if n%7 != 0 {
			tl.Drop(n)
		}
	}
	for n := range int32(turns) {
		want, got := whole.Session().Turn(n), tl.Session().Turn(n)
		if got.ID != want.ID || got.Phase() != want.Phase() || got.Exchange != want.Exchange || got.ClosedAt != want.ClosedAt || got.Failure != want.Failure {
			t.Errorf("row %d: %s %s %v %d, not %s %s %v %d", n, got.ID, got.Phase(), got.ClosedAt, got.Exchange, want.ID, want.Phase(), want.ClosedAt, want.Exchange)
		}
		if got.Retention == Dropped && (got.DroppedCounts() != [NumStatus]int32{Complete: 2} || got.Calls != nil) {
			t.Errorf("row %d: its calls were %v", n, got.DroppedCounts())
		}
		if got.Retention == InMemory && string(got.Calls[1].Args()) != string(want.Calls[1].Args()) {
			t.Errorf("turn %d has changed", n)
		}
	}
	for n, e := range events {
		if got, kept := tl.Event(n); kept != (tl.Session().Turn(e.Turn).Retention == InMemory) || kept && got != e {
			t.Fatalf("event %d: %v, kept %v", n, got, kept)
		}
	}
	if s := tl.At(len(events) - 5); s.Events() != len(events)-5 || len(s.Turns) < turns-3 {
		t.Errorf("the past has %d turns", len(s.Turns))
	}
	for n := range int32(turns) {
		tl.Drop(n)
	}
	freed := 0
	for _, b := range tl.blocks {
		if b.events.n == 0 {
			freed++
		}
	}
	if freed < len(tl.blocks)-1 {
		t.Errorf("%d of %d blocks are free", freed, len(tl.blocks))
	}
	if tl.TrimRows(10); len(tl.Session().Turns) != 10 || tl.Session().TrimmedTurns() != turns-10 || tl.Session().Turn(turns-1) == nil || tl.Session().Turn(0) != nil {
		t.Errorf("%d rows, %d gone", len(tl.Session().Turns), tl.Session().TrimmedTurns())
	}
	tl.Append(inTurn(turns, opened(0, "late", "f")))
	if c := tl.Session().Turn(turns).Calls[0]; c.Name != "f" || tl.At(tl.Len()).Turn(turns).Calls[0].ID != "late" {
		t.Errorf("a turn after that has %v", c)
	}
}

// TestDropOldest checks past sessions after the oldest turns were dropped and their blocks freed. At every moment,
// they contain the rows of the dropped turns and the later turns, except for rows that were removed.
func TestDropOldest(t *testing.T) {
	const turns = 500
	events := turnsOf(rand.New(rand.NewPCG(7, 8)), turns)
	for _, removed := range []int{0, 1, 120} {
		var whole, tl Timeline
		whole.Append(events...)
		tl.Append(events...)
		for n := range int32(300) {
			tl.Drop(n)
		}
		if tl.TrimRows(turns - removed); tl.blocks[0].events.n != 0 || tl.Session().TrimmedTurns() != removed {
			t.Fatalf("no block is free, or %d rows are gone", tl.Session().TrimmedTurns())
		}
		gone := map[int32]bool{}
		for _, turn := range whole.Session().Turns[:removed] {
			gone[turn.Number] = true
		}
		past := tl.At(0)
		for n := 0; n <= len(events); n += 347 {
			past = tl.MoveTo(past, n)
			want, moved := whole.At(n), tl.At(n)
			for _, turn := range want.Turns {
				for _, s := range []*Session{past, moved} {
					if got := s.Turn(turn.Number); (got == nil) != gone[turn.Number] {
						t.Fatalf("%d rows removed, after %d events: turn %d is %v", removed, n, turn.Number, got)
					}
				}
			}
			if got := past.Turn(310); got != nil && string(got.Calls[0].Args()) != string(want.Turn(310).Calls[0].Args()) {
				t.Fatalf("after %d events: %s", n, got.Calls[0].Args())
			}
		}
	}
}

// TestResultsGo checks that a tool's result is kept with its turn, counts towards the turn's memory, and is evicted
// with the turn. The size of the result is kept.
func TestResultsGo(t *testing.T) {
	tl := new(Timeline)
	text := "what the tool gave"
	tl.Append(Event{Kind: TurnOpen}, opened(0, "a", "f"), sealed(0), closed(CloseEnd))
	before := tl.Session().Turns[0].Memory()
	tl.Append(Event{Kind: SentBack, Slot: 1, Text: "intact", Code: ResultOK, What: &SentBackReport{Exchange: 2, Result: Result{Bytes: 900, Text: text}}})
	turn := tl.Session().Turns[0]
	if r := turn.Calls[0].LatestResult(); r == nil || r.Exchange != 2 || r.Result.Text != text || turn.Memory() < before+len(text) {
		t.Fatalf("%+v, %d bytes after %d", r, turn.Memory(), before)
	}
	tl.Evict(0)
	e, _ := tl.Event(4)
	r, told := turn.Calls[0].LatestResult(), PayloadOf[SentBackReport](e)
	if r == nil || r.Result.Text+told.Result.Text != "" || r.Result.Bytes != 900 || told.Result.Bytes != 900 || told.Exchange != 2 {
		t.Errorf("after it was let go of: %+v, %+v", r, told)
	}
}
