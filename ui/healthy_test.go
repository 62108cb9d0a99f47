package ui

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"toolscope/themes"
)

var rgb = regexp.MustCompile(`[34]8;2;(\d+);(\d+);(\d+)`)

// warmCells returns the number of cells in the frame whose colour or background is yellow, orange or red.
func warmCells(s *rig) (n int) {
	for _, row := range strings.Split(s.View(), "\n") {
		n += warmIn(s, row)
	}
	return n
}

// warmIn returns the number of yellow, orange or red cells in one row.
func warmIn(s *rig, row string) (n int) {
	cells(s, row, func(sgr string, width int) {
		for _, m := range rgb.FindAllStringSubmatch(sgr, -1) {
			var c [3]float64
			for i := range c {
				c[i], _ = strconv.ParseFloat(m[i+1], 64)
			}
			r, g, b := c[0], c[1], c[2]
			most, least := max(r, g, b), min(r, g, b)
			if most-least > 0.2*most && g <= r && (b == least || r == most && (b-g)/(most-least) < 1./3) {
				n += width
				break
			}
		}
	})
	return n
}

// TestHealthyHasNoWarmColour checks that a problem makes a view contain yellow, orange or red, and that nothing else does.
func TestHealthyHasNoWarmColour(t *testing.T) {
	for _, name := range themes.Names()[:4] {
		for _, dark := range []bool{true, false} {
			th, _ := themes.Lookup(name, dark)
			look := func(o *Options) { o.Theme = th }
			for _, size := range plainSizes[1:] {
				for _, keys := range []string{"", "g", "gj2", "4", "3", "5", "6", ":", "f", "/e", "p"} {
					s := newScreen(t, size[0], size[1], look, handed).feed(twoCalls(1)...).end()
					if n := warmCells(s.press(keys)); n > 0 {
						t.Errorf("%s %v, after %q: %d warm cells\n%s", th.Name, size, keys, n, s.text())
					}
				}
				s := newScreen(t, size[0], size[1], look).feed(demo(t, "malformed")...).end()
				if warmCells(s) == 0 {
					t.Errorf("%s %v: a malformed call is not warm", th.Name, size)
				}
			}
		}
	}
}
