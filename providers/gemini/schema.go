package gemini

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"toolscope/stream/json"
)

// keywords maps the fields that Google's Schema object shares with JSON Schema, in both spellings, to their name in
// JSON Schema and the kind of their value.
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

// formats are the formats of JSON Schema that appendSchema keeps. Google's other formats state a number's size in
// bits, or mark a string as an enum.
var formats = map[string]bool{
	"date-time": true, "date": true, "time": true, "duration": true, "email": true, "hostname": true, "ipv4": true,
	"ipv6": true, "uri": true, "uuid": true,
}

// typeNumbers maps the numbers in the type enum to types.
var typeNumbers = map[string]string{
	"1": "string", "2": "number", "3": "integer", "4": "boolean", "5": "array", "6": "object", "7": "null",
}

const maxSchemaDepth = 100 // maximum levels of nested schemas; protobuf allows no more

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

// appendSchema appends Google's Schema, a subset of the schema in OpenAPI 3.0, as JSON Schema. In Google's Schema,
// types are in upper case, null is a property of a type and not a type of its own, and some numbers are strings.
func appendSchema(dst []byte, schema json.Value, depth int) []byte {
	if schema.Kind() != '{' || depth > maxSchemaDepth {
		if k := schema.Kind(); k == 't' || k == 'f' {
			return append(dst, schema...)
		}
		return append(dst, "true"...)
	}
	w := schemaWriter{dst: append(dst, '{')}
	w.first = len(w.dst)
	var kind, enum, union json.Value
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
	if union.Kind() == '[' {
		w.writeKey("anyOf")
		w.writeSchemaList(union, depth, nullable)
	}
	return append(w.dst, '}')
}

func (w *schemaWriter) writeKeyword(name, kind string, v json.Value, depth int) {
	if kind == "number" && v.IsString() {
		v = json.Value(v.Text()) // an int64, which protobuf writes as a string
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
		w.dst = append(w.dst, '{')
		s, n := v.Scan(), 0
		for ok := s.Object(); ok; ok = s.Member() {
			if n++; n > 1 {
				w.dst = append(w.dst, ',')
			}
			w.dst = append(json.AppendQuoted(w.dst, s.Key()), ':')
			w.dst = appendSchema(w.dst, s.Value(), depth+1)
		}
		w.dst = append(w.dst, '}')
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

// writeSchemaList writes an array of schemas. If null is set, it adds a schema that allows null.
func (w *schemaWriter) writeSchemaList(v json.Value, depth int, null bool) {
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

// writeType writes the type: one word, or several words if null is allowed or the client sent JSON Schema.
func (w *schemaWriter) writeType(v json.Value, nullable bool) {
	var words []string
	add := func(v json.Value) {
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

// writeEnum writes the allowed values. If nullable is set, they include null.
func (w *schemaWriter) writeEnum(v json.Value, nullable bool) {
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

// googleSchema converts a JSON Schema to Google's Schema object, a subset of the schema in OpenAPI 3.0. It returns
// nil for a schema without properties: the API refuses an empty schema, and a tool without a schema has no
// parameters. Keywords outside the subset are omitted, so the model gets less information.
func googleSchema(schema json.Value) json.Value {
	s := schema.Get("properties").Scan()
	if !s.Object() {
		return nil
	}
	c := schemaConverter{root: schema}
	return c.convertSchema(schema, 0, false, nil)
}

// schemaConverter writes Schema objects. It resolves references against root, because the Gemini API doesn't
// support references.
type schemaConverter struct {
	root json.Value
	made int // number of schemas written
}

// maxSchemas is the maximum number of schemas that one conversion writes. Without a limit, references to references
// could multiply endlessly.
const maxSchemas = 10000

// A schemaNode is one schema together with the fields of the schemas that it refers to.
type schemaNode struct {
	members  map[string]json.Value
	kind     string // in lower case; "" if the schema has no type or several types
	kinds    []string
	nullable bool
}

// sharedKeywords are the fields that both Google's Schema and JSON Schema have. Each has the type that it applies to,
// or "" for every type.
var sharedKeywords = []struct{ name, kind string }{
	{"title", ""}, {"description", ""}, {"default", ""},
	{"minLength", "string"}, {"maxLength", "string"}, {"pattern", "string"},
	{"minimum", "number"}, {"maximum", "number"}, {"minimum", "integer"}, {"maximum", "integer"},
	{"minItems", "array"}, {"maxItems", "array"},
	{"minProperties", "object"}, {"maxProperties", "object"},
}

// convertSchema writes one schema. The references in the list seen lead to this schema, so following one of them
// again would never end.
func (c *schemaConverter) convertSchema(v json.Value, depth int, nullable bool, seen []string) json.Value {
	n := schemaNode{members: map[string]json.Value{}, nullable: nullable}
	var w json.Writer
	w.Open('{')
	if c.made++; depth <= maxSchemaDepth && c.made <= maxSchemas {
		seen = c.absorbSchema(&n, v, seen)
		n.readTypes()
		c.writeSchema(&w, &n, depth, seen)
	}
	return w.Close('}').Text
}

// writeSchema writes the fields of a schema. If it has anyOf, that must be its only field.
func (c *schemaConverter) writeSchema(w *json.Writer, n *schemaNode, depth int, seen []string) {
	// The alternatives in anyOf and oneOf. An alternative for null sets nullable instead.
	union, null := listAlternatives(n.members["anyOf"])
	more, also := listAlternatives(n.members["oneOf"])
	n.nullable = n.nullable || null || also
	switch union = append(union, more...); {
	case n.kind == "" && len(n.kinds) > 1 && len(union) == 0:
		w.Key("anyOf").Open('[')
		for _, kind := range n.kinds {
			w.Open('{')
			one := schemaNode{members: n.members, kind: kind, nullable: n.nullable}
			c.writeKind(w, &one, depth, seen)
			w.Close('}')
		}
		w.Close(']')
	case len(union) > 1 && n.members["properties"] == nil:
		w.Key("anyOf").Open('[')
		for _, v := range union {
			w.Raw(c.convertSchema(v, depth+1, n.nullable, seen))
		}
		w.Close(']')
	default:
		c.writeKind(w, n, depth, seen)
	}
}

// writeKind writes a schema with at most one type.
func (c *schemaConverter) writeKind(w *json.Writer, n *schemaNode, depth int, seen []string) {
	w.MemberIfSet("type", strings.ToUpper(n.kind))
	if n.nullable {
		w.Flag("nullable", true)
	}
	for _, m := range sharedKeywords {
		if v := n.members[m.name]; v.IsPresent() && (m.kind == "" || m.kind == n.kind) {
			w.Key(m.name).Raw(v)
		}
	}
	n.writeEnum(w)
	switch n.kind {
	case "array":
		// The API requires items. The type for any type is STRING, because most values can be written as text.
		items := json.Value(`{"type":"STRING"}`)
		if v := n.members["items"]; v.Kind() == '{' {
			items = c.convertSchema(v, depth+1, false, seen)
		}
		w.Key("items").Raw(items)
	case "object":
		c.writeProperties(w, n, depth, seen)
	}
}

func (c *schemaConverter) writeProperties(w *json.Writer, n *schemaNode, depth int, seen []string) {
	known := map[string]bool{}
	s := n.members["properties"].Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		key := string(s.Key())
		if len(known) == 0 {
			w.Key("properties").Open('{')
		}
		known[key] = true
		w.Key(key).Raw(c.convertSchema(s.Value(), depth+1, false, seen))
	}
	if len(known) == 0 {
		return // the API refuses empty properties
	}
	w.Close('}')
	open := false
	for name := range n.members["required"].Elements() {
		if known[name.Text()] {
			if !open {
				w.Key("required").Open('[')
				open = true
			}
			w.Raw(name)
		}
	}
	if open {
		w.Close(']')
	}
}

// writeEnum writes the allowed values and the format. The API accepts only strings as values
// (decolua/9router#380), and only two formats for strings (google-gemini/gemini-cli#3178).
func (n *schemaNode) writeEnum(w *json.Writer) {
	format := n.members["format"].Text()
	var values []json.Value
	if v := n.members["const"]; v.IsString() {
		values = append(values, v)
	}
	for v := range n.members["enum"].Elements() {
		if v.HasText() { // the API refuses ""
			values = append(values, v)
		}
	}
	switch {
	case n.kind == "string" && len(values) > 0:
		w.Member("format", "enum").Key("enum").Open('[')
		for _, v := range values {
			w.Raw(v)
		}
		w.Close(']')
	case n.kind == "string" && format == "date-time",
		n.kind == "integer" && (format == "int32" || format == "int64"),
		n.kind == "number" && (format == "float" || format == "double"):
		w.Member("format", format)
	}
}

// absorbSchema adds to a node those fields of the schema v that the node lacks. It does the same with the schema that
// v refers to, with the schemas in allOf, and with a single alternative. It returns the list seen with the references
// that it followed.
func (c *schemaConverter) absorbSchema(n *schemaNode, v json.Value, seen []string) []string {
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		if key := string(s.Key()); n.members[key] == nil {
			n.members[key] = s.Value()
		}
	}
	if ref := v.Get("$ref").Text(); ref != "" && !slices.Contains(seen, ref) {
		seen = c.absorbSchema(n, c.resolveRef(ref), append(slices.Clip(seen), ref))
	}
	for part := range v.Get("allOf").Elements() {
		seen = c.absorbSchema(n, part, seen)
	}
	for _, name := range [...]string{"anyOf", "oneOf"} {
		if list, null := listAlternatives(v.Get(name)); len(list) == 1 {
			n.nullable = n.nullable || null
			seen = c.absorbSchema(n, list[0], seen)
		}
	}
	return seen
}

// resolveRef returns the schema that a reference within the same document points to. It returns nil for any
// other reference.
func (c *schemaConverter) resolveRef(ref string) json.Value {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	v := c.root
	for _, step := range strings.Split(path, "/") {
		v = v.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	return v
}

// readTypes reads the types of a schema, or infers them from its other fields.
func (n *schemaNode) readTypes() {
	add := func(word string) {
		switch word = strings.ToLower(word); word {
		case "null":
			n.nullable = true
		case "string", "number", "integer", "boolean", "array", "object":
			if !slices.Contains(n.kinds, word) {
				n.kinds = append(n.kinds, word)
			}
		}
	}
	kind := n.members["type"]
	add(kind.Text())
	for v := range kind.Elements() {
		add(v.Text())
	}
	n.nullable = n.nullable || n.members["nullable"].IsTrue()
	if len(n.kinds) == 0 {
		enum := n.members["enum"].Scan()
		switch {
		case n.members["properties"].Kind() == '{':
			add("object")
		case n.members["items"].Kind() == '{':
			add("array")
		case n.members["const"].IsString(), enum.Array() && enum.Value().IsString():
			add("string")
		}
	}
	if len(n.kinds) == 1 {
		n.kind = n.kinds[0]
	}
}

// listAlternatives returns the schemas in a list, except a schema for null, which is not a type in Google's Schema.
// The result null reports whether there is such a schema.
func listAlternatives(list json.Value) (all []json.Value, null bool) {
	for v := range list.Elements() {
		if v.Get("type").Is("null") {
			null = true
		} else {
			all = append(all, v)
		}
	}
	return all, null
}
