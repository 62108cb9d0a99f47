package jsonbytes

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// AppendString appends what the string stands for that p begins with, as AppendUnquoted does with its
// inside, and says how long it is, quotes included. It is not closed where p ends inside it; what is
// appended then is its beginning, or less. Eight bytes are looked at at a time.
func AppendString(dst, p []byte) (out []byte, n int, closed bool) {
	if len(p) == 0 || p[0] != '"' {
		return dst, 0, false
	}
	return AppendStringFrom(dst, p)
}

// AppendStringFrom is AppendString for a string of which a part was read already, up to the first byte of p:
// that byte is not appended, and the escapes before it are whole, pairs of halves too.
func AppendStringFrom(dst, p []byte) (out []byte, n int, closed bool) {
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
			if k == 0 { // it is no character, and AppendUnquoted knows what that is
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

// plainPrefix is how many of eight bytes, the first one lowest, come before a quote or a backslash.
func plainPrefix(w uint64) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^('"'*ones), w^('\\'*ones)
	stop := ((quote - ones) &^ quote) | ((slash - ones) &^ slash)
	return bits.TrailingZeros64(stop&tops) / 8
}
