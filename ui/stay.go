package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// redrawLimiter is what has the frame stay that is there, though there is news: little is to move, or the
// terminal is to be spared. Only drawing waits. What comes is read and taken in as ever, and what was
// held back is drawn a little later, all of it.
type redrawLimiter struct {
	frame  string // the latest
	on     bool
	due    bool // the screen is going to be woken
	calm   reducedMotion
	budget writeBudget
}

// redrawTick says that it is time to draw what has come.
type redrawTick struct{}

// scheduleDraw decides whether what a message brought is drawn now or later, and sees to it that it is.
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

// View is the frame as it is to be drawn.
func (m *Model) View() string {
	if !m.redraw.on {
		m.redraw.frame = m.drawFrame()
	}
	return m.redraw.frame
}
