package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// combineRules combines the rules of a schema with those of the schemas in it that apply to the same value.
func (n *schemaNode) combineRules() {
	if n.settled {
		return
	}
	n.settled = true
	n.ownRules()
	for _, m := range n.same {
		m.combineRules()
		for _, a := range m.all {
			if !slices.Contains(n.all, a) {
				n.all = append(n.all, a)
			}
		}
		n.choices = append(n.choices, m.choices...)
		n.types &= m.types
		n.kinds &= m.kinds
		n.maxLength = min(n.maxLength, m.maxLength)
		if m.listed {
			n.keepOnly(m.words)
		}
	}
	for _, group := range n.any {
		n.allowAny(group)
	}
	if n.listed && len(n.words) == 0 {
		n.kinds &^= aString
	}
}

// ownRules sets the rules of the schema itself.
func (n *schemaNode) ownRules() {
	s := n.of
	n.all = []*schemaNode{n}
	n.types, n.maxLength = any7, limitOr(s.MaxLength)
	if s.Bool != nil && !*s.Bool {
		n.types = 0
	}
	if s.Types != nil && !s.Types.IsEmpty() {
		n.types = 0
		for _, t := range s.Types.ToStrings() {
			n.types |= kindOf[t]
		}
	}
	n.kinds = n.types
	if s.Enum != nil {
		n.keepListed(s.Enum.Values)
	}
	if s.Const != nil {
		n.keepListed([]any{*s.Const})
	}
}

// keepListed keeps only the listed values.
func (n *schemaNode) keepListed(values []any) {
	var left kinds
	var words []string
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			left |= aNull
		case bool:
			left |= aBool
		case json.Number:
			left |= aNumber
		case string:
			left |= aString
			words = append(words, v)
		case []any:
			left |= anArray
		case map[string]any:
			left |= anObject
		}
	}
	n.kinds &= left
	slices.Sort(words)
	n.keepOnly(slices.Compact(words))
}

// keepOnly keeps only strings that are also listed here.
func (n *schemaNode) keepOnly(words []string) {
	if !n.listed {
		n.listed, n.words = true, words
		return
	}
	n.words = slices.DeleteFunc(slices.Clone(n.words), func(w string) bool {
		_, found := slices.BinarySearch(words, w)
		return !found
	})
}

// allowAny keeps the values that at least one of the alternatives allows.
func (n *schemaNode) allowAny(group []*schemaNode) {
	var types, left kinds
	var words []string
	listed := true
	for _, m := range group {
		m.combineRules()
		types |= m.types
		left |= m.kinds
		if m.kinds&aString != 0 {
			listed = listed && m.listed
			words = append(words, m.words...)
		}
	}
	n.choices = append(n.choices, group)
	n.types &= types
	n.kinds &= left
	if listed {
		slices.Sort(words)
		n.keepOnly(slices.Compact(words))
	}
}

// String returns the names of the kinds, joined by "or".
func (k kinds) String() string {
	var words []string
	if k == any7 {
		return "anything"
	}
	if k&aNumber == aNumber {
		words = append(words, "number")
		k &^= aNumber
	}
	for _, w := range [...]struct {
		kind kinds
		word string
	}{
		{anInteger, "integer"}, {aFraction, "number that is not an integer"}, {aString, "string"}, {aBool, "boolean"},
		{anArray, "array"}, {anObject, "object"}, {aNull, "null"},
	} {
		if k&w.kind != 0 {
			words = append(words, w.word)
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " or ")
}
