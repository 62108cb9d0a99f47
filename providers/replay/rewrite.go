package replay

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"toolscope/providers/js"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// rewriteRules are the rules for rewriting a JSON text.
type rewriteRules struct {
	doubles    bool // numbers are doubles
	spell      bool // numbers are written in their shortest form, even if that is only another spelling
	sanitize   bool // invalid Unicode becomes U+FFFD
	sort       bool // fields are sorted by key
	python     bool // numbers as Python writes them, strings with the fewest escapes
	spaced     bool // a space after each comma and colon
	javaScript bool // strings with the fewest escapes, index keys first, null for infinity
}

// tokenTree gives access to a valid JSON text by its tokens, without white space.
type tokenTree struct {
	raw    []byte
	starts []int
	tokens []stream.Token
	close  []int32 // for each opening bracket: the token that closes it
}

// newTree returns the tree of a text that parses.
func newTree(raw []byte, tokens stream.TokenList) *tokenTree {
	n := tokens.Len()
	t := &tokenTree{raw: raw, starts: make([]int, 0, n), tokens: make([]stream.Token, 0, n), close: make([]int32, 0, n)}
	var open []int32
	start := 0
	for _, tok := range tokens.All() {
		if tok.Kind != stream.Space {
			n := int32(len(t.tokens))
			t.starts, t.tokens, t.close = append(t.starts, start), append(t.tokens, tok), append(t.close, n)
			switch tok.Kind {
			case stream.ObjectOpen, stream.ArrayOpen:
				open = append(open, n)
			case stream.ObjectClose, stream.ArrayClose:
				t.close[open[len(open)-1]] = n
				open = open[:len(open)-1]
			}
		}
		start = int(tok.End)
	}
	return t
}

func (t *tokenTree) literalAt(n int) []byte { return t.raw[t.starts[n]:t.tokens[n].End] }

// member is one field of an object: its key, and the tokens of its key and value.
type member struct {
	key   string
	token int
	value int
}

// membersOf returns the fields of the object that opens at token n. A duplicate key has its last value in its
// first place.
func (t *tokenTree) membersOf(n int) (all []member) {
	at := map[string]int{}
	for i := n + 1; t.tokens[i].Kind != stream.ObjectClose; {
		if t.tokens[i].Kind != stream.Key {
			i++ // a comma
			continue
		}
		m := member{key: protocol.Raw(t.literalAt(i)).Text(), token: i, value: i + 2}
		if first, twice := at[m.key]; twice {
			all[first].value = m.value
		} else {
			at[m.key] = len(all)
			all = append(all, m)
		}
		i = int(t.close[m.value]) + 1
	}
	return all
}

// write appends the value at token n.
func (t *tokenTree) write(dst []byte, n int, how rewriteRules) []byte {
	switch t.tokens[n].Kind {
	case stream.ObjectOpen:
		members := t.membersOf(n)
		if how.sort {
			slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
		} else if how.javaScript {
			slices.SortStableFunc(members, indexesFirst)
		}
		dst = append(dst, '{')
		for i, m := range members {
			if i > 0 {
				dst = append(dst, how.separator(",")...)
			}
			dst = append(t.writeString(dst, m.token, how), how.separator(":")...)
			dst = t.write(dst, m.value, how)
		}
		return append(dst, '}')
	case stream.ArrayOpen:
		dst = append(dst, '[')
		for i := n + 1; t.tokens[i].Kind != stream.ArrayClose; i = int(t.close[i]) + 1 {
			if t.tokens[i].Kind == stream.Comma {
				dst = append(dst, how.separator(",")...)
				continue
			}
			dst = t.write(dst, i, how)
		}
		return append(dst, ']')
	case stream.String:
		return t.writeString(dst, n, how)
	case stream.Number:
		if how.python {
			return appendPython(dst, t.literalAt(n))
		}
		if how.doubles {
			return appendNumber(dst, t.literalAt(n), how)
		}
	}
	return append(dst, t.literalAt(n)...)
}

// separator returns a comma or colon, with a space if the rules say so.
func (how rewriteRules) separator(c string) string {
	if how.spaced {
		return c + " "
	}
	return c
}

func appendNumber(dst, lit []byte, how rewriteRules) []byte {
	text, what := asDouble(lit)
	switch {
	case what == spelledOther && !how.spell:
		return append(dst, lit...)
	case what == beyond && how.javaScript:
		return append(dst, "null"...)
	}
	return append(dst, text...)
}

func indexesFirst(a, b member) int {
	x, y := js.IsIndex(a.key), js.IsIndex(b.key)
	switch {
	case x && y:
		return js.ArrayIndex(a.key) - js.ArrayIndex(b.key)
	case x:
		return -1
	case y:
		return 1
	}
	return 0
}

func (t *tokenTree) writeString(dst []byte, n int, how rewriteRules) []byte {
	lit := protocol.Raw(t.literalAt(n))
	if how.sanitize {
		text := lit.Append(nil)
		if clean := replaceInvalid(text); !bytes.Equal(clean, text) {
			return protocol.AppendString(dst, clean)
		}
	}
	if how.javaScript || how.python {
		return protocol.AppendString(dst, lit.Append(nil))
	}
	return append(dst, lit...)
}

// replaceInvalid replaces invalid Unicode by U+FFFD: bytes that are not UTF-8, and half a surrogate pair.
func replaceInvalid(text []byte) []byte { return replaceInvalidIn(text, true) }

// replaceNonUTF8 replaces bytes that are not UTF-8 by U+FFFD. Half a surrogate pair stays: JSON can express it.
func replaceNonUTF8(text []byte) []byte { return replaceInvalidIn(text, false) }

func replaceInvalidIn(text []byte, halves bool) []byte {
	if utf8.Valid(text) {
		return text
	}
	out := make([]byte, 0, len(text)+8)
	for i := 0; i < len(text); {
		n, ok := charLen(text[i:])
		if ok && !(halves && isHalf(text[i:])) {
			out = append(out, text[i:i+n]...)
		} else {
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		i += n
	}
	return out
}

// charLen returns the length of the first character of text, or of half a surrogate pair there; ok is false
// for a byte that is neither.
func charLen(text []byte) (n int, ok bool) {
	if isHalf(text) {
		return 3, true
	}
	r, n := utf8.DecodeRune(text)
	return n, r != utf8.RuneError || n > 1
}

// originalOffset returns the offset in text that corresponds to offset n of replaceNonUTF8(text).
func originalOffset(text []byte, n int) (offset int) {
	for offset < len(text) && n > 0 {
		size, ok := charLen(text[offset:])
		if offset += size; ok {
			n -= size
		} else {
			n -= utf8.RuneLen(utf8.RuneError)
		}
	}
	return offset
}
