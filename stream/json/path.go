package json

import (
	"strconv"
	"strings"
)

// PathAt returns the path of the smallest value that contains a range of a JSON text, for example
// messages[4].content[0].
func PathAt(body []byte, start, end int) (path string) {
	value, base := Value(body), 0
	for base != start || base+len(value) != end {
		name, inner, at := ChildAt(value, start-base, end-base)
		if inner == nil {
			break
		}
		path, value, base = path+name, inner, base+at
	}
	return strings.TrimPrefix(path, ".")
}

// ChildAt returns the field or element that contains a range of a value, with its name in a path and its offset.
func ChildAt(value Value, start, end int) (name string, child Value, at int) {
	s := value.Scan()
	isIn := func(v Value) bool {
		at = cap(value) - cap(v)
		return v != nil && at <= start && end <= at+len(v)
	}
	switch value.Kind() {
	case '{':
		for ok := s.Object(); ok; ok = s.Member() {
			key := string(s.Key())
			if v := s.Value(); isIn(v) {
				return "." + key, v, at
			}
		}
	case '[':
		n := 0
		for ok := s.Array(); ok; ok = s.Element() {
			if v := s.Value(); isIn(v) {
				return "[" + strconv.Itoa(n) + "]", v, at
			}
			n++
		}
	}
	return "", nil, 0
}
