package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// calm is reduced motion. What a key or the mouse asks for is drawn at once; what comes by itself, at
// most once in calmTime, and whole. No figure runs, and the demo waits for the user at each claim.
type calm struct {
	frame string    // the latest
	at    time.Time // when one was drawn last that nobody asked for
	asked bool      // the latest message was the user's
	due   bool      // one is to be drawn, a little later
}

// calmTime is how long a frame stays that nobody asked to change.
const calmTime = time.Second / 2

// calmed says that it is time to draw what has come.
type calmed struct{}

// calmly sees to it that what a message brought is drawn, now or later.
func (m *Model) calmly(msg tea.Msg) tea.Cmd {
	if !m.opt.Calm {
		return nil
	}
	c := &m.calm
	switch msg.(type) {
	case tea.KeyMsg, tea.MouseMsg, tea.WindowSizeMsg, tea.ResumeMsg:
		c.asked = true
		return nil
	case calmed:
		c.due, c.at = false, time.Time{}
	}
	c.asked = false
	wait := calmTime - m.opt.Now().Sub(c.at)
	if wait <= 0 || c.due {
		return nil
	}
	c.due = true
	return tea.Tick(wait, func(time.Time) tea.Msg { return calmed{} })
}

// View is the frame as it is to be drawn.
func (m *Model) View() string {
	if !m.opt.Calm {
		return m.drawFrame()
	}
	c, now := &m.calm, m.opt.Now()
	if !c.asked && c.frame != "" && now.Sub(c.at) < calmTime {
		return c.frame
	}
	if !c.asked {
		c.at = now
	}
	c.frame = m.drawFrame()
	return c.frame
}
