package ui

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSearch checks that the typed text is searched in the focused pane at once.
func TestSearch(t *testing.T) {
	for _, c := range []struct {
		keys, want, footer string
	}{
		{"/", "search in list: run_tests, follows", " /█"},
		{"/edit", "search in list: edit_file", " /edit█"},
		{"/edit<enter>", "list: edit_file", "edit  1 of 1"},
		{"/toolu<enter>", "list: run_tests", "toolu  3 of 3"},
		{"/toolu<enter>n", "list: read_file", "toolu  1 of 3"},
		{"/toolu<enter>nn", "list: edit_file", "toolu  2 of 3"},
		{"/toolu<enter>N", "list: edit_file", "toolu  2 of 3"},
		{"/sonnet<enter>", "list: read_file", "sonnet  1 of 1"},
		{"/greet<enter>", "list: read_file", "greet  1 of 2"},
		{"/NO ARG<enter>", "list: run_tests", "no matches for NO ARG"},
		{"/no arg<enter>", "list: run_tests", "no arg  1 of 1"},
		{"/tool_use<enter>", "list: read_file", "tool_use  1 of 1"},
		{"/nowhere<enter>", "list: run_tests", "no matches for nowhere"},
		{"/nowhere<enter>n", "list: run_tests", "no matches for nowhere"},
		{"/edit<esc>", "list: edit_file", ""},
		{"/edix<bs>t<enter>", "list: edit_file", "edit  1 of 1"},
		{"/<enter>n", "list: run_tests", ""},
		{"k2/import<enter>", `arguments: "import \"fmt\""`, "import  1 of 2"},
		{"k2/import<enter>n", `arguments: "import \"log\""`, "import  2 of 2"},
		{"k2/import<enter>nn", `arguments: "import \"fmt\""`, "import  1 of 2"},
		{"k2/import<enter>N", `arguments: "import \"log\""`, "import  2 of 2"},
		{"k2/NULL<enter>", "arguments: {", "no matches for NULL"},
		{"k2/null<enter>", "arguments: null", "null  1 of 1"},
		{"k2<c-d><c-d>/path<enter>", `arguments: "path"`, "path  1 of 1"},
		{"k4/seal<enter>", "wire: #23", "seal  1 of 1"},
		{"k4/sealer<enter>", "wire: #23", "no matches for sealer"},
		{"k4/import<enter>", "wire: #19", "import  1 of 2"},
		{"k4/edit_file<enter>", "wire: #11", "edit_file  1 of 1"},
	} {
		t.Run(c.keys, func(t *testing.T) {
			s := agent(t, 80, 24).press(c.keys)
			if got := s.where(); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if last := s.rows()[23]; !strings.Contains(last, c.footer) {
				t.Errorf("the footer is %q, want %q", last, c.footer)
			}
		})
	}
}

// TestSearchFindings checks that the text of the findings pane is searched.
func TestSearchFindings(t *testing.T) {
	s := newScreen(t, 80, 24).feed(attack("\u202e")["anthropic"]...).press("3/provider<enter>")
	if s.where() != "findings: PROVIDER_ERROR" {
		t.Error(s.where())
	}
}

// TestSearchGrows checks that the search for the next match includes content that arrived after the last search.
func TestSearchGrows(t *testing.T) {
	s, a := liveScreen(t)
	s.press("2/needle<enter>").shows("no matches for needle")
	n := len(a.records)
	s.feed(a.args(2, `"needle","straw","needle"`).more(n)...).press("n").shows("needle  1 of 2").press("n").shows("needle  2 of 2").press("N").shows("needle  1 of 2")
	n = len(a.records)
	s.feed(a.args(2, `,"needle"`).more(n)...).press("NN").shows("needle  2 of 3")
}

// TestSearchGoesWithTheChoice checks that the matches in one call are not used as matches in another.
func TestSearchGoesWithTheChoice(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "first", `{"x":"one","y":"one","z":"one"}`).seal()
	a.call("toolu_2", "second", `{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":"one"}`).seal()
	s := newScreen(t, 80, 24).feed(a.records...).press("k2/one<enter>n").shows("one  2 of 3")
	if s.press("1j2n").shows("one  1 of 1"); s.where() != `arguments: "one"` {
		t.Error(s.where())
	}
	if s.press("1k2N").shows("one  3 of 3"); s.where() != `arguments: "one"` {
		t.Error(s.where())
	}
}

// TestSearchCancelled checks that esc removes the marks, and restores those of the previous search.
func TestSearchCancelled(t *testing.T) {
	s := agent(t, 80, 24).press("k2z")
	plain := s.View()
	if s.press("/import<esc>g"); s.View() != plain {
		t.Errorf("esc leaves something behind:\n%q\nbefore:\n%q", s.View(), plain)
	}
	s.press("/log<enter>g")
	marked := s.View()
	if s.press("/import<esc>g"); s.View() != marked || marked == plain {
		t.Error("esc does not bring the search before back")
	}
	if s.press("<esc>"); s.View() != plain {
		t.Errorf("esc does not end the search:\n%s", s.text())
	}
}

// TestSearchBar checks that the query can be edited at the cursor.
func TestSearchBar(t *testing.T) {
	agent(t, 80, 24).press("/edt<left>i").shows("/edi█t").press("<home>x").shows("/x█edit").press("<end><bs>").shows("/xedi█")
}

// TestSearchElsewhere checks that other panes are searched if the focused one has no match, and that the
// focus moves when the query is kept.
func TestSearchElsewhere(t *testing.T) {
	s := newScreen(t, 80, 24).feed(mixed(0, 9)...).press("g2")
	s.press("/malformed").shows("/malformed█  1 of 3 in the list")
	if s.chosenName() != "good" {
		t.Error("typing leads away to", s.chosenName())
	}
	s.press("<enter>").shows("malformed  1 of 3 in the list")
	if s.selected.Turn != 2 {
		t.Error("enter leads to", s.chosenName())
	}
	if s.press("n"); s.selected.Turn != 5 || s.focus != s.doc {
		t.Error("n leads to", s.chosenName())
	}
	s.press("<esc>/x<enter>").shows("x  1 of 1").hides("in the")
	s.press("<esc>/call open<enter>").shows("call open  1 of 1 in Wire", "[Wire")
}

// TestSearchInPieces checks that frames are drawn and keys are handled during a long search. A search in parts must
// find the same matches as a search in one step.
func TestSearchInPieces(t *testing.T) {
	s := newScreen(t, 80, 24).feed(mixed(0, 4500)...).press("g")
	whole, _ := s.list.Find("broken", 0, func() bool { return true })
	for _, start := range []string{"g", "G"} {
		s.press("<esc>" + start + "/broke")
		s.slow = 4 * time.Millisecond
		if s.press("n").hides("of 1,500"); s.cmd == nil {
			t.Fatal("nothing more is asked for")
		}
		checkFrame(t, s)
		for range 100 {
			if s.search.next == -1 {
				break
			}
			s.settle()
		}
		if s.slow = 0; !slices.Equal(s.search.hits, whole) {
			t.Errorf("%d hits of %d", len(s.search.hits), len(whole))
		}
		s.press("<enter>").shows(map[string]string{"g": "broken  1 of 1,500", "G": "broken  1,500 of 1,500"}[start])
	}
	s.press("<esc>/broke")
	s.slow = 4 * time.Millisecond
	s.press("m")
	late := s.cmd
	s.slow = 0
	s.press("<bs>n<enter>")
	s.cmd = late
	if s.settle(); s.search.query != "broken" || s.cmd != nil {
		t.Error("what was looked for before goes on")
	}
}

// TestPagesAboveTheTimeline checks that a page that opens over the timeline ends above it: the page's last
// rows and the timeline are on the screen together.
func TestPagesAboveTheTimeline(t *testing.T) {
	s := newScreen(t, 80, 24).feed(demo(t, "history")...).end().press("gjj8")
	strip := s.moment.stripRows()
	if strip == 0 {
		t.Fatal("no timeline")
	}
	for _, key := range []string{"p", "o", "=", "?"} {
		s.press(key)
		rows := s.rows()
		if got := strings.Join(rows[len(rows)-1-strip:len(rows)-1], "\n"); !strings.Contains(got, "write_file") {
			t.Errorf("after %s, the timeline is hidden:\n%s", key, got)
		}
		checkFrame(t, s)
		s.press("<esc>")
	}
}
