package schema

import (
	"slices"
	"strings"
)

// Outline returns a short form of a tool's schema: keys with their types, the required ones first, the
// others with a question mark. It returns "" for a tool that has no usable schema or was not called yet.
func (s *Set) Outline(space, name string) string {
	t := s.find(space, name)
	if t == nil || t.check == nil || t.check.root == nil || t.check.note.Text != "" {
		return ""
	}
	if t.outline == "" {
		t.outline = outlineOf(t.check.root)
	}
	return t.outline
}

// maxOutlined is the maximum number of keys in an outline.
const maxOutlined = 16

func outlineOf(root *schemaNode) string {
	var words, optional []string
	for _, n := range root.all {
		for _, name := range n.of.Required {
			words = append(words, strings.TrimSpace(clipText(name)+" "+n.typeOf(name)))
		}
		for _, name := range n.names {
			if !slices.Contains(n.of.Required, name) {
				optional = append(optional, strings.TrimSpace(clipText(name)+" "+n.typeOf(name))+"?")
			}
		}
	}
	words = append(words, optional...)
	switch {
	case len(words) == 0:
		return root.types.String()
	case len(words) > maxOutlined:
		words = append(words[:maxOutlined], "…")
	}
	return strings.Join(words, ", ")
}

// typeOf returns the type of a key's value, "" for any.
func (n *schemaNode) typeOf(name string) string {
	p := n.props[name]
	switch {
	case p == nil || p.kinds == any7:
		return ""
	case p.listed && p.kinds == aString && len(p.words) <= 4:
		return strings.Join(clipNames(p.words), "|")
	}
	return strings.ReplaceAll(p.kinds.String(), " or ", "|")
}

// Required returns the keys that a tool's arguments must have. known is false for a tool that has no
// usable schema or was not called yet.
func (s *Set) Required(space, name string) (keys []string, known bool) {
	t := s.find(space, name)
	if t == nil || t.check == nil || t.check.root == nil || t.check.note.Text != "" {
		return nil, false
	}
	for _, n := range t.check.root.all {
		keys = append(keys, n.of.Required...)
	}
	return keys, true
}
