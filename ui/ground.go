package ui

import (
	"toolscope/themes"
	"toolscope/ui/screen"
)

// Background is what the background of the terminal is.
type Background struct{ Known, Dark bool }

// Paints reports whether a theme paints its own background there: where the terminal's has another
// lightness, or nobody knows and the theme was asked for.
func (g Background) Paints(t themes.Theme, asked bool) bool {
	if g.Known {
		return g.Dark != t.Dark
	}
	return asked
}

// penOf is the pen of a theme. Any other than that at the start was asked for.
func (m *Model) penOf(t themes.Theme) screen.Pen {
	asked := m.opt.Asked || t.Name != m.opt.Theme.Name
	paints := m.opt.Terminal.Paints(t, asked)
	if m.opt.Large {
		t.Muted = themes.TextStyle{}
	}
	return screen.NewPen(t, m.opt.Depth, m.draw, paints)
}

// setTheme has everything drawn in a theme.
func (m *Model) setTheme(t themes.Theme) {
	m.pen = m.penOf(t)
}
