package ui

import (
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// stripText returns the timeline.
func (s *rig) stripText() string {
	rows := s.rows()
	return strings.Join(rows[len(rows)-1-s.moment.stripRows():len(rows)-1], "\n")
}

// lane returns the row of the timeline that begins with the given word.
func (s *rig) lane(word string) string {
	for _, row := range strings.Split(s.stripText(), "\n") {
		if strings.HasPrefix(strings.TrimLeft(row, "│▌ "), word) {
			return row
		}
	}
	return ""
}

// TestStripLanes checks that each party and each call has its own lane, and that a sentence describes the current
// moment. Without facts, a party has no lane.
func TestStripLanes(t *testing.T) {
	s := newScreen(t, 140, 40).feed(demo(t, "executed")...).end().press("g8,,")
	for word, want := range map[string]string{
		"client": "sent 377 B", "provider": "first byte +700 ms", "web_scrape": "◔ streaming      68 B  13 Δ", "tool": "██████", "findings": "!!",
		"now at ▼": "web_scrape_webpage has 68 B of arguments in 13 deltas; more may arrive. Waiting on the provider.",
	} {
		if row := s.lane(word); !strings.Contains(row, want) {
			t.Errorf("%s has no %q: %q\n%s", word, want, row, s.stripText())
		}
	}
	s.press("x")
	if row := s.lane("╭━ Time"); !strings.Contains(row, "as if the turn ended here") {
		t.Errorf("the title is %q", row)
	}
	quiet := newScreen(t, 80, 24).feed(demo(t, "parallel")...).end().press("8")
	for _, word := range []string{"client", "tool", "findings"} {
		if row := quiet.lane(word); row != "" {
			t.Errorf("without facts there is a row %q", row)
		}
	}
}

// TestStripKeepsTitles checks that on a screen of at least 24 rows, the panes above the timeline keep their
// edges, and the cursor's row is in view.
func TestStripKeepsTitles(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {100, 30}, {140, 40}, {250, 60}} {
		for _, name := range []string{"parallel", "executed", "schema", "early"} {
			s := newScreen(t, size[0], size[1]).feed(demo(t, name)...).end().press("8,")
			s.shows("Calls ─", "━ Time", "VERDICT", "▌ ")
			checkFrame(t, s)
		}
	}
}

// TestStripSilence checks that a silence is drawn as silence, and that pings are not drawn as text. A stall is drawn
// as bad, and nothing else in a lane of bytes has a warm colour.
func TestStripSilence(t *testing.T) {
	a := new(anthropic).open("msg_1")
	a.call("toolu_1", "write_file", `{"path":`, `"a.go",`, `"content":"x`)
	for range 8 {
		a.say(`{"type":"ping"}`)
	}
	at := time.Duration(0)
	for i := range a.records {
		step := 100 * time.Millisecond
		if strings.Contains(string(a.records[i].Data), "ping") {
			step = 5 * time.Second
		}
		at += step
		a.records[i].At = at
	}
	a.records = append(a.records, stream.Record{At: at + time.Second, End: true})
	s := newScreen(t, 80, 24).feed(a.records...).end().press("8")
	if row := s.lane("provider"); !strings.Contains(row, "·┄┄") {
		t.Errorf("pings are not seen in %q", row)
	}
	if row := s.lane("write_file"); !strings.Contains(row, "┄┄┄┄┄") {
		t.Errorf("the silence is not seen in %q", row)
	}
}

// TestStripWithoutTimes checks that a source without times has a column for each event, and a note that says
// so.
func TestStripWithoutTimes(t *testing.T) {
	records := demo(t, "early")
	for i := range records {
		records[i].At = stream.NoTime
	}
	s := newScreen(t, 140, 40).feed(records...).end().press("8")
	s.shows("no times in this file: one column per event", "PAUSED event ")
	if row := s.lane("search_orders"); strings.Contains(row, " ms") || strings.Contains(row, "/s") {
		t.Errorf("a time in %q", row)
	}
}

// TestTimeTab checks that on a tall screen the timeline is a tab under the other tabs, even if the screen is not
// paused.
func TestTimeTab(t *testing.T) {
	s := newScreen(t, 250, 60).feed(demo(t, "parallel")...).end().shows("─ [Time] ─", "○▄", "●").hides("▼")
	if s.press("3").hides("[Time]!"); s.moment.isPaused() {
		t.Error("the tab pauses the screen")
	}
	newScreen(t, 80, 24).feed(demo(t, "parallel")...).end().hides("Time ─")
}
