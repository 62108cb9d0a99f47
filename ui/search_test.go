package ui

import (
	"strings"
	"testing"
)

// TestSearch: what is typed is looked for in the focused pane at once.
func TestSearch(t *testing.T) {
	for _, c := range []struct {
		keys, want, footer string
	}{
		{"/", "search in list: run_tests, follows", " /█"},
		{"/edit", "search in list: edit_file", " /edit█"},
		{"/edit<enter>", "list: edit_file", "edit  1/1"},
		{"/toolu<enter>", "list: run_tests", "toolu  3/3"},
		{"/toolu<enter>n", "list: read_file", "toolu  1/3"},
		{"/toolu<enter>nn", "list: edit_file", "toolu  2/3"},
		{"/toolu<enter>N", "list: edit_file", "toolu  2/3"},
		{"/sonnet<enter>", "list: turn 1", "sonnet  1/1"},
		{"/greet<enter>", "list: read_file", "greet  1/2"},
		{"/nowhere<enter>", "list: run_tests", "no hits for nowhere"},
		{"/nowhere<enter>n", "list: run_tests", "no hits for nowhere"},
		{"/edit<esc>", "list: edit_file", ""},
		{"/edix<bs>t<enter>", "list: edit_file", "edit  1/1"},
		{"/<enter>n", "list: run_tests", ""},
		{"k2/import<enter>", `arguments: "import \"fmt\""`, "import  1/2"},
		{"k2/import<enter>n", `arguments: "import \"log\""`, "import  2/2"},
		{"k2/import<enter>nn", `arguments: "import \"fmt\""`, "import  1/2"},
		{"k2/import<enter>N", `arguments: "import \"log\""`, "import  2/2"},
		{"k2/NULL<enter>", "arguments: {", "no hits for NULL"},
		{"k2/null<enter>", "arguments: null", "null  1/1"},
		{"k2<c-d><c-d>/path<enter>", `arguments: "path"`, "path  1/1"},
		{"k3/seal<enter>", "wire: #23", "seal  1/1"},
		{"k3/sealed<enter>", "wire: #23", "no hits for sealed"},
		{"k3/import<enter>", "wire: #19", "import  1/2"},
		{"k3/edit_file<enter>", "wire: #11", "edit_file  1/1"},
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

// TestSearchFindings looks through what is written there.
func TestSearchFindings(t *testing.T) {
	s := newScreen(t, 80, 24).feed(attack("\u202e")["anthropic"]...).press("4/provider<enter>")
	if s.where() != "findings: PROVIDER_ERROR" {
		t.Error(s.where())
	}
}

// TestSearchGrows: the next hit is looked for in what is there now.
func TestSearchGrows(t *testing.T) {
	s, a := liveScreen(t)
	s.press("2/needle<enter>").shows("no hits for needle")
	n := len(a.records)
	s.feed(a.args(2, `"needle","straw","needle"`).more(n)...).press("n").shows("needle  1/2").press("n").shows("needle  2/2").press("N").shows("needle  1/2")
	n = len(a.records)
	s.feed(a.args(2, `,"needle"`).more(n)...).press("NN").shows("needle  2/3")
}

// TestSearchGoesWithTheChoice: hits in one call are no hits in another.
func TestSearchGoesWithTheChoice(t *testing.T) {
	a := new(anthropic).open("msg_1").call("toolu_1", "first", `{"x":"one","y":"one","z":"one"}`).seal()
	a.call("toolu_2", "second", `{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":"one"}`).seal()
	s := newScreen(t, 80, 24).feed(a.records...).press("k2/one<enter>n").shows("one  2/3")
	if s.press("1j2n").shows("one  1/1"); s.where() != `arguments: "one"` {
		t.Error(s.where())
	}
	if s.press("1k2N").shows("one  3/3"); s.where() != `arguments: "one"` {
		t.Error(s.where())
	}
}

// TestSearchCancelled: esc takes the marks away, and brings those before back.
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

// TestSearchBar: the line can be edited where the cursor is.
func TestSearchBar(t *testing.T) {
	agent(t, 80, 24).press("/edt<left>i").shows("/edi█t").press("<home>x").shows("/x█edit").press("<end><bs>").shows("/xedi█")
}
