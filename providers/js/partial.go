package js

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Partial is the parser of the package partial-json. It reads an incomplete text. At an error inside an
// object or array, it keeps the values before the error. If it throws, ok is false.
func Partial(text string) (v Value, ok bool) {
	text = Trim(text)
	if text == "" {
		return v, false
	}
	p := partialParser{text: text}
	return p.parseValue(0)
}

type partialParser struct {
	text string
	at   int
}

func (p *partialParser) skipSpace() {
	for p.at < len(p.text) && strings.IndexByte(" \n\r\t", p.text[p.at]) >= 0 {
		p.at++
	}
}

// peekByte returns the next byte, 0 at the end.
func (p *partialParser) peekByte() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// skipUnit skips one UTF-16 unit: a character, or part of a character of two units, so that the rest is
// not a character.
func (p *partialParser) skipUnit() {
	n := 1
	for p.at+n < len(p.text) && n < 3 && !utf8.RuneStart(p.text[p.at+n]) {
		n++
	}
	p.at += n
}

// constants are the words that it knows, in its order, with the minimum number of bytes of each.
var constants = []struct {
	word  string
	least int
	value Value
}{
	{"null", 1, Value{Kind: Null}}, {"true", 1, Value{Kind: Bool, yes: true}}, {"false", 1, Value{Kind: Bool}},
	{"Infinity", 1, NumberValue(math.Inf(1))}, {"-Infinity", 2, NumberValue(math.Inf(-1))}, {"NaN", 1, NumberValue(math.NaN())},
}

func (p *partialParser) parseValue(depth int) (v Value, ok bool) {
	if p.skipSpace(); p.at >= len(p.text) || depth > maxNesting {
		return v, false
	}
	switch p.text[p.at] {
	case '"':
		s, ok := p.parseString()
		return StringValue(s), ok
	case '{':
		return p.parseObject(depth), true
	case '[':
		return p.parseArray(depth), true
	}
	rest := p.text[p.at:]
	for _, c := range constants {
		if strings.HasPrefix(rest, c.word) || len(rest) >= c.least && len(rest) < len(c.word) && strings.HasPrefix(c.word, rest) {
			p.at += len(c.word)
			return c.value, true
		}
	}
	return p.parseNumber()
}

// parseString reads a string that may be incomplete. It accepts any byte as the opening quote.
func (p *partialParser) parseString() (s string, ok bool) {
	start, escape := p.at, false
	p.skipUnit()
	for p.at < len(p.text) && (p.text[p.at] != '"' || escape && p.text[p.at-1] == '\\') {
		escape = p.text[p.at] == '\\' && !escape
		p.at++
	}
	if p.peekByte() == '"' {
		p.at++
		return parseLiteral(p.sliceText(start, p.at))
	}
	end := p.at
	if escape {
		end--
	}
	if s, ok = parseLiteral(p.sliceText(start, end) + `"`); ok {
		return s, true
	}
	return parseLiteral(p.sliceText(start, strings.LastIndexByte(p.text, '\\')) + `"`)
}

// sliceText is substring: its ends may be in either order.
func (p *partialParser) sliceText(a, b int) string {
	a, b = max(a, 0), max(b, 0)
	if a > b {
		a, b = b, a
	}
	return p.text[min(a, len(p.text)):min(b, len(p.text))]
}

// parseLiteral is JSON.parse of the text of a string. The caller doesn't check the quotes of a key, so
// the text may be any other value, whose JSON becomes the key.
func parseLiteral(text string) (s string, ok bool) {
	v, ok := Parse(text)
	return v.keyText(), ok
}

// keyText returns a value as a key.
func (v *Value) keyText() string {
	if v.Kind == String {
		return v.Text
	}
	return string(v.JSON())
}

func (p *partialParser) parseObject(depth int) Value {
	o := EmptyObject()
	p.at++
	for p.skipSpace(); p.peekByte() != '}'; {
		if p.skipSpace(); p.at >= len(p.text) {
			return o
		}
		key, ok := p.parseString()
		if !ok {
			return o
		}
		p.skipSpace()
		p.skipUnit() // a colon, or any other character
		member, ok := p.parseValue(depth + 1)
		if !ok {
			return o
		}
		o.assignMember(key, member)
		if p.skipSpace(); p.peekByte() == ',' {
			p.at++
		}
	}
	p.at++
	return o
}

func (p *partialParser) parseArray(depth int) Value {
	a := Value{Kind: Array}
	p.at++
	for p.peekByte() != ']' {
		item, ok := p.parseValue(depth + 1)
		if !ok {
			return a
		}
		a.items = append(a.items, item)
		if p.skipSpace(); p.peekByte() == ',' {
			p.at++
		}
	}
	p.at++
	return a
}

func (p *partialParser) parseNumber() (v Value, ok bool) {
	lastE := strings.LastIndexByte(p.text, 'e')
	if p.at == 0 {
		if v, ok = Parse(p.text); ok || p.text == "-" {
			return v, ok
		}
		return Parse(p.sliceText(0, lastE))
	}
	start := p.at
	if p.peekByte() == '-' {
		p.at++
	}
	for p.at < len(p.text) && strings.IndexByte(",]}", p.text[p.at]) < 0 {
		p.at++
	}
	if v, ok = Parse(p.sliceText(start, p.at)); ok || p.sliceText(start, p.at) == "-" {
		return v, ok
	}
	return Parse(p.sliceText(start, lastE))
}
