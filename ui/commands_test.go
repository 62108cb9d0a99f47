package ui

import (
	"strings"
	"testing"
)

// TestSort lists the turns by what is asked for, those that are shown, and leads there.
func TestSort(t *testing.T) {
	s := newScreen(t, 80, 24).feed(mixed(0, 6)...)
	s.press(":sort start<enter>").shows("TURNS 6  by start")
	if first := s.rows()[2]; !strings.Contains(first, "6 ") {
		t.Errorf("the latest is not first: %q", first)
	}
	s.feed(mixed(6, 1)...)
	s.shows("1 new").press("s").shows("TURNS 7").press("j<enter>")
	if s.chosenName() != "turn 6" || s.follow {
		t.Error("enter leads to", s.chosenName())
	}
	s.press("fstate:bad<enter>:sort bytes<enter>").shows("TURNS 2  by bytes").press("<esc>")
	for _, w := range []string{"cost", "took", "by"} {
		checkFrame(t, s.press(":sort "+w+"<enter>").resize(50, 12))
		s.press("<esc>")
	}
	s.press(":sort price<enter>").shows(`sort by "price"? cost, took`)
}

// TestJQ asks one call and all; what is no JSON is said, and what takes for ever is stopped.
func TestJQ(t *testing.T) {
	s := newScreen(t, 100, 24).feed(mixed(0, 6)...).press("gj")
	s.press(":jq .n<enter>").shows("JQ  .n  of this call  running").settle().shows("1 result from 1 call", "1  good                  1")
	s.press("<tab>").settle().shows("of all calls", "4 results from 6 calls", "2 not JSON", "not JSON: invalid character 'x'")
	s.press("jj<enter>")
	if s.chosenName() != "broken" || s.selected.Turn != 2 {
		t.Error("enter leads to", s.chosenName(), s.selected)
	}
	s.press("g:jq .n,.n<enter>").settle().shows("of this turn", "2 results from 1 call").press("<esc>")
	s.press(":jq .n[<enter>").shows("at byte ").press(":jq<enter>").settle().shows("JQ  .  of ").press("<tab>").settle().shows("of all calls").press("<esc>gj2gj:jq<enter>").settle().shows("JQ  ." + "n").press("<esc>")
	s.press(`:jq "\u001b]0;x" + env.HOME<enter>`).settle().hides("\x1b]0").press("<esc>")
	s.press(":jq .n[0]<enter>").settle().shows("expected an array but got: number")
	for _, h := range []int{5, 9, 30} {
		checkFrame(t, s.resize(30, h))
	}
	s.resize(100, 24).press("<esc>fstate:bad<enter>:jq .<enter><tab>").settle().shows("of all calls of the shown turns", "0 results from 2 calls")
}
