package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolscope/stream"
)

// Sentences are made here. Text from outside is cut short; the screen cleans it.

const (
	maxNamed = 8  // names in a list
	maxText  = 60 // bytes of one
)

func clipText(s string) string { return stream.Clip([]byte(s), 0, maxText) }

// listNames is the first of total names.
func listNames(names []string, total int) string {
	if total == 0 {
		return "nothing"
	}
	names = names[:min(len(names), maxNamed)]
	s := strings.Join(names, ", ")
	if more := total - len(names); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// withArticle is one kind with its article.
func withArticle(k kinds) string {
	switch word := k.String(); {
	case k == aNull:
		return word
	case strings.IndexByte("aeiou", word[0]) >= 0:
		return "an " + word
	default:
		return "a " + word
	}
}

// allowedText is what a list of keys or values has.
func (n *schemaNode) allowedText(of *stream.Diagnosis) string {
	if of == UnknownKey {
		return n.keyList()
	}
	return n.listedText()
}

// keyList is which keys an object may have.
func (n *schemaNode) keyList() string {
	names := clipNames(n.names)
	for _, p := range n.patterns[:min(len(n.patterns), maxNamed)] {
		names = append(names, "what matches "+clipText(p.text))
	}
	if len(names) == 0 {
		return "{}"
	}
	return listNames(names, len(n.names)+len(n.patterns))
}

func clipNames(names []string) []string {
	out := make([]string, 0, maxNamed+1)
	for _, s := range names[:min(len(names), maxNamed+1)] {
		out = append(out, clipText(s))
	}
	return out
}

// listedText is what values a schema lists, its own or those of its alternatives.
func (n *schemaNode) listedText() string {
	switch {
	case n.of.Const != nil:
		return listOf([]any{*n.of.Const})
	case n.of.Enum != nil:
		return listOf(n.of.Enum.Values)
	case n.listed && n.kinds&aString != 0:
		var values []any
		for _, w := range n.words {
			values = append(values, w)
		}
		return listOf(values)
	}
	return n.kinds.String()
}

// notListedText is, in a few words, that a value is none of those that a schema lists.
func (n *schemaNode) notListedText() string {
	switch {
	case n.of.Const != nil:
		return notAmong([]any{*n.of.Const})
	case n.of.Enum != nil:
		return notAmong(n.of.Enum.Values)
	case n.listed && n.kinds&aString != 0:
		values := make([]any, len(n.words))
		for i, w := range n.words {
			values[i] = w
		}
		return notAmong(values)
	}
	return "want " + n.kinds.String()
}

// shortReason is the same of a value, and nothing of a key.
func (n *schemaNode) shortReason(of *stream.Diagnosis) string {
	if of == UnknownKey {
		return ""
	}
	return n.notListedText()
}

// notAmong is, in a few words, that a value is none of these. Strings stand without quotes.
func notAmong(values []any) string {
	var words []string
	for _, v := range values[:min(len(values), maxNamed+1)] {
		word := literalText(v)
		if s, ok := v.(string); ok && s != "" {
			word = clipText(s)
		}
		words = append(words, word)
	}
	if len(values) == 1 {
		return "not " + words[0]
	}
	return "not one of " + listNames(words, len(values))
}

func listOf(values []any) string {
	var words []string
	for _, v := range values[:min(len(values), maxNamed+1)] {
		words = append(words, literalText(v))
	}
	return listNames(words, len(values))
}

// literalText is a value in print.
func literalText(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(clipText(s))
	}
	text, _ := json.Marshal(v)
	return clipText(string(text))
}

// A step is one part of the way to a value.
type step struct {
	array bool
	index int
	key   []byte // literal, nil between keys
}

// pointerAt is the JSON pointer of the value at a byte, and of the object for a key.
func pointerAt(args []byte, toks stream.TokenList, at int) string {
	var way []step
	start := 0
	for _, t := range toks.All() {
		if start >= at {
			break
		}
		way = followToken(way, t.Kind, args[start:t.End])
		start = int(t.End)
	}
	var names []string
	for _, s := range way {
		switch {
		case s.array:
			names = append(names, strconv.Itoa(s.index))
		case s.key != nil:
			names = append(names, literalContent(s.key))
		}
	}
	return pointerText("", names, top)
}

// followToken goes one token further.
func followToken(way []step, kind stream.TokenKind, text []byte) []step {
	n := len(way)
	switch kind {
	case stream.ObjectOpen, stream.ArrayOpen:
		return append(way, step{array: kind == stream.ArrayOpen})
	case stream.ObjectClose, stream.ArrayClose:
		return way[:n-1]
	case stream.Comma:
		way[n-1].index++
		way[n-1].key = nil
	case stream.Key:
		way[n-1].key = text
	}
	return way
}

// top is the value that everything is in.
const top = "the arguments"

// pointerText is a JSON pointer to show, of long ones the end; of the top, its name.
func pointerText(before string, names []string, top string) string {
	if len(names) == 0 {
		return top
	}
	const longest = 8
	s := before
	if n := len(names); n > longest {
		s, names = s+"…", names[n-longest:]
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, name := range names {
		s += "/" + escape.Replace(clipText(name))
	}
	return s
}
