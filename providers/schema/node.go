package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// kinds is a set of kinds of JSON values. There are two kinds of numbers: integers, including 1.0 and
// 1e2, and fractions.
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

// schemaNode holds the rules of one schema that can be checked before a value is complete. The nodes that
// apply to one value form a graph without cycles.
type schemaNode struct {
	of   *jsonschema.Schema
	same []*schemaNode   // schemas that apply to the same value: $ref, allOf
	any  [][]*schemaNode // alternatives for the same value: anyOf, oneOf
	more []*schemaNode   // other schemas that are tried on it

	props    map[string]*schemaNode
	names    []string // of props, sorted
	patterns []patternNode
	rest     *schemaNode // for keys that are in neither
	shut     bool        // other keys are not allowed
	prefix   []*schemaNode
	items    *schemaNode // for elements after the prefix
	content  []*schemaNode

	maxItems, maxKeys int

	// Combined from the schema and all in same and any:
	settled   bool
	all       []*schemaNode // itself, same, and theirs, recursively
	choices   [][]*schemaNode
	types     kinds    // allowed by type keywords
	kinds     kinds    // types, limited to those of listed values
	listed    bool     // the allowed strings are listed
	words     []string // the listed strings, sorted
	maxLength int
	cost      int // units
	height    int // nested schemas that apply to one value; -1 while it is computed
}

type patternNode struct {
	*costedPattern
	node *schemaNode
}

const unbounded = int(^uint(0) >> 1)

// builder makes the nodes of all reachable schemas.
type builder struct {
	nodes map[*jsonschema.Schema]*schemaNode
	order []*schemaNode
}

// nodeOf returns the node of a schema, a new one if needed, or nil for nil.
func (b *builder) nodeOf(s *jsonschema.Schema) *schemaNode {
	if s == nil {
		return nil
	}
	n := b.nodes[s]
	if n == nil {
		n = &schemaNode{of: s}
		b.nodes[s] = n
		b.order = append(b.order, n)
	}
	return n
}

// nodesOf returns the nodes of the schemas that are not nil.
func (b *builder) nodesOf(schemas ...*jsonschema.Schema) (nodes []*schemaNode) {
	for _, s := range schemas {
		if s != nil {
			nodes = append(nodes, b.nodeOf(s))
		}
	}
	return nodes
}

// linkNode links a node to the nodes of the schemas in its schema.
func (b *builder) linkNode(n *schemaNode) {
	s := n.of
	n.same = b.nodesOf(append(slices.Clip(s.AllOf), s.Ref)...)
	for _, list := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if len(list) > 0 {
			n.any = append(n.any, b.nodesOf(list...))
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
	n.more = b.nodesOf(tried...)
	b.linkObject(n)
	b.linkArray(n)
}

func (b *builder) linkObject(n *schemaNode) {
	s := n.of
	n.maxKeys = limitOr(s.MaxProperties)
	n.props = map[string]*schemaNode{}
	for name, p := range s.Properties {
		n.props[name] = b.nodeOf(p)
	}
	n.names = slices.Sorted(maps.Keys(n.props))
	for re, p := range s.PatternProperties {
		n.patterns = append(n.patterns, patternNode{re.(*costedPattern), b.nodeOf(p)})
	}
	slices.SortFunc(n.patterns, func(a, b patternNode) int { return strings.Compare(a.text, b.text) })
	switch rest := s.AdditionalProperties.(type) {
	case bool:
		n.shut = !rest
	case *jsonschema.Schema:
		n.rest = b.nodeOf(rest)
	}
	n.content = b.nodesOf(s.PropertyNames, s.UnevaluatedProperties, s.UnevaluatedItems, s.Contains)
}

func (b *builder) linkArray(n *schemaNode) {
	s := n.of
	n.maxItems = limitOr(s.MaxItems)
	n.prefix, n.items = b.nodesOf(s.PrefixItems...), b.nodeOf(s.Items2020)
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		n.items = b.nodeOf(items)
	case []*jsonschema.Schema:
		n.prefix = b.nodesOf(items...)
		switch rest := s.AdditionalItems.(type) {
		case bool:
			if !rest {
				n.maxItems = min(n.maxItems, len(items))
			}
		case *jsonschema.Schema:
			n.items = b.nodeOf(rest)
		}
	}
	if n.items != nil && n.items.of.Bool != nil && !*n.items.of.Bool {
		n.items, n.maxItems = nil, min(n.maxItems, len(n.prefix))
	}
}

// limitOr returns a limit of a schema, or noLimit.
func limitOr(n *int) int {
	if n == nil {
		return unbounded
	}
	return *n
}

// nestingDepth returns how deep schemas nest for one value. It is very large if they form a cycle.
func nestingDepth(n *schemaNode) int {
	switch {
	case n.height < 0:
		return unbounded / 2
	case n.height > 0:
		return n.height
	}
	n.height = -1
	deepest := 0
	n.eachInner(func(m *schemaNode) { deepest = max(deepest, nestingDepth(m)) })
	n.height = deepest + 1
	return n.height
}

// eachInner yields the schemas that are tried on the same value.
func (n *schemaNode) eachInner(yield func(*schemaNode)) {
	for _, list := range append([][]*schemaNode{n.same, n.more}, n.any...) {
		for _, m := range list {
			yield(m)
		}
	}
}

// leafCost returns the units of finding that a value has the wrong type or is not listed.
func (n *schemaNode) leafCost() int {
	if n.cost > 0 {
		return n.cost
	}
	n.cost = evaluationCost
	if e := n.of.Enum; e != nil {
		n.cost += compareCost(e.Values)
	}
	if v := n.of.Const; v != nil {
		n.cost += compareCost(*v)
	}
	return n.cost
}

// newCosted returns the charges of a schema.
func (n *schemaNode) newCosted(m *workBudget) *costedSchema {
	s := n.of
	t := &costedSchema{meter: m, format: s.Format, once: n.leafCost() + len(s.Required), unique: s.UniqueItems}
	for _, names := range s.DependentRequired {
		t.once += len(names)
	}
	n.eachInner(func(m *schemaNode) { t.once += m.leafCost(); t.each++ })
	nested := append(slices.Concat(n.prefix, n.content), n.rest, n.items)
	for _, p := range n.patterns {
		nested = append(nested, p.node)
	}
	dearest := 0
	for _, m := range slices.AppendSeq(nested, maps.Values(n.props)) {
		if m != nil {
			dearest = max(dearest, m.leafCost())
		}
	}
	t.each += dearest * (1 + len(n.patterns) + len(n.content))
	return t
}
