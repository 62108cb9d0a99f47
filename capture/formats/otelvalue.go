package formats

import (
	"bytes"
	"strconv"
	"strings"

	"toolscope/stream/json"
)

// attributesOf are attributes by their keys, their values as JSON.
func attributesOf(list []byte) map[string][]byte {
	all := map[string][]byte{}
	for a := range json.Elements(list) {
		f := json.Pick(a, "key", "value")
		if key, ok := json.Text(f[0]); ok {
			all[string(key)] = plainJSON(f[1], 0)
		}
	}
	return all
}

// maxAttributeDepth is how deep an attribute may be nested.
const maxAttributeDepth = 64

// plainJSON is a value of OTLP, which says what kind it is of, as the JSON that it stands for. It is
// nil for what is none.
func plainJSON(value []byte, depth int) []byte {
	if depth > maxAttributeDepth {
		return nil
	}
	f := json.Pick(value, "stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue")
	switch {
	case f[0] != nil:
		return f[0]
	case f[1] != nil:
		return f[1]
	case f[2] != nil: // 64 bits, as a string
		return bytes.Trim(f[2], `"`)
	case f[3] != nil:
		return f[3]
	case f[4] != nil:
		var all [][]byte
		for v := range json.Elements(json.Find(f[4], "values")) {
			all = append(all, orNull(plainJSON(v, depth+1)))
		}
		return arrayOf(all...)
	case f[5] != nil:
		var all [][]byte
		for kv := range json.Elements(json.Find(f[5], "values")) {
			of := json.Pick(kv, "key", "value")
			if kindOf(of[0]) == '"' {
				all = append(all, append(append(bytes.Clone(of[0]), ':'), orNull(plainJSON(of[1], depth+1))...))
			}
		}
		return append(append([]byte{'{'}, bytes.Join(all, []byte{','})...), '}')
	}
	return nil
}

func orNull(value []byte) []byte {
	if value == nil {
		return []byte("null")
	}
	return value
}

// attrText is what an attribute reads.
func (s *otelSpan) attrText(name string) string {
	text, _ := json.Text(s.attributes[name])
	return string(text)
}

// attrJSON is an attribute that is JSON, or a text of it.
func (s *otelSpan) attrJSON(name string) []byte {
	value := s.attributes[name]
	if text, ok := json.Text(value); ok {
		return bytes.TrimSpace(text)
	}
	return value
}

// attrCount is the first of the attributes that there is, as a number, -1 without any.
func (s *otelSpan) attrCount(names ...string) int {
	for _, name := range names {
		if n, err := strconv.Atoi(strings.Trim(string(s.attributes[name]), `"`)); err == nil {
			return n
		}
	}
	return -1
}
