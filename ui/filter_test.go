package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// mixed returns n turns. Every third has a malformed call; the calls in the others are complete.
func mixed(from, n int) (records []stream.Record) {
	for i := from; i < from+n; i++ {
		args, name := `{"n":1}`, "good"
		if i%3 == 2 {
			args, name = `{"n":x}`, "broken"
		}
		a := &anthropic{exchange: i}
		a.open(fmt.Sprint("msg_", i)).call(fmt.Sprint("toolu_", i), name, args).seal().stop("tool_use")
		for j := range a.records {
			a.records[j].At = time.Duration(i)*time.Second + time.Duration(j)*time.Millisecond
		}
		records = append(records, a.records...)
	}
	return records
}

// TestFilter checks that matching turns are shown and counted while the filter is typed.
func TestFilter(t *testing.T) {
	s := newScreen(t, 80, 24).feed(mixed(0, 9)...)
	s.press("1gf").shows("filter █", "9 turns", "state tool model", "enter keep", "tab complete", "↑ last", "esc drop")
	s.press("state:bad").shows("3 of 9 turns", "3 of 9 · filter state:bad", "broken").hides("good")
	if s.chosenName() != "broken" {
		t.Error("what is chosen is not meant:", s.chosenName())
	}
	s.press(" costs>1").shows("!  costs: unknown field; cost?").press("<enter>").shows("costs: unknown field; cost?", "esc drop")
	s.press("<bs><bs><bs><bs><bs><bs><bs><bs><enter>").shows("3 of 9 · filter state:bad").hides("esc drop")
	checkFrame(t, s)
	for _, want := range []string{"broken", "broken", "broken"} {
		if s.press("j"); s.chosenName() != want {
			t.Errorf("j leads to %s, want %s", s.chosenName(), want)
		}
	}
	s.press("<esc>").shows("9 turns", "good").hides("filter state:bad")
	s.press("f<up>").shows("filter state:bad█", "3 of 9").press("<down>").shows("filter █").press("<up><enter>")
	s.press("f").shows("filter state:bad█").press("<esc>").shows("9 turns")
}

// TestFilterKeepsThePlace checks that a filter that is dropped, or that shows the call again, leaves the
// cursor at its place.
func TestFilterKeepsThePlace(t *testing.T) {
	s := newScreen(t, 80, 24).feed(mixed(0, 9)...).press("1gj")
	at, name := s.selected, s.chosenName()
	if name == "broken" {
		t.Fatal("the test needs a call that the filter hides")
	}
	if s.press("fstate:bad"); s.chosenName() != "broken" {
		t.Error("the filter shows", s.chosenName())
	}
	if s.press(strings.Repeat("<bs>", len("state:bad"))); s.selected != at {
		t.Errorf("without the filter, the cursor is on %s", s.chosenName())
	}
	if s.press("zzzz").shows("No call matches").press("<esc>"); s.selected != at {
		t.Errorf("after a dropped filter, the cursor is on %s", s.chosenName())
	}
	s.press("fstate:bad<enter>")
	if s.chosenName() != "broken" {
		t.Error("a kept filter shows", s.chosenName())
	}
}

// TestFilterFollows checks that only matching turns are followed, and that a selected turn that no longer matches
// stays until the selection changes.
func TestFilterFollows(t *testing.T) {
	s := newScreen(t, 80, 24).feed(mixed(0, 3)...).press("ftool:broken<enter>G")
	if s.feed(mixed(3, 2)...); s.chosenName() != "broken" || !s.follow {
		t.Error("follows", s.chosenName())
	}
	first := s.selected
	if s.feed(mixed(5, 1)...); s.selected == first || s.chosenName() != "broken" {
		t.Error("stays behind at", s.chosenName())
	}
	s.press("fstate:open").feed()
	open := (&anthropic{exchange: 9}).open("msg_9").call("toolu_9", "slow", `{"a":`)
	s.press("<esc>fstate:open<enter>").feed(open.records...).shows("1 of 7 · filter state:open", "slow").press("k")
	n := len(open.records)
	s.feed(open.args(0, `1}`).seal().stop("tool_use").more(n)...).shows("1 of 7 · filter state:open", "slow")
	s.feed(mixed(20, 1)...)
	s.shows("slow").press("<esc>").shows("8 turns").press("fnothing_has_this<enter>").shows("0 of 8", "No call matches  nothing_has_this")
	checkFrame(t, s.press("jkgG!n").resize(40, 10))
}

// TestFilterAges checks that a turn that matched by its age stops matching as time passes.
func TestFilterAges(t *testing.T) {
	s := newScreen(t, 80, 24).feed(mixed(0, 10)...).press("fsince:3s<enter>").shows("3 of 10")
	s.feed(mixed(30, 1)...).shows("2 of 11 · filter since:3s")
}

// TestFilterOfDropped checks that the filter shows how many turns it can't check because only their rows are kept.
func TestFilterOfDropped(t *testing.T) {
	small := func(o *Options) { o.Keep = 1 }
	s := newScreen(t, 80, 24, small).feed(mixed(0, 5)...).press("ftool:broken<enter>").shows("of 5")
	if s.filtering.turns.Undecided == 0 {
		t.Skip("nothing was dropped")
	}
	s.press("f").shows("not in memory")
}

// TestFilterCompletes checks that fields and values are completed, and that the possible values are shown.
func TestFilterCompletes(t *testing.T) {
	s := newScreen(t, 80, 24).feed(mixed(0, 4)...).press("f")
	s.press("st<tab>").shows("filter state:█").press("<tab>").shows("state:bad state:open").press("malf<tab>").shows("filter state:malformed█", "1 of 4")
	s.press(" -to<tab>").shows("-too█").press("l<tab><tab>").shows("tool:good tool:broken").press("g<tab>").shows("-tool:good█")
}

// TestFilterOnScreens checks the screen at all sizes while a filter is typed.
func TestFilterOnScreens(t *testing.T) {
	s := newScreen(t, 80, 24).feed(mixed(0, 4)...).press("fstate:bad x:y")
	for w := minWidth; w < 160; w += 9 {
		for _, h := range []int{5, 6, 9, 12, 30} {
			checkFrame(t, s.resize(w, h))
		}
	}
	if text := newScreen(t, 60, 18, ascii).feed(mixed(0, 4)...).press("fé").text(); strings.ContainsFunc(text, func(r rune) bool { return r > 0x7f }) {
		t.Error(text)
	}
}

// TestFilterIsCheap checks that the filter is evaluated only for the turns of a new batch, and for no turn when a
// frame is drawn.
func TestFilterIsCheap(t *testing.T) {
	const n = 2000
	s := newScreen(t, 120, 40).feed(mixed(0, n)...).press("fstate:bad<enter>G")
	turns := s.in.Session().Turns
	kept := append([]*stream.Turn(nil), turns...)
	clear(turns[1 : n/2])
	s.feed(mixed(n, 3)...).shows(fmt.Sprintf("%d of ", (n+3)/3))
	checkFrame(t, s)
	copy(turns, kept)
}
