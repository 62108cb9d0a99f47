package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolscope/providers/protocol"
)

// compiledSchema is a schema that calls can be checked against, or why it cannot be used.
type compiledSchema struct {
	schema *jsonschema.Schema
	root   *schemaNode
	meter  workBudget
	note   string // why nothing is checked, "" when it is
}

// schemaURL is the name of a schema for the library. Nothing is fetched from there.
const schemaURL = "https://toolscope.invalid/schema"

// noLoader is a loader that loads nothing.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("schemas are never fetched")
}

// compileSchema makes the checker of a schema. The library may panic over a schema it cannot take.
func compileSchema(text protocol.Raw) (c *compiledSchema) {
	c = &compiledSchema{}
	if c.note = refusalReason(text); c.note != "" {
		return c
	}
	defer func() {
		if p := recover(); p != nil {
			c = &compiledSchema{note: fmt.Sprintf("it cannot be compiled: %v", p)}
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		c.note = "it is not JSON"
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
		c.note = "it has dynamic references that depend on the way to them"
		return c
	}
	c.note = c.buildNodes(patterns)
	return c
}

// drafts are tried in this order for a schema that does not name its draft: the first by which it
// is valid counts. Tuples are lists in draft 7, and exclusive limits are booleans in draft 4.
var drafts = []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7, jsonschema.Draft4}

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

// compileFailure says in words why a schema does not compile.
func compileFailure(err error) string {
	var load *jsonschema.LoadURLError
	var bad *jsonschema.SchemaValidationError
	switch {
	case errors.As(err, &load):
		return fmt.Sprintf("it refers to %s, and schemas are never fetched", clipText(load.URL))
	case errors.As(err, &bad):
		var v *jsonschema.ValidationError
		if errors.As(bad.Err, &v) {
			if all := flattenErrors(v); len(all) > 0 {
				return fmt.Sprintf("it is no JSON Schema%s: %s", pointerText(" at ", all[0].InstanceLocation, ""), problemText(all[0]))
			}
		}
	}
	return clipText(strings.ReplaceAll(err.Error(), schemaURL, ""))
}

// buildNodes makes the graph that calls are followed with, and has each of its schemas count its work.
// It says why the schema cannot be used, or "".
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
			return "its references go round in a circle or too deep"
		}
		s := n.of
		for _, p := range n.patterns {
			exact = exact && p.re != nil
		}
		exact = exact && s.Not == nil && s.If == nil && len(s.OneOf) == 0 && s.Contains == nil
	}
	if guess && !exact {
		return "it has a pattern that looks ahead or back, or is too large, where a guess would be wrong"
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
