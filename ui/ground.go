package ui

import (
	"toolscope/themes"
	"toolscope/ui/screen"
)

// Background describes the background of the terminal.
type Background struct{ Known, Dark bool }

// Paints reports whether a theme paints its own background: if the terminal's has another lightness, or is
// unknown and the user asked for the theme.
func (g Background) Paints(t themes.Theme, asked bool) bool {
	if g.Known {
		return g.Dark != t.Dark
	}
	return asked
}

// penOf returns the pen of a theme. The user asked for any theme but the initial one.
func (m *Model) penOf(t themes.Theme) screen.Pen {
	asked := m.opt.Asked || t.Name != m.opt.Theme.Name
	paints := m.opt.Terminal.Paints(t, asked)
	if m.opt.Large {
		t.Muted = themes.TextStyle{}
	}
	return screen.NewPen(t, m.opt.Depth, m.draw, paints)
}

// setTheme changes the theme of the screen.
func (m *Model) setTheme(t themes.Theme) {
	m.pen = m.penOf(t)
}
