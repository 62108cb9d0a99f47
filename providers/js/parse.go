package js

import (
	"strconv"
	"strings"
	"unicode"

	"toolscope/stream/jsonbytes"
)

// deepest is how deep a text may nest: JavaScript's stack does not take much more either.
const deepest = 4000

// Parse is JSON.parse; ok is false where that throws.
func Parse(text string) (v Value, ok bool) {
	p := parser{text: text}
	v, ok = p.value(0)
	p.space()
	return v, ok && p.at == len(text)
}

// Behind is what stands behind the value that a text begins with; ok is false where it begins with
// none.
func Behind(text string) (rest string, ok bool) {
	p := parser{text: text}
	_, ok = p.value(0)
	return text[p.at:], ok
}

// parser reads JSON. It goes on from at.
type parser struct {
	text string
	at   int
}

func (p *parser) space() {
	for p.at < len(p.text) && jsonbytes.IsSpace(p.text[p.at]) {
		p.at++
	}
}

// is takes a byte if it comes next.
func (p *parser) is(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) value(depth int) (v Value, ok bool) {
	p.space()
	if p.at == len(p.text) || depth > deepest {
		return v, false
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, ok := p.string()
		return Text(s), ok
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
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

func (p *parser) object(depth int) (v Value, ok bool) {
	v.Kind = Object
	p.at++
	if p.space(); p.is('}') {
		return v, true
	}
	for {
		p.space()
		key, ok := p.string()
		if p.space(); !ok || !p.is(':') {
			return v, false
		}
		member, ok := p.value(depth + 1)
		if !ok {
			return v, false
		}
		v.define(key, member)
		if p.space(); p.is('}') {
			return v, true
		}
		if !p.is(',') {
			return v, false
		}
	}
}

func (p *parser) array(depth int) (v Value, ok bool) {
	v.Kind = Array
	p.at++
	if p.space(); p.is(']') {
		return v, true
	}
	for {
		item, ok := p.value(depth + 1)
		if !ok {
			return v, false
		}
		v.items = append(v.items, item)
		if p.space(); p.is(']') {
			return v, true
		}
		if !p.is(',') {
			return v, false
		}
	}
}

// string reads a literal: whole, without control characters, and with escapes that there are.
func (p *parser) string() (s string, ok bool) {
	start := p.at
	if !p.is('"') {
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
		case c == '\\' && !p.escape():
			return "", false
		}
	}
	return "", false
}

// escape takes what follows a backslash.
func (p *parser) escape() bool {
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

func (p *parser) digits() (n int) {
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
		n++
	}
	return n
}

func (p *parser) number() (v Value, ok bool) {
	start := p.at
	p.is('-')
	if !p.is('0') && p.digits() == 0 {
		return v, false
	}
	if p.is('.') && p.digits() == 0 {
		return v, false
	}
	if p.is('e') || p.is('E') {
		if !p.is('+') {
			p.is('-')
		}
		if p.digits() == 0 {
			return v, false
		}
	}
	f, _ := strconv.ParseFloat(p.text[start:p.at], 64) // infinite where it is beyond every double
	return Double(f), true
}

// Secure is the parser of the AI SDK: Parse, but for objects that name a prototype.
func Secure(text string) (v Value, ok bool) {
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
