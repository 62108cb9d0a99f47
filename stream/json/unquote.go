package json

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnquoted appends the unquoted content of a string literal: lit has no quotes around it and is
// valid. An escape that the end of lit cuts off adds nothing. A surrogate without its other half is kept,
// not replaced: as the three bytes that UTF-8 would use if it allowed surrogates. Bytes that are not
// UTF-8 are kept as they are.
func AppendUnquoted(dst, lit []byte) []byte {
	to := len(dst)
	dst = append(dst, lit...) // bytes before the first escape need no change
	i := bytes.IndexByte(lit, '\\')
	if i < 0 {
		return dst
	}
	for to += i; i < len(lit); {
		switch c := lit[i]; {
		case c != '\\':
			dst[to] = c
			to, i = to+1, i+1
		case i+1 == len(lit):
			return dst[:to]
		case lit[i+1] != 'u':
			dst[to] = UnescapeByte(lit[i+1])
			to, i = to+1, i+2
		default:
			r, n := decodeUnicode(lit[i:])
			if n == 0 {
				return dst[:to]
			}
			to, i = len(appendRune(dst[:to], r)), i+n
		}
	}
	return dst[:to]
}

// decodeUnicode reads the character that p begins with, written as \uXXXX or as a pair of them. n is its
// length in bytes: 0 if it is cut off.
func decodeUnicode(p []byte) (c rune, n int) {
	c, ok := UnicodeEscape(p)
	if !ok {
		return 0, 0
	}
	if low, ok := UnicodeEscape(p[6:]); ok {
		if pair := utf16.DecodeRune(c, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return c, 6
}

// UnescapeByte returns the byte that c after a backslash stands for; c is not u.
func UnescapeByte(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// UnicodeEscape reads the \uXXXX that p begins with: one unit of UTF-16.
func UnicodeEscape(p []byte) (c rune, ok bool) {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return 0, false
	}
	for _, digit := range p[2:6] {
		c = c<<4 | HexValue(digit)
	}
	return c, c >= 0
}

func appendRune(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(dst, r)
}
