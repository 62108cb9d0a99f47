package formats

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"toolscope/stream/json"
)

// fileValue is a value in a file that may be YAML or JSON. The zero fileValue is a missing value, which
// contains nothing.
type fileValue struct {
	node *yaml.Node
	raw  []byte // JSON, as in the file
}

// maxAliasDepth is the maximum number of aliases that are followed to a YAML value.
const maxAliasDepth = 8

func yamlValue(n *yaml.Node) fileValue {
	for range maxAliasDepth {
		if n == nil || n.Kind != yaml.AliasNode {
			break
		}
		n = n.Alias
	}
	return fileValue{node: n}
}

func (p fileValue) isPresent() bool { return p.node != nil || len(p.raw) > 0 }

func (p fileValue) isNull() bool {
	return p.node == nil && json.IsNull(p.raw) || p.node != nil && p.node.Kind == yaml.ScalarNode && p.node.ShortTag() == "!!null"
}

func (p fileValue) isMapping() bool {
	return p.node != nil && p.node.Kind == yaml.MappingNode || len(p.raw) > 0 && p.raw[0] == '{'
}

func (p fileValue) isSequence() bool {
	return p.node != nil && p.node.Kind == yaml.SequenceNode || len(p.raw) > 0 && p.raw[0] == '['
}

// isQuoted reports whether the spelling of a scalar shows that it is text.
func (p fileValue) isQuoted() bool {
	if p.node == nil {
		return len(p.raw) > 0 && p.raw[0] == '"'
	}
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return p.node.Kind == yaml.ScalarNode && p.node.Style&quoted != 0
}

// eachChild calls the function do for each field of a mapping, or for each element of a sequence. An element has no
// key.
func (p fileValue) eachChild(do func(key string, value fileValue)) {
	switch {
	case p.node == nil:
		for k, v := range json.Members(p.raw) {
			do(k, fileValue{raw: v})
		}
		for v := range json.Elements(p.raw) {
			do("", fileValue{raw: v})
		}
	case p.node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(p.node.Content); i += 2 {
			do(strings.TrimPrefix(p.node.Content[i].Value, ":"), yamlValue(p.node.Content[i+1]))
		}
	case p.node.Kind == yaml.SequenceNode:
		for _, n := range p.node.Content {
			do("", yamlValue(n))
		}
	}
}

// get returns the value of the first of the keys that a mapping has.
func (p fileValue) get(keys ...string) (found fileValue) {
	if p.node == nil {
		first := len(keys)
		for k, v := range json.Members(p.raw) {
			if i := slices.Index(keys, k); i >= 0 && i < first {
				first, found = i, fileValue{raw: v}
			}
			if first == 0 {
				break
			}
		}
		return found
	}
	for _, key := range keys {
		p.eachChild(func(k string, v fileValue) {
			if k == key && !found.isPresent() {
				found = v
			}
		})
		if found.isPresent() {
			return found
		}
	}
	return fileValue{}
}

// endsWith reports whether the last field of a mapping has one of these keys.
func (p fileValue) endsWith(keys ...string) bool {
	last := ""
	p.eachChild(func(key string, _ fileValue) { last = key })
	return slices.Contains(keys, last)
}

// asBytes returns the text of a scalar. It decodes a YAML scalar that has the binary tag. It returns nil for null,
// and for YAML that is not a scalar.
func (p fileValue) asBytes() []byte {
	switch {
	case p.isNull():
		return nil
	case p.node == nil:
		if text, ok := json.Text(p.raw); ok {
			return text
		}
		if len(p.raw) > 0 && p.raw[0] == '"' {
			return json.PartOfText(p.raw)
		}
		return p.raw
	case p.node.Kind != yaml.ScalarNode:
		return nil
	case strings.HasSuffix(p.node.Tag, "!binary"):
		return decodeBase64Text(p.node.Value)
	}
	return []byte(p.node.Value)
}

func (p fileValue) asText() string { return string(p.asBytes()) }

// decodeBase64Text decodes base64, up to the first invalid byte.
func decodeBase64Text(text string) []byte {
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	body, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		body, _ = base64.RawStdEncoding.DecodeString(text[:len(text)/4*4])
	}
	return body
}

// asJSON returns the value as JSON. JSON stays as it is in the file. YAML is converted; the result is nil
// if it would be too large, because aliases can repeat a value many times.
func (p fileValue) asJSON() []byte {
	if p.node == nil {
		return p.raw
	}
	w := jsonWriter{room: json.MaxValueBytes}
	if w.writeValue(p, 0); w.room < 0 {
		return nil
	}
	return w.text
}

// maxNesting is the maximum depth of YAML values that are converted.
const maxNesting = 200

// jsonWriter writes a YAML value as JSON, up to a limit.
type jsonWriter struct {
	text []byte
	room int
}

func (w *jsonWriter) appendText(text ...byte) {
	if w.room -= len(text); w.room >= 0 {
		w.text = append(w.text, text...)
	}
}

func (w *jsonWriter) writeValue(p fileValue, depth int) {
	switch {
	case depth > maxNesting:
		w.room = -1
	case p.isMapping():
		w.writeChildren(p, depth, '{', '}')
	case p.isSequence():
		w.writeChildren(p, depth, '[', ']')
	default:
		w.appendText(p.scalarJSON()...)
	}
}

// writeChildren writes the fields of a mapping or the elements of a sequence.
func (w *jsonWriter) writeChildren(p fileValue, depth int, begin, end byte) {
	w.appendText(begin)
	n := 0
	p.eachChild(func(key string, value fileValue) {
		if w.room < 0 {
			return
		}
		if n++; n > 1 {
			w.appendText(',')
		}
		if begin == '{' {
			w.appendText(append(appendQuoted(nil, key), ':')...)
		}
		w.writeValue(value, depth+1)
	})
	w.appendText(end)
}

// scalarJSON returns a scalar as JSON. It keeps the spelling of a number if that spelling is valid in JSON.
func (p fileValue) scalarJSON() []byte {
	switch tag := p.node.ShortTag(); {
	case tag == "!!null":
		return []byte("null")
	case tag == "!!bool":
		return []byte(strings.ToLower(p.node.Value))
	case tag == "!!int" || tag == "!!float":
		var s json.ValueScanner
		if _, err := strconv.ParseFloat(p.node.Value, 64); err == nil && !strings.ContainsAny(p.node.Value, "_xXoOiInN+") {
			if n, _ := s.Write([]byte(p.node.Value)); n == len(p.node.Value) {
				return []byte(p.node.Value)
			}
		}
	}
	return appendQuoted(nil, string(p.asBytes()))
}

// appendQuoted appends a string as JSON. It keeps bytes that are not UTF-8.
func appendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for len(text) > 0 {
		n := json.PlainRun([]byte(text))
		dst = append(dst, text[:n]...)
		if text = text[n:]; text == "" {
			break
		}
		switch c := text[0]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
		text = text[1:]
	}
	return append(dst, '"')
}

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
