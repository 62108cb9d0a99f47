package replay

import (
	"bytes"
	"unicode/utf8"

	"toolscope/providers/js"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// argsFacts describes the arguments of one call. They are found once for all previews. A span is the first
// place of its kind, empty if there is none.
type argsFacts struct {
	raw      []byte
	freeform bool
	syntax   stream.Syntax
	docs     int // number of complete JSON texts
	wrong    int // offset of the first byte that is not JSON, or the length

	tokens   stream.TokenList
	null     bool
	space    span // between tokens
	respell  span // a number that JavaScript writes differently
	integer  span // an integer that doesn't fit a double
	fraction span // a fraction with more digits than a double
	huge     span // a number that is too large for a double
	escapes  span // a string that JavaScript writes differently
	halves   span // such a string with half a surrogate pair
	half     span // half a surrogate pair
	invalid  span // bytes that are not UTF-8
	twice    span // a duplicate key
	unsorted span // a key that sorts before the previous one
	numeric  span // an array index as key, out of place: JavaScript puts these first
	depth    int  // nesting of containers
}

type span struct{ start, end int }

func (s span) is() bool { return s.end > s.start }

// setFirst sets the span if it is empty.
func (s *span) setFirst(start, end int) {
	if !s.is() {
		*s = span{start, end}
	}
}

// factsOf finds the facts of arguments.
func factsOf(raw []byte, freeform bool) *argsFacts {
	f := &argsFacts{raw: raw, freeform: freeform, wrong: len(raw)}
	f.findInvalid()
	if freeform {
		f.syntax = stream.SyntaxFreeform
		return f
	}
	var lex stream.Lexer
	lex.Write(raw)
	lex.Close()
	f.syntax, f.tokens, f.docs = lex.Syntax(), lex.Tokens(), lex.Docs()
	if err := lex.Err(); err != nil {
		f.wrong = err.Offset
	}
	if f.syntax == stream.SyntaxOther {
		trimmed := protocol.Raw(bytes.TrimSpace(raw))
		f.null = string(trimmed) == "null"
		if inner := trimmed.Append(nil); trimmed.IsString() && isObject(inner) {
			f.syntax = stream.SyntaxDouble
		}
	}
	if f.syntax == stream.SyntaxObject || f.syntax == stream.SyntaxOther {
		f.scanTokens()
	}
	return f
}

func isObject(text []byte) bool { return syntaxOf(text) == stream.SyntaxObject }

func syntaxOf(text []byte) stream.Syntax {
	var lex stream.Lexer
	lex.Write(text)
	lex.Close()
	return lex.Syntax()
}

// findInvalid finds bytes that are not UTF-8. Half a surrogate pair, encoded as three bytes, is separate:
// JSON can express it.
func (f *argsFacts) findInvalid() {
	if utf8.Valid(f.raw) {
		return
	}
	for i := 0; i < len(f.raw); {
		n, ok := charLen(f.raw[i:])
		switch {
		case !ok:
			f.invalid.setFirst(i, i+1)
		case isHalf(f.raw[i:]):
			f.half.setFirst(i, i+n)
		}
		i += n
	}
}

// isHalf reports whether text begins with a surrogate in three bytes.
func isHalf(text []byte) bool {
	return len(text) >= 3 && text[0] == 0xed && text[1] >= 0xa0 && text[1] <= 0xbf && text[2]&0xc0 == 0x80
}

// scanTokens finds the facts of the tokens of a text that parses.
func (f *argsFacts) scanTokens() {
	var open []*members
	start := 0
	for _, t := range f.tokens.All() {
		end := int(t.End)
		lit := f.raw[start:end]
		switch t.Kind {
		case stream.Space:
			f.space.setFirst(start, end)
		case stream.ObjectOpen:
			open = append(open, new(members))
			f.depth = max(f.depth, len(open))
		case stream.ArrayOpen:
			open = append(open, nil)
			f.depth = max(f.depth, len(open))
		case stream.ObjectClose, stream.ArrayClose:
			open = open[:len(open)-1]
		case stream.Key:
			f.lookAtString(lit, start)
			f.lookAtKey(open[len(open)-1], lit, start)
		case stream.String:
			f.lookAtString(lit, start)
		case stream.Number:
			f.lookAtNumber(lit, start)
		}
		start = end
	}
}

// members holds the keys of an object so far.
type members struct {
	last  string
	index int  // the last key that is an array index
	named bool // there was a key that is not an array index
	all   map[string]bool
}

func (f *argsFacts) lookAtKey(m *members, lit []byte, start int) {
	key := protocol.Raw(lit).Text()
	end := start + len(lit)
	if m.all[key] {
		f.twice.setFirst(start, end)
		return // it has the place of the first
	}
	if m.all == nil {
		m.all = map[string]bool{}
	} else if key < m.last {
		f.unsorted.setFirst(start, end)
	}
	m.all[key], m.last = true, key
	if !js.IsIndex(key) {
		m.named = true
		return
	}
	n := js.ArrayIndex(key)
	if m.named || n < m.index {
		f.numeric.setFirst(start, end)
	}
	m.index = n
}

func (f *argsFacts) lookAtString(lit []byte, start int) {
	if bytes.IndexByte(lit, '\\') < 0 {
		return
	}
	text := protocol.Raw(lit).Append(nil)
	end, where := start+len(lit), &f.escapes
	for i := 0; i < len(text); i++ {
		if isHalf(text[i:]) {
			f.half.setFirst(start, end)
			where = &f.halves
			break
		}
	}
	if !bytes.Equal(protocol.AppendString(nil, text), lit) {
		where.setFirst(start, end)
	}
}

// respelledString returns a string that JavaScript writes differently. A string with half a character counts
// only if that is kept: replacing it is a separate loss.
func (f *argsFacts) respelledString(how rewriteRules) span {
	if !f.escapes.is() && !how.sanitize {
		return f.halves
	}
	return f.escapes
}

func (f *argsFacts) lookAtNumber(lit []byte, start int) {
	end := start + len(lit)
	switch _, how := asDouble(lit); how {
	case spelledOther:
		f.respell.setFirst(start, end)
	case roundedInteger:
		f.integer.setFirst(start, end)
	case roundedFraction:
		f.fraction.setFirst(start, end)
	case beyond:
		f.huge.setFirst(start, end)
	}
}

// depthLevels returns the number of levels that the text needs by a rule.
func (f *argsFacts) depthLevels(rule protocol.DepthRule) (most int) {
	now, cost := rule.Base, []int(nil)
	for _, t := range f.tokens.All() {
		switch t.Kind {
		case stream.ObjectOpen, stream.ArrayOpen:
			c := rule.Object
			if t.Kind == stream.ArrayOpen {
				c = rule.Array
			}
			cost = append(cost, c)
			now += c
			most = max(most, now)
		case stream.ObjectClose, stream.ArrayClose:
			now -= cost[len(cost)-1]
			cost = cost[:len(cost)-1]
		}
	}
	return most
}

// tooDeep reports whether the text nests deeper than a rule allows.
func (f *argsFacts) tooDeep(rule protocol.DepthRule) bool {
	if rule.Limit == 0 || rule.Base+f.depth*max(rule.Object, rule.Array) <= rule.Limit {
		return false
	}
	return f.depthLevels(rule) > rule.Limit
}
