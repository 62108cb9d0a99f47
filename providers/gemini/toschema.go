package gemini

import (
	"slices"
	"strings"

	"toolscope/providers/protocol"
)

// googleSchema converts a JSON Schema to Google's Schema object, a subset of OpenAPI 3.0's. It returns
// nil for a schema without properties: without a schema a tool has no parameters, and the API refuses
// an empty one. Keywords that the subset lacks are omitted: the model gets less information, but
// nothing wrong.
func googleSchema(schema protocol.Raw) protocol.Raw {
	s := schema.Get("properties").Scan()
	if !s.Object() {
		return nil
	}
	c := schemaConverter{root: schema}
	return c.convertSchema(schema, 0, false, nil)
}

// schemaConverter writes Schema objects. It resolves references against root, because the Gemini API
// has none.
type schemaConverter struct {
	root protocol.Raw
	made int // schemas written
}

// maxSchemas limits the schemas that one schema can become: references to references can multiply
// without bound.
const maxSchemas = 10000

// A schemaNode is one schema with its references followed.
type schemaNode struct {
	members  map[string]protocol.Raw
	kind     string // in lower case; "" if there is none, or several
	kinds    []string
	nullable bool
}

// sharedKeywords are the fields that both kinds of schema have, with the type that they apply to.
var sharedKeywords = []struct{ name, kind string }{
	{"title", ""}, {"description", ""}, {"default", ""},
	{"minLength", "string"}, {"maxLength", "string"}, {"pattern", "string"},
	{"minimum", "number"}, {"maximum", "number"}, {"minimum", "integer"}, {"maximum", "integer"},
	{"minItems", "array"}, {"maxItems", "array"},
	{"minProperties", "object"}, {"maxProperties", "object"},
}

// convertSchema writes one schema. seen are the references around it: following one of them again would
// never end.
func (c *schemaConverter) convertSchema(v protocol.Raw, depth int, nullable bool, seen []string) protocol.Raw {
	n := schemaNode{members: map[string]protocol.Raw{}, nullable: nullable}
	var w protocol.Writer
	w.Open('{')
	if c.made++; depth <= maxSchemaDepth && c.made <= maxSchemas {
		seen = c.absorbSchema(&n, v, seen)
		n.readTypes()
		c.writeSchema(&w, &n, depth, seen)
	}
	return w.Close('}').Text
}

// writeSchema writes the fields of a schema. anyOf must be the only field.
func (c *schemaConverter) writeSchema(w *protocol.Writer, n *schemaNode, depth int, seen []string) {
	switch union := n.readUnion(); {
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

// writeKind writes a schema of at most one type.
func (c *schemaConverter) writeKind(w *protocol.Writer, n *schemaNode, depth int, seen []string) {
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
		c.writeItems(w, n, depth, seen)
	case "object":
		c.writeProperties(w, n, depth, seen)
	}
}

// writeItems writes the items of an array, which are required.
func (c *schemaConverter) writeItems(w *protocol.Writer, n *schemaNode, depth int, seen []string) {
	items := protocol.Raw(`{"type":"STRING"}`) // for any type: most values can be written as text
	if v := n.members["items"]; v.Kind() == '{' {
		items = c.convertSchema(v, depth+1, false, seen)
	}
	w.Key("items").Raw(items)
}

func (c *schemaConverter) writeProperties(w *protocol.Writer, n *schemaNode, depth int, seen []string) {
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

// writeEnum writes the allowed values, and the format. The API accepts only string values
// (decolua/9router#380), and only two formats for strings (google-gemini/gemini-cli#3178).
func (n *schemaNode) writeEnum(w *protocol.Writer) {
	format := n.members["format"].Text()
	var values []protocol.Raw
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

// absorbSchema adds to a node what it lacks from a schema: its fields, the schema that it refers to,
// its allOf, and a single alternative.
func (c *schemaConverter) absorbSchema(n *schemaNode, v protocol.Raw, seen []string) []string {
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

// resolveRef returns the schema that a reference into the same document names.
func (c *schemaConverter) resolveRef(ref string) protocol.Raw {
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

// readUnion returns the alternatives of a schema.
func (n *schemaNode) readUnion() []protocol.Raw {
	list, null := listAlternatives(n.members["anyOf"])
	more, also := listAlternatives(n.members["oneOf"])
	n.nullable = n.nullable || null || also
	return append(list, more...)
}

// listAlternatives returns the schemas of a list, without that of null, which is not a type here.
func listAlternatives(list protocol.Raw) (all []protocol.Raw, null bool) {
	for v := range list.Elements() {
		if v.Get("type").Is("null") {
			null = true
		} else {
			all = append(all, v)
		}
	}
	return all, null
}
