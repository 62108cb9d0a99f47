package display

import (
	"unicode"
	"unicode/utf8"
)

// isDrawable reports whether r is a visible character or a space. It returns false for all other categories:
// controls, format characters (including bidi), private use, noncharacters, unassigned code points, line and
// paragraph separators. It also returns false for the few letters and marks that are invisible.
func isDrawable(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0x20 && r < 0x7f
	}
	return unicode.IsGraphic(r) &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) &&
		!unicode.Is(unicode.Variation_Selector, r)
}

// joinsPrevious reports whether r is drawn in one cluster with any character before it.
func joinsPrevious(r rune) bool {
	switch r {
	case 0x0e33, 0x0eb3, 0xff9e, 0xff9f: // Thai and Lao am, halfwidth voiced sound marks
		return true
	}
	return isMark(r) && !unicode.Is(spacing, r)
}

// isMark reports whether r is a combining mark.
func isMark(r rune) bool { return r >= 0x300 && unicode.Is(unicode.M, r) }

// joinsNext reports whether r is a letter that is drawn in one cluster with any character after it.
func joinsNext(r rune) bool { return r >= 0xd4e && unicode.Is(leading, r) }

// isTag reports whether r is a tag character: invisible ASCII.
func isTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

// isSkinTone reports whether r is a skin tone.
func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// canHaveSkinTone reports whether r may have a skin tone.
func canHaveSkinTone(r rune) bool { return r >= 0x261d && unicode.Is(modifierBases, r) }

// isEmoji reports whether r is an emoji alone. Digits, halves of flags and skin tones are not.
func isEmoji(r rune) bool { return r >= 0xa9 && unicode.Is(emojis, r) }

// isKeycapBase reports whether r may be the character on a keycap.
func isKeycapBase(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// isWide reports whether r is one of the common East Asian characters that are drawable, two cells wide and
// not emoji. They join only characters that join every character.
func isWide(r rune) bool {
	switch {
	case r < 0x3001:
		return false
	case r <= 0x9fff:
		return r >= 0x4e00 || r <= 0x3020 || r >= 0x3041 && r <= 0x3096 || r >= 0x30a0 && r <= 0x30ff ||
			r >= 0x3400 && r <= 0x4dbf
	}
	return r >= 0xac00 && r <= 0xd7a3 || r >= 0xff01 && r <= 0xff60
}

// isNarrow reports whether r is one of the common European letters that are drawable and one cell wide. They
// join only characters that join every character.
func isNarrow(r rune) bool { return r >= 0xc0 && r <= 0x24f || r >= 0x400 && r <= 0x481 }

// isSeparate reports whether the first character of b is certainly not in one cluster with a wide or narrow
// character before it. It may return false for a character that is separate.
func isSeparate(b []byte) bool {
	if b[0] < utf8.RuneSelf {
		return true
	}
	r, _ := utf8.DecodeRune(b)
	return isWide(r)
}
