// Package json reads, compares and writes JSON in bytes. Texts may be cut off or wrong, because an inspector
// shows any input.
//
//   - Lexer reads and validates a text that is still arriving, token by token.
//   - Scanner and Shape read and validate a complete text, and build no tree.
//   - FieldReader and Walk read a text that may be cut off, and validate nothing.
//   - Value contains the bytes of one value. Same, SameIn and Canonical define when two values are the same.
//   - Writer, AppendQuoted and Builder write JSON.
//
// The functions in json.go look only at the bytes that they get, and keep no state. For a text that is
// cut off, a value ends where the text ends. For a text that is not valid JSON, they return some position within it.
package json

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
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
	i := 0
	for ; i+8 <= len(p); i += 8 {
		if stops := plainStops(binary.LittleEndian.Uint64(p[i:])); stops != 0 {
			return i + bits.TrailingZeros64(stops)/8
		}
	}
	for ; i < len(p); i++ {
		if c := p[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// plainStops returns a word whose lowest set bit marks the first byte of w that a string can't contain unescaped. The
// lowest byte of w is its first. The result is 0 if a string can contain all bytes of w.
func plainStops(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^('"'*ones), w^('\\'*ones)
	return ((w - ' '*ones) | (quote - ones) | (slash - ones)) &^ w & tops
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

// AppendUnquoted appends the unquoted content of a string literal. The literal lit must be valid and have no
// quotes around it. An escape that the end of lit cuts off adds nothing. A surrogate without its other half
// is kept, not replaced, as the three bytes that UTF-8 would use if it allowed surrogates. Bytes that are not
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

// decodeUnicode reads the character that p begins with, written as one \uXXXX or a pair of them. It returns
// the length of the escapes in bytes, or 0 if they are cut off.
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

// NextChar returns the first character of the content of a literal, and its length there. If more is true, the
// literal may continue: the length is then 0 if later bytes decide which character it is. The length is also 0 if
// there is no character. Half a surrogate pair counts as a character. A byte that is not UTF-8 is returned as
// utf8.RuneError, with length 1.
func NextChar(lit []byte, more bool) (c rune, n int) {
	switch {
	case len(lit) == 0 || lit[0] != '\\' && more && !utf8.FullRune(lit):
		return 0, 0
	case lit[0] != '\\':
		return utf8.DecodeRune(lit)
	case len(lit) == 1:
		return 0, 0
	case lit[1] != 'u':
		return rune(UnescapeByte(lit[1])), 2
	}
	c, n = decodeUnicode(lit)
	if more && n == 6 && c>>10 == 0xd800>>10 && len(lit) < 12 && bytes.HasPrefix([]byte(`\u`), lit[6:min(len(lit), 8)]) {
		return 0, 0 // the other half may follow
	}
	return c, n
}

// Content returns a string literal without its quotes. If the literal is cut off, closed is false, and an
// incomplete escape at the end is omitted.
func Content(literal []byte) (content []byte, closed bool) {
	if len(literal) == 0 {
		return nil, false
	}
	content = literal[1:]
	if n := len(content) - 1; n >= 0 && content[n] == '"' && TrailingBackslashes(content[:n])%2 == 0 {
		return content[:n], true
	}
	return content[:CompleteEscapes(content)], false
}

// UnescapeByte returns the byte that a backslash followed by c means. The byte c must not be u.
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

// UnicodeEscape reads the \uXXXX that p begins with. The result c is one unit of UTF-16. The result ok is false
// if p begins with anything else.
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

// ReadString appends the unquoted content of the string that p begins with, as AppendUnquoted does. It returns the
// string's length, including quotes. The result closed is false if p ends inside the string. In that case, the last
// bytes of the content may be missing. ReadString reads eight bytes at a time.
func ReadString(dst, p []byte) (out []byte, n int, closed bool) {
	if len(p) == 0 || p[0] != '"' {
		return dst, 0, false
	}
	return ReadStringFrom(dst, p)
}

// ReadStringFrom does the same as ReadString, for a string that was already read up to and including p[0]. It doesn't
// append p[0]. Escapes before that byte are complete, including surrogate pairs.
func ReadStringFrom(dst, p []byte) (out []byte, n int, closed bool) {
	dst = slices.Grow(dst, len(p)+8)
	to := len(dst)
	dst = dst[:cap(dst)]
	for n = 1; n < len(p); {
		if n+8 <= len(p) {
			w := binary.LittleEndian.Uint64(p[n:])
			binary.LittleEndian.PutUint64(dst[to:], w)
			k := plainPrefix(w)
			if n, to = n+k, to+k; k == 8 {
				continue
			}
		}
		switch c := p[n]; {
		case c == '"':
			return dst[:to], n + 1, true
		case c != '\\':
			dst[to] = c
			n, to = n+1, to+1
		case n+1 == len(p):
			return dst[:to], len(p), false
		case p[n+1] != 'u':
			dst[to] = UnescapeByte(p[n+1])
			n, to = n+2, to+1
		default:
			r, k := decodeUnicode(p[n:])
			if k == 0 { // not a complete escape: AppendUnquoted handles it
				size, closed := StringEnd(p)
				if !closed {
					return dst[:to], size, false
				}
				return AppendUnquoted(dst[:to], p[n:size-1]), size, true
			}
			to, n = len(appendRune(dst[:to], r)), n+k
		}
	}
	return dst[:to], len(p), false
}

// ReadValidString does the same as ReadString, but also checks the string. The result ok is false if the string is
// invalid or not closed, or if it has an escaped surrogate.
func ReadValidString(dst, p []byte) (out []byte, n int, ok bool) {
	if len(p) == 0 || p[0] != '"' {
		return dst, 0, false
	}
	dst = slices.Grow(dst, len(p)+8)
	to := len(dst)
	dst = dst[:cap(dst)]
	for n = 1; n < len(p); {
		if n+8 <= len(p) {
			w := binary.LittleEndian.Uint64(p[n:])
			binary.LittleEndian.PutUint64(dst[to:], w)
			k := bits.TrailingZeros64(plainStops(w)) / 8
			if n, to = n+k, to+k; k == 8 {
				continue
			}
		}
		switch c := p[n]; {
		case c == '"':
			return dst[:to], n + 1, true
		case c < ' ' || n+1 == len(p):
			return dst[:to], n, false
		case c != '\\':
			dst[to] = c
			n, to = n+1, to+1
		case unescaped[p[n+1]] != 0:
			dst[to] = unescaped[p[n+1]]
			n, to = n+2, to+1
		default:
			r, ok := UnicodeEscape(p[n:])
			if !ok || utf16.IsSurrogate(r) {
				return dst[:to], n, false
			}
			n, to = n+6, len(utf8.AppendRune(dst[:to], r))
		}
	}
	return dst[:to], n, false
}

// unescaped maps the byte after a backslash to the byte that both mean. It maps u, and all bytes that are not part of
// an escape, to 0.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// plainPrefix returns how many of the eight bytes in w come before the first quote or backslash. The lowest byte
// comes first.
func plainPrefix(w uint64) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^('"'*ones), w^('\\'*ones)
	stop := ((quote - ones) &^ quote) | ((slash - ones) &^ slash)
	return bits.TrailingZeros64(stop&tops) / 8
}

// AppendQuoted appends text as a JSON string.
func AppendQuoted(dst, text []byte) []byte {
	return append(appendEscaped(append(dst, '"'), text), '"')
}

// appendEscaped appends the content of the JSON string for text. It escapes half a surrogate pair, because the
// other half may be in the next delta.
func appendEscaped(dst, text []byte) []byte {
	halves := bytes.IndexByte(text, 0xed) >= 0 // the text may contain half pairs
	for i := 0; i < len(text); i++ {
		if !halves {
			n := PlainRun(text[i:])
			dst = append(dst, text[i:i+n]...)
			if i += n; i == len(text) {
				break
			}
		}
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, c)
		case c == 0xed && i+2 < len(text) && text[i+1] >= 0xa0:
			dst = fmt.Appendf(dst, `\u%04x`, 0xd000|int(text[i+1]&0x3f)<<6|int(text[i+2]&0x3f))
			i += 2
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// IsHalf reports whether text begins with half a surrogate pair in three bytes, as AppendUnquoted writes it.
func IsHalf[T ~string | ~[]byte](text T) bool {
	return len(text) >= 3 && text[0] == 0xed && text[1] >= 0xa0 && text[1] <= 0xbf && text[2]&0xc0 == 0x80
}

// CharLen returns the length of the first character of text, or of half a surrogate pair there. The result ok
// is false for a byte that is neither.
func CharLen(text []byte) (n int, ok bool) {
	if IsHalf(text) {
		return 3, true
	}
	r, n := utf8.DecodeRune(text)
	return n, r != utf8.RuneError || n > 1
}

// ReplaceInvalid replaces invalid Unicode with U+FFFD: bytes that are not UTF-8, and half a surrogate pair. It
// returns valid text unchanged.
func ReplaceInvalid(text []byte) []byte { return replaceInvalid(text, true) }

// ReplaceNonUTF8 replaces bytes that are not UTF-8 with U+FFFD. Half a surrogate pair stays, because JSON can
// express it.
func ReplaceNonUTF8(text []byte) []byte { return replaceInvalid(text, false) }

func replaceInvalid(text []byte, halves bool) []byte {
	if utf8.Valid(text) {
		return text
	}
	out := make([]byte, 0, len(text)+8)
	for i := 0; i < len(text); {
		n, ok := CharLen(text[i:])
		if ok && !(halves && IsHalf(text[i:])) {
			out = append(out, text[i:i+n]...)
		} else {
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		i += n
	}
	return out
}
