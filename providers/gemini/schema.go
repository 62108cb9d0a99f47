package gemini

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers/protocol"
)

// keywords are the fields of Google's Schema object that JSON Schema also has, in both spellings, with
// their JSON Schema name and the kind of their value.
var keywords = map[string]struct{ name, value string }{
	"title": {"title", "string"}, "description": {"description", "string"}, "pattern": {"pattern", "string"}, "default": {"default", "any"},
	"minimum": {"minimum", "number"}, "maximum": {"maximum", "number"},
	"minItems": {"minItems", "number"}, "min_items": {"minItems", "number"},
	"maxItems": {"maxItems", "number"}, "max_items": {"maxItems", "number"},
	"minLength": {"minLength", "number"}, "min_length": {"minLength", "number"},
	"maxLength": {"maxLength", "number"}, "max_length": {"maxLength", "number"},
	"minProperties": {"minProperties", "number"}, "min_properties": {"minProperties", "number"},
	"maxProperties": {"maxProperties", "number"}, "max_properties": {"maxProperties", "number"},
	"required": {"required", "array"}, "ref": {"$ref", "string"}, "$ref": {"$ref", "string"},
	"items": {"items", "schema"}, "additionalProperties": {"additionalProperties", "schema"},
	"additional_properties": {"additionalProperties", "schema"},
	"properties":            {"properties", "schemas"}, "defs": {"$defs", "schemas"}, "$defs": {"$defs", "schemas"},
	"prefixItems": {"prefixItems", "list"}, "prefix_items": {"prefixItems", "list"},
	"example": {"examples", "one"},
}

// formats are those of JSON Schema. Google's others give the bits of a number, or say that a string is
// an enum.
var formats = map[string]bool{
	"date-time": true, "date": true, "time": true, "duration": true, "email": true, "hostname": true, "ipv4": true,
	"ipv6": true, "uri": true, "uuid": true,
}

// typeNumbers are the types by their enum numbers.
var typeNumbers = map[string]string{
	"1": "string", "2": "number", "3": "integer", "4": "boolean", "5": "array", "6": "object", "7": "null",
}

const maxSchemaDepth = 100 // levels of nested schemas; protobuf allows no more

// schemaWriter writes the fields of one schema object.
type schemaWriter struct {
	dst   []byte
	first int
}

func (w *schemaWriter) writeKey(name string) {
	if len(w.dst) > w.first {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(strconv.AppendQuote(w.dst, name), ':')
}

// appendSchema appends Google's Schema, a subset of OpenAPI 3.0's, as JSON Schema. In Google's Schema,
// types are in upper case, null is a property of a type and not a type, and some numbers are strings.
func appendSchema(dst []byte, schema protocol.Raw, depth int) []byte {
	if schema.Kind() != '{' || depth > maxSchemaDepth {
		if k := schema.Kind(); k == 't' || k == 'f' {
			return append(dst, schema...)
		}
		return append(dst, "true"...)
	}
	w := schemaWriter{dst: append(dst, '{')}
	w.first = len(w.dst)
	var kind, enum, union protocol.Raw
	nullable := false
	s := schema.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch key := string(s.Key()); key {
		case "type":
			kind = s.Value()
		case "nullable":
			nullable = s.Value().IsTrue()
		case "enum":
			enum = s.Value()
		case "anyOf", "any_of":
			union = s.Value()
		case "format":
			if v := s.Value(); formats[v.Text()] {
				w.writeKey("format")
				w.dst = append(w.dst, v...)
			}
		default:
			if k, ok := keywords[key]; ok {
				w.writeKeyword(k.name, k.value, s.Value(), depth)
			}
		}
	}
	w.writeType(kind, nullable)
	w.writeEnum(enum, nullable)
	w.writeUnion(union, nullable, depth)
	return append(w.dst, '}')
}

func (w *schemaWriter) writeKeyword(name, kind string, v protocol.Raw, depth int) {
	if kind == "number" && v.IsString() {
		v = protocol.Raw(v.Text()) // an int64, which protobuf writes as a string
	}
	if _, isNumber := v.Float(); kind == "number" && !isNumber || kind == "string" && !v.IsString() || kind == "array" && v.Kind() != '[' {
		return
	}
	switch kind {
	case "schema":
		w.writeKey(name)
		w.dst = appendSchema(w.dst, v, depth+1)
	case "schemas":
		w.writeKey(name)
		w.writeSchemas(v, depth)
	case "list":
		w.writeKey(name)
		w.writeSchemaList(v, depth, false)
	case "one":
		w.writeKey(name)
		w.dst = append(append(append(w.dst, '['), v...), ']')
	default:
		w.writeKey(name)
		w.dst = append(w.dst, v...)
	}
}

// writeSchemas writes an object whose fields are schemas.
func (w *schemaWriter) writeSchemas(v protocol.Raw, depth int) {
	w.dst = append(w.dst, '{')
	s, n := v.Scan(), 0
	for ok := s.Object(); ok; ok = s.Member() {
		if n++; n > 1 {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(protocol.AppendString(w.dst, s.Key()), ':')
		w.dst = appendSchema(w.dst, s.Value(), depth+1)
	}
	w.dst = append(w.dst, '}')
}

// writeSchemaList writes an array of schemas, and null as one more.
func (w *schemaWriter) writeSchemaList(v protocol.Raw, depth int, null bool) {
	w.dst = append(w.dst, '[')
	s, n := v.Scan(), 0
	for ok := s.Array(); ok; ok = s.Element() {
		if n++; n > 1 {
			w.dst = append(w.dst, ',')
		}
		w.dst = appendSchema(w.dst, s.Value(), depth+1)
	}
	if null {
		if n > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(w.dst, `{"type":"null"}`...)
	}
	w.dst = append(w.dst, ']')
}

// writeType writes the type: one word, or several for clients that send JSON Schema here.
func (w *schemaWriter) writeType(v protocol.Raw, nullable bool) {
	var words []string
	add := func(v protocol.Raw) {
		word := strings.ToLower(v.Text())
		if !v.IsString() {
			word = typeNumbers[string(v)]
		}
		for _, known := range typeNumbers {
			if word == known {
				words = append(words, word)
			}
		}
	}
	if s := v.Scan(); v.Kind() == '[' {
		for ok := s.Array(); ok; ok = s.Element() {
			add(s.Value())
		}
	} else {
		add(v)
	}
	if len(words) == 0 {
		return
	}
	if nullable && !slices.Contains(words, "null") {
		words = append(words, "null")
	}
	w.writeKey("type")
	if len(words) == 1 {
		w.dst = strconv.AppendQuote(w.dst, words[0])
		return
	}
	w.dst = append(w.dst, `["`+strings.Join(words, `","`)+`"]`...)
}

// writeEnum writes the allowed values, including null if the type allows it.
func (w *schemaWriter) writeEnum(v protocol.Raw, nullable bool) {
	if v.Kind() != '[' {
		return
	}
	w.writeKey("enum")
	inner := bytes.TrimSpace(v[1 : len(v)-1])
	w.dst = append(append(w.dst, '['), inner...)
	if nullable {
		if len(inner) > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(w.dst, "null"...)
	}
	w.dst = append(w.dst, ']')
}

func (w *schemaWriter) writeUnion(v protocol.Raw, nullable bool, depth int) {
	if v.Kind() == '[' {
		w.writeKey("anyOf")
		w.writeSchemaList(v, depth, nullable)
	}
}
