package aistudio

import (
	"strings"

	"toolscope/providers/protocol"
)

// A request is [model, contents, …, 6: tools, …]; index 4 is a secret.

func readModel(_ string, request []byte) string {
	var p parser
	v, err := p.parse(request)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(v.element(0).raw().Text(), "models/")
}

// builtins are the tools that the provider runs, by their index in a Tool.
var builtins = map[int]string{0: codeTool, 3: "google_search", 7: "url_context"}

const declarations = 1 // index of the functions in a Tool: [name, description, SCHEMA]

func readTools(request []byte) (list []protocol.Tool) {
	var p parser
	v, err := p.parse(request)
	if err != nil {
		return nil
	}
	for tool := range v.element(6).elements() {
		i := 0
		for field := range tool.elements() {
			if name := builtins[i]; name != "" && field.isArray() {
				list = append(list, protocol.Tool{Name: name, Kind: "server"})
			}
			i++
		}
		for f := range tool.element(declarations).elements() {
			t := protocol.Tool{Name: f.element(0).raw().Text(), Kind: "function", Description: f.element(1).raw().Text()}
			if schema := f.element(2); schema.isArray() {
				t.Schema = appendSchema(nil, schema)
			}
			list = append(list, t)
		}
	}
	return list
}

// schemaTypes are the values of google.ai.generativelanguage.Type.
var schemaTypes = []string{"", "string", "number", "integer", "boolean", "array", "object", "null"}

// appendSchema appends the JSON Schema that a positional Schema means.
func appendSchema(dst []byte, v jsonNodes) []byte {
	start := len(dst)
	dst = append(dst, '{')
	member := func(name string) {
		if len(dst) > start+1 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
	}
	nullable := v.element(3).isTrue()
	if n, _ := v.element(0).asInt(); n > 0 && n < int64(len(schemaTypes)) {
		member("type")
		name := `"` + schemaTypes[n] + `"`
		if nullable {
			name = `[` + name + `,"null"]`
		}
		dst = append(dst, name...)
	}
	for _, f := range [...]struct {
		index int
		name  string
	}{{1, "format"}, {2, "description"}} {
		if s := v.element(f.index); s.isString() {
			member(f.name)
			dst = append(dst, s.raw()...)
		}
	}
	for _, f := range [...]struct {
		index int
		name  string
	}{{4, "enum"}, {7, "required"}} {
		if l := v.element(f.index); l.len() > 0 {
			member(f.name)
			dst = appendList(dst, l, true, appendLeaf)
			if f.name == "enum" && nullable {
				dst = append(dst[:len(dst)-1], ",null]"...)
			}
		}
	}
	if items := v.element(5); items.isArray() {
		member("items")
		dst = appendSchema(dst, items)
	}
	if properties := v.element(6); isMembers(properties) {
		member("properties")
		dst = appendMembers(dst, properties, appendSchema)
	}
	return append(dst, '}')
}
