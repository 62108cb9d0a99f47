// Package json reads, compares and writes JSON in bytes. Texts may be cut off or wrong, because an inspector
// shows any input.
//
//   - Lexer reads and validates a text that is still arriving, token by token.
//   - Scanner and Shape read and validate a complete text, and build no tree.
//   - FieldReader and Walk read a text that may be cut off, and validate nothing.
//   - Value contains the bytes of one value. Same, SameIn and Canonical define when two values are the same.
//   - Writer, AppendQuoted and Builder write JSON.
//
// The functions in json.go and string.go look only at the bytes that they get, and keep no state. For a text that is
// cut off, a value ends where the text ends. For a text that is not valid JSON, they return some position within it.
package json

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// IsSpace reports whether c is white space between tokens.
func IsSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// SpaceLen returns the length of the white space that p begins with.
func SpaceLen(p []byte) (n int) {
	for n < len(p) && IsSpace(p[n]) {
		n++
	}
	return n
}

// HexValue returns the value of a hexadecimal digit, or -1 for any other byte.
func HexValue(c byte) rune {
	if c-'0' <= 9 {
		return rune(c - '0')
	}
	if c |= 0x20; c-'a' <= 5 {
		return rune(c - 'a' + 10)
	}
	return -1
}

// PlainRun returns the length of the prefix of p that a string may contain unescaped. The prefix has no quote,
// backslash or control character. PlainRun reads eight bytes at a time.
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

// StringEnd returns the length of the string that p begins with, including its quotes. The result closed
// reports whether the closing quote is there.
func StringEnd(p []byte) (n int, closed bool) {
	for n = min(1, len(p)); ; n++ {
		i := bytes.IndexByte(p[n:], '"')
		if i < 0 {
			return len(p), false
		}
		if n += i; p[n-1] != '\\' || TrailingBackslashes(p[1:n])%2 == 0 {
			return n + 1, true
		}
	}
}

// ValueEnd returns the length of the value that p begins with. A number or a word ends before the first byte
// that can't belong to one.
func ValueEnd(p []byte) int {
	n, _ := ValueLen(p)
	return n
}

// ValueLen returns the same length as ValueEnd, and reports whether the value's end is there. A number or a
// word has no closing character, so its end is there only if another byte follows.
func ValueLen(p []byte) (n int, closed bool) {
	for depth := 0; n < len(p); {
		switch c := p[n]; {
		case c == '"':
			size, closed := StringEnd(p[n:])
			if n += size; depth == 0 || !closed {
				return n, closed
			}
			continue
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && depth == 1:
			return n + 1, true
		case (c == '}' || c == ']') && depth > 1:
			depth--
		case depth == 0 && (IsSpace(c) || c == ',' || c == ':' || c == '}' || c == ']'):
			return n, n > 0
		}
		n++
	}
	return n, false
}

// TrailingBackslashes returns the number of backslashes at the end of p. A byte after an odd number of them is
// escaped.
func TrailingBackslashes(p []byte) (n int) {
	for n < len(p) && p[len(p)-1-n] == '\\' {
		n++
	}
	return n
}

// EscapeLen returns the length of the escape that p begins with. If the end of p cuts the escape off, only its
// bytes in p count.
func EscapeLen(p []byte) int {
	if len(p) > 1 && p[1] == 'u' {
		return min(6, len(p))
	}
	return min(2, len(p))
}

// CompleteEscapes returns the length of p, without an escape that the end of p cuts off. The bytes of p are
// part of the content of a string.
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
