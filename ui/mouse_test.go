package ui

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/panes"
)

// mouseAt sends a mouse event at a cell of the screen.
func (s *rig) mouseAt(x, y int, does tea.MouseButton, action tea.MouseAction) *rig {
	s.t.Helper()
	s.send(tea.MouseMsg{X: x, Y: y, Button: does, Action: action})
	return s
}

func (s *rig) clickAt(x, y int) *rig {
	s.t.Helper()
	return s.mouseAt(x, y, tea.MouseButtonLeft, tea.MouseActionPress).mouseAt(x, y, tea.MouseButtonLeft, tea.MouseActionRelease)
}

// dragTo presses the mouse button at one cell and releases it at another.
func (s *rig) dragTo(x, y, toX, toY int) *rig {
	s.t.Helper()
	s.mouseAt(x, y, tea.MouseButtonLeft, tea.MouseActionPress).mouseAt(toX, toY, tea.MouseButtonLeft, tea.MouseActionMotion)
	return s.mouseAt(toX, toY, tea.MouseButtonLeft, tea.MouseActionRelease)
}

// find returns the place of the given text below the first row.
func (s *rig) find(text string) (x, y int) {
	s.t.Helper()
	for y, row := range s.rows() {
		if before, _, ok := strings.Cut(row, text); ok && y > 0 {
			return len([]rune(before)), y
		}
	}
	s.t.Fatalf("%q is nowhere:\n%s", text, s.text())
	return 0, 0
}

func (s *rig) clickOn(text string) *rig {
	s.t.Helper()
	return s.clickAt(s.find(text))
}

// TestMouseIsOff checks that until M is pressed, mouse events have no effect and the terminal is not asked to report
// them.
func TestMouseIsOff(t *testing.T) {
	s := newScreen(t, 100, 30).feed(session(t)...).end()
	before := s.text()
	if s.clickAt(5, 5).mouseAt(5, 5, tea.MouseButtonWheelUp, tea.MouseActionPress); s.text() != before {
		t.Errorf("it was used:\n%s", s.text())
	}
	s.press("M").shows("mouse on", "shift")
	if s.cmd() != tea.EnableMouseCellMotion() {
		t.Errorf("asked for %T", s.cmd())
	}
	s.press("M").shows("mouse off")
	if s.cmd() != tea.DisableMouse() {
		t.Errorf("asked for %T", s.cmd())
	}
	if s.send(tea.ResumeMsg{}); s.cmd != nil {
		t.Error("it is asked for again, and was off")
	}
	s.press("M").send(tea.ResumeMsg{})
	if s.cmd == nil || s.cmd() != tea.EnableMouseCellMotion() {
		t.Error("another program had the terminal, and it is not asked for again")
	}
}

// TestClick checks that a click moves the cursor and the focus, and that a click at the cursor has the effect
// of enter.
func TestClick(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {140, 40}, {250, 60}} {
		s := newScreen(t, size[0], size[1]).feed(demo(t, "malformed")...).end().press("Mgh")
		s.clickOn("run_shell ")
		if c := s.selectedCall(); c == nil || c.Name != "run_shell" || s.focus != s.list {
			t.Fatalf("%v: chosen is %v, the focus at %T", size, s.selected, s.focus)
		}
		if s.clickOn("run_shell "); s.focus != panes.Pane(s.doc) {
			t.Fatalf("%v: again is not enter: %T", size, s.focus)
		}
		s.press("1").clickOn(`"command"`)
		if s.focus != panes.Pane(s.doc) || s.doc.Path() != ".command" {
			t.Fatalf("%v: at %T %q:\n%s", size, s.focus, s.doc.Path(), s.text())
		}
		s.clickOn("grep -rn").clickOn("grep -rn")
		if !s.doc.HasOpenString() {
			t.Fatalf("%v: the string is not open:\n%s", size, s.text())
		}
		if s.press("<esc>").clickOn("Findings"); s.focus != panes.Pane(s.findings) {
			t.Fatalf("%v: at %T:\n%s", size, s.focus, s.text())
		}
		if s.clickOn("? keys"); s.modeStack.activeMode().Mode == (browse{s.Model}) {
			t.Fatalf("%v: the hint does nothing", size)
		}
		s.shows("Keys here")
	}
}

// TestHelpIsHintedAt checks that in every view that takes keys, the hints begin with help, and that a click on this
// hint opens the help.
func TestHelpIsHintedAt(t *testing.T) {
	for _, keys := range []string{"", "2", "3", "2jj<enter>", " ", "p", "pp", "p<enter>", "=", "=jj<enter>", "o", "o<enter>", "R", "D", ":log<enter>", ":sort cost<enter>", ":jq .path<enter>"} {
		s := newScreen(t, 100, 30).feed(session(t)...).feed(demo(t, "history")...).end().press("Mgjjj" + keys)
		row := s.rows()[s.h-1]
		if !strings.HasPrefix(row, " ? keys") {
			s.press("k").press("j") // a notice disappears at the next key
			row = s.rows()[s.h-1]
		}
		if !strings.HasPrefix(row, " ? keys") {
			t.Errorf("after %q the hints are %q", keys, row)
			continue
		}
		s.clickOn("? keys").shows("Keys here ")
	}
}

// TestWheel checks that the wheel scrolls the pane under the mouse and moves no cursor.
func TestWheel(t *testing.T) {
	s := newScreen(t, 140, 20).feed(manyAnswers(t)...).end().press("Mg")
	at, focus, top := s.selected, s.focus, s.list.Top
	for range 3 {
		s.mouseAt(10, 9, tea.MouseButtonWheelDown, tea.MouseActionPress)
	}
	if s.list.Top != top+3*wheelRows || s.selected != at || s.focus != focus {
		t.Errorf("the list begins at %d, chosen is %v", s.list.Top, s.selected)
	}
	s.clickAt(10, 1+s.frame.mapRows()+s.list.Head)
	if want := s.list.RefAt(s.view.Session(), top+3*wheelRows); s.selected != want { // the row of the selection stays in view
		t.Errorf("chose %v, want %v:\n%s", s.selected, want, s.text())
	}
	s.press("g").mouseAt(10, 9, tea.MouseButtonWheelDown, tea.MouseActionPress).press("j")
	if s.list.At != 1 || s.list.Top > 1 {
		t.Errorf("a key does not come back to the cursor: %+v", s.list.Window)
	}
	s.press("4").mouseAt(100, s.h-4, tea.MouseButtonWheelUp, tea.MouseActionPress)
	s.press(":").mouseAt(5, s.h-3, tea.MouseButtonWheelDown, tea.MouseActionPress)
	if s.clickAt(5, s.h-3); s.text() == "" {
		t.Error("nothing is drawn")
	}
}

// TestBorders checks that a border moves with the mouse and with the keys, and that no pane gets lost.
func TestBorders(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {140, 40}, {250, 60}} {
		s := newScreen(t, size[0], size[1]).feed(demo(t, "malformed")...).end().press("M4")
		list := func() (w, h int) { w, h, _ = paneSize(s.frame.paneColumns(), s.list); return }
		w, h := list()
		switch {
		case size[0] >= twoColumns:
			s.dragTo(1+w, 5, 1+w-10, 7)
			if got, _ := list(); got != w-10 {
				t.Errorf("%v: the list has %d cells, want %d", size, got, w-10)
			}
			s.press("1)))")
			if got, _ := list(); got != w-4 {
				t.Errorf("%v: the list has %d cells by key, want %d", size, got, w-4)
			}
		case size[1] > minTitledRows:
			s.dragTo(30, 1+h, 30, 1+h+3)
			if _, got := list(); got != h+3 {
				t.Errorf("%v: the list has %d rows, want %d\n%s", size, got, h+3, s.text())
			}
		}
		if size[1] < minTitledRows {
			continue
		}
		columns := s.frame.paneColumns()
		at, x := min(1, len(columns)-1), size[0]-3
		if size[0] >= threeColumns {
			x = columns[0].width + 3
		}
		tabs := func() int {
			all := s.frame.paneColumns()[at].panes
			return heightOf(all[slices.IndexFunc(all, func(p paneSlot) bool { return p.tabs != nil }):])
		}
		low := tabs()
		y := 1 + s.bodyHeight() - low
		if s.isBoxed(s.w, s.bodyHeight()) {
			y--
		}
		s.dragTo(x, y, x, y-2)
		if got := tabs(); got != low+2 {
			t.Errorf("%v: the tabs have %d rows, want %d\n%s", size, got, low+2, s.text())
		}
		for _, to := range [][2]int{{-9, -9}, {999, 999}, {0, 0}} {
			s.dragTo(size[0]-3, y-2, to[0], to[1])
			s.dragTo(w-10, 5, to[0], to[1])
			if s.checkFrame(); s.resize(size[0], size[1]) == nil {
				t.Fatal()
			}
		}
		s.resize(24, 12).checkFrame()
	}
}

func (s *rig) checkFrame() {
	s.t.Helper()
	rows := strings.Split(s.text(), "\n")
	if len(rows) != s.h {
		s.t.Fatalf("%d rows of %d:\n%s", len(rows), s.h, s.text())
	}
	for _, c := range s.frame.paneColumns() {
		for _, p := range c.panes {
			if p.height < 1 || c.width < 1 {
				s.t.Fatalf("a pane of %dx%d in %dx%d", c.width, p.height, s.w, s.h)
			}
		}
	}
}

// TestDragTime checks that dragging the mouse along the timeline selects the moment. The ends are the first and the
// last moment, and no cell stands for an earlier moment than the cell before it.
func TestDragTime(t *testing.T) {
	s := newScreen(t, 80, 24).feed(demo(t, "parallel")...).end().press("Mgj ")
	y := s.h - 1 - s.moment.stripRows() + 1
	was := 0
	s.mouseAt(0, y, tea.MouseButtonLeft, tea.MouseActionPress)
	for x := range s.w {
		s.mouseAt(x, y, tea.MouseButtonLeft, tea.MouseActionMotion)
		if n := s.moment.eventCount(); n < was {
			t.Fatalf("cell %d is event %d, and the one before %d", x, n, was)
		} else {
			was = n
		}
	}
	if turn, _ := s.moment.steppedTurn(); s.view.Session().Turn(turn.Number).Events != turn.Events {
		t.Errorf("the last cell is event %d", was)
	}
	s.mouseAt(0, y, tea.MouseButtonLeft, tea.MouseActionMotion)
	if turn, _ := s.moment.steppedTurn(); s.moment.eventCount() > int(turn.OpenedBy)+3 {
		t.Errorf("the first cell is event %d, the turn opens at %d", s.moment.eventCount(), turn.OpenedBy)
	}
	s.mouseAt(0, y, tea.MouseButtonNone, tea.MouseActionRelease).mouseAt(50, y, tea.MouseButtonLeft, tea.MouseActionMotion)
	if turn, _ := s.moment.steppedTurn(); s.moment.eventCount() > int(turn.OpenedBy)+3 {
		t.Error("it goes on when nothing is held")
	}
	s.press("G").end()
	if s.press(" ").clickAt(2, y+3); s.selected.Call == 0 {
		t.Errorf("the name of a call chose %v", s.selected)
	}
}

// TestMouseOnStage checks that clicks on the captions of a tour don't change the moment, unlike clicks on the timeline.
func TestMouseOnStage(t *testing.T) {
	s := staged(t, 80, 24).press("M")
	before := s.moment.eventCount()
	for y := range s.h {
		s.mouseAt(40, y, tea.MouseButtonWheelDown, tea.MouseActionPress)
	}
	if s.moment.stripRows() == 0 {
		t.Fatal("no captions")
	}
	for y := s.h - 1 - s.moment.stripRows(); y < s.h-1; y++ {
		if s.clickAt(2, y).clickAt(40, y); s.moment.eventCount() != before {
			t.Errorf("row %d leads to event %d, was at %d", y, s.moment.eventCount(), before)
		}
	}
}

// TestMouseAtWhatIsTyped checks that clicks on hints after an input have the effect of their keys, as do
// clicks on rows of the screen that waits for clients.
func TestMouseAtWhatIsTyped(t *testing.T) {
	s := newScreen(t, 100, 30).feed(demo(t, "malformed")...).end().press("M/grep")
	if s.clickOn("esc cancel"); activeInput(s.modeStack.activeMode().Mode) != nil || s.search.query != "" {
		t.Errorf("esc is not pressed:\n%s", s.text())
	}
	s.press("/grep")
	if s.clickOn("enter keep"); activeInput(s.modeStack.activeMode().Mode) != nil || s.search.query != "grep" {
		t.Errorf("enter is not pressed:\n%s", s.text())
	}
	s = newScreen(t, 80, 24, waiting(new([]StatusNote))).press("M")
	s.clickOn("Gemini CLI").hides("# and its settings").clickOn("Gemini CLI").shows("# and its settings")
	s.clickOn("Claude Code").hides("# and its settings")
	if s.clickOn("others"); s.setup.index != 0 {
		t.Error("what is no line was selected")
	}
}
