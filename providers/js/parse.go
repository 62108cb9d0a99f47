package js

import (
	"strconv"
	"strings"
	"unicode"

	"toolscope/stream/jsonbytes"
)

// maxNesting is the maximum nesting of a text. JavaScript's stack doesn't allow much more.
const maxNesting = 4000

// Parse is JSON.parse. If that throws, ok is false.
func Parse(text string) (v Value, ok bool) {
	p := parser{text: text}
	v, ok = p.parseValue(0)
	p.skipSpace()
	return v, ok && p.at == len(text)
}

// After returns the text after the value that text begins with. ok is false if it doesn't begin with a
// value.
func After(text string) (rest string, ok bool) {
	p := parser{text: text}
	_, ok = p.parseValue(0)
	return text[p.at:], ok
}

// parser reads JSON from the offset at.
type parser struct {
	text string
	at   int
}

func (p *parser) skipSpace() {
	for p.at < len(p.text) && jsonbytes.IsSpace(p.text[p.at]) {
		p.at++
	}
}

// acceptByte reads the byte c if it is next.
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

// parseString reads a complete string, without control characters and with valid escapes.
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
			return string(jsonbytes.AppendUnquoted(nil, []byte(p.text[start+1:p.at-1]))), true
		case c < ' ':
			return "", false
		case c == '\\' && !p.parseEscape():
			return "", false
		}
	}
	return "", false
}

// parseEscape reads the rest of an escape after the backslash.
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
	f, _ := strconv.ParseFloat(p.text[start:p.at], 64) // infinite if it exceeds every double
	return NumberValue(f), true
}

// ParseSecure is the parser of the AI SDK: Parse, but it refuses objects that name a prototype.
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

// Trim is String.prototype.trim.
func Trim(s string) string { return strings.TrimFunc(s, isSpace) }

func isSpace(r rune) bool { return unicode.IsSpace(r) && r != 0x85 || r == 0xfeff }
