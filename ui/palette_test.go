package ui

import (
	"strings"
	"testing"

	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// TestPaletteHasAll checks that the palette offers every key that the help lists for a place, and every
// command.
func TestPaletteHasAll(t *testing.T) {
	for _, where := range []string{"", "2", "3", "4", "p", "?"} {
		s := agent(t, 140, 60).press(where)
		here := s.modeStack.activeMode().Keys()
		keys := append(here, s.globalKeys()...)
		s.press(":")
		for i, b := range keys {
			taken := i >= len(here) && screen.FindBinding(here, b.Keys[0]) != nil // with the action that the key has in this place
			if b.Do == nil || b.Does.Empty() || taken {
				continue
			}
			if s.press(b.Does.String()); !strings.Contains(s.text(), b.Does.String()) || !strings.Contains(s.text(), b.Name(s.draw).String()+" ") {
				t.Errorf("after %q the palette does not offer %s: %s\n%s", where, b.Keys, b.Does, s.text())
			}
			s.press("<esc>:")
		}
		seen := map[string]bool{}
		for _, row := range s.offered() {
			if seen[row] {
				t.Errorf("after %q it offers twice %q", where, row)
			}
			seen[row] = true
		}
		if len(seen) < len(keys)/2 {
			t.Errorf("after %q %d rows", where, len(seen))
		}
		s.press("<esc>:")
		for _, c := range s.typedCommands() {
			s.press(c.Word).shows(c.Does.String(), " "+c.Word).press("<esc>:")
		}
	}
}

// offered returns the rows of the palette, each as it is drawn while it is selected.
func (s *rig) offered() (rows []string) {
	for {
		at := ""
		for _, row := range s.rows()[s.h/2:] {
			if strings.HasPrefix(row, "▌") {
				at, _, _ = strings.Cut(row, "│")
			}
		}
		if len(rows) > 0 && rows[len(rows)-1] == at {
			return rows
		}
		rows = append(rows, at)
		s.press("<down>")
	}
}

// TestPalette checks that a few letters of an entry find it, that the palette runs the selected entry, and that no
// part of the palette stays on the screen.
func TestPalette(t *testing.T) {
	s := agent(t, 80, 24)
	before := s.View()
	if s.press(":rawx<esc>"); s.View() != before {
		t.Errorf("the palette leaves something behind:\n%s", s.text())
	}
	s.press(":open strms").shows("open streams", " L ", "1 of ").press("<bs><bs><bs><bs><bs><bs><bs><bs><bs><bs><bs>")
	s.press("zoom th").press("<enter>")
	if !s.zoom {
		t.Error("nothing was done")
	}
	s.press(":zzzz").shows("0 of").press("<enter>").shows("no matching command or key")
}

// TestPaletteCommands checks a command with an argument, a command without one, and a number.
func TestPaletteCommands(t *testing.T) {
	s := agent(t, 80, 24)
	s.press(":turn 1<enter>")
	if s.chosenName() != "turn 1" {
		t.Error(":turn 1 leads to", s.chosenName())
	}
	s.press(":turn<enter>").shows(": turn █").press("7<enter>").shows("no turn 7: the last turn is 1")
	s.press("G:1<enter>")
	if s.chosenName() != "turn 1" {
		t.Error(":1 leads to", s.chosenName())
	}
	s.press(":9999999999<enter>").shows("no turn 9999999999")
	s.press(":turn x\x1b[2J<enter>").shows("use a turn number")
	s.press("p:1<enter>").shows("━ Calls ━")
}

// TestOverlay checks that an overlay covers its rows and cells at every size, whatever is below it. Only the edge of
// the focused pane becomes thin, because the overlay has the keyboard focus.
func TestOverlay(t *testing.T) {
	s := agent(t, 140, 40)
	for w := minWidth; w < 150; w += 7 {
		for _, h := range []int{5, 8, 12, 24, 40} {
			s.resize(w, h)
			below := s.rows()
			s.press(":")
			checkFrame(t, s)
			for y, row := range s.rows() {
				if taken := h - 1 - min(s.mode().(modes.OverlayMode).WantedRows(h-2), h-2); y > 0 && y < taken && row != strings.ReplaceAll(below[y], "━", "─") {
					t.Errorf("%dx%d: row %d is %q, was %q", w, h, y, row, below[y])
				}
			}
			s.press("<esc>")
		}
	}
}

// TestOverlayCutsWide checks that the cells next to an overlay don't move, even if the overlay cuts a wide
// character.
func TestOverlayCutsWide(t *testing.T) {
	s := agent(t, 80, 24)
	p := &s.pen
	p.Reset()
	p.Field(10)
	p.Overlay(3, func() { p.Text(screen.Plain, display.Lit("ab")) }, func() { p.Text(screen.Plain, display.Clean("日本語xyz")) })
	if got := p.Frame(); len(got) == 0 || strings.Contains(got, "本") || !strings.Contains(got, "語xyz") {
		t.Errorf("%q", got)
	}
}

// TestPaletteMeans checks that for each of these texts, the intended entry is first.
func TestPaletteMeans(t *testing.T) {
	s := newScreen(t, 80, 24, handed, awaiting).feed(demo(t, "protocols")...)
	for typed, meant := range map[string]string{
		":cost": "sort cost", ":set": "set ", ":wrap": "set wrap", ":w": "write ", ":tail": "set tail", ":quit!": "quit!", ":export": "export ",
		":theme dracula": "theme dracula", ":filter state:bad": "filter state:bad", ":w f": "write f", ":sort took": "sort took",
		":q": "quit ", ":x": "quit ", ":wq": "wq ", ":e": "open ", ":s": "sort ", ":f": "filter ", ":h": "help ", ":sc": "sort cost",
		":theme dr": "theme dracula", ":42": "go to turn 42", ":zoom": "zoom the pane", ":clock": "set clock", ":strms": "list open streams",
	} {
		s.press(typed)
		if top := s.offeredNow(); !strings.HasPrefix(top, meant) {
			t.Errorf("%s: %q is on top\n%s", typed, top, s.text())
		}
		s.press("<esc>")
	}
	if s.press(":cost").hides("clock").press("<esc>:theme dr").shows("2 of ", "contains dr", "also:  :quit"); s.pen.Ink.Theme.Name != "dracula" {
		t.Error("the theme is not shown while it is typed")
	}
	if s.press("<down>"); s.pen.Ink.Theme.Name != "kanagawa-dragon" {
		t.Errorf("the cursor shows the theme %s\n%s", s.pen.Ink.Theme.Name, s.text())
	}
	if s.press("<esc>"); s.pen.Ink.Theme.Name != themes.Default(true).Name {
		t.Error("esc keeps the theme")
	}
	if s.press(":theme drac<tab><enter>"); s.pen.Ink.Theme.Name != "dracula" {
		t.Error("enter does not keep the theme")
	}
	all := s.list.Rows
	if s.press(":filter tool:zzz"); s.list.Rows != 0 {
		t.Error("the filter is not shown while it is typed")
	}
	if s.press("<esc>"); s.list.Rows != all || s.filtering.turns.Active() {
		t.Error("esc keeps the filter")
	}
	if s.press(":filter model:gemini<enter>"); !s.filtering.turns.Active() || s.filtering.turns.Text() != "model:gemini" {
		t.Error("enter does not keep the filter")
	}
	s.press("<esc><esc>")
}

// offeredNow returns the palette row at the cursor, without the cursor's sign.
func (s *rig) offeredNow() string {
	for _, row := range s.rows()[s.h/2:] {
		if text, ok := strings.CutPrefix(row, "▌"); ok {
			row, _, _ = strings.Cut(text, "│")
			return strings.TrimLeft(row, " ")
		}
	}
	return ""
}

// TestPaletteHistory checks that up recalls earlier commands. If two entries match equally well, the one that was run
// before comes first.
func TestPaletteHistory(t *testing.T) {
	s := newScreen(t, 80, 24).feed(demo(t, "protocols")...)
	s.press(":log<enter>").press("<esc>:sort took<enter>").press("<esc>:<up>").shows(": sort took█").press("<up>").shows(": log█").press("<down>").shows(": sort took█").press("<down>").shows(": █")
	if s.press("so"); !strings.HasPrefix(s.offeredNow(), "sort took") {
		t.Errorf("%q is first", s.offeredNow())
	}
	if s.press("<esc>:set tail<enter>").shows("tail is off"); s.follow {
		t.Error("it follows")
	}
	s.press(":theme no-such-theme<enter>").shows("unknown theme").press(":set x<enter>").shows("unknown setting").press(":turn x<enter>").shows("use a turn number")
}
