package formats

import (
	"bytes"
	"strconv"

	"toolscope/stream/json"
)

// hasText reports whether a value is a string that equals text.
func hasText(value []byte, text string) bool {
	if len(value) == len(text)+2 && value[0] == '"' {
		return string(value[1:len(value)-1]) == text
	}
	read, ok := json.Text(value)
	return ok && string(read) == text
}

// nonEmptyText returns a value that is a non-empty string, or nil for any other value.
func nonEmptyText(value []byte) []byte {
	if inside, is := stringInside(value); !is || len(inside) == 0 {
		return nil
	}
	return value
}

// stringInside returns the text between the quotes of a string. The second result is false if the value is not
// a complete string.
func stringInside(value []byte) (inside []byte, is bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

// nilIfNull returns a value, or nil if the value is null.
func nilIfNull(value []byte) []byte {
	if json.IsNull(value) {
		return nil
	}
	return value
}

// kindOf returns the first byte of a value after white space, or 0 if there is none.
func kindOf(value []byte) byte {
	if value = afterSpace(value); len(value) == 0 {
		return 0
	}
	return value[0]
}

func opensObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
func isArray(value []byte) bool     { return len(value) > 0 && value[0] == '[' }

// stringLen returns the length of the string that p begins with, or 0 if the string is cut off.
func stringLen(p []byte) int {
	n, closed := json.StringEnd(p)
	if !closed {
		return 0
	}
	return n
}

func afterSpace(p []byte) []byte { return p[json.SpaceLen(p):] }

// isWhole reports whether a value is not cut off.
func isWhole(value []byte) bool {
	_, closed := json.ValueLen(afterSpace(value))
	return closed
}

// member is a field of an object that is being written.
type member struct {
	key   string
	value []byte
}

// objectOf returns an object with the fields that have a value.
func objectOf(members ...member) []byte {
	size := 2
	for _, m := range members {
		size += len(m.key) + len(m.value) + 4
	}
	b := append(make([]byte, 0, size), '{')
	for _, m := range members {
		if len(m.value) == 0 {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), m.key...), '"', ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
}

// arrayOf returns an array of the values.
func arrayOf(values ...[]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(values, []byte{','})...), ']')
}

func intBytes(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }
