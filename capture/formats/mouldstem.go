package formats

import (
	"bytes"

	"toolscope/stream/json"
)

// stringPrefix is what strings begin with that stand at one place in the lines of a log, and what that stands
// for: chunks of a stream begin alike, and where one does its escapes are not read again.
type stringPrefix struct {
	last         []byte // what the last string began with that had no stem
	literal      []byte // from its opening quote on
	text         []byte
	made, served int
}

const (
	minStringPrefix   = 32  // bytes of a stem
	maxStringPrefix   = 512 // and at most
	minPrefixedString = 64  // bytes of a string that is compared
	maxStringPrefixes = 64  // stems that are made, and more only if they serve
)

// readString is json.ReadString.
func (s *stringPrefix) readString(dst, p []byte) (out []byte, n int, closed bool) {
	if k := len(s.literal); k > 0 && bytes.HasPrefix(p, s.literal) {
		s.served++
		out, n, closed = json.ReadStringFrom(append(dst, s.text...), p[k-1:])
		return out, k - 1 + n, closed
	}
	out, n, closed = json.ReadString(dst, p)
	if n >= minPrefixedString && closed && s.made < maxStringPrefixes+s.served/8 {
		s.derive(p[:min(n-1, maxStringPrefix)])
	}
	return out, n, closed
}

// derive makes a stem of what two strings begin with, one after the other.
func (s *stringPrefix) derive(p []byte) {
	n := 0
	for n < min(len(p), len(s.last)) && p[n] == s.last[n] {
		n++
	}
	if n = wholeStem(p[:n]); n >= minStringPrefix {
		s.literal = append(s.literal[:0], p[:n]...)
		s.text, _, _ = json.ReadString(s.text[:0], s.literal)
	}
	s.made++
	s.last = append(s.last[:0], p...)
}

// wholeStem is how much of p is without half an escape at its end, or one that may be half a pair.
func wholeStem(p []byte) (n int) {
	for n < len(p) {
		switch {
		case p[n] != '\\':
			n++
		case n+1 == len(p) || p[n+1] == 'u':
			return n
		default:
			n += 2
		}
	}
	return n
}
