package formats

import (
	"bytes"

	"toolscope/stream/jsonbytes"
)

// foundMember is a member of a JSON object: the inside of its key, which is not unquoted, and its value
// as it stands, at some place in the object.
type foundMember struct {
	key, value []byte
	at         int
}

// readMembers appends the members of the object that p begins with, and says how long it is; whole
// is false where p ends inside it. What is no JSON has some members, and is not whole.
func readMembers(to []foundMember, p []byte) (all []foundMember, n int, whole bool) {
	if len(p) == 0 || p[0] != '{' {
		return to, 0, false
	}
	for n = 1; ; n++ {
		n += jsonbytes.SpaceLen(p[n:])
		if n < len(p) && p[n] == '}' {
			return to, n + 1, true
		}
		if n >= len(p) || p[n] != '"' {
			return to, n, false
		}
		k := stringLen(p[n:])
		if k == 0 {
			return to, len(p), false
		}
		key := p[n+1 : n+k-1]
		n += k
		n += jsonbytes.SpaceLen(p[n:])
		if n >= len(p) || p[n] != ':' {
			return to, n, false
		}
		n++
		n += jsonbytes.SpaceLen(p[n:])
		size, closed := valueLen(p[n:])
		to = append(to, foundMember{key, p[n : n+size : n+size], n})
		n += size
		if !closed {
			return to, len(p), false
		}
		n += jsonbytes.SpaceLen(p[n:])
		if n < len(p) && p[n] == '}' {
			return to, n + 1, true
		}
		if n >= len(p) || p[n] != ',' {
			return to, n, false
		}
	}
}

// stringLen is the length of the string that p begins with, its quotes included; 0 where it is cut.
func stringLen(p []byte) int {
	for n := 1; n < len(p); {
		i := bytes.IndexByte(p[n:], '"')
		if i < 0 {
			return 0
		}
		n += i + 1
		if p[n-2] != '\\' || jsonbytes.TrailingBackslashes(p[1:n-1])%2 == 0 {
			return n
		}
	}
	return 0
}

// valueLen is the length of the value that p begins with, and whether its end is there. The end of
// a number or a word is there where something follows it.
func valueLen(p []byte) (n int, closed bool) {
	for depth := 0; n < len(p); {
		switch c := p[n]; {
		case c == '"':
			k := stringLen(p[n:])
			if k == 0 {
				return len(p), false
			}
			if n += k; depth == 0 {
				return n, true
			}
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return n, n > 0
			}
			if depth--; depth == 0 {
				return n + 1, true
			}
		case depth == 0 && (jsonbytes.IsSpace(c) || c == ',' || c == ':'):
			return n, n > 0
		}
		n++
	}
	return n, false
}

// stringInside reports whether a value is a string, and inside is its inside.
func stringInside(value []byte) (inside []byte, is bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

func opensObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
func isArray(value []byte) bool     { return len(value) > 0 && value[0] == '[' }

// firstElement is the first element of an array, nil where it has none.
func firstElement(array []byte) []byte {
	if !isArray(array) {
		return nil
	}
	p := afterSpace(array[1:])
	if len(p) == 0 || p[0] == ']' {
		return nil
	}
	n, _ := valueLen(p)
	return p[:n]
}

// memberOf is the value of a member, nil where there is none. It looks at one level and copies
// nothing.
func memberOf(object []byte, key string) []byte {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	var room [24]foundMember
	all, _, _ := readMembers(room[:0], object)
	for _, m := range all {
		if string(m.key) == key {
			return m.value
		}
	}
	return nil
}
