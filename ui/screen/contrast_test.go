package screen

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/muesli/termenv"

	"toolscope/themes"
	"toolscope/ui/display"
)

// colour returns the last colour that an escape sequence sets. The parameter which is "38" for text, or "48" for the
// background.
func colour(sgr, which string) (rgb [3]float64, ok bool) {
	all := regexp.MustCompile(which+`;2;(\d+);(\d+);(\d+)`).FindAllStringSubmatch(sgr, -1)
	if len(all) == 0 {
		return rgb, false
	}
	for i, text := range all[len(all)-1][1:] {
		n, _ := strconv.Atoi(text)
		rgb[i] = float64(n) / 255
	}
	return rgb, true
}

func luminance(rgb [3]float64) float64 {
	for i, c := range rgb {
		if c <= 0.04045 {
			rgb[i] = c / 12.92
		} else {
			rgb[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
}

// TestSelectedRowCanBeRead checks, in every theme, that all text has a contrast of at least 4.5:1 on the selected row and
// on what the selection refers to.
func TestSelectedRowCanBeRead(t *testing.T) {
	for _, name := range themes.Names() {
		for _, dark := range []bool{true, false} {
			th, err := themes.Lookup(name, dark)
			if err != nil {
				t.Fatal(err)
			}
			for _, painted := range []bool{true, false} {
				p := NewPaints(th, termenv.TrueColor, painted)
				for r := range Frame {
					for _, g := range []Surface{Selected, Linked} {
						text, inked := colour(p.Escape(r, g), "38")
						ground, filled := colour(p.Escape(r, g), "48")
						if !filled {
							t.Errorf("%s: ground %d has no colour", name, g)
						}
						a, b := luminance(text)+0.05, luminance(ground)+0.05
						if got := max(a, b) / min(a, b); inked && got < 4.5 {
							t.Errorf("%s, painted %t: role %d on ground %d has a contrast of %.2f", name, painted, r, g, got)
						}
					}
				}
			}
		}
	}
}

// TestRolesCanBeRead checks the contrast of every role on every surface in our themes. The contrast must be at least
// 4.5:1, or 3:1 for dim text. The terminal's own background is black for a dark theme and white for a light one. A
// painted theme must not rely on it.
func TestRolesCanBeRead(t *testing.T) {
	for _, dark := range []bool{true, false} {
		th := themes.Default(dark)
		for _, painted := range []bool{true, false} {
			p := NewPen(th, termenv.TrueColor, display.Drawer{}, painted)
			behind := [3]float64{}
			if !dark {
				behind = [3]float64{1, 1, 1}
			}
			for r := range NumRoles - 1 { // the last role draws frames, not text
				for g := range NumGrounds {
					sgr := p.Ink.Escape(r, g)
					text, inked := colour(sgr, "38")
					ground, filled := colour(sgr, "48")
					if !filled {
						ground = behind
						if painted {
							t.Errorf("%s: role %d on ground %d is not painted", th.Name, r, g)
						}
					}
					if !inked { // the terminal's own text colour, which is readable on its own background
						continue
					}
					a, b := luminance(text)+0.05, luminance(ground)+0.05
					least := 4.5
					if r == Muted || r == Tentative {
						least = 3
					}
					if got := max(a, b) / min(a, b); got < least {
						t.Errorf("%s, painted %t: role %d on ground %d has a contrast of %.2f", th.Name, painted, r, g, got)
					}
				}
			}
		}
	}
}
