// Package schema checks tool calls against the tools that the request declared.
//
//	request ─▶ dialect.Tools ─▶ Set ─▶ Watch (one a call) ─▶ findings
//
// A Watch follows a call while it streams and says what can no longer become
// valid with the very bytes that made it so: a name no tool has, a key or a
// value that no continuation can save. It looks at new tokens only. What it
// says is a part of what the full validator would say of every completion, so
// it is never taken back; of a key that comes twice, each value is judged. When
// the call is sealed, the library github.com/santhosh-tekuri/jsonschema
// validates the whole, and what was not said before is said then.
//
// Limits: nothing is ever fetched, and neither compiling nor validating takes
// longer than 250 ms. There is no clock in this: a clock would give the same
// capture other findings on a busy machine. What costs is counted instead, see
// limits.go, and a goroutine that nobody waits for any more is not left behind.
// A schema is compiled when its tool is first called.
package schema

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// A Set is the tools of one request. It belongs to one goroutine.
type Set struct {
	declared []dialect.Tool
	tools    map[string]*tool
	open     bool // there may be tools whose names the request does not tell
}

// tool is a declared tool; check is made when it is first called.
type tool struct {
	schema  dialect.Raw
	check   *checker
	outline string
}

// Compile makes a Set; nil when there are no tools. A schema that cannot be
// used is no error: a call of its tool says so in a finding.
func Compile(tools []dialect.Tool) *Set {
	if len(tools) == 0 {
		return nil
	}
	s := &Set{declared: tools, tools: map[string]*tool{}}
	for _, t := range tools {
		switch {
		case t.Name == "" || t.Kind != "function" && t.Kind != "custom" && t.Kind != "server":
			s.open = true
		}
		schema := t.Schema
		if old := s.tools[t.Name]; old != nil && !bytes.Equal(old.schema, schema) {
			schema = nil // two tools of one name: nobody knows which is meant
		}
		s.tools[t.Name] = &tool{schema: schema}
	}
	return s
}

// Is reports whether the Set was made from the same tools.
func (s *Set) Is(tools []dialect.Tool) bool {
	return slices.EqualFunc(s.declared, tools, func(a, b dialect.Tool) bool {
		return a.Name == b.Name && a.Kind == b.Kind && bytes.Equal(a.Schema, b.Schema)
	})
}

// Follow begins to watch a call, whose name may not have come yet. It is nil
// for calls that are none of the client's declared tools by design: those the
// provider runs, those of kinds that have no schema, and what was thrown away.
func (s *Set) Follow(c *stream.Call) *Watch {
	if c.Server || c.Attempt || c.Kind != "function" && c.Kind != "custom" {
		return nil
	}
	return &Watch{set: s, call: c}
}

// missing says that no tool has that name.
func (s *Set) missing(name string) stream.Finding {
	message := fmt.Sprintf("the request declares no tool %q", clip(name))
	if hint := s.closest(name); hint != "" {
		message += fmt.Sprintf(": did the model mean %q?", hint)
	} else {
		message += ", only " + list(s.names(), len(s.tools))
	}
	return NoSuchTool.Finding("%s", message)
}

func (s *Set) names() (names []string) {
	for _, t := range s.declared {
		if t.Name != "" && !slices.Contains(names, t.Name) && len(names) < mostNamed {
			names = append(names, t.Name)
		}
	}
	return names
}

// closest is the tool that a wrong name most likely stands for, or "": models
// change the case and the punctuation of names, and put a namespace before them.
func (s *Set) closest(name string) string {
	whole, last := letters(name), letters(name[strings.LastIndexAny(name, ".:/")+1:])
	for _, t := range s.declared {
		if l := letters(t.Name); l != "" && (l == whole || l == last) {
			return t.Name
		}
	}
	return ""
}

// letters are the letters and digits of a name, in lower case.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
