package js

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Complaint is what JSON.parse of JavaScriptCore, which Bun runs on, says of a text that is no JSON,
// without the words "JSON Parse error: " before it. It is "" where the text is JSON. What the
// reader of tokens objects to goes before what the reader of values does.
func Complaint(text string) string {
	if _, ok := Parse(text); ok {
		return ""
	}
	c := complainer{parser: parser{text: text}}
	c.next()
	c.value(0)
	switch {
	case c.token != "":
		return c.token
	case c.said != "":
		return c.said
	}
	return "Unable to parse JSON string"
}

// complainer reads a text until something is wrong with it.
type complainer struct {
	parser
	kind  byte   // of the token at hand: its first byte, 'v' for a literal, 'i' for a word, 0 at the end, 'x' if it is none
	word  string // of a word: itself
	token string // what is wrong with a token
	said  string // what is wrong with where it stands
	lost  bool   // an exponent has no digits: nothing is read behind it, and nothing said of that
}

// next reads a token.
func (c *complainer) next() byte {
	c.space()
	switch b := c.byte(); {
	case c.lost:
		c.kind = 'x'
	case c.at == len(c.text):
		c.kind = 0
	case strings.IndexByte("{}[](),:.=;", b) >= 0:
		c.kind = b
		c.at++
	case b == '"':
		c.kind = '"'
		c.literal()
	case b == '\'':
		c.wrong("Single quotes (') are not allowed in JSON")
	case b == '-' || b >= '0' && b <= '9':
		c.kind = 'v'
		c.numeral()
	case isWord(b):
		c.identifier()
	default:
		c.wrong("Unrecognized token '" + firstUnits(c.text[c.at:], 1) + "'")
	}
	return c.kind
}

// byte is the next byte, 0 where there is none.
func (c *complainer) byte() byte {
	if c.at == len(c.text) {
		return 0
	}
	return c.text[c.at]
}

func (c *complainer) wrong(why string) { c.kind, c.token = 'x', why }

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '$'
}

// firstUnits are the first units of UTF-16 of a text, half a character at the end among them.
func firstUnits(text string, n int) string {
	whole := Cut(text, n)
	if rest := text[len(whole):]; rest != "" && Len(whole) < n {
		r, _ := utf8.DecodeRuneInString(rest)
		half, _ := utf16.EncodeRune(r)
		whole += string([]byte{0xe0 | byte(half>>12), 0x80 | byte(half>>6&0x3f), 0x80 | byte(half&0x3f)})
	}
	return whole
}

// identifier reads a word: one of JSON's, even if more letters follow, or what stands there.
func (c *complainer) identifier() {
	rest := c.text[c.at:]
	for word := range words {
		if strings.HasPrefix(rest, word) {
			c.kind = 'v'
			c.at += len(word)
			return
		}
	}
	end := 0
	for end < len(rest) && (isWord(rest[end]) || rest[end] >= '0' && rest[end] <= '9') {
		end++
	}
	c.kind, c.word = 'i', rest[:end]
	c.at += end
}

// numeral reads a number.
func (c *complainer) numeral() {
	c.is('-')
	if !c.is('0') && c.digits() == 0 {
		c.wrong("Invalid number")
		return
	}
	if c.is('.') && c.digits() == 0 {
		c.wrong("Invalid digits after decimal point")
		return
	}
	if c.is('e') || c.is('E') {
		if !c.is('+') {
			c.is('-')
		}
		if c.digits() == 0 {
			c.lost = true
		}
	}
}

// literal reads a string.
func (c *complainer) literal() {
	for c.at++; c.at < len(c.text) && c.text[c.at] >= ' '; c.at++ {
		switch c.text[c.at] {
		case '"':
			c.at++
			return
		case '\\':
			if c.at++; !c.escaped() {
				return
			}
		}
	}
	c.wrong("Unterminated string")
}

// escaped reads what follows a backslash, but for its last byte.
func (c *complainer) escaped() bool {
	rest := c.text[c.at:]
	switch {
	case rest == "":
		c.wrong("Unterminated string")
		return false
	case rest[0] == 'u':
		return c.unicode(rest)
	case strings.IndexByte(`"\/bfnrt`, rest[0]) < 0:
		c.wrong("Invalid escape character " + firstUnits(rest, 1))
		return false
	}
	return true
}

// unicode reads the digits of an escape.
func (c *complainer) unicode(rest string) bool {
	if Len(rest) < 5 {
		c.wrong(`\u must be followed by 4 hex digits`)
		return false
	}
	for i := 1; i < 5; i++ {
		if !isHex(rest[i]) {
			c.wrong(`"\` + firstUnits(rest, 5) + `" is not a valid unicode escape`)
			return false
		}
	}
	c.at += 4
	return true
}

// value reads what begins with the token at hand, and the token behind it.
func (c *complainer) value(depth int) bool {
	switch {
	case depth > deepest:
		return false
	case c.kind == '{':
		return c.object(depth)
	case c.kind == '[':
		return c.array(depth)
	case c.kind == '"', c.kind == 'v':
		c.next()
		return true
	case c.kind == 'i':
		c.said = `Unexpected identifier "` + c.word + `"`
	case c.kind == 0:
		c.said = "Unexpected EOF"
	case c.kind == 'x':
		c.said = "Could not parse value expression"
	default:
		c.said = "Unexpected token '" + string(c.kind) + "'"
	}
	return false
}

func (c *complainer) array(depth int) bool {
	if c.next() == ']' {
		c.next()
		return true
	}
	for c.value(depth + 1) {
		switch {
		case c.kind != ',':
			return c.expects(']', "Expected ']'")
		case c.next() == ']':
			c.said = "Unexpected comma at the end of array expression"
			return false
		}
	}
	return false
}

func (c *complainer) object(depth int) bool {
	if c.next() != '"' {
		return c.expects('}', "Expected '}'")
	}
	for {
		if c.next(); !c.expects(':', "Expected ':' before value in object property definition") || !c.value(depth+1) {
			return false
		}
		if c.kind != ',' {
			return c.expects('}', "Expected '}'")
		}
		if c.next() != '"' {
			c.said = "Property name must be a string literal"
			return false
		}
	}
}

// expects takes a token, or says what should stand there.
func (c *complainer) expects(kind byte, otherwise string) bool {
	if c.kind != kind {
		c.said = otherwise
		return false
	}
	c.next()
	return true
}
