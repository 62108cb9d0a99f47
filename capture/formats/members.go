package formats

import (
	"iter"

	"toolscope/stream/jsonbytes"
)

// This file reads JSON values that are complete or cut off: a value that is cut off extends to the end
// of the bytes. It copies only unquoted strings.

// Members iterates over the fields of an object: unquoted keys and raw values. Other values have none.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		p, ok := afterBracket(object, '{')
		for ok {
			var key []byte
			if key, p = keyAt(p); key == nil {
				return
			}
			n := jsonbytes.ValueEnd(p)
			if n == 0 || !yield(unquoteString(key), p[:n:n]) {
				return
			}
			p, ok = afterComma(p[n:])
		}
	}
}

// keyAt is the key that a member begins with, as it is written, and what follows its colon. The key
// is nil where no member begins or its key is not all there, and the rest is what follows that.
func keyAt(p []byte) (key, rest []byte) {
	p = afterSpace(p)
	if len(p) == 0 || p[0] != '"' {
		return nil, p
	}
	n, closed := jsonbytes.StringEnd(p)
	key = p[:n]
	if p = afterSpace(p[n:]); !closed || len(p) == 0 || p[0] != ':' {
		return nil, p
	}
	return key, afterSpace(p[1:])
}

// eachMember goes through an object once: do is given what follows a key, and is how much of that
// the value takes, or 0 where it did not look. It is how long the object is, as far as it is there.
func eachMember(object []byte, do func(key string, rest []byte) int) int {
	p, ok := afterBracket(object, '{')
	for ok {
		var key []byte
		if key, p = keyAt(p); key == nil {
			break
		}
		n := do(unquoteString(key), p)
		if n == 0 {
			n = jsonbytes.ValueEnd(p)
		}
		if n == 0 {
			break
		}
		p, ok = afterComma(p[n:])
	}
	if p = afterSpace(p); len(p) > 0 && p[0] == '}' {
		p = p[1:]
	}
	return len(object) - len(p)
}

// Elements iterates over the raw elements of an array. Other values have none.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		p, ok := afterBracket(array, '[')
		for ok {
			p = afterSpace(p)
			n := jsonbytes.ValueEnd(p)
			if n == 0 || !yield(p[:n:n]) {
				return
			}
			p, ok = afterComma(p[n:])
		}
	}
}

// Member returns the value at the path of keys, nil if there is none. The first of duplicate keys counts.
func Member(object []byte, keys ...string) []byte {
	for _, key := range keys {
		var found []byte
		for k, v := range Members(object) {
			if k == key {
				found = v
				break
			}
		}
		if object = found; found == nil {
			return nil
		}
	}
	return object
}

// Text unquotes a string. ok is false for any other value, and for a string that is cut off.
func Text(value []byte) (text []byte, ok bool) {
	value = afterSpace(value)
	if len(value) < 2 || value[0] != '"' {
		return nil, false
	}
	inner := value[1 : len(value)-1]
	if value[len(value)-1] != '"' || jsonbytes.TrailingBackslashes(inner)%2 == 1 {
		return nil, false
	}
	return jsonbytes.AppendUnquoted(nil, inner), true
}

// TextOf returns the string at the path of keys, "" if there is none.
func TextOf(object []byte, keys ...string) string {
	text, _ := Text(Member(object, keys...))
	return string(text)
}

// IsNull reports whether a value is missing or null.
func IsNull(value []byte) bool { return len(value) == 0 || string(value) == "null" }

func afterSpace(p []byte) []byte { return p[jsonbytes.SpaceLen(p):] }

func afterBracket(p []byte, bracket byte) ([]byte, bool) {
	p = afterSpace(p)
	if len(p) == 0 || p[0] != bracket {
		return nil, false
	}
	return p[1:], true
}

// afterComma is what follows the comma, if there is one; otherwise it is what stands there.
func afterComma(p []byte) ([]byte, bool) {
	p = afterSpace(p)
	if len(p) == 0 || p[0] != ',' {
		return p, false
	}
	return p[1:], true
}

// partOfText is what a string reads whose end is missing.
func partOfText(value []byte) []byte {
	inner := value[1:]
	return jsonbytes.AppendUnquoted(nil, inner[:jsonbytes.CompleteEscapes(inner)])
}

// isWhole reports whether a value is not cut.
func isWhole(value []byte) bool {
	var s ValueScanner
	_, done := s.Write(value)
	return done
}
