package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolscope/stream"
)

// Captured text in messages is clipped here; the screen replaces its control characters.

const (
	maxNamed = 8  // names in a list
	maxText  = 60 // bytes of a name
)

// clipText cuts long captured text.
func clipText(s string) string { return stream.Clip([]byte(s), 0, maxText) }

// listNames lists the first of total names.
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

// withArticle returns the name of one kind with its article.
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

// allowedText lists the allowed keys for UnknownKey, else the allowed values.
func (n *schemaNode) allowedText(of *stream.Diagnosis) string {
	if of == UnknownKey {
		return n.keyList()
	}
	return n.listedText()
}

// keyList lists the keys that an object may have.
func (n *schemaNode) keyList() string {
	names := clipNames(n.names)
	for _, p := range n.patterns[:min(len(n.patterns), maxNamed)] {
		names = append(names, "keys that match "+clipText(p.text))
	}
	if len(names) == 0 {
		return "{}"
	}
	return listNames(names, len(n.names)+len(n.patterns))
}

// clipNames clips the first names, one more than a list has.
func clipNames(names []string) []string {
	out := make([]string, 0, maxNamed+1)
	for _, s := range names[:min(len(names), maxNamed+1)] {
		out = append(out, clipText(s))
	}
	return out
}

// listedText lists the allowed values of a schema, its own or those of its alternatives.
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

// notListedText returns a hint that a value is not one of the allowed values.
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

// shortReason returns the hint for a value, or "" for a key.
func (n *schemaNode) shortReason(of *stream.Diagnosis) string {
	if of == UnknownKey {
		return ""
	}
	return n.notListedText()
}

// notAmong returns a hint that a value is none of these. Strings have no quotes.
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

// listOf lists values as JSON.
func listOf(values []any) string {
	var words []string
	for _, v := range values[:min(len(values), maxNamed+1)] {
		words = append(words, literalText(v))
	}
	return listNames(words, len(values))
}

// literalText returns a value as JSON, cut if it is long.
func literalText(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(clipText(s))
	}
	text, _ := json.Marshal(v)
	return clipText(string(text))
}

// A step is one level of the path to a value.
type step struct {
	array bool
	index int
	key   []byte // the literal, nil between fields
}

// pointerAt returns the JSON pointer of the value at a byte, or of the object that has its key there.
func pointerAt(args []byte, toks stream.TokenList, at int) stream.Message {
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

// followToken updates a path by one token.
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

// top names the outermost value.
const top = "the arguments"

// pointerText returns a JSON pointer, only the end of a long one, with words of ours before it. For the
// outermost value it returns top.
func pointerText(before string, names []string, top string) stream.Message {
	if len(names) == 0 {
		return stream.Message{Text: top}
	}
	const longest = 8
	s := ""
	if n := len(names); n > longest {
		s, names = "…", names[n-longest:]
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	for _, name := range names {
		s += "/" + escape.Replace(clipText(name))
	}
	return stream.Messagef("%s%s", stream.Own(before), stream.Fact(s))
}
