// Package schema checks tool calls against the tools that their request declares.
//
//	request ─▶ protocol.Tool ─▶ Set ─▶ CallChecker (one per call) ─▶ findings
//
// A CallChecker never retracts a finding. It follows a call while it streams. It reports each error that no
// continuation can repair, at the byte that causes the error: an unknown tool name, or a key or value that is
// not allowed. The full validator would report the same error for every possible completion, with one
// exception: if a key is duplicated, the CallChecker checks each of its values. A CallChecker reads only new
// tokens. When the arguments are final, the library github.com/santhosh-tekuri/jsonschema validates them
// completely, and the CallChecker reports the remaining errors.
//
// Nothing is ever fetched. Neither compilation nor validation takes longer than 250 ms, but their time is not
// measured: with a clock, the findings for a capture would depend on how busy the machine is. Instead, work is
// counted (limits.go). A schema is compiled when its tool is first called.
package schema

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// A Set contains the tools of one request. It is not safe for concurrent use.
type Set struct {
	declared []protocol.Tool
	tools    map[toolKey]*tool
	more     bool // other tools are possible, because an earlier request may have declared them
	open     bool // there may be tools whose names are not in the request
}

// toolKey identifies a tool. A key without a namespace matches the name in every namespace.
type toolKey struct{ space, name string }

// tool is a declared tool. The field check is set when the tool is first called.
type tool struct {
	schema  json.Value
	kind    string // kind of the tool's calls; "" if tools of several kinds share the name
	space   string // the tool's namespace; "" if a tool with the same name has none
	check   *compiledSchema
	outline string
}

// Compile makes a Set. It returns nil if there are no tools. A schema that can't be used is not an error. Instead,
// calls of its tool get a finding. If more is set, there may be other tools.
func Compile(tools []protocol.Tool, more bool) *Set {
	if len(tools) == 0 {
		return nil
	}
	s := &Set{declared: tools, tools: map[toolKey]*tool{}, more: more, open: more}
	for _, t := range tools {
		s.open = s.open || t.Name == "" || t.Kind != "function" && t.Kind != "custom" && t.Kind != "server"
		s.add(toolKey{"", t.Name}, t)
		if t.Namespace != "" {
			s.add(toolKey{t.Namespace, t.Name}, t)
		}
	}
	return s
}

// add adds a tool. If two tools with different schemas have the same name, neither schema is used.
func (s *Set) add(key toolKey, t protocol.Tool) {
	made := tool{schema: t.Schema, kind: t.Kind, space: t.Namespace}
	if old := s.tools[key]; old != nil {
		if !bytes.Equal(old.schema, made.schema) {
			made.schema = nil
		}
		if old.kind != made.kind {
			made.kind = ""
		}
		if old.space != made.space {
			made.space = ""
		}
	}
	s.tools[key] = &made
}

// find returns the tool with the given name, or nil. It prefers the tool in the given namespace.
func (s *Set) find(space, name string) *tool {
	if t := s.tools[toolKey{space, name}]; t != nil {
		return t
	}
	return s.tools[toolKey{"", name}]
}

// foldedName returns the declared tool that a name means, or nil. It handles names that contain the tool's namespace,
// and names in the form that Kimi uses for calls.
func (s *Set) foldedName(name string) *protocol.Tool {
	plain := name
	if i := strings.LastIndexByte(name, ':'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		plain = strings.TrimPrefix(name[:i], "functions.")
	}
	for i := range s.declared {
		t := &s.declared[i]
		rest, folded := strings.CutPrefix(name, t.Namespace)
		switch {
		case t.Name == "":
		case t.Namespace == "" && plain != name && plain == t.Name:
			return t
		case t.Namespace != "" && folded && strings.TrimLeft(rest, "_./:") == t.Name:
			return t
		}
	}
	return nil
}

// firstOfGlued returns the first of the declared tools whose names, one after another, are the given name. It returns ""
// if the name isn't made of two names or more.
func (s *Set) firstOfGlued(name string) string {
	return stream.SplitGluedName(name, func(part string) bool { return s.tools[toolKey{"", part}] != nil })
}

// Is reports whether the Set was made from these tools.
func (s *Set) Is(tools []protocol.Tool, more bool) bool {
	return s.more == more && slices.EqualFunc(s.declared, tools, func(a, b protocol.Tool) bool {
		return a.Name == b.Name && a.Namespace == b.Namespace && a.Kind == b.Kind && bytes.Equal(a.Schema, b.Schema)
	})
}

// Tools returns the tools from which the Set was made, and whether there may be more.
func (s *Set) Tools() (tools []protocol.Tool, more bool) { return s.declared, s.more }

// NewChecker returns a checker for a call, whose name may still be missing. It returns nil for calls that are not
// checked: calls that the provider runs, calls of a kind without a schema, and discarded attempts.
func (s *Set) NewChecker(c *stream.Call) *CallChecker {
	if c.RunByProvider || c.Discarded || c.Kind != "function" && c.Kind != "custom" {
		return nil
	}
	return &CallChecker{set: s, call: c}
}

// missingTool returns the finding for a call of a tool that is not declared.
func (s *Set) missingTool(name string) stream.Finding {
	f := NoSuchTool.Finding("the request declares no tool %q", clipText(name))
	if hint := s.closestName(name); hint != "" {
		f.AppendMessage(": did the model mean %q?", hint)
	} else {
		f.AppendMessage(", only %s", listNames(s.toolNames(), s.countNames()))
	}
	return f
}

// countNames returns the number of different tool names.
func (s *Set) countNames() (n int) {
	for key := range s.tools {
		if key.space == "" {
			n++
		}
	}
	return n
}

// toolNames returns the names of the first tools, in order.
func (s *Set) toolNames() (names []string) {
	for _, t := range s.declared {
		if t.Name != "" && !slices.Contains(names, t.Name) && len(names) < maxNamed {
			names = append(names, t.Name)
		}
	}
	return names
}

// closestName returns the tool that a wrong name most likely means, or "". Models change the case and the punctuation
// of names, and put a namespace before them.
func (s *Set) closestName(name string) string {
	whole, last := lettersOnly(name), lettersOnly(name[strings.LastIndexAny(name, ".:/")+1:])
	for _, t := range s.declared {
		if l := lettersOnly(t.Name); l != "" && (l == whole || l == last) {
			return t.Name
		}
	}
	return ""
}

// lettersOnly returns the letters and digits of a name, in lower case.
func lettersOnly(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// compiledSchema is a schema against which calls can be checked, or the reason why it can't be used.
type compiledSchema struct {
	schema *jsonschema.Schema
	root   *schemaNode
	meter  workBudget
	note   stream.Message // reason why nothing is checked; empty if calls are checked
}

// schemaURL is the URL that the library uses for a schema. Nothing is fetched from this URL.
const schemaURL = "https://toolscope.invalid/schema"

// noLoader is a loader that refuses to load anything.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("schemas are never fetched")
}

// compileSchema compiles a schema. If the library can't handle the schema and panics, the result contains the reason.
func compileSchema(text json.Value) (c *compiledSchema) {
	c = &compiledSchema{}
	if c.note.Text = refusalReason(text); c.note.Text != "" {
		return c
	}
	defer func() {
		if p := recover(); p != nil {
			c = &compiledSchema{note: stream.Messagef("the schema can't be compiled: %v", p)}
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		c.note.Text = "the schema is not JSON"
		return c
	}
	var patterns []*costedPattern
	engine := func(text string) (jsonschema.Regexp, error) {
		p := newPattern(text, &c.meter)
		patterns = append(patterns, p)
		return p, nil
	}
	c.meter.left = maxWork
	if c.schema, err = compileAs(doc, engine); err != nil {
		c.note = compileFailure(err)
		return c
	}
	if bytes.Count(text, []byte(`"$dynamicAnchor"`)) > 1 {
		c.note.Text = "the schema's dynamic references depend on the path that leads to them"
		return c
	}
	c.note.Text = c.buildNodes(patterns)
	return c
}

// drafts lists the drafts that are tried, in order, if a schema doesn't name its draft. The first draft in which the
// schema is valid is used. Older drafts are needed for lists that describe tuples (draft 7) and for exclusive limits
// that are booleans (draft 4).
var drafts = []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7, jsonschema.Draft4}

// compileAs compiles a schema with the first draft that accepts it. If no draft accepts it, compileAs returns
// the error of the first draft.
func compileAs(doc any, engine jsonschema.RegexpEngine) (_ *jsonschema.Schema, first error) {
	for _, d := range drafts {
		l := jsonschema.NewCompiler()
		l.DefaultDraft(d)
		l.UseLoader(noLoader{})
		l.UseRegexpEngine(engine)
		if err := l.AddResource(schemaURL, doc); err != nil {
			return nil, err
		}
		s, err := l.Compile(schemaURL)
		if err == nil {
			return s, nil
		}
		if first == nil {
			first = err
		}
		var bad *jsonschema.SchemaValidationError
		if !errors.As(err, &bad) {
			break
		}
	}
	return nil, first
}

// compileFailure returns the reason why a schema doesn't compile.
func compileFailure(err error) stream.Message {
	var load *jsonschema.LoadURLError
	var bad *jsonschema.SchemaValidationError
	switch {
	case errors.As(err, &load):
		return stream.Messagef("the schema refers to %s, and toolscope never fetches schemas", clipText(load.URL))
	case errors.As(err, &bad):
		var v *jsonschema.ValidationError
		if errors.As(bad.Err, &v) {
			if all := flattenErrors(v); len(all) > 0 {
				return stream.Messagef("the schema is not a JSON Schema%s: %s", pointerText(" at ", all[0].InstanceLocation, ""), problemText(all[0]))
			}
		}
	}
	return stream.Messagef("%s", clipText(strings.ReplaceAll(err.Error(), schemaURL, "")))
}

// buildNodes builds the graph that is used to follow calls, and makes each schema in it count its work. It returns
// the reason why the schema can't be used, or "".
func (c *compiledSchema) buildNodes(patterns []*costedPattern) string {
	b := builder{nodes: map[*jsonschema.Schema]*schemaNode{}}
	c.root = b.nodeOf(c.schema)
	for i := 0; i < len(b.order); i++ {
		b.linkNode(b.order[i])
	}
	guess, exact := false, true
	for _, p := range patterns {
		guess = guess || p.re == nil
	}
	for _, n := range b.order {
		if nestingDepth(n) > maxSchemasAtValue {
			return "the schema's references form a cycle or are nested too deeply"
		}
		s := n.of
		for _, p := range n.patterns {
			exact = exact && p.re != nil
		}
		exact = exact && s.Not == nil && s.If == nil && len(s.OneOf) == 0 && s.Contains == nil
	}
	if guess && !exact {
		return "the schema has a pattern that toolscope can't check exactly: the pattern uses lookahead or lookbehind, or is too large"
	}
	for _, n := range b.order {
		n.combineRules()
		t := n.newCosted(&c.meter)
		name := ""
		if t.format != nil {
			name = t.format.Name
		}
		n.of.Format = &jsonschema.Format{Name: name, Validate: t.chargeValue}
	}
	return ""
}

// kinds is a set of kinds of JSON values. Numbers are of two kinds: integers, including 1.0 and 1e2, and fractions.
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

// schemaNode contains the rules of one schema that can be checked before a value is complete. The nodes that apply to
// the same value form a graph without cycles.
type schemaNode struct {
	of   *jsonschema.Schema
	same []*schemaNode   // schemas that apply to the same value: $ref, allOf
	any  [][]*schemaNode // alternatives for the same value: anyOf, oneOf
	more []*schemaNode   // other schemas that are tried on the same value

	props    map[string]*schemaNode
	names    []string // keys of props, sorted
	patterns []patternNode
	rest     *schemaNode // schema for keys that match neither props nor patterns
	shut     bool        // other keys are not allowed
	prefix   []*schemaNode
	items    *schemaNode // schema for elements after the prefix
	content  []*schemaNode

	maxItems, maxKeys int

	// The following fields combine the schema with all schemas in the fields same and any.
	settled   bool
	all       []*schemaNode // the node and, recursively, the nodes in the field same
	choices   [][]*schemaNode
	types     kinds    // kinds that type keywords allow
	kinds     kinds    // types, restricted to the kinds of the listed values
	listed    bool     // the allowed strings are listed
	words     []string // the listed strings, sorted
	maxLength int
	cost      int // units of work for the schema's own type and listed values
	height    int // number of nested schemas that apply to one value; -1 while it is being computed
}

type patternNode struct {
	*costedPattern
	node *schemaNode
}

const unbounded = int(^uint(0) >> 1)

// builder makes the nodes for all reachable schemas.
type builder struct {
	nodes map[*jsonschema.Schema]*schemaNode
	order []*schemaNode
}

// nodeOf returns the node of a schema. It makes a new node if necessary. It returns nil for a nil schema.
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

// nodesOf returns the nodes of all schemas that are not nil.
func (b *builder) nodesOf(schemas ...*jsonschema.Schema) (nodes []*schemaNode) {
	for _, s := range schemas {
		if s != nil {
			nodes = append(nodes, b.nodeOf(s))
		}
	}
	return nodes
}

// linkNode links a node to the nodes of the schemas that its own schema contains.
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

// limitOr returns a limit of a schema. If the schema doesn't set the limit, it returns unbounded.
func limitOr(n *int) int {
	if n == nil {
		return unbounded
	}
	return *n
}

// nestingDepth returns how deeply the schemas that apply to one value are nested. The depth is very large if the
// schemas form a cycle.
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

// eachInner calls yield for each schema that is evaluated for the same value.
func (n *schemaNode) eachInner(yield func(*schemaNode)) {
	for _, list := range append([][]*schemaNode{n.same, n.more}, n.any...) {
		for _, m := range list {
			yield(m)
		}
	}
}

// leafCost returns the units for finding out that a value has the wrong type or is not listed.
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

// newCosted returns a costedSchema with the units that the evaluation of a schema costs.
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
