package themes

import (
	"math"
	"testing"

	"github.com/alecthomas/chroma/v2"
)

// seen maps linear red, green and blue to the colours seen by people without cones for red (protanopia) or for green
// (deuteranopia). Source: Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation of Color
// Vision Deficiency, 2009, at full severity.
var seen = map[string][3][3]float64{
	"all":          {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
}

// lab returns a colour in CIE L*a*b* under D65, in which distances correspond to visible differences.
func lab(c chroma.Colour, eye [3][3]float64) (l [3]float64) {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	times := func(m [3][3]float64, v [3]float64) (w [3]float64) {
		for i, row := range m {
			w[i] = max(0, row[0]*v[0]+row[1]*v[1]+row[2]*v[2])
		}
		return w
	}
	rgb := times(eye, [3]float64{linear(c.Red()), linear(c.Green()), linear(c.Blue())})
	for i := range rgb {
		rgb[i] = min(1, rgb[i])
	}
	xyz := times([3][3]float64{{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}, rgb)
	f := func(t float64) float64 {
		if t > 216./24389 {
			return math.Cbrt(t)
		}
		return (24389./27*t + 16) / 116
	}
	x, y, z := f(xyz[0]/0.95047), f(xyz[1]), f(xyz[2]/1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func apart(a, b TextStyle, eye [3][3]float64) float64 {
	x, y := lab(chroma.ParseColour(a.FG), eye), lab(chroma.ParseColour(b.FG), eye)
	return math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2]))
}

// TestColourBlind checks that any two states of the theme toolscope-colour-blind differ for everybody, including
// people who can't see red or can't see green. It also checks the measure: red and green of the same lightness differ
// only for people who see both.
func TestColourBlind(t *testing.T) {
	const least = 20 // about ten times the smallest difference that people see between two colours side by side
	for _, dark := range []bool{true, false} {
		th, _ := ownTheme(blindName, dark)
		states := map[string]TextStyle{"live": th.Live, "good": th.Good, "caution": th.Caution, "bad": th.Bad, "muted": th.Muted}
		for eye, m := range seen {
			for a := range states {
				for b := range states {
					if d := apart(states[a], states[b], m); a < b && d < least {
						t.Errorf("dark %t, %s: %s and %s are %.1f apart", dark, eye, a, b, d)
					}
				}
			}
		}
	}
	red, green := TextStyle{FG: "#c05000"}, TextStyle{FG: "#7a7a00"}
	if all, none := apart(red, green, seen["all"]), apart(red, green, seen["deuteranopia"]); all < 2*least || none > least/2 {
		t.Errorf("red and green are %.1f apart for all, %.1f without green", all, none)
	}
	dark := Default(true)
	for eye, m := range seen {
		if d := apart(dark.Caution, dark.Bad, m); eye != "protanopia" && d < least {
			t.Errorf("the usual dark theme, %s: caution and bad are %.1f apart", eye, d)
		}
	}
	usual := Default(false)
	if d := apart(usual.Caution, usual.Bad, seen["deuteranopia"]); d > least {
		t.Errorf("the usual theme needs no other: %.1f", d)
	}
}
