package panes

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// TimeTab shows the timeline of the selected turn as a tab, while the screen is not paused.
type TimeTab struct {
	PaneRows
	strip TimeStrip
}

// NewTimeTab returns the pane.
func NewTimeTab(h Host) *TimeTab {
	x := new(TimeTab)
	x.PaneRows = NewRows(h, func(int) string { return "" })
	return x
}

// Keys returns the keys that scroll.
func (x *TimeTab) Keys() []screen.Binding {
	return x.keys(nil, x.ScrollKeys("scroll"), x.End, "zoom", "search", "next")
}

// Label returns the pane's name, and a note if there are no times.
func (x *TimeTab) Label() Label {
	l := Label{Name: display.Lit("Time"), Role: screen.Muted, Empty: x.Rows == 0}
	if x.Rows > 0 && !x.strip.axis.timed {
		if t := x.strip.liveTurn(); t != nil { // nil if the screen is about to show another view
			l.Count = x.strip.untimedText(t)
		}
	}
	return l
}

// Click does nothing, because there is no cursor.
func (x *TimeTab) Click(int, int) (again bool) { return false }

// GoTo scrolls to a row.
func (x *TimeTab) GoTo(row int) { x.Scroll(row) }

// Cursor returns the first visible row.
func (x *TimeTab) Cursor() int { return x.Top }

// Extend updates the pane for the selection.
func (x *TimeTab) Extend(s *Context, w, h int) {
	at := StripSubject{Live: s.View, Then: s.View, Turn: s.Chosen.Turn, Chosen: s.Chosen, Still: true}
	t, _ := s.View.Find(s.Chosen)
	if t == nil || t.Retention != stream.InMemory || len(t.Calls) == 0 && t.OpenedAt < 0 {
		x.Fit(0, titleRow, h)
		return
	}
	x.strip.Extend(at, w, s.Rows, s.Pen)
	x.Fit(len(x.strip.plan.rows), titleRow, h)
}

// Draw draws row y. The program draws the first row.
func (x *TimeTab) Draw(p *screen.Pen, y int, _ bool) {
	if row := x.Top + y - titleRow; row < x.Rows {
		x.strip.Draw(p, row)
	}
	p.Fill(screen.Bare)
}
