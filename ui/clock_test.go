package ui

import (
	"testing"
	"time"
)

// TestNoClock checks that T shows a notice if the source has no clock times. It also checks that arguments of
// commands are completed.
func TestNoClock(t *testing.T) {
	s := newScreen(t, 120, 40).feed(demo(t, "index-zero")...)
	s.press("T").shows("no clock times: times are measured from the start")
	s.press(":sort<enter><enter>").shows("by time")
}

// TestClock checks that T shows clock times in the list of events and for the paused moment, and that a second T
// shows elapsed times again.
func TestClock(t *testing.T) {
	records := demo(t, "parallel")
	for i := range records {
		if records[i].Head != nil {
			head := *records[i].Head
			head.Start = time.Date(2026, 11, 20, 9, 0, 0, 0, time.Local).Add(records[i].At)
			records[i].Head = &head
		}
	}
	s := newScreen(t, 140, 40).feed(records...)
	s.end().press("2").shows("+").hides("09:00:0").press("T").shows("09:00:0")
	s.press(" ,").shows("PAUSED 09:00:0", " of ").press("T").shows("PAUSED +").hides("PAUSED 09:")
}
