package themes

import (
	"math"

	"github.com/alecthomas/chroma/v2"
)

// The assumed backgrounds of terminals. darkGround is the lightest dark background: text that is legible
// on it is legible on black too.
const (
	darkGround  = "#1e1e1e"
	lightGround = "#ffffff"
)

// The minimum contrasts of text in a theme made of a chroma style. Text outside of documents must be
// legible; a chroma style may dim some tokens.
const (
	roleContrast  = 4.5
	tokenContrast = 3.0
)

// luminanceOf returns the relative luminance of c, 0 to 1, as WCAG defines it:
// https://www.w3.org/TR/WCAG22/#dfn-relative-luminance
func luminanceOf(c chroma.Colour) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.Red()) + 0.7152*linear(c.Green()) + 0.0722*linear(c.Blue())
}

// contrastRatio returns the contrast ratio of two colours, 1 to 21, as WCAG defines it.
func contrastRatio(a, b chroma.Colour) float64 {
	x, y := luminanceOf(a), luminanceOf(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// isLegible reports whether c has at least the contrast least on the background of a terminal.
func isLegible(c chroma.Colour, dark bool, least float64) bool {
	ground := lightGround
	if dark {
		ground = darkGround
	}
	return contrastRatio(c, chroma.ParseColour(ground)) >= least
}

// Contrast returns the lowest contrast of text in the theme, on the background that the theme is for.
func (t Theme) Contrast() float64 {
	ground := lightGround
	if t.Dark {
		ground = darkGround
	}
	least := contrastRatio(chroma.ParseColour("#000000"), chroma.ParseColour("#ffffff"))
	for _, i := range []TextStyle{t.Live, t.Good, t.Caution, t.Bad, t.Muted, t.Accent, t.Key, t.String, t.Escape, t.Number, t.Literal, t.Punct, t.Junk, t.Tentative} {
		if i.FG != "" {
			least = min(least, contrastRatio(chroma.ParseColour(i.FG), chroma.ParseColour(ground)))
		}
	}
	return least
}
