package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// reducedMotion is reduced motion. What a key or the mouse asks for is drawn at once; what comes by itself, at
// most once in calmTime, and whole. No figure runs, and the demo waits for the user at each claim.
type reducedMotion struct {
	at time.Time // when a frame was drawn last that nobody asked for
}

// reducedMotionTime is how long a frame stays that nobody asked to change.
const reducedMotionTime = time.Second / 2

// frameDelay is how long the frame that is there stays.
func (c *reducedMotion) frameDelay(msg tea.Msg, now time.Time) time.Duration {
	switch msg.(type) {
	case tea.KeyMsg, tea.MouseMsg, tea.WindowSizeMsg, tea.ResumeMsg:
		return 0
	case redrawTick:
		c.at = time.Time{}
	}
	if wait := reducedMotionTime - now.Sub(c.at); wait > 0 {
		return wait
	}
	c.at = now
	return 0
}
