package ui

import "testing"

// TestGot checks that a call shows the arguments that the tool received, the time, the result, and the part of the
// result that the model received. These facts are next to the rules by which code would run the call, and on the
// timeline.
func TestGot(t *testing.T) {
	s := newScreen(t, 140, 50).feed(demo(t, "executed")...).end().press("g3")
	s.shows("WHAT THE TOOL RECEIVED", "server web, tool scrape_webpage (matched by the call's id)", "3.4 s before", "the first 4 B of the model's arguments, as a JSON string", "returned an error in 608 ms, 257 B",
		"the model got 28 B: cut", "was run with", "was run 3")
	s.press("4z").shows("+312 ms  tool got    scrape_webpage", "+3.68 s  found       EXEC_CUT", "+4.43 s  found       RESULT_CUT").press("z").shows("run on cut args · result cut")
	s.press(" ").shows(" tool  ", "from +1.01 s")
	newScreen(t, 140, 60).feed(demo(t, "executed")...).end().press("g5").shows("A CLIENT THAT RUNS", "TOOL RUNS", "by the call's id")
	for _, size := range [][2]int{{40, 10}, {60, 18}} {
		small := newScreen(t, size[0], size[1]).feed(demo(t, "executed")...).end().press("g3")
		for _, row := range small.rows() {
			if n := len([]rune(row)); n > size[0] {
				t.Errorf("%d cells: %s", n, row)
			}
		}
	}
}

// TestGotSoFar checks that at a moment between the start of the tool and its result, the screen shows the call as
// unanswered, and does not call it healthy.
func TestGotSoFar(t *testing.T) {
	s := newScreen(t, 140, 44).feed(demo(t, "executed")...).end().press("g3").press(":at 320ms<enter>")
	s.shows("Findings 0", "none yet", "the first 4 B of the model's arguments", "no answer yet").hides("nothing unusual", "no response was seen")
}

// TestNobodySeen checks that no client is said to run calls too early if no such client is known.
func TestNobodySeen(t *testing.T) {
	newScreen(t, 140, 44).feed(demo(t, "early")...).end().press("!").shows("clients ").hides("by the client", "your client")
}
