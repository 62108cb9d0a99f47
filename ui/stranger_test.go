package ui

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// timings is a new pane as a contributor would write it. It shows how long each turn took.
type timings struct {
	panes.PaneRows
	of   *providers.View
	host panes.Host
}

func (t *timings) Extend(s *panes.Context, _, h int) {
	t.of = s.View
	t.Resize(len(s.View.Session().Turns), h-1)
}

func (t *timings) Draw(p *screen.Pen, y int, focused bool) {
	if row := t.Top + y - 1; row < t.Rows {
		g := screen.Bare
		if focused && row == t.At {
			g = screen.Selected
		}
		turn := t.of.Session().Turns[row]
		p.TextOn(screen.Plain, g, p.Format(" took of turn %d: %s", row+1, screen.Time(screen.Elapsed(turn.OpenedAt, turn.ClosedAt)).String()))
	}
	p.Fill(screen.Bare)
}

func (t *timings) Label() panes.Label {
	return panes.Label{Name: display.Lit("TIMINGS"), Count: screen.Count(t.Rows), Role: screen.Plain}
}

func (t *timings) Keys() []screen.Binding {
	choose := func() { t.host.Choose(t.of.Session().Turns[t.At].Ref()) }
	return append([]screen.Binding{
		screen.Key("enter", "choose it", "choose it", choose),
		screen.Key("/", "find", "", nil),
		screen.Key("f12", "nothing", "", nil),
	}, t.CursorKeys("", t.MoveTo)...)
}

// TestNewPane checks that with one line in the table, a new pane has its key, its place in the tab order, its area,
// zoom, search, footer and help. No pane of the program has the key %.
func TestNewPane(t *testing.T) {
	one := new(anthropic).open("msg_one").text("the first").stop("end_turn")
	two := &anthropic{exchange: 1}
	two.open("msg_two").text("the second").stop("end_turn")
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 40}, {220, 40}} {
		s := newScreen(t, size[0], size[1])
		toy := &timings{host: paneHost{s.Model}, PaneRows: panes.NewRows(paneHost{s.Model}, func(row int) string { return fmt.Sprintf("turn %d", row+1) })}
		s.table = append(s.table, placedPane{toy, panes.Low, "%"})
		s.feed(append(one.records, two.records...)...)

		if s.press("%").shows("[TIMINGS 2]", "took of turn 2"); s.focus != toy {
			t.Fatal("the key of the new pane leads to", s.where())
		}
		s.hides("f12").press("z").shows("[TIMINGS 2]").hides("TURN  VERDICT")
		checkFrame(t, s)
		s.press("z/turn 2<enter>").shows("turn 2  1 of 1")
		if s.press("<esc>"); toy.At != 1 || size[0] > 60 && !strings.Contains(s.text(), "enter choose it  / find") {
			t.Fatalf("row %d:\n%s", toy.At, s.text())
		}
		if s.press("k<enter>"); s.chosenName() != "turn 1" {
			t.Error("enter chooses", s.chosenName())
		}
		s.press("?").resize(size[0], 80).shows("close a tab").press("<esc>").resize(size[0], size[1])
		if s.press("<tab>"); s.focus == toy {
			t.Error("tab leads to", s.where())
		}
		if s.press("<s-tab>"); s.focus != toy {
			t.Error("back leads to", s.where())
		}
		if s.press("4"); s.focus != s.wire {
			t.Errorf("4 leads to %s:\n%s", s.where(), s.text())
		}
		checkFrame(t, s.press("%<esc>"))
		if s.focus != s.list {
			t.Error("esc leads to", s.where())
		}
	}
}

// counter is a new mode as a contributor would write it.
type counter struct {
	host modes.Host
	n    int
}

func (c *counter) Extend(*providers.View, int, int) {}

func (c *counter) Draw(p *screen.Pen, y int) {
	if y == 0 {
		p.Text(screen.Accent, p.Format("counted to %d", c.n))
	}
}

func (c *counter) Keys() []screen.Binding {
	return []screen.Binding{
		screen.Key("+", "more", "count on", func() { c.n++ }),
		screen.Key("esc", "close", "close", c.host.Close),
	}
}

// TestNewMode checks that with one line among the entries, a new mode has its key, the screen, the footer and
// the help.
func TestNewMode(t *testing.T) {
	s := agent(t, 140, 40)
	s.entries = append(s.entries, modes.Entry{
		Binding: screen.Key("C", "count", "count something", nil),
		New: func(h modes.Host) (modes.Mode, display.Text) {
			if h.Chosen().Call == 0 {
				return nil, display.Lit("count what?")
			}
			return &counter{host: h}, display.Text{}
		},
	})
	checkFrame(t, s.press("4"))
	s.shows("C count").press("?G").shows("count something").press("<esc>")
	s.press("C").shows("counted to 0", "+ more", "esc close").hides("TURN  VERDICT")
	s.press("++").shows("counted to 2").press("?").shows("count on").press("<esc>").shows("counted to 2")
	checkFrame(t, s)
	s.press("<esc>").shows("TURN  VERDICT")
	s.press("1ghC").shows("count what?", "TURN  VERDICT")
}
