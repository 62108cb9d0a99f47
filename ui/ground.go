package ui

import (
	"toolscope/themes"
	"toolscope/ui/screen"
)

// Background describes the background of the terminal.
type Background struct{ Known, Dark bool }

// Paints reports whether a theme paints its own background. It does if the terminal's background has
// another lightness, or if that is unknown and the user named the theme.
func (g Background) Paints(t themes.Theme, asked bool) bool {
	if g.Known {
		return g.Dark != t.Dark
	}
	return asked
}

// penOf returns the pen of a theme. Any theme but the initial one counts as named by the user.
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
