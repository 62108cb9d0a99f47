package js

import (
	"strings"
	"unicode/utf8"
)

// unitsOf iterates over the characters of a text, with their bytes and UTF-16 units. Half a surrogate pair
// counts as a character.
func unitsOf(text string) func(yield func(bytes, units int) bool) {
	return func(yield func(bytes, units int) bool) {
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			units := 1
			switch {
			case isHalf(text[i:]):
				n = 3
			case r > 0xffff:
				units = 2
			}
			if !yield(n, units) {
				return
			}
			i += n
		}
	}
}

// isHalf reports whether text begins with half a surrogate pair, as three bytes.
func isHalf(text string) bool {
	return len(text) >= 3 && text[0] == 0xed && text[1] >= 0xa0 && text[1] <= 0xbf && text[2]&0xc0 == 0x80
}

// UTF16Len returns the length of a string in UTF-16 units.
func UTF16Len(text string) (n int) {
	for _, units := range unitsOf(text) {
		n += units
	}
	return n
}

// UTF16Prefix returns the first UTF-16 units of a string, without half a character at the end.
func UTF16Prefix(text string, most int) string {
	end := 0
	for bytes, units := range unitsOf(text) {
		if most -= units; most < 0 {
			break
		}
		end += bytes
	}
	return text[:end]
}

// WellFormed replaces each half of a surrogate pair with U+FFFD.
func WellFormed(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	i := 0
	for bytes := range unitsOf(text) {
		if piece := text[i : i+bytes]; isHalf(piece) {
			b.WriteRune(utf8.RuneError)
		} else {
			b.WriteString(piece)
		}
		i += bytes
	}
	return b.String()
}
