package ui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// scenarios are the parts of the demo, in order.
var scenarios = []string{"malformed", "cut", "index-zero", "early", "schema", "history", "aistudio", "protocols", "compare", "parallel"}

// tourRecords returns the records of parts of the demo, one after the other.
func tourRecords(t testing.TB, names ...string) (all []stream.Record) {
	began, exchanges := time.Duration(0), 0
	for _, name := range names {
		last, most := began, exchanges
		for _, r := range demo(t, name) {
			r.At, r.Exchange = r.At+began, r.Exchange+exchanges
			if r.Head != nil {
				head := *r.Head
				head.File = "demo/" + name
				r.Head = &head
			}
			last, most = max(last, r.At), max(most, r.Exchange)
			all = append(all, r)
		}
		began, exchanges = last+400*time.Millisecond, most
	}
	return all
}

// staged returns a screen on which the complete demo is loaded and ready to play.
func staged(t testing.TB, w, h int, change ...func(*Options)) *rig {
	change = append(change, func(o *Options) { o.Source, o.Tour = "demo tour", true })
	return newScreen(t, w, h, change...).feed(tourRecords(t, scenarios...)...).end()
}

// proofs are the texts that must be visible while a scene is shown: the code of its finding, the texts that
// are on the screen at every size, and those from 80x24 on.
var proofs = []struct {
	found       string
	always, big []string
}{
	{"ARGS_BROKEN", []string{"malformed", "byte 87"}, []string{"The call keeps streaming", "30s", "expected , or }, got s  byte 87, delta 14"}},
	{"ARGS_CUT", []string{"cut"}, []string{"cut by the token limit", "no longer exi▲", "269 bytes", "269 B", "after adding missing braces"}},
	{"IDX_REUSED", []string{"index 0", "get_forecast"}, []string{"◔  streaming", "call_demo_lima", "several calls have index 0"}},
	{"EARLY_WRONG", []string{"malformed", "byte"}, []string{"After 25 bytes", "byte 25", "as soon as it parses", "delta 5"}},
	{"SCHEMA_UNKNOWN_KEY", []string{"schema", "no such key"}, []string{"ot one of low, normal, high", "integer", "Three fields"}},
	{"ARGS_BROKEN", []string{"Sent back?  run_shell", "{} instead", "111 bytes"}, []string{"∅  {} instead     accepts  by rule", "{} is sent, not the 111 bytes that the model wrote"}},
	{"DOUBLE_ENCODED", []string{"Sent back"}, []string{"Sent back  write_file", "double-encoded", "the model wrote", "the request carried", "double-encoded"}},
	{"LENGTH_FIRST_DIVERGENCE", []string{"todowrite"}, []string{"checks an array's length", `{"todos":[{"id":["1"]`}},
	{"", []string{"reserve_table", "91 "}, []string{
		"DELTAS    FINAL", "content_block_stop", "response.output_item.done", "contentBlockStop", `"functionCall":{}`, "tool-call-end", `"tool_calls"`, "frame 19 of anthropic",
	}},
	{"", []string{"3 turns, same request"}, []string{"Compare  3", "No two agree", "wrote .days as", "made one call of two", "≠", "—"}},
	{"", []string{"clean"}, []string{"2 calls, complete", "● complete", "Findings 0"}},
	{"", []string{"demo summary", "not JSON from byte 87"}, []string{"✗ malformed    run_shell", "∅ emptied      run_shell", "= the same     reserve_table", "≠ differs      get_forecast", "≠ sent back    write_file", "● complete     2 calls", "toolscope proxy"}},
}

var stageSizes = [][2]int{{40, 10}, {60, 18}, {80, 24}, {140, 40}, {250, 60}}

// TestClaims plays the whole demo without waiting. It checks each caption against its call and its finding, and checks
// that the texts in proofs are visible.
func TestClaims(t *testing.T) {
	for _, size := range stageSizes {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			s := staged(t, size[0], size[1])
			if len(s.tour.moments) != len(tourScenes) || len(proofs) != len(tourScenes) || !slices.IsSorted(s.tour.moments) {
				t.Fatalf("moments %v", s.tour.moments)
			}
			for i, want := range proofs {
				s.press("}")
				if s.tour.at != i || !s.tour.shown {
					t.Fatalf("claim %d: at %d", i+1, s.tour.at)
				}
				checkClaim(t, s, i)
				if i == 8 && size[1] < 24 {
					want.always = []string{"reserve_table"} // the list has no room for the bytes or the caption
				}
				s.shows(want.always...)
				if size[0] >= 80 {
					s.shows(want.big...)
				}
			}
		})
	}
}

// checkClaim checks the shown caption against the facts about its call, and against its row.
func checkClaim(t *testing.T, s *rig, i int) {
	t.Helper()
	a, ok := s.tour.shownSubject()
	if !ok || !tourScenes[i].seen(a) {
		t.Fatalf("claim %d can not be seen", i+1)
	}
	if code := proofs[i].found; code != "" && !a.hasFinding(code) {
		t.Errorf("claim %d: no %s among %v", i+1, code, a.call.Findings)
	}
	before := s.in.View().At(max(0, s.moment.eventCount()-1))
	if a, ok := tourScenes[i].of.subjectIn(before); ok && tourScenes[i].seen(a) && (i == 0 || s.tour.moments[i-1] < s.moment.eventCount()) {
		t.Errorf("claim %d could be seen before", i+1)
	}
	if s.tour.isSummaryOpen() {
		return
	}
	rows := s.rows()
	said := strings.Join(strings.Fields(strings.Join(rows[s.h-1-s.tour.captionRows():s.h-1], " ")), " ")
	c := tourScenes[i].caption(a)
	if !strings.Contains(said, c.what.String()) && !strings.Contains(said, c.short.String()) {
		t.Errorf("claim %d is not said: %q", i+1, said)
	}
	if s.h < tallCaption {
		return
	}
	if s.w >= 60 && !strings.Contains(said, c.why.String()) || s.w >= 80 && !strings.Contains(said, c.what.String()) {
		t.Errorf("claim %d is not said in full: %q", i+1, said)
	}
	if place := strings.TrimLeft(said, "━= "); !strings.HasPrefix(place, fmt.Sprintf("%d/%d", i+1, len(tourScenes))) && !strings.HasPrefix(place, fmt.Sprintf("Tour %d of %d ", i+1, len(tourScenes))) {
		t.Errorf("claim %d has no number: %q", i+1, said)
	}
}

// TestStagePlays plays the demo by the clock. It checks that each scene is reached, that calls visibly grow before
// each scene, and that the demo ends with its summary.
func TestStagePlays(t *testing.T) {
	for _, look := range []struct {
		w, h   int
		change []func(*Options)
	}{{40, 10, nil}, {60, 18, nil}, {80, 24, nil}, {60, 8, []func(*Options){large}}, {80, 24, []func(*Options){large}}} {
		s := staged(t, look.w, look.h, look.change...)
		s.shows("LLM tool calls", "next: a call breaks")
		s.send(workDone{then: s.tour.playToNextScene})
		for i := range tourScenes {
			growing := 0
			for steps := 0; s.tour.at < i; steps++ {
				if !s.moment.playing || steps > 1000 {
					t.Fatalf("on the way to claim %d it stands at %d", i+1, s.moment.eventCount())
				}
				if c := s.selectedCall(); c != nil && c.Status() == stream.Streaming && c.Lexer().Open() {
					s.shows("█")
					growing++
				}
				if s.shows(tourScenes[i].coming.String()); s.tour.at >= 0 && look.change == nil {
					s.shows("FOLLOW")
				}
				s.now = s.now.Add(80 * time.Millisecond)
				s.send(workDone{then: s.moment.advanceToClock})
			}
			if s.tour.at != i || s.moment.eventCount() != s.tour.moments[i] || s.moment.playing {
				t.Fatalf("claim %d is shown at %d, not %d", i+1, s.moment.eventCount(), s.tour.moments[i])
			}
			checkClaim(t, s, i)
			if growing == 0 && (i == 0 || i == 1 || i == 4) {
				t.Errorf("nothing grew on the way to claim %d", i+1)
			}
			s.send(workDone{then: s.tour.playToNextScene})
		}
		if s.shows("demo summary"); !s.tour.isSummaryOpen() {
			t.Error("it does not end with what was seen")
		}
	}
}

// TestTakeOver checks that any key that the tour doesn't use ends the tour at the current place. A notice says how to
// continue, and the tour can continue from there.
func TestTakeOver(t *testing.T) {
	for _, key := range []string{"j", "<esc>", ",", "<tab>", "4", "<enter>", "!"} {
		s := staged(t, 80, 24).press("}}}")
		n := s.moment.eventCount()
		if s.press(key); s.tour.isTourShown() || key != "," && s.moment.eventCount() != n {
			t.Fatalf("%s: still on stage, or gone to %d from %d", key, s.moment.eventCount(), n)
		}
		s.shows("PAUSED").hides("Tour 3 of 12", "Two calls share", "before the first turn")
		if key == "<esc>" {
			s.shows("you left the tour: space continues, } skips ahead, d restarts")
		}
		if s.press("1").shows("{ } scene", "d restart").press("}").shows("Tour 4 of 12", "After 25 bytes"); !s.tour.waits {
			t.Errorf("%s: it goes on by itself after what the user asked for", key)
		}
		s.press("?").shows("Keys here", "esc close").press("<esc>").shows("Tour 4 of 12", "space next")
		s.press("{{").shows("Tour 2 of 12").press("j").press(" ").shows("next: two calls, two models")
		s.press("d").shows("while they stream", "Tour 1 of 12").press("x").shows("next: a call breaks", "FOLLOW")
	}
	s := staged(t, 80, 24).press("}").press(" ").shows("space next", "PAUSED")
	s.send(workDone{then: func() {}})
	if s.press(" ").shows("space pause", "Tour 2 of 12"); s.moment.playing == false {
		t.Error("it does not go on")
	}
	if s.press(" ").shows("PAUSED", "next:"); s.moment.playing {
		t.Error("it does not hold on its way")
	}
	s = staged(t, 80, 24).press(strings.Repeat("}", len(tourScenes))).press("jj").press("<enter>").shows("Tour 4 of 12", "search_orders")
	s.press(strings.Repeat("}", 8)).press("<esc>").shows("PAUSED").press("G").shows("END").press("{")
	if s.shows("Tour 11 of 12"); !s.tour.isTourShown() {
		t.Error("no way back from the end")
	}
}

// TestStageFilms draws each scene.
func TestStageFilms(t *testing.T) {
	play := func(s *rig) string {
		var out strings.Builder
		fmt.Fprintf(&out, "%s\n", strings.Join(s.rows(), "\n"))
		for i := range tourScenes {
			fmt.Fprintf(&out, "== claim %d\n%s\n", i+1, strings.Join(s.press("}").rows(), "\n"))
		}
		return out.String()
	}
	for _, size := range stageSizes {
		checkFile(t, filepath.Join("testdata", "films", fmt.Sprintf("stage-%dx%d.txt", size[0], size[1])), play(staged(t, size[0], size[1])))
	}
	checkFile(t, filepath.Join("testdata", "films", "stage-ascii.txt"), play(staged(t, 60, 18, ascii, colourless)))
}

// TestTourFillsScreen checks that the last scenes of the tour leave few rows blank on a tall screen.
func TestTourFillsScreen(t *testing.T) {
	for _, c := range []struct{ w, h, blank int }{{140, 40, 7}, {250, 60, 10}} {
		s := newScreen(t, c.w, c.h, touring)
		tourWhole(s)
		s.press("}}}}}}}}}")
		for _, page := range []string{"One call, six protocols", "Compare  3 turns", "write_file  turn 21", "Now yours"} {
			s.shows(page)
			blank := 0
			for _, row := range s.rows() {
				if strings.Trim(row, " │╭╮╰╯├┤┬┴─━") == "" {
					blank++
				}
			}
			if blank > c.blank {
				t.Errorf("%dx%d: %d rows are blank:\n%s", c.w, c.h, blank, s.text())
			}
			s.press("}")
		}
	}
}
