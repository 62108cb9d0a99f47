package formats

import (
	"bytes"

	"toolscope/stream/jsonbytes"
)

// This file writes JSON round raw values: they stay as they are, only the punctuation between them
// is new.

// member is a member of an object to write.
type member struct {
	key   string
	value []byte
}

// objectOf is the members that have a value, as an object.
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

// arrayOf is the values as an array.
func arrayOf(values ...[]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(values, []byte{','})...), ']')
}

// nilIfNull is a value, nil where it is null.
func nilIfNull(value []byte) []byte {
	if IsNull(value) {
		return nil
	}
	return value
}

// nonEmptyText is a string that says something, nil for any other value.
func nonEmptyText(value []byte) []byte {
	if len(value) < 3 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil
	}
	return value
}

// pickMembers is the members of an object that keys name, as far as they have a value, in the order of the
// keys. Of a key that comes twice it is the first. Keys are compared as they are written, unless
// they have an escape.
func pickMembers(object []byte, keys ...string) [][]byte {
	found, left := make([][]byte, len(keys)), len(keys)
	p, ok := afterBracket(object, '{')
	for ok && left > 0 {
		var key []byte
		if key, p = keyAt(p); key == nil {
			break
		}
		n := jsonbytes.ValueEnd(p)
		if i := indexOf(keys, key); n > 0 && i >= 0 && found[i] == nil {
			if found[i] = nilIfNull(p[:n:n]); found[i] != nil {
				left--
			}
		}
		if n == 0 {
			break
		}
		p, ok = afterComma(p[n:])
	}
	return found
}

// indexOf is which of the keys is written so, or -1.
func indexOf(keys []string, written []byte) int {
	name := written[1 : len(written)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = jsonbytes.AppendUnquoted(nil, name)
	}
	for i, k := range keys {
		if k == string(name) {
			return i
		}
	}
	return -1
}

// hasText reports whether a value is a string that reads so.
func hasText(value []byte, text string) bool {
	if len(value) == len(text)+2 && value[0] == '"' {
		return string(value[1:len(value)-1]) == text
	}
	read, ok := Text(value)
	return ok && string(read) == text
}

// kindOf is the first byte of a value, 0 of none.
func kindOf(value []byte) byte {
	if value = afterSpace(value); len(value) == 0 {
		return 0
	}
	return value[0]
}
