package ui

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/ui/panes"
)

// TestSort checks that calls can be sorted. The cursor stays on its call, and stays in view.
func TestSort(t *testing.T) {
	s := newScreen(t, 80, 24).feed(mixed(0, 9)...).press("1gj")
	at := s.selected
	for _, c := range []struct{ keys, title, first string }{
		{"s", "s worst first", "   3  ✗  malformed"}, {"s", "s by time", "   1  ●"}, {":sort tool<enter>", "s by tool", "   3  ✗"},
		{":sort size<enter>", "s by size", "   1  ●"}, {":sort cost<enter>", "s by cost", "   1  ●"}, {":sort took<enter>", "s by duration", "   1  ●"},
		{":sort mod<enter>", "s by model", "   1  ●"}, {":sort turn<enter>", "s by time", "   1  ●"}, {":sort worst<enter>", "s worst first", "   3  ✗"},
	} {
		if s.press(c.keys).shows(c.title, "▌   2"); s.selected != at {
			t.Errorf("%q: the cursor is on %v", c.keys, s.selected)
		}
		checkFrame(t, s)
		if s.press("g"); !strings.Contains(s.rows()[3], c.first) {
			t.Errorf("%q: the first row is %q", c.keys, s.rows()[3])
		}
		for s.selected != at {
			s.press("j")
		}
	}
	s.press("G").shows("── 6 healthy ──").press("gkjjj").hides("▌──")
	s.feed(mixed(9, 3)...)
	if s.press("g").shows("▌   3"); s.list.Order() != panes.WorstFirst || s.list.Rows != 13 {
		t.Errorf("%v, %d rows", s.list.Order(), s.list.Rows)
	}
	s.press(":sort price<enter>").shows("sort by one of: turn worst size idle time cost tool model")
}

// TestOpensAtWorst checks that files open with the worst call at the top and selected, or sorted by time if nothing
// is bad. A live source opens sorted by time, and is followed.
func TestOpensAtWorst(t *testing.T) {
	static := func(o *Options) { o.Static = true }
	s := newScreen(t, 80, 24, static).feed(mixed(0, 9)...).end().shows("s worst first", "VERDICT▾", "▌   3  ✗  malformed", "END")
	if s.follow || s.list.At != 0 {
		t.Errorf("row %d, follows: %t", s.list.At, s.follow)
	}
	healthy := newScreen(t, 80, 24, static).feed(mixed(0, 2)...).end().shows("s by time", "▌   1  ●", "nothing bad")
	if healthy.follow {
		t.Error("it follows a file that does not grow")
	}
	if live := newScreen(t, 80, 24).feed(mixed(0, 9)...).shows("s by time"); !live.follow || live.list.At != 8 {
		t.Errorf("row %d, follows: %t", live.list.At, live.follow)
	}
	chosen := newScreen(t, 80, 24, static).feed(mixed(0, 5)...).press("gj").feed(mixed(5, 4)...).end()
	if chosen.selected.Turn != 1 {
		t.Errorf("the user went to turn 2, and is at %v", chosen.selected)
	}
}

// TestFolds checks that a run of three or more healthy calls is one row, and that other calls have their own
// rows.
func TestFolds(t *testing.T) {
	var calls [][2]string
	for i, args := range []string{`{}`, `{}`, `{x`, `{}`, `{}`, `{}`, `{x`, `{}`, `{}`, `{}`, `{}`} {
		calls = append(calls, [2]string{fmt.Sprint("tool", i), args})
	}
	a := new(anthropic).open("msg_1")
	for i, c := range calls {
		a.call(fmt.Sprint("toolu_", i), c[0], c[1]).seal()
	}
	s := newScreen(t, 80, 40).feed(a.stop("tool_use").records...).end().press("1gj-")
	s.shows("tool0", "▌      ●                tool1", "tool2", "· 3 healthy", "tool6", "· 4 healthy").hides("●                tool3", "●                tool9")
	if s.list.Rows != 6 {
		t.Errorf("%d rows", s.list.Rows)
	}
	s.press("G").shows("▌      · 4 healthy").press("+").shows("●                tool3", "●                tool9").hides("healthy")
	s.press("s-").shows("works only in time order").hides("· 3")
	few := newScreen(t, 80, 40).feed(mixed(0, 9)...).end().press("1g-").shows("fewer than three healthy calls in a row")
	if few.list.Rows != 9 {
		t.Errorf("%d rows", few.list.Rows)
	}
}

// TestJQ runs jq on one call and on all calls. It checks that arguments that are not JSON are reported, and
// that an endless expression is stopped.
func TestJQ(t *testing.T) {
	s := newScreen(t, 100, 24).feed(mixed(0, 6)...).press("gj")
	s.press(":jq .n<enter>").shows("JQ  .n  of this call  running").settle().shows("1 result from 1 call", "2  good                  1")
	s.press("<tab>").settle().shows("of all calls", "4 results from 6 calls", "2 not JSON", "not JSON: invalid character 'x'")
	s.press("jj<enter>")
	if s.chosenName() != "broken" || s.selected.Turn != 2 {
		t.Error("enter leads to", s.chosenName(), s.selected)
	}
	s.press("gh:jq .n,.n<enter>").settle().shows("of this turn", "2 results from 1 call").press("<esc>")
	s.press(":jq .n[<enter>").shows("at byte ").press(":jq<enter>").settle().shows("JQ  .  of ").press("<tab>").settle().shows("of all calls").press("<esc>gj2gj:jq<enter>").settle().shows("JQ  ." + "n").press("<esc>")
	s.press(`:jq "\u001b]0;x" + env.HOME<enter>`).settle().hides("\x1b]0").press("<esc>")
	s.press(":jq .n[0]<enter>").settle().shows("expected an array but got: number")
	for _, h := range []int{5, 9, 30} {
		checkFrame(t, s.resize(30, h))
	}
	s.resize(100, 24).press("<esc>fstate:bad<enter>:jq .<enter><tab>").settle().shows("of all calls in the shown turns", "0 results from 2 calls")
}
