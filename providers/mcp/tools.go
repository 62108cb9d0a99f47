package mcp

import (
	"bytes"
	"slices"

	"toolscope/providers/protocol"
)

// A Tool is one that a server offers, as it told it.
type Tool struct {
	Name   string
	Schema protocol.Raw // of its arguments; nil where there is none, or it is longer than MostKept
}

// maxTools is how many tools are kept of a server, and of those that it had before.
const maxTools = 4096

// updateTools takes a list of tools, or a page of one. What changed is among the former ones from then on.
func (s *Server) updateTools(result protocol.Raw) {
	var told []Tool
	if s.listing {
		told = s.Tools
	}
	for one := range result.Get("tools").Elements() {
		t := Tool{Name: one.Get("name").Text()}
		if schema := one.Get("inputSchema"); schema.Kind() == '{' && len(schema) <= MaxKept {
			t.Schema = bytes.Clone(schema)
		}
		if t.Name != "" && len(told) < maxTools {
			told = append(told, t)
		}
	}
	if !s.listing {
		for _, t := range s.Tools {
			if !slices.ContainsFunc(told, t.is) && len(s.FormerTools) < maxTools {
				s.FormerTools = append(s.FormerTools, t)
			}
		}
	}
	s.Tools, s.listing = told, result.Get("nextCursor").HasText()
}

func (t Tool) is(other Tool) bool {
	return t.Name == other.Name && bytes.Equal(t.Schema, other.Schema)
}

// Tool is the tool of that name that a server offers, nil if it told of none.
func (s *Server) Tool(name string) *Tool {
	if i := slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == name }); i >= 0 {
		return &s.Tools[i]
	}
	return nil
}
