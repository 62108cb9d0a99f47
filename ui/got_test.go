package ui

import "testing"

// TestGot: a call shows what the tool got of it, when, what it answered, and what of that the model was
// told, beside the rules by which code would run it, and on the strip of time.
func TestGot(t *testing.T) {
	s := newScreen(t, 140, 44).feed(demo(t, "executed")...).end().press("gj4")
	s.shows("WHAT THE TOOL GOT", "scrape_webpage of web got it: by its id", "3.4 s before", "other arguments: 7 B", "answered an error in 608 ms, 257 B",
		"the model was told 28 B: cut", "EXEC_CUT", "EXEC_EARLY", "RESULT_CUT")
	s.press("3").shows("tool got")
	s.press(" ").shows("R run")
	newScreen(t, 140, 60).feed(demo(t, "executed")...).end().press("gj5").shows("WHEN CODE WOULD RUN", "SEEN TO RUN", "by its id")
	for _, size := range [][2]int{{40, 10}, {60, 18}} {
		small := newScreen(t, size[0], size[1]).feed(demo(t, "executed")...).end().press("gj4")
		for _, row := range small.rows() {
			if n := len([]rune(row)); n > size[0] {
				t.Errorf("%d cells: %s", n, row)
			}
		}
	}
}
