// Package schema checks tool calls against the tools that their request declares.
//
//	request ─▶ protocol.Tool ─▶ Set ─▶ CallChecker (one per call) ─▶ findings
//
// A finding is never retracted. A CallChecker follows a call while it streams. It reports an error that
// no continuation can repair, at the byte that causes it: an unknown tool name, or a key or a value that
// is not allowed. The full validator would report the same for every completion; if a key is duplicate,
// each of its values is checked. A CallChecker reads new tokens only. When the arguments are final, the
// library github.com/santhosh-tekuri/jsonschema validates all of them, and the remaining errors are
// reported.
//
// Nothing is ever fetched. Neither compiling nor validating takes longer than 250 ms, but neither is
// timed: with a clock, a busy machine would find other errors in the same capture. Work is counted
// instead (limits.go). A schema is compiled when its tool is first called.
package schema

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A Set holds the tools of one request. It belongs to one goroutine.
type Set struct {
	declared []protocol.Tool
	tools    map[toolKey]*tool
	more     bool // there may be others: an earlier request declared them
	open     bool // there may be tools with names that are not in the request
}

// toolKey names a tool. A key without a space matches the name in every namespace.
type toolKey struct{ space, name string }

// tool is a declared tool; check is set when the tool is first called.
type tool struct {
	schema  protocol.Raw
	check   *compiledSchema
	outline string
}

// Compile makes a Set, or returns nil if there are no tools. A schema that can't be used is not an error:
// a call of its tool gets a finding. more means that there may be other tools.
func Compile(tools []protocol.Tool, more bool) *Set {
	if len(tools) == 0 {
		return nil
	}
	s := &Set{declared: tools, tools: map[toolKey]*tool{}, more: more, open: more}
	for _, t := range tools {
		s.open = s.open || t.Name == "" || t.Kind != "function" && t.Kind != "custom" && t.Kind != "server"
		s.add(toolKey{"", t.Name}, t.Schema)
		if t.Namespace != "" {
			s.add(toolKey{t.Namespace, t.Name}, t.Schema)
		}
	}
	return s
}

// add declares a tool. If two tools with different schemas have one name, neither schema is used.
func (s *Set) add(key toolKey, schema protocol.Raw) {
	if old := s.tools[key]; old != nil && !bytes.Equal(old.schema, schema) {
		schema = nil
	}
	s.tools[key] = &tool{schema: schema}
}

// find returns the tool with a name, preferably from that namespace, or nil.
func (s *Set) find(space, name string) *tool {
	if t := s.tools[toolKey{space, name}]; t != nil {
		return t
	}
	return s.tools[toolKey{"", name}]
}

// Is reports whether the Set was made from these tools.
func (s *Set) Is(tools []protocol.Tool, more bool) bool {
	return s.more == more && slices.EqualFunc(s.declared, tools, func(a, b protocol.Tool) bool {
		return a.Name == b.Name && a.Namespace == b.Namespace && a.Kind == b.Kind && bytes.Equal(a.Schema, b.Schema)
	})
}

// Tools returns the tools that the Set was made from, and whether there may be more.
func (s *Set) Tools() (tools []protocol.Tool, more bool) { return s.declared, s.more }

// NewChecker returns a checker for a call, whose name may still be missing. It returns nil for calls that
// are not checked: calls that the provider runs, kinds of calls without a schema, and discarded attempts.
func (s *Set) NewChecker(c *stream.Call) *CallChecker {
	if c.RunByProvider || c.Discarded || c.Kind != "function" && c.Kind != "custom" {
		return nil
	}
	return &CallChecker{set: s, call: c}
}

// missingTool returns the finding for a call of an undeclared tool.
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

// toolNames returns the first names of tools, in order.
func (s *Set) toolNames() (names []string) {
	for _, t := range s.declared {
		if t.Name != "" && !slices.Contains(names, t.Name) && len(names) < maxNamed {
			names = append(names, t.Name)
		}
	}
	return names
}

// closestName returns the tool that a wrong name most likely means, or "". Models change the case and the
// punctuation of names, and put a namespace before them.
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
