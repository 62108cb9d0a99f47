package jsonbytes

import (
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnquoted appends what the inside of a string stands for: lit has no quotes around it and is
// valid. An escape cut by the end of lit stands for nothing. A surrogate without its other half is
// kept, not replaced: as the three bytes UTF-8 would use if it allowed surrogates. Bytes that are
// not UTF-8 are kept as they are.
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
			dst = append(dst, Unescaped(lit[i+1]))
			i += 2
			continue
		}
		r, ok := Unit(lit[i:])
		if !ok {
			break
		}
		i += 6
		if low, ok := Unit(lit[i:]); ok {
			if c := utf16.DecodeRune(r, low); c != utf8.RuneError {
				r = c
				i += 6
			}
		}
		dst = appendRune(dst, r)
	}
	return dst
}

// Unescaped is what c stands for behind a backslash, where it is no u.
func Unescaped(c byte) byte {
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

// Unit reads the \uXXXX that p begins with: one unit of UTF-16.
func Unit(p []byte) (c rune, ok bool) {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return 0, false
	}
	for _, digit := range p[2:6] {
		c = c<<4 | Hex(digit)
	}
	return c, c >= 0
}

func appendRune(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(dst, r)
}
