package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"toolscope/themes"
)

// TestGround checks that every cell is painted if only one of the theme and the terminal is dark, or if it is unknown
// whether the terminal is dark and the user named the theme. Otherwise, no cell is painted.
func TestGround(t *testing.T) {
	for _, c := range []struct {
		known, dark, asked, theme bool
		depth                     termenv.Profile
		paints                    bool
	}{
		{true, true, true, true, termenv.TrueColor, false}, {true, true, true, false, termenv.TrueColor, true},
		{true, false, false, true, termenv.TrueColor, true}, {true, false, true, false, termenv.TrueColor, false},
		{false, false, true, false, termenv.TrueColor, true}, {false, false, false, true, termenv.TrueColor, false},
		{true, true, true, false, termenv.ANSI256, true}, {true, true, true, false, termenv.ANSI, false}, {true, true, true, false, termenv.Ascii, false},
	} {
		s := newScreen(t, 120, 30, func(o *Options) {
			o.Terminal, o.Asked, o.Theme, o.Depth = Background{Known: c.known, Dark: c.dark}, c.asked, themes.Default(c.theme), c.depth
		}).feed(body("agent.sse")(t)...)
		for _, keys := range []string{"", "2jjl", "3", "?", "<esc>1gz"} {
			s.press(keys)
			checkFrame(t, s)
			if keys == "?" {
				s.press("<esc>t")
				if tooFew := s.pen.Ink.TooFew; c.paints {
					s.shows("own background")
				} else if tooFew {
					s.shows("background needs more colours")
				} else {
					s.hides("ground")
				}
				s.press("<esc>?")
			}
			bare, cells := bareCells(s.View())
			if c.paints && bare > 0 || !c.paints && bare < cells/2 {
				t.Errorf("%+v, %q: %d of %d cells have no background", c, keys, bare, cells)
			}
		}
	}
}

// bareCells returns the number of cells without a background in a frame, and the number of all cells.
func bareCells(frame string) (bare, cells int) {
	parser, painted := ansi.NewParser(), false
	for state := byte(0); frame != ""; {
		seq, width, n, next := ansi.DecodeSequence(frame, state, parser)
		if cells += width; width > 0 && !painted {
			bare += width
		}
		if strings.HasSuffix(seq, "m") && ansi.HasCsiPrefix(seq) {
			painted = strings.Contains(seq, "48;") || strings.HasSuffix(seq, ";7m") || strings.HasSuffix(seq, "[7m")
		}
		frame, state = frame[n:], next
	}
	return bare, cells
}
