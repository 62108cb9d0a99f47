package formats

import (
	"bytes"
	"strconv"

	"toolscope/stream/json"
)

// hasText reports whether a value is the string text.
func hasText(value []byte, text string) bool {
	if len(value) == len(text)+2 && value[0] == '"' {
		return string(value[1:len(value)-1]) == text
	}
	read, ok := json.Text(value)
	return ok && string(read) == text
}

// nonEmptyText returns a string that is not empty, nil for any other value.
func nonEmptyText(value []byte) []byte {
	if inside, is := stringInside(value); !is || len(inside) == 0 {
		return nil
	}
	return value
}

// stringInside returns the text between the quotes of a string.
func stringInside(value []byte) (inside []byte, is bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}

// nilIfNull returns a value, nil if it is null.
func nilIfNull(value []byte) []byte {
	if json.IsNull(value) {
		return nil
	}
	return value
}

// kindOf returns the first byte of a value, 0 if there is none.
func kindOf(value []byte) byte {
	if value = afterSpace(value); len(value) == 0 {
		return 0
	}
	return value[0]
}

func opensObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
func isArray(value []byte) bool     { return len(value) > 0 && value[0] == '[' }

// stringLen returns the length of the string that p begins with, 0 if it is cut off.
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

// member is a field of an object to write.
type member struct {
	key   string
	value []byte
}

// objectOf writes the fields that have a value as an object.
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

// arrayOf writes the values as an array.
func arrayOf(values ...[]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(values, []byte{','})...), ']')
}

func intBytes(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }
