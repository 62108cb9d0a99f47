package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// kinds is a set of kinds of JSON values. Numbers are of two: those that are integers, 1.0 and 1e2
// among them, and those that are not.
type kinds uint8

const (
	aNull kinds = 1 << iota
	aBool
	anInteger
	aFraction
	aString
	anArray
	anObject

	aNumber = anInteger | aFraction
	any7    = 1<<7 - 1
)

var kindOf = map[string]kinds{
	"null": aNull, "boolean": aBool, "integer": anInteger, "number": aNumber,
	"string": aString, "array": anArray, "object": anObject,
}

// node is what one schema says of a value before that is whole. The nodes that apply to one value
// form a graph without cycles.
type node struct {
	of   *jsonschema.Schema
	same []*node   // schemas that apply to the same value: $ref, allOf
	any  [][]*node // alternatives for the same value: anyOf, oneOf
	more []*node   // others that are tried on it

	props    map[string]*node
	names    []string // of props, sorted
	patterns []patternNode
	rest     *node // of keys that neither has
	shut     bool  // no other keys
	prefix   []*node
	items    *node // of elements behind the prefix
	content  []*node

	maxItems, maxKeys int

	// Of the schema and all in same and any together:
	settled   bool
	all       []*node // itself and same, and theirs
	choices   [][]*node
	types     kinds    // that type keywords allow
	kinds     kinds    // that listed values leave of them
	listed    bool     // strings are listed
	words     []string // these, sorted
	maxLength int
	cost      int // units
	height    int // schemas inside each other that hold for one value; -1 while it is found out
}

type patternNode struct {
	*pattern
	node *node
}

const noLimit = int(^uint(0) >> 1)

// builder makes the nodes of all schemas that can be reached.
type builder struct {
	nodes map[*jsonschema.Schema]*node
	order []*node
}

func (b *builder) node(s *jsonschema.Schema) *node {
	if s == nil {
		return nil
	}
	n := b.nodes[s]
	if n == nil {
		n = &node{of: s}
		b.nodes[s] = n
		b.order = append(b.order, n)
	}
	return n
}

// list are the nodes of those schemas that are there.
func (b *builder) list(schemas ...*jsonschema.Schema) (nodes []*node) {
	for _, s := range schemas {
		if s != nil {
			nodes = append(nodes, b.node(s))
		}
	}
	return nodes
}

// link joins a node with those of the schemas in its schema.
func (b *builder) link(n *node) {
	s := n.of
	n.same = b.list(append(slices.Clip(s.AllOf), s.Ref)...)
	for _, list := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if len(list) > 0 {
			n.any = append(n.any, b.list(list...))
		}
	}
	tried := []*jsonschema.Schema{s.Not, s.If, s.Then, s.Else, s.RecursiveRef}
	if s.DynamicRef != nil {
		tried = append(tried, s.DynamicRef.Ref)
	}
	for _, d := range s.DependentSchemas {
		tried = append(tried, d)
	}
	for _, d := range s.Dependencies {
		if d, ok := d.(*jsonschema.Schema); ok {
			tried = append(tried, d)
		}
	}
	n.more = b.list(tried...)
	b.linkObject(n)
	b.linkArray(n)
}

func (b *builder) linkObject(n *node) {
	s := n.of
	n.maxKeys = limit(s.MaxProperties)
	n.props = map[string]*node{}
	for name, p := range s.Properties {
		n.props[name] = b.node(p)
	}
	n.names = slices.Sorted(maps.Keys(n.props))
	for re, p := range s.PatternProperties {
		n.patterns = append(n.patterns, patternNode{re.(*pattern), b.node(p)})
	}
	slices.SortFunc(n.patterns, func(a, b patternNode) int { return strings.Compare(a.text, b.text) })
	switch rest := s.AdditionalProperties.(type) {
	case bool:
		n.shut = !rest
	case *jsonschema.Schema:
		n.rest = b.node(rest)
	}
	n.content = b.list(s.PropertyNames, s.UnevaluatedProperties, s.UnevaluatedItems, s.Contains)
}

func (b *builder) linkArray(n *node) {
	s := n.of
	n.maxItems = limit(s.MaxItems)
	n.prefix, n.items = b.list(s.PrefixItems...), b.node(s.Items2020)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		n.items = b.node(items)
	case []*jsonschema.Schema:
		n.prefix = b.list(items...)
		switch rest := s.AdditionalItems.(type) {
		case bool:
			if !rest {
				n.maxItems = min(n.maxItems, len(items))
			}
		case *jsonschema.Schema:
			n.items = b.node(rest)
		}
	}
	if n.items != nil && n.items.of.Bool != nil && !*n.items.of.Bool {
		n.items, n.maxItems = nil, min(n.maxItems, len(n.prefix))
	}
}

func limit(n *int) int {
	if n == nil {
		return noLimit
	}
	return *n
}

// depth is how deep schemas nest for one value. It is very large when they form a cycle.
func depth(n *node) int {
	switch {
	case n.height < 0:
		return noLimit / 2
	case n.height > 0:
		return n.height
	}
	n.height = -1
	deepest := 0
	n.inside(func(m *node) { deepest = max(deepest, depth(m)) })
	n.height = deepest + 1
	return n.height
}

// inside yields the schemas that are tried on the same value.
func (n *node) inside(yield func(*node)) {
	for _, list := range append([][]*node{n.same, n.more}, n.any...) {
		for _, m := range list {
			yield(m)
		}
	}
}

// leaf is what it costs to find that a value has the wrong type or is not listed.
func (n *node) leaf() int {
	if n.cost > 0 {
		return n.cost
	}
	n.cost = evaluation
	if e := n.of.Enum; e != nil {
		n.cost += weight(e.Values)
	}
	if v := n.of.Const; v != nil {
		n.cost += weight(*v)
	}
	return n.cost
}

func (n *node) toll(m *meter) *toll {
	s := n.of
	t := &toll{meter: m, format: s.Format, once: n.leaf() + len(s.Required), unique: s.UniqueItems}
	for _, names := range s.DependentRequired {
		t.once += len(names)
	}
	n.inside(func(m *node) { t.once += m.leaf(); t.each++ })
	nested := append(slices.Concat(n.prefix, n.content), n.rest, n.items)
	for _, p := range n.patterns {
		nested = append(nested, p.node)
	}
	dearest := 0
	for _, m := range slices.AppendSeq(nested, maps.Values(n.props)) {
		if m != nil {
			dearest = max(dearest, m.leaf())
		}
	}
	t.each += dearest * (1 + len(n.patterns) + len(n.content))
	return t
}
