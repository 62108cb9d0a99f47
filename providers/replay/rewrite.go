package replay

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolscope/providers/js"
	"toolscope/stream/json"
)

// rewriteRules are the rules for rewriting a JSON text.
type rewriteRules struct {
	doubles    bool // numbers are doubles
	spell      bool // numbers are written in their shortest form, even if only the spelling changes
	sanitize   bool // invalid Unicode becomes U+FFFD
	sort       bool // fields are sorted by key
	python     bool // numbers are written as in Python, strings with as few escapes as possible
	spaced     bool // a space after each comma and colon
	javaScript bool // strings have as few escapes as possible, index keys are first, infinity is null
}

// tokenTree provides access to a valid JSON text by its tokens, without white space.
type tokenTree struct {
	raw    []byte
	starts []int
	tokens []json.Token
	close  []int32 // for each opening bracket: index of the token that closes it
}

// newTree returns the tree of a valid JSON text.
func newTree(raw []byte, tokens json.TokenList) *tokenTree {
	n := tokens.Len()
	t := &tokenTree{raw: raw, starts: make([]int, 0, n), tokens: make([]json.Token, 0, n), close: make([]int32, 0, n)}
	var open []int32
	start := 0
	for _, tok := range tokens.All() {
		if tok.Kind != json.Space {
			n := int32(len(t.tokens))
			t.starts, t.tokens, t.close = append(t.starts, start), append(t.tokens, tok), append(t.close, n)
			switch tok.Kind {
			case json.ObjectOpen, json.ArrayOpen:
				open = append(open, n)
			case json.ObjectClose, json.ArrayClose:
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

// membersOf returns the fields of the object that opens at token n. If a key occurs twice, its last value takes the
// place of the first one.
func (t *tokenTree) membersOf(n int) (all []member) {
	at := map[string]int{}
	for i := n + 1; t.tokens[i].Kind != json.ObjectClose; {
		if t.tokens[i].Kind != json.Key {
			i++ // a comma
			continue
		}
		m := member{key: json.Value(t.literalAt(i)).Text(), token: i, value: i + 2}
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

// write appends the value at token n, rewritten by the rules.
func (t *tokenTree) write(dst []byte, n int, how rewriteRules) []byte {
	switch t.tokens[n].Kind {
	case json.ObjectOpen:
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
	case json.ArrayOpen:
		dst = append(dst, '[')
		for i := n + 1; t.tokens[i].Kind != json.ArrayClose; i = int(t.close[i]) + 1 {
			if t.tokens[i].Kind == json.Comma {
				dst = append(dst, how.separator(",")...)
				continue
			}
			dst = t.write(dst, i, how)
		}
		return append(dst, ']')
	case json.String:
		return t.writeString(dst, n, how)
	case json.Number:
		if how.python {
			return appendPython(dst, t.literalAt(n))
		}
		if how.doubles {
			text, what := asDouble(t.literalAt(n))
			switch {
			case what == spelledOther && !how.spell:
			case what == beyond && how.javaScript:
				return append(dst, "null"...)
			default:
				return append(dst, text...)
			}
		}
	}
	return append(dst, t.literalAt(n)...)
}

// separator returns a comma or a colon, followed by a space if the rules require one.
func (how rewriteRules) separator(c string) string {
	if how.spaced {
		return c + " "
	}
	return c
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
	lit := json.Value(t.literalAt(n))
	if how.sanitize {
		text := lit.Append(nil)
		if clean := json.ReplaceInvalid(text); !bytes.Equal(clean, text) {
			return json.AppendQuoted(dst, clean)
		}
	}
	if how.javaScript || how.python {
		return json.AppendQuoted(dst, lit.Append(nil))
	}
	return append(dst, lit...)
}

// originalOffset returns the offset in text that corresponds to the offset n in json.ReplaceNonUTF8(text).
func originalOffset(text []byte, n int) (offset int) {
	for offset < len(text) && n > 0 {
		size, ok := json.CharLen(text[offset:])
		if offset += size; ok {
			n -= size
		} else {
			n -= utf8.RuneLen(utf8.RuneError)
		}
	}
	return offset
}

// numberLoss says how a number changes when it becomes a double.
type numberLoss uint8

const (
	spelledSame     numberLoss = iota
	spelledOther               // the same value with another spelling
	roundedInteger             // an integer that doesn't fit a double
	roundedFraction            // a fraction with more digits than a double
	beyond                     // too large for a double
)

// asDouble returns a JSON number after conversion to a double, as JavaScript and most JSON libraries write it: with
// the fewest digits that result in the same double.
func asDouble(lit []byte) (text []byte, how numberLoss) {
	if plainInteger(lit) {
		return lit, spelledSame
	}
	v, err := strconv.ParseFloat(string(lit), 64)
	if err != nil && math.IsInf(v, 0) {
		return lit, beyond
	}
	text = js.AppendNumber(nil, v)
	switch {
	case bytes.Equal(text, lit):
		return text, spelledSame
	case json.ParseDecimal(text) == json.ParseDecimal(lit):
		return text, spelledOther
	case json.ParseDecimal(lit).IsInteger():
		return text, roundedInteger
	}
	return text, roundedFraction
}

// plainInteger reports whether lit is an integer that is small enough to stay unchanged as a double.
func plainInteger(lit []byte) bool {
	if len(lit) > 15 || string(lit) == "-0" {
		return false
	}
	for i, c := range lit {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return true
}

// repairJSON repairs arguments that are not an object, as a lenient parser such as partial-json does. It keeps the
// text before the first wrong byte, drops a field without a value, and closes open strings and brackets. The result
// ok is false if no object with fields remains.
func repairJSON(f *argsFacts) (object []byte, ok bool) {
	tokens := f.tokens
	if n := tokens.Len(); n > 0 && tokens.At(n-1).Kind == json.Junk {
		tokens = tokens.Before(n - 1)
	}
	var b prefixCloser
	start := 0
	for n, t := range tokens.All() {
		if !b.add(t.Kind, f.raw[start:t.End], n == tokens.Len()-1) {
			break
		}
		start = int(t.End)
	}
	return b.closeText()
}

// RepairPrefix repairs the beginning of an object as a lenient parser does; see repairJSON. It returns the text
// unchanged if it is a complete object, or if the parser reads no object from it.
func RepairPrefix(text []byte) []byte {
	f := factsOf(text, false)
	if f.syntax == json.SyntaxObject {
		return text
	}
	if object, _ := repairJSON(f); object != nil {
		return object
	}
	return text
}

// prefixCloser completes the beginning of a JSON text.
type prefixCloser struct {
	out     []byte
	closers []byte
	keep    int  // length of the part of out that is valid JSON if the closers follow it
	began   bool // the object has begun
}

// add adds a token. It returns false when no more tokens are needed.
func (b *prefixCloser) add(kind json.TokenKind, lit []byte, last bool) bool {
	switch kind {
	case json.Space:
		return true
	case json.ObjectOpen, json.ArrayOpen:
		if !b.began && kind == json.ArrayOpen {
			return false
		}
		b.began = true
		b.out = append(b.out, lit...)
		b.closers = append(b.closers, lit[0]+2) // '}' is '{' + 2, and ']' is '[' + 2
		b.keep = len(b.out)
		return true
	case json.ObjectClose, json.ArrayClose:
		b.out = append(b.out[:b.keep], lit...)
		b.closers = b.closers[:len(b.closers)-1]
		b.keep = len(b.out)
		return len(b.closers) > 0
	}
	if !b.began {
		return false
	}
	switch kind {
	case json.Comma, json.Colon:
		b.out = append(b.out, lit...)
	case json.Key:
		if _, closed := json.Content(lit); !closed {
			return false
		}
		b.out = append(b.out, lit...)
	case json.String:
		b.out = append(b.out, closedString(lit)...)
		b.keep = len(b.out)
	case json.Number:
		lit = bytes.TrimRight(lit, "-+.eE")
		if len(lit) == 0 {
			return false
		}
		b.out = append(b.out, lit...)
		b.keep = len(b.out)
	default:
		b.out = append(b.out, literalOf(lit)...)
		b.keep = len(b.out)
	}
	return !last
}

// closeText returns the completed text. The result ok is false if the text is not an object with fields.
func (b *prefixCloser) closeText() (object []byte, ok bool) {
	if !b.began {
		return nil, false
	}
	out := b.out[:b.keep]
	for i := len(b.closers) - 1; i >= 0; i-- {
		out = append(out, b.closers[i])
	}
	return out, len(bytes.TrimSpace(out)) > len("{}")
}

// closedString closes a string literal that may be cut off. It drops an incomplete escape or character.
func closedString(lit []byte) []byte {
	content, closed := json.Content(lit)
	if closed {
		return lit
	}
	text := json.AppendUnquoted(nil, content)
	for n := 1; n <= min(3, len(text)); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			text = text[:len(text)-n]
			break
		}
	}
	return json.AppendQuoted(nil, text)
}

// literalOf completes a literal that may be cut off.
func literalOf(lit []byte) string {
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(word, string(lit)) {
			return word
		}
	}
	return string(lit)
}
