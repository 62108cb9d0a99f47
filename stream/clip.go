package stream

import "unicode/utf8"

// Clip quotes at most so many bytes of text, starting at offset from. It keeps characters complete and
// writes … for text that it leaves out.
func Clip(text []byte, from, most int) string {
	from = charStart(text, from)
	end := charStart(text, min(from+most, len(text)))
	out := string(text[from:end])
	if from > 0 {
		out = "…" + out
	}
	if end < len(text) {
		out += "…"
	}
	return out
}

// charStart returns the start of the character at i, or i if there is none.
func charStart(text []byte, i int) int {
	for n := i; n > 0 && n > i-utf8.UTFMax && n < len(text); n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return i
}
