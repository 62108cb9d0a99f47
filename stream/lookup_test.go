package stream

import (
	"reflect"
	"slices"
	"testing"
)

// TestLookup checks the subjects of events, the beginnings of their texts, and the lists of events about a turn,
// against the events themselves.
func TestLookup(t *testing.T) {
	var line Timeline
	for n := range int32(5_000) {
		turn := n % 7
		if n%100 > 90 {
			turn = n % 100 // most of these turns have no events for a long time
		}
		line.Append(Event{Kind: CallOpen, Turn: turn, Slot: n, What: &CallInfo{Name: "f"}}, Event{Kind: Args, Turn: turn, Slot: n, Text: `{"a":`})
		line.Append(Event{Kind: Fault, Turn: turn, Text: "what is wrong"}, Event{Kind: Heartbeat, Turn: NoTurn})
	}
	want := map[int32][]int{}
	for n := range line.Len() {
		e, _ := line.Event(n)
		kind, of := line.Subject(n)
		if _, c := line.Session().Find(of); kind != e.Kind || of.Turn != e.Turn || e.Kind == Args && (c == nil || c.Slot != e.Slot) {
			t.Fatalf("event %d is %v of %v, and About says %v of %v", n, e.Kind, e.Turn, kind, of)
		}
		for _, most := range []int{0, 1, 3, 100} {
			short := e
			short.Text = e.Text[:min(len(e.Text), most)]
			if got := line.EventPrefix(n, most); !reflect.DeepEqual(got, short) {
				t.Fatalf("event %d begins with %+v, want %+v", n, got, short)
			}
		}
		want[e.Turn] = append(want[e.Turn], n)
	}
	for _, turn := range line.Session().Turns {
		for _, from := range []int{0, 1, 1023, 1024, 7_000, 14_999, 15_000} {
			all := want[turn.Number]
			i, _ := slices.BinarySearch(all, from)
			if got := slices.Collect(line.EventsOf(turn, from)); !slices.Equal(got, all[i:]) {
				t.Fatalf("turn %d has %d events from %d on, want %d", turn.Number, len(got), from, len(all[i:]))
			}
		}
	}
}
