package web

import (
	"math"
	"strconv"
	"testing"
)

// TestContrast checks, light and dark, the contrast of text colours on each background, and of lines on the page and
// on panels.
func TestContrast(t *testing.T) {
	check := func(least float64, fore, back colourPair) {
		t.Helper()
		for _, pair := range [][2]string{{fore.light, back.light}, {fore.dark, back.dark}} {
			if r := contrast(t, pair[0], pair[1]); r < least {
				t.Errorf("%s on %s, %s on %s: %.2f, want %.1f", fore.name, back.name, pair[0], pair[1], r, least)
			}
		}
	}
	for _, back := range grounds {
		for _, ink := range inks {
			check(4.5, ink, back)
		}
	}
	for _, line := range lines {
		check(3, line, grounds[0])
		check(3, line, grounds[1])
	}
}

// contrast returns the WCAG 2 contrast ratio of two colours.
func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) (sum float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
