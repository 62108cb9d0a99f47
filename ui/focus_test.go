package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"toolscope/themes"
	"toolscope/ui/display"
)

// TestOneFocus checks that exactly one edge is heavy, that of the part with the keyboard focus, and that at most one
// row is highlighted as selected, even while a menu, a tab or the timeline is open.
func TestOneFocus(t *testing.T) {
	var r, g, b int
	if _, err := fmt.Sscanf(themes.Default(true).Selection.BG, "#%02x%02x%02x", &r, &g, &b); err != nil {
		t.Fatal(err)
	}
	ground := fmt.Sprintf("48;2;%d;%d;%d", r, g, b)
	for _, size := range [][2]int{{80, 24}, {140, 40}} {
		for _, c := range []struct{ keys, heavy string }{
			{"", "Calls"}, {"2", "run_shell"}, {"3", "[Findings 1]"}, {"4", "[Wire 21]"}, {"5", "[Would run]"}, {"y", "Copy"}, {"8", "Time"}, {"p", "Sent back?"},
		} {
			s := newScreen(t, size[0], size[1], static, handed).feed(demo(t, "malformed")...).end().press(c.keys)
			var heavy []string
			chosen, inside := 0, false // a selected finding may have several rows
			for _, row := range strings.Split(s.View(), "\n") {
				was := inside
				if inside = strings.Contains(row, ground); inside && !was {
					chosen++
				}
				if text := ansi.Strip(row); strings.Contains(text, "━━") && !strings.Contains(text, "provider ") {
					heavy = append(heavy, text)
				}
			}
			if len(heavy) != 1 || !strings.Contains(heavy[0], c.heavy) || chosen > 1 {
				t.Errorf("%v, after %q: %d rows are selected, and the heavy edges are %q\n%s", size, c.keys, chosen, heavy, s.text())
			}
		}
	}
}

// TestHintsHaveWords checks that each hint in the last row has keys and a word, and that the keys for errors are only
// shown if something is bad.
func TestHintsHaveWords(t *testing.T) {
	for _, source := range []string{"malformed", "parallel", "history", "executed", "compare"} {
		for _, keys := range []string{"", "2", "3", "4", "5", "6", "7", "8", "8 ", "h", "p", "o", "=", "y", "?", ":", "t", "L", "/", "f"} {
			s := newScreen(t, 250, 60, static).feed(demo(t, source)...).end().press(keys)
			for _, b := range s.modeStack.currentKeys() {
				switch words := b.HintText(s.draw).String(); {
				case b.HasHint() && (len(b.Shown) == 0 || b.Hint == ""):
					t.Errorf("%s, after %q: the hint %q has no word or no keys", source, keys, words)
				case b.HasHint() && b.Shown[0] == "!" && s.verdicts.Counts.Bad() == 0:
					t.Errorf("%s, after %q: nothing is bad, but the hint is %q", source, keys, words)
				}
			}
		}
	}
}

// TestTurnPageTellsOfItsCalls checks that the title of a turn's page shows the words and the role of the turn's worst
// call, not that the turn is complete. The page has its own hints.
func TestTurnPageTellsOfItsCalls(t *testing.T) {
	s := newScreen(t, 80, 24, static).feed(demo(t, "history")...).end().press("h")
	s.shows("✗ 1 call malformed ─", " ? keys  l its call  6 request  o sent back  m mark  y copy").hides("● complete")
	if n := warmIn(s, rowWith(s, "── turn 2 ")); n < len("1 call malformed") {
		t.Errorf("%d cells of the title are warm\n%s", n, s.text())
	}
	healthy := newScreen(t, 80, 24, static).feed(demo(t, "parallel")...).end().press("h").shows("● complete ─")
	if n := warmCells(healthy); n > 0 {
		t.Errorf("%d cells of a healthy turn are warm", n)
	}
	s.press("l").shows("── write_file  turn 2").hides("its call")
}

// rowWith returns the first row of the frame that contains a text, with its colours.
func rowWith(s *rig, text string) string {
	for _, row := range strings.Split(s.View(), "\n") {
		if strings.Contains(ansi.Strip(row), text) {
			return row
		}
	}
	return ""
}

// TestTourEndsWithYours checks that the last page of the tour shows commands for the user's own data. On a wide
// screen, it also shows the arguments of the chosen scene, with the place of the error.
func TestTourEndsWithYours(t *testing.T) {
	keys := strings.Repeat("}", len(tourScenes)+1)
	for _, size := range [][2]int{{60, 18}, {80, 24}, {140, 40}, {250, 60}} {
		s := staged(t, size[0], size[1]).press(keys).shows("━━ Tour  what you saw: enter shows a scene again", "── Now yours ─", "toolscope run -- claude", "toolscope proxy", "▌!!  1")
		checkFrame(t, s)
		if size[0] >= summaryPair {
			s.shows(`"timeout": 30s`, "^ ").press("j").shows("─ file_report  turn 2")
		}
	}
	staged(t, 40, 10).press(keys).shows("Now yours: toolscope FILE")
}

// TestWireMarksCuts checks that a row of the wire that is cut off ends with an ellipsis, and that a row that fits does not.
func TestWireMarksCuts(t *testing.T) {
	long := `{"path":"` + strings.Repeat("a", 200) + `"}`
	for width := 60; width < 64; width++ {
		s := newScreen(t, width, 24, static).feed(new(anthropic).open("m").call("t", "f", long).seal().stop("tool_use").records...).end().press("4")
		cut := 0
		for _, row := range s.rows() {
			if strings.Contains(row, `args  Δ1    {"path":"aaa`) && strings.HasSuffix(row, "a…") && display.Clean(row).Width() == width {
				cut++
			}
		}
		if cut != 1 {
			t.Errorf("%d rows have a mark\n%s", cut, s.text())
		}
	}
	newScreen(t, 80, 24, static).feed(demo(t, "malformed")...).end().press("4").hides("…")
}
