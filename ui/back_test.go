package ui

import (
	"regexp"
	"strings"
	"testing"

	"toolscope/ui/panes"
)

// TestLeadsBack checks that after the user has gone to a finding or to its bytes, esc goes back to the previous
// place. If something was opened in the meantime, esc closes that first.
func TestLeadsBack(t *testing.T) {
	for _, from := range []string{"g", "g2", "g4"} {
		s := newScreen(t, 140, 40).feed(failures(t)...).end().press(from)
		place, chosen := s.index(s.focus), s.selected
		s.press("!!")
		if s.selected == chosen {
			t.Fatalf("%s: nothing was found", from)
		}
		at := s.selected
		if s.press("3<enter>"); s.focus == panes.Pane(s.findings) {
			t.Fatalf("%s: the finding leads nowhere:\n%s", from, s.text())
		}
		if s.press("<esc>"); s.focus != panes.Pane(s.findings) || s.selected != at {
			t.Fatalf("%s: esc leads to %T, %v", from, s.focus, s.selected)
		}
		s = newScreen(t, 140, 40).feed(failures(t)...).end().press(from + "!!<esc>")
		if s.index(s.focus) != place || s.selected != chosen {
			t.Errorf("%s: esc leads to %T, %v; was at pane %d, %v", from, s.focus, s.selected, place, chosen)
		}
	}
	s := newScreen(t, 140, 40).feed(demo(t, "schema")...).end().press("g3")
	s.press("<enter>")
	if s.press("<enter>"); s.doc.HasOpenString() {
		if s.press("<esc>"); s.focus != panes.Pane(s.doc) || s.doc.HasOpenString() {
			t.Errorf("esc leads to %T, the string open: %v", s.focus, s.doc.HasOpenString())
		}
	}
	if s.press("<esc>"); s.focus != panes.Pane(s.findings) {
		t.Errorf("esc leads to %T", s.focus)
	}
}

// TestWordsOnce checks that a paused screen shows the word PAUSED only once.
func TestWordsOnce(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {140, 40}} {
		s := newScreen(t, size[0], size[1]).feed(demo(t, "parallel")[:60]...).press(" ")
		if n := strings.Count(s.text(), "PAUSED"); n != 1 {
			t.Errorf("%v: it says so %d times:\n%s", size, n, s.text())
		}
	}
}

// TestBadIsCounted checks that the first row counts all bad calls, whether or not the list shows them.
func TestBadIsCounted(t *testing.T) {
	s := newScreen(t, 80, 24).feed(manyAnswers(t)...).end().press("1g")
	bad := regexp.MustCompile(`\d+ bad`).FindString(s.rows()[0])
	if bad == "" {
		t.Fatalf("nothing is counted:\n%s", s.text())
	}
	if s.press("f-state:bad<enter>").shows(bad, "filter -state:bad"); s.list.Rows < 30 || s.verdicts.Rows() <= s.list.Rows {
		t.Errorf("%d rows:\n%s", s.list.Rows, s.text())
	}
}

// TestWireSpans checks that if a token arrived in more frames than are visible, the first and the last of these
// frames are named.
func TestWireSpans(t *testing.T) {
	a := new(anthropic).open("msg_1")
	a.call("toolu_1", "write", chop(`{"content":"`+strings.Repeat("word ", 400)+`"}`, 3)...).seal()
	a.records[len(a.records)-1].End = true
	s := newScreen(t, 140, 30).feed(a.records...).end().press("g4z")
	s.press("z2gjl")
	s.shows("–#6")
	s.press("g").hides("–#6")
}
