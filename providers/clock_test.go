package providers

import (
	"testing"
	"time"

	"toolscope/stream"
)

// TestClockOfRun checks that an exchange whose start was not seen uses the clock of its run, not the clock of
// the first exchange. If its run has no clock, the clock is unknown.
func TestClockOfRun(t *testing.T) {
	monday := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	friday := monday.AddDate(0, 0, 4)
	in := new(Inspector)
	for _, of := range []struct {
		exchange int
		run      string
		at       time.Duration
		start    time.Time
	}{
		{1, "a 1", time.Second, monday.Add(time.Second)},
		{2, "b 2", time.Hour, time.Time{}}, // the viewer joined midway, before the run's clock was known
		{3, "c 3", time.Hour, time.Time{}}, // an exchange of a run without a clock
		{4, "b 2", 2 * time.Hour, friday.Add(2 * time.Hour)},
		{5, "b 2", 3 * time.Hour, time.Time{}},
	} {
		if v := in.View(); of.exchange == 4 {
			if at, ok := v.WallClock(2, time.Hour); ok {
				t.Errorf("it was %s, of what nobody knew by then", at)
			}
		}
		in.Write(stream.Record{Exchange: of.exchange, Request: true, At: of.at, Head: &stream.Head{File: of.run, Run: of.run, Method: "POST", Start: of.start}})
	}
	for exchange, want := range map[int]time.Time{1: monday, 2: friday, 3: {}, 4: friday, 5: friday} {
		at, ok := in.View().WallClock(exchange, time.Minute)
		if ok != !want.IsZero() || ok && !at.Equal(want.Add(time.Minute)) {
			t.Errorf("exchange %d: %s, %t; wanted is a minute after %s", exchange, at, ok, want)
		}
	}
}
