package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolscope/providers/dialect"
)

// checker is a schema that calls can be checked against, or why it cannot be used.
type checker struct {
	schema *jsonschema.Schema
	root   *node
	meter  meter
	note   string // why nothing is checked, "" when it is
}

// schemaURL is the name of a schema for the library. Nothing is fetched from there.
const schemaURL = "https://toolscope.invalid/schema"

// closed is a loader that loads nothing.
type closed struct{}

func (closed) Load(url string) (any, error) {
	return nil, errors.New("schemas are never fetched")
}

// compile makes the checker of a schema. The library may panic over a schema it cannot take.
func compile(text dialect.Raw) (c *checker) {
	c = &checker{}
	if c.note = refused(text); c.note != "" {
		return c
	}
	defer func() {
		if p := recover(); p != nil {
			c = &checker{note: fmt.Sprintf("it cannot be compiled: %v", p)}
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		c.note = "it is not JSON"
		return c
	}
	var patterns []*pattern
	engine := func(text string) (jsonschema.Regexp, error) {
		p := newPattern(text, &c.meter)
		patterns = append(patterns, p)
		return p, nil
	}
	c.meter.left = budget
	if c.schema, err = compileAs(doc, engine); err != nil {
		c.note = reason(err)
		return c
	}
	if bytes.Count(text, []byte(`"$dynamicAnchor"`)) > 1 {
		c.note = "it has dynamic references that depend on the way to them"
		return c
	}
	c.note = c.build(patterns)
	return c
}

// drafts are tried in this order for a schema that does not name its draft: the first by which it
// is valid counts. Tuples are lists in draft 7, and exclusive limits are booleans in draft 4.
var drafts = []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7, jsonschema.Draft4}

func compileAs(doc any, engine jsonschema.RegexpEngine) (_ *jsonschema.Schema, first error) {
	for _, d := range drafts {
		l := jsonschema.NewCompiler()
		l.DefaultDraft(d)
		l.UseLoader(closed{})
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

// reason says in words why a schema does not compile.
func reason(err error) string {
	var load *jsonschema.LoadURLError
	var bad *jsonschema.SchemaValidationError
	switch {
	case errors.As(err, &load):
		return fmt.Sprintf("it refers to %s, and schemas are never fetched", clip(load.URL))
	case errors.As(err, &bad):
		var v *jsonschema.ValidationError
		if errors.As(bad.Err, &v) {
			if all := flatten(v); len(all) > 0 {
				return fmt.Sprintf("it is no JSON Schema%s: %s", pointer(" at ", all[0].InstanceLocation, ""), problem(all[0]))
			}
		}
	}
	return clip(strings.ReplaceAll(err.Error(), schemaURL, ""))
}

// build makes the graph that calls are followed with, and has each of its schemas count its work.
// It says why the schema cannot be used, or "".
func (c *checker) build(patterns []*pattern) string {
	b := builder{nodes: map[*jsonschema.Schema]*node{}}
	c.root = b.node(c.schema)
	for i := 0; i < len(b.order); i++ {
		b.link(b.order[i])
	}
	guess, exact := false, true
	for _, p := range patterns {
		guess = guess || p.re == nil
	}
	for _, n := range b.order {
		if depth(n) > mostSame {
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
		n.settle()
		t := n.toll(&c.meter)
		name := ""
		if t.format != nil {
			name = t.format.Name
		}
		n.of.Format = &jsonschema.Format{Name: name, Validate: t.pay}
	}
	return ""
}
