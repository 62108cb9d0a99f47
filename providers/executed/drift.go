package executed

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/providers/mcp"
	"toolscope/stream"
)

// mostDeclared is how many names of tools are remembered.
const mostDeclared = 4096

func (j *Join) declare(name string) {
	if len(j.declared) < mostDeclared && !slices.Contains(j.declared, name) {
		j.declared = append(j.declared, name)
	}
}

// drift holds the schema of a tool that a model was given against the one that its server told.
func (j *Join) drift(name string, schema dialect.Raw) (f stream.Finding, drifts bool) {
	var of *mcp.Server
	var tool *mcp.Tool
	for _, s := range j.Log.Servers {
		for i := range s.Tools {
			if means(name, s, s.Tools[i].Name) < someServer || s.Tools[i].Schema == nil {
				continue
			}
			if of != nil && of.Name != s.Name {
				return f, false // nobody knows which is meant
			}
			of, tool = s, &s.Tools[i]
			if sameSchema(schema, tool.Schema) {
				return f, false
			}
		}
	}
	if tool == nil {
		return f, false
	}
	d, why := schemaDrift, ""
	if slices.ContainsFunc(of.Former, func(t mcp.Tool) bool { return t.Name == tool.Name && sameSchema(schema, t.Schema) }) {
		if of.Changes == 0 {
			return f, false // an old list, and nobody said that there is another
		}
		d, why = schemaDrift.Blames(stream.Server), ": its server has changed it since"
	}
	where := difference(bare(tool.Schema), bare(schema))
	if where == "" {
		where = "it"
	}
	return d.Finding("the model was given another schema of %s than %s told, %s differs%s", strings.TrimSpace(tool.Name), of.Name, where, why), true
}

// sameSchema reports whether two schemas are the same but for the order of their members and what
// dialect they say they are of.
func sameSchema(a, b dialect.Raw) bool { return dialect.Same(bare(a), bare(b)) }

// bare is a schema without the name of its dialect.
func bare(schema dialect.Raw) dialect.Raw {
	all := membersOf(schema)
	if _, has := all["$schema"]; !has {
		return schema
	}
	var b strings.Builder
	for name, value := range all {
		if name != "$schema" {
			fmt.Fprintf(&b, ",%s:%s", dialect.AppendString(nil, []byte(name)), value)
		}
	}
	return dialect.Raw("{" + strings.TrimPrefix(b.String(), ",") + "}")
}
