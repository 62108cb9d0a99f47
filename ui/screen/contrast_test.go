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

// colour finds the last colour that a sequence sets: 38 of the text, 48 of what is behind it.
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

// TestRolesCanBeRead: what is written in our themes, in every role on every ground, has a contrast of
// 4.5, and what is dim of 3: on a terminal of the theme's own lightness, and painted on one of the other.
func TestRolesCanBeRead(t *testing.T) {
	for _, dark := range []bool{true, false} {
		th := themes.Default(dark)
		for _, painted := range []bool{true, false} {
			p := NewPen(th, termenv.TrueColor, display.Drawer{}, painted)
			behind := [3]float64{}
			if !dark {
				behind = [3]float64{1, 1, 1}
			}
			for r := range NumRoles {
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
					if !inked { // as the terminal writes: black and white can be read
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
