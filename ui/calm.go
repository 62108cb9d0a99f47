package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// reducedMotion limits redraws. Changes by a key or the mouse are drawn at once. Other changes are drawn
// together, at most once per reducedMotionTime. No counter runs, and the demo waits for the user at each
// scene.
type reducedMotion struct {
	at time.Time // time of the last frame that no input caused
}

// reducedMotionTime is the minimum time between frames without input.
const reducedMotionTime = time.Second / 2

// frameDelay returns the time until the next frame may be drawn.
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
