package protocol

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Same reports whether two JSON texts are the same value. Space, the order of fields and the form of
// strings and numbers don't matter. Integers are compared exactly, because a client that reads them as
// floats changes them.
func Same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, xOK := canonicalText(a)
	y, yOK := canonicalText(b)
	return xOK && yOK && bytes.Equal(x, y)
}

// canonicalText returns one form for all JSON texts of the same value.
func canonicalText(text []byte) (spelled []byte, ok bool) {
	s := Scan(text)
	spelled = appendCanonical(nil, &s)
	return spelled, s.End() == nil
}

func appendCanonical(dst []byte, s *Scanner) []byte {
	switch s.Kind() {
	case '{':
		members := map[string][]byte{}
		for ok := s.Object(); ok; ok = s.Member() {
			name := string(s.Key())
			members[name] = appendCanonical(nil, s)
		}
		dst = append(dst, '{')
		for _, name := range slices.Sorted(maps.Keys(members)) {
			dst = append(strconv.AppendQuote(dst, name), members[name]...)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for ok := s.Array(); ok; ok = s.Element() {
			dst = append(appendCanonical(dst, s), ',')
		}
		return append(dst, ']')
	}
	v := s.Value()
	if v.IsString() {
		return strconv.AppendQuote(dst, v.Text())
	}
	if isInteger(v) {
		if string(v) == "-0" {
			v = v[1:]
		}
		return append(dst, v...)
	}
	if f, ok := v.Float(); ok {
		if n := int64(f); float64(n) == f && n > -1<<53 && n < 1<<53 {
			return strconv.AppendInt(dst, n, 10)
		}
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	}
	return append(dst, v...)
}

func isInteger(v Raw) bool {
	for _, c := range bytes.TrimPrefix(v, []byte("-")) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// JoinSurrogates joins surrogate pairs that deltas have split. In text each half is three bytes long.
func JoinSurrogates(text []byte) []byte {
	if bytes.IndexByte(text, 0xed) < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if h := text[i:]; len(h) >= 6 && h[0] == 0xed && h[1]&0xf0 == 0xa0 && h[3] == 0xed && h[4]&0xf0 == 0xb0 {
			high, low := rune(h[1]&0x0f)<<6|rune(h[2]&0x3f), rune(h[4]&0x0f)<<6|rune(h[5]&0x3f)
			out = utf8.AppendRune(out, 0x10000+high<<10+low)
			i += 5
			continue
		}
		out = append(out, text[i])
	}
	return out
}
