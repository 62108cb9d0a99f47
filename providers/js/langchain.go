package js

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"toolscope/stream/jsonbytes"
)

// LangChain is the parser of LangChain for arguments that may still be arriving: it closes what is
// open, and throws at what is wrong, for which ok is false.
func LangChain(text string) (v Value, ok bool) {
	if v, ok = Parse(text); ok {
		return v, true
	}
	p := langChain{partial{text: Trim(text)}}
	v, ok = p.value(0)
	p.space()
	return v, ok && p.at >= len(p.text)
}

type langChain struct{ partial }

func (p *langChain) space() {
	rest := strings.TrimLeftFunc(p.text[min(p.at, len(p.text)):], isSpace)
	p.at = len(p.text) - len(rest)
}

func (p *langChain) ended() bool { return p.at >= len(p.text) }

func (p *langChain) value(depth int) (v Value, ok bool) {
	if p.space(); p.ended() || depth > deepest {
		return v, false
	}
	c := p.text[p.at]
	switch c {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		s, ok := p.string()
		return Text(s), ok
	}
	for _, word := range []string{"null", "true", "false"} {
		if n := p.unitsOf(len(word)); strings.HasPrefix(word, n) {
			p.at += len(n)
			return words[word], true
		}
	}
	if c == '-' || c >= '0' && c <= '9' {
		return p.number()
	}
	return v, false
}

// unitsOf are the next bytes, at most so many.
func (p *langChain) unitsOf(n int) string { return p.text[p.at:min(p.at+n, len(p.text))] }

func (p *langChain) array(depth int) (v Value, ok bool) {
	v.Kind = Array
	p.at++
	if p.space(); p.ended() {
		return v, true
	}
	if p.next() == ']' {
		p.at++
		return v, true
	}
	for !p.ended() {
		if p.space(); p.ended() {
			break
		}
		item, ok := p.value(depth + 1)
		if !ok {
			return v, false
		}
		v.items = append(v.items, item)
		if done, ok := p.goesOn(']'); done {
			return v, ok
		}
	}
	return v, true
}

// goesOn takes a comma; done says that the container ends here, closed or not, and ok that it may.
func (p *langChain) goesOn(closer byte) (done, ok bool) {
	if p.space(); p.ended() {
		return true, true
	}
	c := p.text[p.at]
	p.at++
	return c != ',', c == closer
}

func (p *langChain) object(depth int) (v Value, ok bool) {
	v.Kind = Object
	p.at++
	if p.space(); p.ended() {
		return v, true
	}
	if p.next() == '}' {
		p.at++
		return v, true
	}
	for !p.ended() {
		if p.space(); p.ended() {
			break
		}
		key, ok := p.string()
		if !ok {
			return v, false
		}
		if p.space(); p.ended() {
			break
		}
		if p.next() != ':' {
			return v, false
		}
		p.at++
		if p.space(); p.ended() {
			break
		}
		member, ok := p.value(depth + 1)
		if !ok {
			return v, false
		}
		v.assign(key, member)
		if done, ok := p.goesOn('}'); done {
			return v, ok
		}
	}
	return v, true
}

// string reads a literal that may not have ended. Control characters may stand in it; an escape of
// fewer than four digits at the end becomes its letters.
func (p *langChain) string() (s string, ok bool) {
	if p.next() != '"' {
		return "", false
	}
	p.at++
	var lit []byte // with escapes, to be unquoted at once: halves of pairs find each other
	for ; !p.ended(); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return string(jsonbytes.AppendUnquoted(nil, lit)), true
		case c == '\\' && p.at+1 == len(p.text):
			lit = append(lit, `\\`...)
		case c == '\\':
			if lit, ok = p.escape(lit); !ok {
				return "", false
			}
		default:
			lit = append(lit, c)
		}
	}
	return string(jsonbytes.AppendUnquoted(nil, lit)), true
}

// escape appends the escape that begins here, and stops at its last byte.
func (p *langChain) escape(lit []byte) ([]byte, bool) {
	p.at++
	c := p.text[p.at]
	if c != 'u' {
		return append(lit, '\\', c), strings.IndexByte(`ntr\"bf/`, c) >= 0
	}
	hex := p.text[p.at+1:]
	if n := min(len(hex), 4); true {
		for n < len(hex) && !utf8.RuneStart(hex[n]) {
			n++
		}
		hex = hex[:n]
	}
	for i := range len(hex) {
		if !isHex(hex[i]) {
			return lit, false
		}
	}
	p.at += len(hex)
	if len(hex) < 4 {
		return append(append(lit, 'u'), hex...), true
	}
	return append(append(lit, `\u`...), hex...), true
}

// number reads as much of a number as there is.
func (p *langChain) number() (v Value, ok bool) {
	start := p.at
	if p.next() == '-' {
		p.at++
	}
	if p.next() == '0' {
		if p.at++; isDigit(p.next()) {
			return v, false
		}
	}
	p.digits()
	if p.next() == '.' {
		p.at++
		p.digits()
	}
	if c := p.next(); c == 'e' || c == 'E' {
		p.at++
		if c := p.next(); c == '+' || c == '-' {
			p.at++
		}
		p.digits()
	}
	text := p.text[start:p.at]
	if text == "-" {
		return Double(0), true
	}
	return parseFloat(text)
}

func (p *langChain) digits() {
	for isDigit(p.next()) {
		p.at++
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseFloat is Number.parseFloat: the number that text begins with.
func parseFloat(text string) (v Value, ok bool) {
	for n := len(text); n > 0; n-- {
		if f, err := strconv.ParseFloat(text[:n], 64); err == nil || f != 0 {
			return Double(f), true
		}
	}
	return v, false
}
