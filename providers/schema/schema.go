// Package schema checks tool calls against the tools that the request declared.
//
//	request ─▶ dialect.Tools ─▶ Set ─▶ Watch (one a call) ─▶ findings
//
// A finding is never taken back. A Watch follows a call while it streams, and reports what no
// continuation can make valid any more, at the byte that made it so: the name of no tool, a key or
// a value that is not allowed. The full validator would say the same of every completion; of a key
// that comes twice, each value is judged. A Watch looks at new tokens only. When the call is
// sealed, the library github.com/santhosh-tekuri/jsonschema validates the whole, and the rest is
// reported.
//
// Nothing is ever fetched. Neither compiling nor validating takes longer than 250 ms, and neither
// is timed: with a clock, one capture would have other findings on a busy machine. Work is counted
// instead (limits.go). A schema is compiled when its tool is first called.
package schema

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A Set is the tools of one request. It belongs to one goroutine.
type Set struct {
	declared []protocol.Tool
	tools    map[toolKey]*tool
	more     bool // there are others, which the provider was told of before
	open     bool // there may be tools whose names the request does not tell
}

// toolKey names a tool. That without a space stands for all of the name.
type toolKey struct{ space, name string }

// tool is a declared tool; check is made when it is first called.
type tool struct {
	schema  protocol.Raw
	check   *compiledSchema
	outline string
}

// Compile makes a Set; nil when there are no tools. A schema that cannot be used is no error: a
// call of its tool says so in a finding. more says that there may be tools beside these.
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

// add declares a tool. Of two of one name nobody knows which is meant.
func (s *Set) add(key toolKey, schema protocol.Raw) {
	if old := s.tools[key]; old != nil && !bytes.Equal(old.schema, schema) {
		schema = nil
	}
	s.tools[key] = &tool{schema: schema}
}

// find is the tool of that name, in that namespace if it is there; nil if there is none.
func (s *Set) find(space, name string) *tool {
	if t := s.tools[toolKey{space, name}]; t != nil {
		return t
	}
	return s.tools[toolKey{"", name}]
}

// Is reports whether the Set was made from the same.
func (s *Set) Is(tools []protocol.Tool, more bool) bool {
	return s.more == more && slices.EqualFunc(s.declared, tools, func(a, b protocol.Tool) bool {
		return a.Name == b.Name && a.Namespace == b.Namespace && a.Kind == b.Kind && bytes.Equal(a.Schema, b.Schema)
	})
}

// Tools are the tools it was made from, and whether there may be more.
func (s *Set) Tools() (tools []protocol.Tool, more bool) { return s.declared, s.more }

// NewChecker begins to watch a call, whose name may not have come yet. It is nil for calls that no
// declared tool is for: those that the provider runs, those of kinds without a schema, and attempts
// that were thrown away.
func (s *Set) NewChecker(c *stream.Call) *CallChecker {
	if c.RunByProvider || c.Discarded || c.Kind != "function" && c.Kind != "custom" {
		return nil
	}
	return &CallChecker{set: s, call: c}
}

// missingTool says that no tool has that name.
func (s *Set) missingTool(name string) stream.Finding {
	message := fmt.Sprintf("the request declares no tool %q", clipText(name))
	if hint := s.closestName(name); hint != "" {
		message += fmt.Sprintf(": did the model mean %q?", hint)
	} else {
		message += ", only " + listNames(s.toolNames(), s.countNames())
	}
	return NoSuchTool.Finding("%s", message)
}

// countNames is how many names the tools have.
func (s *Set) countNames() (n int) {
	for key := range s.tools {
		if key.space == "" {
			n++
		}
	}
	return n
}

func (s *Set) toolNames() (names []string) {
	for _, t := range s.declared {
		if t.Name != "" && !slices.Contains(names, t.Name) && len(names) < maxNamed {
			names = append(names, t.Name)
		}
	}
	return names
}

// closestName is the tool that a wrong name most likely means, or "": models change the case and the
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

// lettersOnly are the letters and digits of a name, in lower case.
func lettersOnly(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
