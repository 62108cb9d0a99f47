package panes

import (
	"testing"
	"time"

	"toolscope/providers"
	"toolscope/stream"
)

const ms = time.Millisecond

// TestMedians checks that there is one row for each kind, the most frequent kind first. If only some calls have a
// time, the median is that of those calls. If there is only one kind, there are no rows.
func TestMedians(t *testing.T) {
	row := func(from string, first, end time.Duration, how providers.Arrival) timesRow {
		r := timesRow{from: from, how: how}
		for i := range r.took {
			r.took[i] = stream.NoTime
		}
		r.took[firstByteTime], r.took[8] = first, end
		return r
	}
	byModel := func(r timesRow) string { return r.from }
	rows := []timesRow{row("a", 100*ms, stream.NoTime, providers.Eager), row("b", 5*ms, 9*ms, providers.AtOnce), row("a", 300*ms, 900*ms, providers.Eager), row("a", 200*ms, 700*ms, providers.ByValue)}
	got := mediansByKind(rows, byModel)
	if len(got) != 2 || got[0].name != "a" || got[0].many != 3 || got[0].took[firstByteTime] != 200*ms || got[0].took[8] != 700*ms ||
		got[0].took[0] != stream.NoTime || got[0].how != providers.ArrivalUnknown || got[1].name != "b" || got[1].how != providers.AtOnce {
		t.Errorf("%+v", got)
	}
	if got := mediansByKind(rows[2:], byModel); got != nil {
		t.Errorf("one model: %+v", got)
	}
}

// TestLater checks that a time difference has a sign.
func TestLater(t *testing.T) {
	for _, c := range []struct {
		at, than time.Duration
		want     string
	}{{1500 * ms, 300 * ms, "+1.20 s"}, {300 * ms, 1500 * ms, "-1.20 s"}, {5 * ms, 5 * ms, "="}, {stream.NoTime, 5 * ms, ""}} {
		if got := laterText(c.at, c.than).String(); got != c.want {
			t.Errorf("%v than %v: %q", c.at, c.than, got)
		}
	}
}

// TestNearest checks that the rows of the nearest turns are kept, in order.
func TestNearest(t *testing.T) {
	var rows []timesRow
	for n := range int32(20) {
		rows = append(rows, timesRow{of: stream.Ref{Turn: n, Call: 1}})
	}
	got := nearestRows(rows, 10)
	var turns []int32
	for _, r := range got {
		turns = append(turns, r.of.Turn)
	}
	if len(turns) != maxSameTool || turns[0] != 9 && turns[0] != 8 || turns[len(turns)-1] > 12 {
		t.Error(turns)
	}
}
