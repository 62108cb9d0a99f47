package js

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolscope/stream/json"
)

// LangChain reproduces LangChain's parser for arguments that may still be arriving. The parser closes open brackets
// and strings. On any other error in the text, LangChain throws and ok is false.
func LangChain(text string) (v Value, ok bool) {
	if v, ok = Parse(text); ok {
		return v, true
	}
	p := langChainParser{text: Trim(text)}
	v, ok = p.parseValue(0)
	p.skipSpace()
	return v, ok && p.at >= len(p.text)
}

type langChainParser struct {
	text string
	at   int
}

func (p *langChainParser) skipSpace() {
	rest := strings.TrimLeftFunc(p.text[min(p.at, len(p.text)):], isSpace)
	p.at = len(p.text) - len(rest)
}

// peekByte returns the next byte, or 0 at the end.
func (p *langChainParser) peekByte() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *langChainParser) atEnd() bool { return p.at >= len(p.text) }

func (p *langChainParser) parseValue(depth int) (v Value, ok bool) {
	if p.skipSpace(); p.atEnd() || depth > maxNesting {
		return v, false
	}
	c := p.text[p.at]
	switch c {
	case '{':
		return p.parseObject(depth)
	case '[':
		return p.parseArray(depth)
	case '"':
		s, ok := p.parseString()
		return StringValue(s), ok
	}
	for _, word := range []string{"null", "true", "false"} {
		if n := p.text[p.at:min(p.at+len(word), len(p.text))]; strings.HasPrefix(word, n) {
			p.at += len(n)
			return words[word], true
		}
	}
	if c == '-' || c >= '0' && c <= '9' {
		return p.parseNumber()
	}
	return v, false
}

func (p *langChainParser) parseArray(depth int) (v Value, ok bool) {
	v.Kind = Array
	p.at++
	if p.skipSpace(); p.atEnd() {
		return v, true
	}
	if p.peekByte() == ']' {
		p.at++
		return v, true
	}
	for !p.atEnd() {
		if p.skipSpace(); p.atEnd() {
			break
		}
		item, ok := p.parseValue(depth + 1)
		if !ok {
			return v, false
		}
		v.items = append(v.items, item)
		if done, ok := p.acceptComma(']'); done {
			return v, ok
		}
	}
	return v, true
}

// acceptComma reads a comma or the closing bracket. The result done is true if the container ends here, closed or
// not, and ok is true if it may end here.
func (p *langChainParser) acceptComma(closer byte) (done, ok bool) {
	if p.skipSpace(); p.atEnd() {
		return true, true
	}
	c := p.text[p.at]
	p.at++
	return c != ',', c == closer
}

func (p *langChainParser) parseObject(depth int) (v Value, ok bool) {
	v.Kind = Object
	p.at++
	if p.skipSpace(); p.atEnd() {
		return v, true
	}
	if p.peekByte() == '}' {
		p.at++
		return v, true
	}
	for !p.atEnd() {
		if p.skipSpace(); p.atEnd() {
			break
		}
		key, ok := p.parseString()
		if !ok {
			return v, false
		}
		if p.skipSpace(); p.atEnd() {
			break
		}
		if p.peekByte() != ':' {
			return v, false
		}
		p.at++
		if p.skipSpace(); p.atEnd() {
			break
		}
		member, ok := p.parseValue(depth + 1)
		if !ok {
			return v, false
		}
		if key != "__proto__" { // an assignment to __proto__ sets no field
			v.defineMember(key, member)
		}
		if done, ok := p.acceptComma('}'); done {
			return v, ok
		}
	}
	return v, true
}

// parseString reads a string that may be incomplete and may contain control characters. If the text ends within the
// digits of a \u escape, the escape becomes the characters after the backslash. If no string begins here or an escape
// is invalid, ok is false.
func (p *langChainParser) parseString() (s string, ok bool) {
	if p.peekByte() != '"' {
		return "", false
	}
	p.at++
	var lit []byte // the escaped text, which is unquoted as a whole so that surrogate halves form pairs
	for ; !p.atEnd(); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return string(json.AppendUnquoted(nil, lit)), true
		case c == '\\' && p.at+1 == len(p.text):
			lit = append(lit, `\\`...)
		case c == '\\':
			if lit, ok = p.parseEscape(lit); !ok {
				return "", false
			}
		default:
			lit = append(lit, c)
		}
	}
	return string(json.AppendUnquoted(nil, lit)), true
}

// parseEscape appends the escape that begins here and stops at its last byte. If the escape is invalid, the second
// result is false.
func (p *langChainParser) parseEscape(lit []byte) ([]byte, bool) {
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

// parseNumber reads a number that may be incomplete. If no number begins here, or its first digit is a 0 before other
// digits, ok is false.
func (p *langChainParser) parseNumber() (v Value, ok bool) {
	start := p.at
	if p.peekByte() == '-' {
		p.at++
	}
	if p.peekByte() == '0' {
		if p.at++; isDigit(p.peekByte()) {
			return v, false
		}
	}
	p.skipDigits()
	if p.peekByte() == '.' {
		p.at++
		p.skipDigits()
	}
	if c := p.peekByte(); c == 'e' || c == 'E' {
		p.at++
		if c := p.peekByte(); c == '+' || c == '-' {
			p.at++
		}
		p.skipDigits()
	}
	text := p.text[start:p.at]
	if text == "-" {
		return NumberValue(0), true
	}
	return parseFloat(text)
}

func (p *langChainParser) skipDigits() {
	for isDigit(p.peekByte()) {
		p.at++
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseFloat reproduces Number.parseFloat: it reads the number at the start of text. If there is none, ok is false.
func parseFloat(text string) (v Value, ok bool) {
	for n := len(text); n > 0; n-- {
		if f, err := strconv.ParseFloat(text[:n], 64); err == nil || f != 0 {
			return NumberValue(f), true
		}
	}
	return v, false
}

// ParseRepaired reproduces pi's parser for the arguments of a finished call. The parser accepts JSON, and text that
// becomes JSON when its strings are repaired. For any other text, ok is false.
func ParseRepaired(text string) (v Value, ok bool) {
	if v, ok = Parse(text); !ok {
		v, ok = Parse(escapeControls(text))
	}
	return v, ok
}

// escapeControls escapes control characters in strings, and backslashes that don't begin an escape.
func escapeControls(text string) string {
	var b strings.Builder
	in := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			in = !in
			b.WriteByte(c)
		case in && c == '\\':
			i += writeEscape(&b, text[i+1:])
		case in && c < ' ':
			if i := strings.IndexByte("\b\f\n\r\t", c); i >= 0 {
				b.WriteString(`\` + "bfnrt"[i:i+1])
			} else {
				fmt.Fprintf(&b, `\u%04x`, c)
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// writeEscape writes a backslash and its escape, or two backslashes if rest doesn't begin with an escape. It
// returns the number of bytes of rest that it wrote.
func writeEscape(b *strings.Builder, rest string) int {
	switch {
	case len(rest) >= 5 && rest[0] == 'u' && isHex(rest[1]) && isHex(rest[2]) && isHex(rest[3]) && isHex(rest[4]):
		b.WriteString(`\` + rest[:5])
		return 5
	case rest != "" && strings.IndexByte(`"\/bfnrtu`, rest[0]) >= 0:
		b.WriteString(`\` + rest[:1])
		return 1
	}
	b.WriteString(`\\`)
	return 0
}
