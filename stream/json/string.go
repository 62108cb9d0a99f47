package json

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// ReadString appends the unquoted content of the string that p begins with, as AppendUnquoted does. It
// returns the string's length, including quotes. closed is false if p ends inside the string; then the
// beginning of the content, or less, is appended. It reads eight bytes at a time.
func ReadString(dst, p []byte) (out []byte, n int, closed bool) {
	if len(p) == 0 || p[0] != '"' {
		return dst, 0, false
	}
	return ReadStringFrom(dst, p)
}

// ReadStringFrom is AppendString for a string that was partly read already, up to the first byte of p:
// that byte is not appended, and escapes before it are complete, including surrogate pairs.
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

// plainPrefix returns how many of eight bytes, the first one lowest, come before a quote or a backslash.
func plainPrefix(w uint64) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^('"'*ones), w^('\\'*ones)
	stop := ((quote - ones) &^ quote) | ((slash - ones) &^ slash)
	return bits.TrailingZeros64(stop&tops) / 8
}
