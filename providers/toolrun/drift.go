package toolrun

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers/mcp"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// maxDeclared is how many tool names are remembered.
const maxDeclared = 4096

// A declaration is the name of a tool that models got in a run.
type declaration struct{ run, name string }

func (m *Matcher) declare(d declaration) {
	if len(m.declared) < maxDeclared && !slices.Contains(m.declared, d) {
		m.declared = append(m.declared, d)
	}
}

// A driftedTool is a tool whose schema, as the model got it, differs from the one that its server
// published.
type driftedTool struct {
	run, server, tool, where string
	by                       *stream.Diagnosis
}

// AddDeclared reads the tools that a model got in a run. It reports those whose schema differs from the one
// that their server published, once each, with the party at fault. Tools of one server that drift in the
// same way share one finding.
func (m *Matcher) AddDeclared(run string, tools []protocol.Tool) (found []stream.Finding) {
	var alike [][]driftedTool
	for _, t := range tools {
		name := t.Name
		if t.Namespace != "" {
			name = t.Namespace + "__" + t.Name
		}
		m.declare(declaration{run, name})
		d, drifts := m.drift(run, name, t.Schema)
		if !drifts || slices.Contains(m.drifts, d) || len(m.drifts) == maxDeclared {
			continue
		}
		m.drifts = append(m.drifts, d)
		i := slices.IndexFunc(alike, func(l []driftedTool) bool { return l[0].server == d.server && l[0].by == d.by })
		if i < 0 {
			i, alike = len(alike), append(alike, nil)
		}
		alike[i] = append(alike[i], d)
	}
	for _, list := range alike {
		found = append(found, driftFinding(list))
	}
	return found
}

// driftFinding makes the finding for tools of one server that drift in the same way.
func driftFinding(list []driftedTool) stream.Finding {
	d, why, more := list[0], "", stream.Message{}
	if d.by == driftOfServer {
		why = "; the server has changed it since"
	}
	if n := len(list) - 1; n > 0 {
		names := make([]string, 0, maxNamed)
		for _, other := range list[1:min(len(list), 1+maxNamed)] {
			names = append(names, other.tool)
		}
		more = stream.Messagef("; also %d more: %s", n, strings.Join(names, ", "))
		if n > maxNamed {
			more = stream.Messagef("%s …", more)
		}
	}
	var where any = stream.Fact(d.where)
	if d.where == "it" {
		where = stream.OwnFact(d.where)
	}
	return d.by.Finding("the model got another schema of %s than %s published: %s differs%s%s",
		stream.Fact(d.tool), d.server, where, stream.Own(why), more)
}

// maxNamed is how many tools a finding names after the first.
const maxNamed = 5

// drift compares the schema of a tool that a model got with the one that its server published.
func (m *Matcher) drift(run, name string, schema protocol.Raw) (d driftedTool, drifts bool) {
	var of *mcp.Server
	var tool *mcp.Tool
	for _, s := range m.log.Servers {
		for i := range s.Tools {
			if s.Run != run || schema == nil || nameMatch(name, s, s.Tools[i].Name) < someServer || s.Tools[i].Schema == nil {
				continue
			}
			if of != nil && of.Name != s.Name {
				return d, false // ambiguous
			}
			of, tool = s, &s.Tools[i]
			if sameSchema(schema, tool.Schema) {
				return d, false
			}
		}
	}
	if tool == nil {
		return d, false
	}
	d = driftedTool{run, of.Name, strings.TrimSpace(tool.Name), cmp.Or(firstDifference(withoutSchemaKey(tool.Schema), withoutSchemaKey(schema)), "it"), schemaDrift}
	switch {
	case slices.ContainsFunc(of.FormerTools, func(t mcp.Tool) bool { return t.Name == tool.Name && sameSchema(schema, t.Schema) }):
		if of.Changes == 0 {
			return d, false // an old list, and the server announced no change
		}
		d.by = driftOfServer
	default:
		where, widens := allowsMore(tool.Schema, schema, false)
		if !widens {
			d.by = driftOfWords
		} else if where != "" {
			d.where = where
		}
	}
	return d, true
}

// Diagnoses of drift: the server's fault; a difference in annotations only.
var (
	driftOfServer = schemaDrift.WithCause(stream.Server)
	driftOfWords  = schemaDrift.WithSeverity(stream.Info)
)

// allowsMore reports whether the schema that a model got allows arguments that the published one doesn't,
// and where. It ignores annotations, and a ban on additional properties that the published schema doesn't
// have. With names set, the keys are names chosen by the schema's author.
func allowsMore(told, given protocol.Raw, names bool) (where string, widens bool) {
	switch {
	case told.Kind() == '{' && given.Kind() == '{':
		x, y := membersOf(told), membersOf(given)
		for _, name := range slices.Sorted(maps.Keys(unionKeys(x, y))) {
			if !names && (slices.Contains(annotations, name) || name == "additionalProperties" && x[name] == nil && string(y[name]) == "false") {
				continue
			}
			if where, widens := allowsMore(x[name], y[name], !names && slices.Contains(named, name)); widens {
				return "/" + pointer.Replace(name) + where, true
			}
		}
		return "", false
	case told.Kind() == '[' && given.Kind() == '[':
		x, y := slices.Collect(told.Elements()), slices.Collect(given.Elements())
		for i := range min(len(x), len(y)) {
			if where, widens := allowsMore(x[i], y[i], false); widens {
				return "/" + strconv.Itoa(i) + where, true
			}
		}
		return "", len(x) != len(y)
	}
	return "", told == nil || given == nil || !protocol.Same(told, given)
}

// Keywords of a schema that allow and forbid nothing, and those whose keys are names chosen by its
// author.
var (
	annotations = []string{"$schema", "$comment", "default", "description", "examples", "title"}
	named       = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// sameSchema reports whether two schemas are the same apart from key order and the $schema keyword.
func sameSchema(a, b protocol.Raw) bool {
	return protocol.Same(withoutSchemaKey(a), withoutSchemaKey(b))
}

// withoutSchemaKey returns a schema without its $schema keyword.
func withoutSchemaKey(schema protocol.Raw) protocol.Raw {
	all := membersOf(schema)
	if _, has := all["$schema"]; !has {
		return schema
	}
	var b strings.Builder
	for name, value := range all {
		if name != "$schema" {
			fmt.Fprintf(&b, ",%s:%s", protocol.AppendString(nil, []byte(name)), value)
		}
	}
	return protocol.Raw("{" + strings.TrimPrefix(b.String(), ",") + "}")
}
