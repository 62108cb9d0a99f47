package ui

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/ui/modes"

	tea "github.com/charmbracelet/bubbletea"
)

// where describes the mode, the focused pane and its cursor in words.
func (s *rig) where() string {
	at := ""
	switch s.focus {
	case s.list:
		at = "list: " + s.chosenName()
	case s.doc:
		if s.selectedCall() == nil {
			at = fmt.Sprintf("turn: row %d", s.doc.Summary.Top)
			break
		}
		c := s.doc.Spot().Span
		if s.doc.HasOpenString() {
			at = "string of "
		}
		at += fmt.Sprintf("arguments: %s", s.doc.Call.Args()[c.Start:c.End])
	case s.wire:
		at = fmt.Sprintf("wire: #%d", s.in.View().Event(int(s.wire.Events[s.wire.At])).Frame)
		if s.wire.Open {
			at += ", open"
		}
	case s.findings:
		at = "findings: "
		if f, ok := s.findings.Chosen(); ok {
			at += f.Code
		}
	}
	switch s.mode().(type) {
	case *modes.Help:
		at = "help over " + at
	case *searchBar:
		at = "search in " + at
	}
	for _, more := range []struct {
		is   bool
		what string
	}{{s.zoom, "zoomed"}, {s.doc.Raw, "raw"}, {s.follow, "follows"}, {s.moment.isPaused(), "held"}} {
		if more.is {
			at += ", " + more.what
		}
	}
	return at
}

func (s *rig) chosenName() string {
	switch {
	case s.selectedCall() != nil:
		return s.selectedCall().Name
	case s.selectedTurn() != nil:
		return fmt.Sprintf("turn %d", s.selectedTurn().Number+1)
	}
	return "nothing"
}

// agent returns a screen that has received a complete response and is waiting for more.
func agent(t testing.TB, w, h int) *rig {
	s := newScreen(t, w, h).feed(body("agent.sse")(t)...)
	if s.where() != "list: run_tests, follows" {
		t.Fatal(s.where())
	}
	return s
}

func TestMovement(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"k", "list: edit_file"},
		{"kk", "list: read_file"},
		{"kkk", "list: read_file"},
		{"kkkkkk", "list: read_file"},
		{"<up><up><down>", "list: edit_file"},
		{"g", "list: read_file"},
		{"<home>j", "list: edit_file"},
		{"<pgup><pgup>", "list: read_file"},
		{"g<pgdown>", "list: run_tests"},
		{"g<c-d><c-u>", "list: read_file"},
		{"gh", "list: turn 1"},
		{"ghl", "list: read_file"},
		{"khj", "list: run_tests"},
		{"gG", "list: run_tests, follows"},
		{"g<end>", "list: run_tests, follows"},

		{"kl", "arguments: {"},
		{"k<enter>", "arguments: {"},
		{"k2", "arguments: {"},
		{"k<tab>", "arguments: {"},
		{"klj", `arguments: "path"`},
		{"kljl", `arguments: "cmd/greet/main.go"`},
		{"kljll", `arguments: "edits"`},
		{"kljllh", `arguments: "cmd/greet/main.go"`},
		{"kljjj", "arguments: {"},
		{"kljjjj", `arguments: "old"`},
		{"kljjjj<right><left>", `arguments: "old"`},
		{"kljk", "arguments: {"},
		{"klh", "list: edit_file"},
		{"kl<pgdown><pgdown>", "arguments: }"},
		{"kl<c-d>g", "arguments: {"},
		{"klr", "arguments: {, raw"},
		{"kljlr", `arguments: "cmd/greet/main.go", raw`},
		{"kljlrr", `arguments: "cmd/greet/main.go"`},

		{"k4", "wire: #11"},
		{"k4jj", "wire: #13"},
		{"k4jjk", "wire: #12"},
		{"k4<pgdown>", "wire: #14"},
		{"k4jg", "wire: #11"},
		{"k4j<enter>", "wire: #12, open"},
		{"k4jl", "wire: #12, open"},
		{"k4j<enter><enter>", "wire: #12"},
		{"k4jh", "list: edit_file"},
		{"k<s-tab>", "wire: #11"},
		{"k41<s-tab>", "wire: #11"},
		{"k44", "list: edit_file"},

		{"gh2", "turn: row 0"},
		{"gh2j", "turn: row 1"},
		{"gh2jjjjjj", "turn: row 3"},
		{"gh2jk", "turn: row 0"},
		{"gh2<pgdown>", "turn: row 3"},
		{"gh2jg", "turn: row 0"},
		{"gh2jh", "list: turn 1"},
		{"gh2jj1", "list: turn 1"},

		{"k?", "help over list: edit_file"},
		{"k?q", "list: edit_file"},
		{"k??", "list: edit_file"},
		{"kz", "list: edit_file, zoomed"},
		{"k2z", "arguments: {, zoomed"},
		{"k2zz", "arguments: {"},
		{"k2z<tab>", "findings: , zoomed"},
		{"k2z<tab><tab><tab><tab><tab><tab>", "list: edit_file, zoomed"},
		{"F", "list: run_tests"},
		{"FF", "list: run_tests, follows"},
	} {
		t.Run(c.keys, func(t *testing.T) {
			s := agent(t, 80, 24).press(c.keys)
			if got := s.where(); got != c.want {
				t.Errorf("got %s, want %s\n%s", got, c.want, s.text())
			}
			checkFrame(t, s)
			if all := agent(t, 80, 24); !strings.Contains(c.keys, "<") {
				if got := all.burst(c.keys).where(); got != c.want {
					t.Errorf("typed fast: got %s, want %s", got, c.want)
				}
			}
		})
	}
}

// TestTurnsDiffer checks that each turn shows its own facts and text.
func TestTurnsDiffer(t *testing.T) {
	one := new(anthropic).open("msg_one").text("the first answer").stop("end_turn")
	two := &anthropic{exchange: 1}
	two.open("msg_two").text("the second answer").stop("end_turn")
	s := newScreen(t, 80, 30).feed(append(one.records, two.records...)...)
	s.shows("turn 2", "msg_two", "the second answer").hides("first answer")
	s.press("k").shows("turn 1", "msg_one", "the first answer").hides("second answer")
	s.press("j").shows("the second answer")
}

// TestBack checks that esc and q close one level at a time, and that q ends the program at the last level.
func TestBack(t *testing.T) {
	s := agent(t, 80, 24).press("k4jl").press("z/args<enter>")
	for _, want := range []string{
		"wire: #12, open, zoomed", "wire: #12, open", "wire: #12", "list: edit_file", "list: edit_file", "list: edit_file",
	} {
		if s.press("<esc>"); s.where() != want || s.cmd != nil {
			t.Fatalf("got %s, want %s", s.where(), want)
		}
	}
	if s.press("q"); s.cmd == nil || s.cmd() != tea.Quit() {
		t.Error("q does not quit from the list")
	}
	if s.press("2q"); s.where() != "list: edit_file" || s.cmd != nil {
		t.Errorf("q in the arguments leads to %s", s.where())
	}
	for _, keys := range []string{"<c-c>", "?<c-c>", "/<c-c>", "2jl<enter><c-c>"} {
		if s.press(keys); s.cmd == nil || s.cmd() != tea.Interrupt() {
			t.Errorf("^C after %q does not quit", keys)
		}
	}
}

// TestPanesByWidth checks that tab goes through exactly the panes on the screen, at each width.
func TestPanesByWidth(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want string // the panes that tab reaches
	}{
		{40, 10, "2 1"}, {71, 30, "2 4 5 1"}, {99, 24, "2 4 1"}, {80, 15, "2 1"}, {100, 30, "2 4 5 1"}, {199, 30, "2 4 5 1"},
		{200, 30, "2 3 5 4 1"}, {250, 80, "2 3 5 4 1"},
	} {
		s := agent(t, c.w, c.h)
		var got []string
		for range strings.Fields(c.want) {
			s.press("<tab>")
			got = append(got, fmt.Sprint(s.index(s.focus)+1))
			if _, _, shown := paneSize(s.frame.paneColumns(), s.focus); !shown {
				t.Errorf("at %dx%d the focused pane is not shown", c.w, c.h)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("at %dx%d tab leads to %v, want %s", c.w, c.h, got, c.want)
		}
		for range got {
			s.press("<s-tab>")
		}
		if s.focus != s.list {
			t.Errorf("at %dx%d shift-tab leads to %d", c.w, c.h, s.index(s.focus)+1)
		}
	}
	s := agent(t, 80, 24).shows("Findings 0 ─ [Wire 4]").press("3").shows("[Findings 0]")
	s.press("2").shows("[Findings 0]").press("4").shows("[Wire 4]").press("4").shows("Findings 0 ─ Wire 4 ─")
	if s.focus != s.list {
		t.Error("closing a tab leads to", s.where())
	}
}

// TestPlaceIsKept checks that resizing, zooming and raw text keep the cursor's place.
func TestPlaceIsKept(t *testing.T) {
	for _, keys := range []string{"k2jjjjjl", "k4jjj", "kk", "gh2jj"} {
		s := agent(t, 120, 30).press(keys)
		want, token := s.where(), s.doc.Spot().Span
		for _, size := range [][2]int{{80, 24}, {40, 10}, {250, 80}, {20, 5}, {5, 2}, {120, 30}} {
			s.resize(size[0], size[1])
			checkFrame(t, s)
		}
		if got := s.where(); got != want {
			t.Errorf("resizing leads from %s to %s", want, got)
		}
		for _, there := range []string{"zz", "rr", "1z2z", "t<esc>"} {
			if s.press(there); s.doc.Spot().Span != token && s.focus == s.doc {
				t.Errorf("%q leads from byte %d to %d", there, token.Start, s.doc.Spot().Span.Start)
			}
		}
	}
	// The selected token also stays in view.
	s := agent(t, 60, 10).press("k2" + strings.Repeat("j", 12))
	token := s.doc.Spot().Span
	s.press("r").resize(30, 8)
	if s.doc.Spot().Span != token || s.doc.At < s.doc.Top || s.doc.At >= s.doc.Top+s.doc.Height {
		t.Errorf("row %d is not among the %d from %d on", s.doc.At, s.doc.Height, s.doc.Top)
	}
}

// TestThemePicker checks that the selected theme is shown at once, and that letters find a theme. esc
// restores the old theme, enter keeps the new one, and tab saves it for the next run.
func TestThemePicker(t *testing.T) {
	kept := ""
	s := newScreen(t, 80, 24, func(o *Options) {
		o.Remember = func(name string) (string, error) { kept = name; return "a file", nil }
	}).feed(body("agent.sse")(t)...)
	before := s.View()
	s.press("t").shows(" Theme ", " 1 of ", "▌toolscope-dark", "contrast ", "● ok ▲ cut").press("<down>")
	if s.pen.Ink.Theme.Name != "toolscope-light" {
		t.Error("the theme is", s.pen.Ink.Theme.Name)
	}
	if s.press("<esc>"); s.View() != before {
		t.Error("esc does not lead back")
	}
	s.press("tdrac").shows("▌dracula", "1 of 1").press("<enter>").hides("Theme")
	if s.pen.Ink.Theme.Name != "dracula" || kept != "" {
		t.Error("the theme is", s.pen.Ink.Theme.Name, "kept", kept)
	}
	s.press("t<tab>").finish().shows("theme dracula is saved: a file")
	if kept != "dracula" {
		t.Error("kept", kept)
	}
	s.press("tzzz<enter>").hides("Theme")
	if s.pen.Ink.Theme.Name != "dracula" {
		t.Error("where no theme is found it becomes", s.pen.Ink.Theme.Name)
	}
}

// TestDialectKey checks that the user can override the detected protocol and restore it.
func TestDialectKey(t *testing.T) {
	s := newScreen(t, 120, 60).feed(demo(t, "parallel")...).end()
	calls := func() string { text, _, _ := strings.Cut(s.text(), "Wire"); return text }
	before := calls()
	s.press("D").shows("Read the response as", "now: event type message_start")
	s.press("G<enter>").shows(": set by you").hides("run_tests")
	s.press("D<esc>").shows(": set by you")
	s.press("Dg<enter>").shows(": event type message_start", "run_tests")
	s.press("F")
	if got := calls(); got != before {
		t.Errorf("after it was taken back:\n%s\nbefore:\n%s", got, before)
	}
	newScreen(t, 80, 24).press("D").shows("no response to choose")
}
