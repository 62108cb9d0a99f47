package capture

import (
	"testing"
	"time"
)

// TestAllDay checks that an event that happens all day is reported less and less often, whatever its interval is.
// After a long time without the event, the next event is reported at once.
func TestAllDay(t *testing.T) {
	for _, every := range []time.Duration{time.Millisecond * 300, time.Second, 7 * time.Second, 13 * time.Second, time.Minute} {
		p := Backoff{First: time.Second, Max: 5 * time.Minute}
		now, said := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), 0
		begin := now
		for ; now.Sub(begin) < 24*time.Hour; now = now.Add(every) {
			if p.Allow(now) {
				said++
			}
		}
		if said < 230 || said > 24*12+10 { // after the first minutes, every 5 minutes or a little later
			t.Errorf("each %v: %d times in a day", every, said)
		}
		now = now.Add(time.Hour)
		if !p.Allow(now) || p.IsDue(now.Add(time.Second/2)) || !p.Allow(now.Add(time.Second)) || p.Allow(now.Add(2*time.Second)) {
			t.Errorf("each %v: after an hour it is said late, or too often", every)
		}
	}
}

// TestDue checks that an event that was due but was not reported is still due later.
func TestDue(t *testing.T) {
	p, now := Backoff{First: time.Minute, Max: time.Hour}, time.Now()
	if !p.IsDue(now) || !p.IsDue(now.Add(time.Second)) || !p.Allow(now.Add(2*time.Second)) || p.IsDue(now.Add(3*time.Second)) {
		t.Error("it is taken as said")
	}
}
