package js

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"toolscope/stream/json"
)

// maxNesting is the maximum nesting of values in a text. JavaScript's stack doesn't allow much more.
const maxNesting = 4000

// Parse reproduces JSON.parse. If JSON.parse throws, ok is false.
func Parse(text string) (v Value, ok bool) {
	p := parser{text: text}
	v, ok = p.parseValue(0)
	p.skipSpace()
	return v, ok && p.at == len(text)
}

// After returns the rest of text after the value at its beginning. If text doesn't begin with a value, ok is false.
func After(text string) (rest string, ok bool) {
	p := parser{text: text}
	_, ok = p.parseValue(0)
	return text[p.at:], ok
}

// parser reads JSON. The field at is the offset of the next byte.
type parser struct {
	text string
	at   int
}

func (p *parser) skipSpace() {
	for p.at < len(p.text) && json.IsSpace(p.text[p.at]) {
		p.at++
	}
}

// acceptByte reads the byte c if it is next, and reports whether it was.
func (p *parser) acceptByte(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) parseValue(depth int) (v Value, ok bool) {
	p.skipSpace()
	if p.at == len(p.text) || depth > maxNesting {
		return v, false
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.parseObject(depth)
	case c == '[':
		return p.parseArray(depth)
	case c == '"':
		s, ok := p.parseString()
		return StringValue(s), ok
	case c == '-' || c >= '0' && c <= '9':
		return p.parseNumber()
	}
	for word, v := range words {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return v, true
		}
	}
	return v, false
}

var words = map[string]Value{"null": {Kind: Null}, "true": {Kind: Bool, yes: true}, "false": {Kind: Bool}}

func (p *parser) parseObject(depth int) (v Value, ok bool) {
	v.Kind = Object
	p.at++
	if p.skipSpace(); p.acceptByte('}') {
		return v, true
	}
	for {
		p.skipSpace()
		key, ok := p.parseString()
		if p.skipSpace(); !ok || !p.acceptByte(':') {
			return v, false
		}
		member, ok := p.parseValue(depth + 1)
		if !ok {
			return v, false
		}
		v.defineMember(key, member)
		if p.skipSpace(); p.acceptByte('}') {
			return v, true
		}
		if !p.acceptByte(',') {
			return v, false
		}
	}
}

func (p *parser) parseArray(depth int) (v Value, ok bool) {
	v.Kind = Array
	p.at++
	if p.skipSpace(); p.acceptByte(']') {
		return v, true
	}
	for {
		item, ok := p.parseValue(depth + 1)
		if !ok {
			return v, false
		}
		v.items = append(v.items, item)
		if p.skipSpace(); p.acceptByte(']') {
			return v, true
		}
		if !p.acceptByte(',') {
			return v, false
		}
	}
}

// parseString reads a complete string without control characters and with valid escapes. For any other text, ok is
// false.
func (p *parser) parseString() (s string, ok bool) {
	start := p.at
	if !p.acceptByte('"') {
		return "", false
	}
	for p.at < len(p.text) {
		c := p.text[p.at]
		p.at++
		switch {
		case c == '"':
			return string(json.AppendUnquoted(nil, []byte(p.text[start+1:p.at-1]))), true
		case c < ' ':
			return "", false
		case c == '\\' && !p.parseEscape():
			return "", false
		}
	}
	return "", false
}

// parseEscape reads the rest of an escape after the backslash. It returns false if the escape is invalid.
func (p *parser) parseEscape() bool {
	if p.at == len(p.text) {
		return false
	}
	c := p.text[p.at]
	p.at++
	if c != 'u' {
		return strings.IndexByte(`"\/bfnrt`, c) >= 0
	}
	for range 4 {
		if p.at == len(p.text) || !isHex(p.text[p.at]) {
			return false
		}
		p.at++
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func (p *parser) skipDigits() (n int) {
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
		n++
	}
	return n
}

func (p *parser) parseNumber() (v Value, ok bool) {
	start := p.at
	p.acceptByte('-')
	if !p.acceptByte('0') && p.skipDigits() == 0 {
		return v, false
	}
	if p.acceptByte('.') && p.skipDigits() == 0 {
		return v, false
	}
	if p.acceptByte('e') || p.acceptByte('E') {
		if !p.acceptByte('+') {
			p.acceptByte('-')
		}
		if p.skipDigits() == 0 {
			return v, false
		}
	}
	f, _ := strconv.ParseFloat(p.text[start:p.at], 64) // infinite if the number is too large for a double
	return NumberValue(f), true
}

// ParseSecure reproduces the parser of the AI SDK. It is like Parse, but it refuses objects with keys that could
// change a prototype. If the text is refused or is not JSON, ok is false.
func ParseSecure(text string) (v Value, ok bool) {
	v, ok = Parse(text)
	return v, ok && !v.namesPrototype()
}

func (v *Value) namesPrototype() bool {
	if _, named := v.Member("__proto__"); named {
		return true
	}
	if c, ok := v.Member("constructor"); ok {
		if _, named := c.Member("prototype"); named {
			return true
		}
	}
	for i := range v.items {
		if v.items[i].namesPrototype() {
			return true
		}
	}
	return false
}

// Trim reproduces String.prototype.trim.
func Trim(s string) string { return strings.TrimFunc(s, isSpace) }

func isSpace(r rune) bool { return unicode.IsSpace(r) && r != 0x85 || r == 0xfeff }

// ParseClosed reproduces the parser of Anthropic's library. If a text is cut off, the parser drops an incomplete last
// token and closes every open bracket. On any other error, the library throws and ok is false.
func ParseClosed(text string) (v Value, ok bool) {
	if tokens, ok := splitTokens(text); ok {
		if whole, ok := closeAll(dropIncomplete(tokens)); ok {
			return Parse(whole)
		}
	}
	return Parse(text)
}

// token is a JSON token. Its sort is the byte of a bracket or separator, '"' for a string, '1' for a number,
// or 'a' for a word.
type token struct {
	sort byte
	text string
	last bool // a number at the end of the text
}

// splitTokens returns the tokens of a text. It drops a string or word that is cut off. If the text contains anything
// else, ok is false.
func splitTokens(text string) (all []token, ok bool) {
	for i := 0; i < len(text); {
		c, n := text[i], 1
		switch {
		case json.IsSpace(c):
		case strings.IndexByte("{}[]:,", c) >= 0:
			all = append(all, token{sort: c, text: text[i : i+1]})
		case c == '"':
			end, closed := json.StringEnd([]byte(text[i:]))
			if !closed {
				return all, true
			}
			n = end
			all = append(all, token{sort: '"', text: text[i : i+n]})
		case isDigit(c) || c == '-' || c == '.':
			n = numberLen(text[i:])
			all = append(all, token{'1', text[i : i+n], i+n == len(text)})
		case isLetter(c):
			for n < len(text)-i && isLetter(text[i+n]) {
				n++
			}
			word := text[i : i+n]
			if _, is := words[word]; is {
				all = append(all, token{sort: 'a', text: word})
			} else if !isWordPrefix(word) || strings.Trim(text[i+n:], " \t\n\r") != "" {
				return nil, false
			}
		default:
			return nil, false
		}
		i += n
	}
	return all, true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isWordPrefix(s string) bool {
	for word := range words {
		if strings.HasPrefix(word, s) {
			return true
		}
	}
	return false
}

// numberLen returns the number of bytes that the library reads as a number.
func numberLen(text string) int {
	n := 0
	if text[0] == '-' {
		n++
	}
	for ; n < len(text); n++ {
		c := text[n]
		sign := (c == '-' || c == '+') && n > 0 && text[n-1]|0x20 == 'e'
		if !isDigit(c) && c != '.' && c|0x20 != 'e' && !sign {
			break
		}
	}
	return max(n, 1)
}

var numberPattern = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// dropIncomplete removes tokens at the end that may be incomplete: a number, a key without a value, or a
// comma.
func dropIncomplete(all []token) []token {
	var open []byte
	for _, t := range all {
		switch t.sort {
		case '{', '[':
			open = append(open, t.sort)
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		}
	}
	inObject := len(open) > 0 && open[len(open)-1] == '{'
	for n := len(all); n > 0; n-- {
		switch t := all[n-1]; {
		case t.sort == ':':
		case t.sort == '1' && (t.last || !numberPattern.MatchString(t.text)):
		case t.sort == '"' && inObject && n > 1 && (all[n-2].sort == ',' || all[n-2].sort == '{'):
		case t.sort == ',':
			return all[:n-1]
		default:
			return all[:n]
		}
	}
	return nil
}

// closeAll returns the text of the tokens, with every open bracket closed. If a closing bracket doesn't match an open
// bracket, ok is false.
func closeAll(all []token) (text string, ok bool) {
	var b, closers []byte
	for i, t := range all {
		switch t.sort {
		case '{', '[':
			closers = append(closers, t.sort+2) // '}' is '{' + 2, and ']' is '[' + 2
		case '}', ']':
			n := len(closers) - 1
			if n < 0 || closers[n] != t.sort {
				return "", false
			}
			closers = closers[:n]
		case '"', '1', 'a':
			if i > 0 && strings.IndexByte(`"1a`, all[i-1].sort) >= 0 {
				b = append(b, ' ')
			}
		}
		b = append(b, t.text...)
	}
	for i := len(closers) - 1; i >= 0; i-- {
		b = append(b, closers[i])
	}
	return string(b), true
}
