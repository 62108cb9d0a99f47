package diff

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"unicode/utf8"

	"toolscope/stream"
	"toolscope/stream/jsonbytes"
)

// compareScalars compares two scalars. at is the byte of b's value where they begin to differ.
func compareScalars(a *tree, x *node, b *tree, y *node) (m Relation, at int) {
	switch {
	case x.kind == none || y.kind == none:
		return Open, 0
	case x.kind != y.kind:
		return Differs, 0
	case x.kind == stream.String:
		return compareStrings(a, x, b, y)
	}
	one, other := a.text[x.start:x.end], b.text[y.start:y.end]
	switch {
	case x.kind == stream.Junk:
		return compareRaw(one, x.ends, other, y.ends)
	case !x.ends || !y.ends:
		return Open, 0
	case bytes.Equal(one, other):
		return Same, 0
	case x.kind == stream.Number && jsonbytes.ParseDecimal(one) == jsonbytes.ParseDecimal(other):
		return Alike, 0
	}
	return Differs, 0
}

// compareRaw compares texts that are not JSON, as far as they have arrived.
func compareRaw(a []byte, aEnds bool, b []byte, bEnds bool) (m Relation, at int) {
	n := commonPrefixLen(a, b)
	switch {
	case n < len(a) && n < len(b), n == len(a) && aEnds && n < len(b), n == len(b) && bEnds && n < len(a):
		return Differs, n
	case !aEnds || !bEnds:
		return Open, n
	}
	return Same, n
}

// compareStrings compares the unescaped text of two strings, as far as they have arrived.
func compareStrings(a *tree, x *node, b *tree, y *node) (m Relation, at int) {
	lit, held := a.text[x.start:x.end], b.text[y.start:y.end]
	if x.closed && y.closed && bytes.Equal(lit, held) {
		return Same, 0
	}
	one, other := reader{stringContent(lit, x.closed), 0}, reader{stringContent(held, y.closed), 0}
	n := commonPrefixLen(one.text, other.text)
	n = min(jsonbytes.CompleteEscapes(one.text[:n]), jsonbytes.CompleteEscapes(other.text[:n]))
	n = wholeRune(other.text, n)
	one.at, other.at = n, n
	for {
		at = other.at + 1
		r, ok := one.next()
		s, also := other.next()
		switch {
		case !ok && !also && x.ends && y.ends && x.closed == y.closed:
			return Alike, 0
		case !ok && x.ends && also, !also && y.ends && ok, ok && also && r != s, !ok && !also && x.ends && y.ends:
			return Differs, at
		case !ok || !also:
			return Open, 0
		}
	}
}

// stringContent returns a string literal without its quotes, and without an escape that its end cuts.
func stringContent(lit []byte, ends bool) []byte {
	lit = lit[min(1, len(lit)):]
	if ends {
		return lit[:max(0, len(lit)-1)]
	}
	return lit[:jsonbytes.CompleteEscapes(lit)]
}

// reader unescapes a string, one character at a time.
type reader struct {
	text []byte
	at   int
}

// next returns the next character. A byte of a cut character, or of invalid UTF-8, is returned as a value
// above utf8.MaxRune.
func (r *reader) next() (rune, bool) {
	rest := r.text[r.at:]
	if len(rest) == 0 {
		return 0, false
	}
	if rest[0] != '\\' {
		c, n := utf8.DecodeRune(rest)
		if c == utf8.RuneError && n == 1 {
			c = utf8.MaxRune + 1 + rune(rest[0])
		}
		r.at += n
		return c, true
	}
	n := jsonbytes.EscapeLen(rest)
	if n == 6 && len(rest) >= 12 && rest[6] == '\\' {
		if pair := jsonbytes.AppendUnquoted(nil, rest[:12]); len(pair) == 4 {
			n = 12
		}
	}
	said := jsonbytes.AppendUnquoted(nil, rest[:n])
	r.at += n
	c, size := utf8.DecodeRune(said)
	if c == utf8.RuneError && size == 1 && len(said) == 3 { // half of a surrogate pair
		c = rune(said[0]&0xf)<<12 | rune(said[1]&0x3f)<<6 | rune(said[2]&0x3f)
	}
	return c, true
}

// commonPrefixLen returns the length of the common prefix of two texts, in bytes.
func commonPrefixLen(a, b []byte) (n int) {
	size := min(len(a), len(b))
	for n+64 <= size && bytes.Equal(a[n:n+64], b[n:n+64]) {
		n += 64
	}
	for n < size && a[n] == b[n] {
		n++
	}
	return n
}

// wholeRune returns n, or the start of the character that n cuts.
func wholeRune(text []byte, n int) int {
	for at := n; at > 0 && n-at < utf8.UTFMax; at-- {
		if at < len(text) && utf8.RuneStart(text[at]) || at == len(text) {
			return at
		}
	}
	return n
}

// valueHash returns a hash of a value. Equal values have equal hashes.
func (t *tree) valueHash(n int32) uint64 {
	at := &t.nodes[n]
	h := fnv.New64a()
	_, _ = h.Write([]byte{byte(at.kind)})
	switch text := t.text[at.start:at.end]; at.kind {
	case stream.ObjectOpen:
		all := uint64(0) // independent of the order
		for _, k := range at.children {
			all += hashField(t.nodes[k].name, t.nodes[k].nth, t.valueHash(k))
		}
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, all))
	case stream.ArrayOpen:
		for _, k := range at.children {
			_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, t.valueHash(k)))
		}
	case stream.String:
		_, _ = h.Write(jsonbytes.AppendUnquoted(nil, stringContent(text, at.closed)))
	case stream.Number:
		_, _ = h.Write(jsonbytes.ParseDecimal(text).Append(nil))
	default:
		_, _ = h.Write(text)
	}
	return h.Sum64()
}

// hashField returns a hash of a field: its name, the number of earlier fields with that name, and its value's hash.
func hashField(name string, nth int, value uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, value))
	_, _ = h.Write(binary.LittleEndian.AppendUint32(nil, uint32(nth)))
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// ArgsHash returns a hash of a call's arguments. Equal arguments have equal hashes. The hash is 0 until
// the arguments are final, and if they are not in memory.
func ArgsHash(c *stream.Call) uint64 {
	if c.MayGrow() {
		return 0
	}
	a := ArgsOf(c)
	t := a.parseTree()
	return t.argsHash(a)
}

func (t *tree) argsHash(a *Args) uint64 {
	switch {
	case !a.Over || t.unknown:
		return 0
	case len(t.nodes) == 0:
		return 1
	}
	return max(t.valueHash(0), 2)
}
