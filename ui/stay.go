package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// redrawLimiter keeps the current frame for a while although data has changed, for reduced motion or to
// write less to the terminal. It delays only drawing. Records are read as usual, and all changes appear in
// the next frame.
type redrawLimiter struct {
	frame  string // the current frame
	on     bool
	due    bool // a redraw is scheduled
	calm   reducedMotion
	budget writeBudget
}

// redrawTick triggers a delayed redraw.
type redrawTick struct{}

// scheduleDraw draws the changes of a message now, or schedules a later redraw.
func (m *Model) scheduleDraw(msg tea.Msg) tea.Cmd {
	s := &m.redraw
	if _, ok := msg.(redrawTick); ok {
		s.due = false
	}
	wait := time.Duration(0)
	if m.opt.Calm {
		wait = s.calm.frameDelay(msg, m.opt.Now())
	}
	if m.opt.Written != nil {
		wait = max(wait, m.budgetDelay(msg))
	}
	if s.on = wait > 0; !s.on || s.due {
		return nil
	}
	s.due = true
	return tea.Tick(wait, func(time.Time) tea.Msg { return redrawTick{} })
}

// View returns the frame to draw.
func (m *Model) View() string {
	if !m.redraw.on {
		m.redraw.frame = m.drawFrame()
	}
	return m.redraw.frame
}
