package dialect

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
)

// Same reports whether two JSON texts stand for one value: whatever the space,
// the order of members and the spelling of strings and numbers. Integers are
// compared exactly, because a client that goes through floats changes them.
func Same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, xOK := canonical(a)
	y, yOK := canonical(b)
	return xOK && yOK && bytes.Equal(x, y)
}

// canonical is the one spelling of a JSON text that all of its value share.
func canonical(text []byte) (spelled []byte, ok bool) {
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
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return strconv.AppendInt(dst, n, 10)
	}
	if f, ok := v.Float(); ok {
		if n := int64(f); float64(n) == f && n > -1<<53 && n < 1<<53 {
			return strconv.AppendInt(dst, n, 10)
		}
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	}
	return append(dst, v...)
}

// Arguments remember what came of a call's arguments, for a later message that
// brings them whole.
type Arguments struct{ text []byte }

// Add appends what one delta brought.
func (a *Arguments) Add(text string) { a.text = append(a.text, text...) }

// Empty reports whether nothing came.
func (a *Arguments) Empty() bool { return len(a.text) == 0 }

// Are reports whether whole is what came: the JSON value, or a string that holds
// the text or a JSON text of that value.
func (a *Arguments) Are(whole Raw) bool {
	return Same(a.text, whole) || whole.IsString() && Same(a.text, whole.Append(nil))
}
