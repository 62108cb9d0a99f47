// Package jsonbytes knows how JSON is written, and keeps nothing: each function looks at the bytes
// it is given. Those that check and those that follow a text as it arrives are elsewhere; they
// share what is here.
//
// A text that is cut is no error: what its end cuts reaches to its end. A text that is not valid
// JSON gives some answer within the text.
package jsonbytes

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// IsSpace reports whether c is white space between tokens.
func IsSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// SpaceLen is the length of the white space that p begins with.
func SpaceLen(p []byte) (n int) {
	for n < len(p) && IsSpace(p[n]) {
		n++
	}
	return n
}

// HexValue is the value of a hexadecimal digit, or -1.
func HexValue(c byte) rune {
	if c-'0' <= 9 {
		return rune(c - '0')
	}
	if c |= 0x20; c-'a' <= 5 {
		return rune(c - 'a' + 10)
	}
	return -1
}

// PlainRun is the length of the prefix of p that a string may hold as it is: no quote, backslash or
// control character. It looks at eight bytes at a time.
func PlainRun(p []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(p); i += 8 {
		w := binary.LittleEndian.Uint64(p[i:])
		quote, slash := w^('"'*ones), w^('\\'*ones)
		stop := ((w - ' '*ones) &^ w) | ((quote - ones) &^ quote) | ((slash - ones) &^ slash)
		if stop &= tops; stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	for ; i < len(p); i++ {
		if c := p[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// StringEnd is the length of the string that p begins with, its quotes included, and whether its
// closing quote is there.
func StringEnd(p []byte) (n int, closed bool) {
	for n = min(1, len(p)); ; n++ {
		i := bytes.IndexByte(p[n:], '"')
		if i < 0 {
			return len(p), false
		}
		if n += i; TrailingBackslashes(p[1:n])%2 == 0 {
			return n + 1, true
		}
	}
}

// ValueEnd is the length of the value that p begins with. A number or a word ends before what
// cannot belong to one.
func ValueEnd(p []byte) (n int) {
	for depth := 0; n < len(p); {
		switch c := p[n]; {
		case c == '"':
			size, _ := StringEnd(p[n:])
			if n += size; depth == 0 {
				return n
			}
			continue
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && depth == 1:
			return n + 1
		case (c == '}' || c == ']') && depth > 1:
			depth--
		case depth == 0 && (IsSpace(c) || c == ',' || c == ':' || c == '}' || c == ']'):
			return n
		}
		n++
	}
	return n
}

// TrailingBackslashes is how many backslashes p ends with. What follows an odd number of them is escaped.
func TrailingBackslashes(p []byte) (n int) {
	for n < len(p) && p[len(p)-1-n] == '\\' {
		n++
	}
	return n
}

// EscapeLen is the length of the escape that p begins with, as far as it is there.
func EscapeLen(p []byte) int {
	if len(p) > 1 && p[1] == 'u' {
		return min(6, len(p))
	}
	return min(2, len(p))
}

// CompleteEscapes is the length of p, part of the inside of a string, without an escape that its end
// cuts.
func CompleteEscapes(p []byte) int {
	for n := len(p) - 1; n >= max(0, len(p)-5); n-- {
		if p[n] != '\\' || TrailingBackslashes(p[:n])%2 == 1 {
			continue
		}
		if n == len(p)-1 || p[n+1] == 'u' {
			return n
		}
		break
	}
	return len(p)
}
