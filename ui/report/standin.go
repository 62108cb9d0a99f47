package report

import (
	"bytes"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"toolscope/stream/jsonbytes"
)

// A charClass is the class that a character and its stand-in share. Both also have the same length in
// bytes. Characters of the class kept stay as they are: spaces, punctuation, controls.
type charClass uint8

const (
	lower charClass = iota
	upper
	digit
	two // bytes in UTF-8
	three
	four
	numClasses
	kept = numClasses
)

// standInRanges are the stand-ins of each class: the first character and the number of characters. After
// the last one, the first is used again.
var standInRanges = [numClasses]struct {
	first rune
	count int
}{{'a', 26}, {'A', 26}, {'1', 9}, {'à', 22}, {'ぁ', 80}, {'😀', 64}}

func classOf(c rune) charClass {
	switch {
	case 'a' <= c && c <= 'z':
		return lower
	case 'A' <= c && c <= 'Z':
		return upper
	case '0' <= c && c <= '9':
		return digit
	case c < utf8.RuneSelf || c == unicode.ReplacementChar || !unicode.IsPrint(c): // invisible characters stay
		return kept
	case c < 0x800:
		return two
	case c < 0x10000:
		return three
	}
	return four
}

// A standInMapper returns the stand-ins for the characters of a text, one after another.
type standInMapper interface{ next(c rune) rune }

// textMapper is the mapper for running text. A stand-in depends only on the class of the character. So a
// part of a text has the same stand-in in the text and alone.
type textMapper struct{}

func (textMapper) next(c rune) rune {
	switch k := classOf(c); k {
	case kept:
		return c
	case lower, upper:
		return standInRanges[k].first + 'x' - 'a'
	default:
		return standInRanges[k].first
	}
}

// A node is the end of a prefix in a tree of names and values. Texts with the same prefix have stand-ins
// with the same prefix, and different texts have different stand-ins. So equal texts stay equal, and a
// prefix stays a prefix.
type node struct {
	kids map[rune]*node
	as   rune            // the stand-in of the character that leads here
	used [numClasses]int // number of stand-ins that kids have
}

// maxDistinctLen is the number of characters that distinguish a text from others.
const maxDistinctLen = 128

// wordMapper is the mapper for a name or a value.
type wordMapper struct {
	at    *node
	depth int
}

func (p *wordMapper) next(c rune) rune {
	if p.depth++; p.depth > maxDistinctLen {
		return textMapper{}.next(c)
	}
	kid := p.at.kids[c]
	if kid == nil {
		kid = &node{as: c}
		if k := classOf(c); k != kept {
			kid.as = standInRanges[k].first + rune(p.at.used[k]%standInRanges[k].count)
			p.at.used[k]++
		}
		if p.at.kids == nil {
			p.at.kids = map[rune]*node{}
		}
		p.at.kids[c] = kid
	}
	p.at = kid
	return kid.as
}

// replaceChars replaces the characters of p, which is the inside of a JSON string or plain text. Escapes
// become escapes of the same length, and invalid bytes stay invalid.
func replaceChars(p []byte, m standInMapper) {
	for n := 0; n < len(p); {
		c, size := utf8.DecodeRune(p[n:])
		switch {
		case c == '\\':
			n += replaceEscape(p[n:], m)
			continue
		case c == utf8.RuneError && size == 1:
			p[n] = strayByte(p[n])
		case c < 0x20 && c != '\n' && c != '\r' && c != '\t':
			p[n] = 1
		case unicode.Is(unicode.Cf, c) && size == 4: // a tag character, which hides a letter
			utf8.EncodeRune(p[n:n+size], hiddenLetter)
		default:
			utf8.EncodeRune(p[n:n+size:n+size], m.next(c))
		}
		n += size
	}
}

// hiddenLetter is the invisible tag character for the letter a.
const hiddenLetter = 0xe0061

// strayByte returns a byte with the same role as c in UTF-8.
func strayByte(c byte) byte {
	switch {
	case c < 0xc0:
		return 0x81
	case c < 0xe0:
		return 0xc3
	case c < 0xf0:
		return 0xe3
	}
	return 0xf0
}

// replaceEscape replaces the escape at the start of p, and returns its length. A surrogate stays a
// surrogate, whether it is one of a pair or not.
func replaceEscape(p []byte, m standInMapper) int {
	c, ok := jsonbytes.UnicodeEscape(p)
	switch {
	case !ok:
		n := jsonbytes.EscapeLen(p)
		m.next(utf8.RuneError)
		return n
	case utf16.IsSurrogate(c) && c < 0xdc00:
		putUnit(p, 0xd83d)
	case utf16.IsSurrogate(c):
		putUnit(p, 0xde00)
	default:
		putUnit(p, m.next(c))
	}
	return 6
}

// putUnit writes c as the digits of the escape \uXXXX at the start of p.
func putUnit(p []byte, c rune) {
	for i := range 4 {
		p[2+i] = "0123456789abcdef"[c>>(12-4*i)&0xf]
	}
}

// respellString replaces the string raw with text, and keeps the spelling of raw. text is as long as the
// value of raw.
func respellString(raw, text []byte) {
	for n := 0; n < len(raw) && len(text) > 0; {
		if raw[n] != '\\' {
			raw[n], text = text[0], text[1:]
			n++
			continue
		}
		size := jsonbytes.EscapeLen(raw[n:])
		c, ok := jsonbytes.UnicodeEscape(raw[n:])
		if low, pair := jsonbytes.UnicodeEscape(raw[n+size:]); ok && pair && utf16.DecodeRune(c, low) != unicode.ReplacementChar {
			high, low := utf16.EncodeRune(firstWideRune(text))
			putUnit(raw[n:], high)
			putUnit(raw[n+6:], low)
			n, text = n+12, text[4:]
			continue
		}
		switch {
		case ok && utf16.IsSurrogate(c):
			replaceEscape(raw[n:], textMapper{})
			text = text[min(3, len(text)):]
		case ok:
			r, width := utf8.DecodeRune(text)
			if r != utf8.RuneError {
				putUnit(raw[n:], r)
			}
			text = text[width:]
		default:
			text = text[1:]
		}
		n += size
	}
}

// firstWideRune returns the first character of a text if it has four bytes, else a stand-in of four bytes.
func firstWideRune(text []byte) rune {
	if c, size := utf8.DecodeRune(text); size == 4 {
		return c
	}
	return standInRanges[four].first
}

// leakMarkers are the markers of calls that models write as text by mistake. They stay, because they show the
// fault.
var leakMarkers = []string{
	"<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<|tool_call", "<｜tool▁call", "<function=", "<|python_tag|>", "<|channel|>commentary to=functions.",
}

// replaceText replaces running text, except leak markers.
func replaceText(p []byte) {
	for len(p) > 0 {
		at, size := len(p), 0
		for _, m := range leakMarkers {
			if i := bytes.Index(p, []byte(m)); i >= 0 && i < at {
				at, size = i, len(m)
			}
		}
		replaceChars(p[:at], textMapper{})
		p = p[at+size:]
	}
}
