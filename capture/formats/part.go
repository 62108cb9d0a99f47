package formats

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"toolscope/stream/jsonbytes"
)

// part is a value of a recording that may be written in YAML or in JSON. The zero part is no value,
// and has nothing inside.
type part struct {
	node  *yaml.Node
	texts [][]byte // that were taken out of the YAML
	raw   []byte   // of JSON, as it stands
}

// aliasLimit is through how many aliases a value of YAML may be looked for.
const aliasLimit = 8

func yamlPart(n *yaml.Node, texts [][]byte) part {
	for range aliasLimit {
		if n == nil || n.Kind != yaml.AliasNode {
			break
		}
		n = n.Alias
	}
	return part{node: n, texts: texts}
}

func (p part) is() bool { return p.node != nil || len(p.raw) > 0 }

func (p part) isNull() bool {
	return p.node == nil && IsNull(p.raw) || p.node != nil && p.node.Kind == yaml.ScalarNode && p.node.ShortTag() == "!!null"
}

func (p part) isMapping() bool {
	return p.node != nil && p.node.Kind == yaml.MappingNode || len(p.raw) > 0 && p.raw[0] == '{'
}

func (p part) isSequence() bool {
	return p.node != nil && p.node.Kind == yaml.SequenceNode || len(p.raw) > 0 && p.raw[0] == '['
}

// isQuoted reports whether a scalar shows by itself that it is text.
func (p part) isQuoted() bool {
	if p.node == nil {
		return len(p.raw) > 0 && p.raw[0] == '"'
	}
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return p.node.Kind == yaml.ScalarNode && p.node.Style&quoted != 0
}

// each calls do for each member of a mapping, and for each element of a sequence, with no key.
func (p part) each(do func(key string, value part)) {
	switch {
	case p.node == nil:
		for k, v := range Members(p.raw) {
			do(k, part{raw: v})
		}
		for v := range Elements(p.raw) {
			do("", part{raw: v})
		}
	case p.node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(p.node.Content); i += 2 {
			do(strings.TrimPrefix(p.node.Content[i].Value, ":"), yamlPart(p.node.Content[i+1], p.texts))
		}
	case p.node.Kind == yaml.SequenceNode:
		for _, n := range p.node.Content {
			do("", yamlPart(n, p.texts))
		}
	}
}

// get is what a mapping has at the first of the keys that it has.
func (p part) get(keys ...string) (found part) {
	if p.node == nil {
		first := len(keys)
		for k, v := range Members(p.raw) {
			if i := slices.Index(keys, k); i >= 0 && i < first {
				first, found = i, part{raw: v}
			}
			if first == 0 {
				break
			}
		}
		return found
	}
	for _, key := range keys {
		p.each(func(k string, v part) {
			if k == key && !found.is() {
				found = v
			}
		})
		if found.is() {
			return found
		}
	}
	return part{}
}

// endsWith reports whether the last member of a mapping is one of these.
func (p part) endsWith(keys ...string) bool {
	last := ""
	p.each(func(key string, _ part) { last = key })
	return slices.Contains(keys, last)
}

// bytes is what a scalar reads; one of YAML that is tagged as binary is decoded.
func (p part) bytes() []byte {
	switch {
	case p.isNull():
		return nil
	case p.node == nil:
		if text, ok := Text(p.raw); ok {
			return text
		}
		if len(p.raw) > 0 && p.raw[0] == '"' {
			return partOfText(p.raw)
		}
		return p.raw
	case p.node.Kind != yaml.ScalarNode:
		return nil
	case p.node.Tag == textTag:
		if n, err := strconv.Atoi(p.node.Value); err == nil && n >= 0 && n < len(p.texts) {
			return p.texts[n]
		}
	case strings.HasSuffix(p.node.Tag, "!binary"):
		return unbase64(p.node.Value)
	}
	return []byte(p.node.Value)
}

func (p part) text() string { return string(p.bytes()) }

// unbase64 decodes as much as there is.
func unbase64(text string) []byte {
	text = strings.TrimRight(strings.Join(strings.Fields(text), ""), "=")
	body, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		body, _ = base64.RawStdEncoding.DecodeString(text[:len(text)/4*4])
	}
	return body
}

// json is the value as JSON: as it stands, or put together from what YAML has; nil where that is too
// much, as what a few names repeat can be.
func (p part) json() []byte {
	if p.node == nil {
		return p.raw
	}
	w := jsonWriter{room: valueLimit}
	if w.value(p, 0); w.room < 0 {
		return nil
	}
	return w.text
}

// nestLimit is how deep what YAML nests is gone into.
const nestLimit = 200

// jsonWriter writes a value of YAML as JSON, as long as there is room.
type jsonWriter struct {
	text []byte
	room int
}

func (w *jsonWriter) put(text ...byte) {
	if w.room -= len(text); w.room >= 0 {
		w.text = append(w.text, text...)
	}
}

func (w *jsonWriter) value(p part, depth int) {
	switch {
	case depth > nestLimit:
		w.room = -1
	case p.isMapping():
		w.all(p, depth, '{', '}')
	case p.isSequence():
		w.all(p, depth, '[', ']')
	default:
		w.put(p.scalarJSON()...)
	}
}

// all writes what is inside a mapping or a sequence.
func (w *jsonWriter) all(p part, depth int, begin, end byte) {
	w.put(begin)
	n := 0
	p.each(func(key string, value part) {
		if w.room < 0 {
			return
		}
		if n++; n > 1 {
			w.put(',')
		}
		if begin == '{' {
			w.put(append(appendQuoted(nil, key), ':')...)
		}
		w.value(value, depth+1)
	})
	w.put(end)
}

// scalarJSON keeps how a number is spelled, where JSON may spell it so.
func (p part) scalarJSON() []byte {
	switch tag := p.node.ShortTag(); {
	case tag == "!!null":
		return []byte("null")
	case tag == "!!bool":
		return []byte(strings.ToLower(p.node.Value))
	case tag == "!!int" || tag == "!!float":
		var s Span
		if _, err := strconv.ParseFloat(p.node.Value, 64); err == nil && !strings.ContainsAny(p.node.Value, "_xXoOiInN+") {
			if n, _ := s.Write([]byte(p.node.Value)); n == len(p.node.Value) {
				return []byte(p.node.Value)
			}
		}
	}
	return appendQuoted(nil, string(p.bytes()))
}

// appendQuoted appends a string as JSON writes it; what is not UTF-8 is kept.
func appendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for len(text) > 0 {
		n := jsonbytes.PlainRun([]byte(text))
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
