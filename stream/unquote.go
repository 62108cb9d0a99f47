package stream

import "unicode/utf8"

// AppendUnquoted appends what the inside of a JSON string literal stands for
// (lit has no quotes around it and is valid, as the Lexer or a wire scanner
// has checked). An escape cut by the end of lit stands for nothing. A surrogate without its other half is kept, not replaced: as
// the three bytes UTF-8 would use if it allowed surrogates. Bytes that are not
// UTF-8 are kept as they are.
func AppendUnquoted(dst, lit []byte) []byte {
	for i := 0; i < len(lit); {
		n := i
		for n < len(lit) && lit[n] != '\\' {
			n++
		}
		dst = append(dst, lit[i:n]...)
		if i = n; i+1 >= len(lit) {
			break
		}
		if lit[i+1] != 'u' {
			dst = append(dst, unescaped(lit[i+1]))
			i += 2
			continue
		}
		r := hex4(lit[i:])
		if r < 0 {
			break
		}
		i += 6
		if isHigh(r) {
			if low := hex4(lit[min(i, len(lit)):]); isLow(low) {
				r = (r-0xd800)<<10 + low - 0xdc00 + 0x10000
				i += 6
			}
		}
		dst = appendRune(dst, r)
	}
	return dst
}

func unescaped(c byte) byte {
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

// hex4 reads \uXXXX at the start of b, or gives -1.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c-'0' <= 9:
			r = r<<4 | rune(c-'0')
		default:
			r = r<<4 | rune(c|0x20-'a'+10)
		}
	}
	return r
}

func isHigh(r rune) bool { return 0xd800 <= r && r < 0xdc00 }
func isLow(r rune) bool  { return 0xdc00 <= r && r < 0xe000 }

func appendRune(dst []byte, r rune) []byte {
	if isHigh(r) || isLow(r) {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(dst, r)
}

// halfPair is how many bytes at the end of s are a high surrogate that waits
// for its other half: 3 or 0. A provider that cuts text by UTF-16 units cuts
// emoji there.
func halfPair(s string) int {
	n := len(s)
	if n >= 3 && s[n-3] == 0xed && s[n-2]&0xf0 == 0xa0 {
		return 3
	}
	return 0
}

// joinPair is the character that a high surrogate and the first three bytes of
// s make together, if those are its other half.
func joinPair(high, s string) (string, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1]&0xf0 != 0xb0 {
		return "", false
	}
	unit := func(t string) rune { return 0xd000 | rune(t[1]&0x3f)<<6 | rune(t[2]&0x3f) }
	return string((unit(high)-0xd800)<<10 + unit(s) - 0xdc00 + 0x10000), true
}
