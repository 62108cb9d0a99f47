package ui

import (
	"fmt"
	"testing"

	"toolscope/stream"
)

// TestPings checks that consecutive pings share one row. When the screen goes back in time, the row counts only the
// pings that had arrived by then.
func TestPings(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "write_file", `{"path": "a.go"`)
	for range 4 {
		a.say(`{"type":"ping"}`)
	}
	s := newScreen(t, 100, 40).feed(a.args(0, `, "mode": 1}`).say(`{"type":"ping"}`).seal().stop("tool_use").records...).end()
	s.press("4").shows("#4    +30 ms  ping ×4  every 10 ms", "#9    +80 ms  ping ").hides("heartbeat", "ping ×5")
	var pings []int // for each number of events, the pings in the first row
	for n := range s.in.Timeline.Len() {
		if kind, _ := s.view.Subject(n); kind == stream.Heartbeat && len(pings) < 4 {
			pings = append(pings, n)
		}
	}
	s.press(" ")
	for n := s.in.Timeline.Len(); n > pings[1]; n-- {
		s.moment.goToMoment(n)
		came := 0
		for _, at := range pings {
			if at < n {
				came++
			}
		}
		s.shows(fmt.Sprintf("ping ×%d", came))
	}
	s.moment.goNow()
	s.shows("ping ×4  every 10 ms")
}

// TestFrameFillsThePane checks that in a pane with many blank rows, the selected frame is shown below the
// events. It is not shown in a short pane, or while the screen follows a stream.
func TestFrameFillsThePane(t *testing.T) {
	s := newScreen(t, 250, 60).feed(demo(t, "malformed")...).end().press("g")
	s.shows("── frame 7 · record ", "event: content_block_start")
	checkFrame(t, s)
	s.resize(250, 30).hides("── frame ")
	newScreen(t, 250, 60).feed(demo(t, "malformed")...).press("G").hides("── frame ")
}
