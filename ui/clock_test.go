package ui

import "testing"

// TestNoClock checks that T shows a notice if the source has no clock times. It also checks that a command
// that needs an argument completes it.
func TestNoClock(t *testing.T) {
	s := newScreen(t, 120, 40).feed(demo(t, "index-zero")...)
	s.press("T").shows("no clock times here: times count from the start")
	s.press(":sort<enter><enter>").shows("by time")
}
