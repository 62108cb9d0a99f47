package schema

import (
	"bytes"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// compiledSchema is a schema that calls can be checked against, or the reason why it can't be used.
type compiledSchema struct {
	schema *jsonschema.Schema
	root   *schemaNode
	meter  workBudget
	note   stream.Message // why nothing is checked, empty if calls are checked
}

// schemaURL names a schema to the library. Nothing is fetched from there.
const schemaURL = "https://toolscope.invalid/schema"

// noLoader is a loader that refuses to load anything.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("schemas are never fetched")
}

// compileSchema compiles a schema. The library may panic on a schema that it can't handle.
func compileSchema(text protocol.Raw) (c *compiledSchema) {
	c = &compiledSchema{}
	if c.note.Text = refusalReason(text); c.note.Text != "" {
		return c
	}
	defer func() {
		if p := recover(); p != nil {
			c = &compiledSchema{note: stream.Messagef("it can't be compiled: %v", p)}
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		c.note.Text = "it is not JSON"
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
		c.note.Text = "its dynamic references depend on the path that leads to them"
		return c
	}
	c.note.Text = c.buildNodes(patterns)
	return c
}

// drafts is the order in which drafts are tried for a schema that doesn't name its draft. The first draft
// by which the schema is valid is used. Tuples are lists in draft 7; exclusive limits are booleans in
// draft 4.
var drafts = []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7, jsonschema.Draft4}

// compileAs compiles a schema by the first draft that takes it. Its error is that of the first draft.
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
		return stream.Messagef("it refers to %s, and schemas are never fetched", clipText(load.URL))
	case errors.As(err, &bad):
		var v *jsonschema.ValidationError
		if errors.As(bad.Err, &v) {
			if all := flattenErrors(v); len(all) > 0 {
				return stream.Messagef("it is not a JSON Schema%s: %s", pointerText(" at ", all[0].InstanceLocation, ""), problemText(all[0]))
			}
		}
	}
	return stream.Messagef("%s", clipText(strings.ReplaceAll(err.Error(), schemaURL, "")))
}

// buildNodes builds the graph with which calls are followed, and makes each of its schemas count its
// work. It returns the reason why the schema can't be used, or "".
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
			return "its references form a cycle or nest too deep"
		}
		s := n.of
		for _, p := range n.patterns {
			exact = exact && p.re != nil
		}
		exact = exact && s.Not == nil && s.If == nil && len(s.OneOf) == 0 && s.Contains == nil
	}
	if guess && !exact {
		return "it has a pattern that can't be checked exactly: it looks ahead or back, or is too large"
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
