package mcp

import (
	"bytes"
	"slices"

	"toolscope/providers/protocol"
)

// A Tool is a tool of a server, as the server published it.
type Tool struct {
	Name   string
	Schema protocol.Raw // of its arguments; nil if there is none, or it is longer than MaxKept
}

// maxTools is the maximum number of kept tools of a server, and of its former tools.
const maxTools = 4096

// updateTools reads a list of tools, or a page of one. Changed tools become former tools.
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

// Tool returns the tool with that name that the server offers, nil if there is none.
func (s *Server) Tool(name string) *Tool {
	if i := slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == name }); i >= 0 {
		return &s.Tools[i]
	}
	return nil
}
