package js

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseErrorText returns the error that JSON.parse reports for a text that is not JSON. The messages are those of
// JavaScriptCore (the engine of Bun), without the prefix "JSON Parse error: ". If the text is JSON, the result is "".
// An error of the lexer takes precedence over an error of the parser.
func ParseErrorText(text string) string {
	if _, ok := Parse(text); ok {
		return ""
	}
	c := errorParser{parser: parser{text: text}}
	c.nextToken()
	c.checkValue(0)
	switch {
	case c.tokenError != "":
		return c.tokenError
	case c.syntaxError != "":
		return c.syntaxError
	}
	return "Unable to parse JSON string"
}

// errorParser reads a text up to its first error.
type errorParser struct {
	parser
	kind        byte   // kind of the current token: its first byte, 'v' for a literal, 'i' for a word, 0 at the end, or 'x' if it is not a token
	word        string // the text of a word
	tokenError  string // error within the current token
	syntaxError string // error because the token is not allowed at its position
	lost        bool   // an exponent has no digits, so reading stops there without an error
}

// nextToken reads the next token and returns its kind.
func (c *errorParser) nextToken() byte {
	c.skipSpace()
	switch b := c.peekByte(); {
	case c.lost:
		c.kind = 'x'
	case c.at == len(c.text):
		c.kind = 0
	case strings.IndexByte("{}[](),:.=;", b) >= 0:
		c.kind = b
		c.at++
	case b == '"':
		c.kind = '"'
		c.checkString()
	case b == '\'':
		c.setTokenError("Single quotes (') are not allowed in JSON")
	case b == '-' || b >= '0' && b <= '9':
		c.kind = 'v'
		c.checkNumber()
	case isWord(b):
		c.checkIdentifier()
	default:
		c.setTokenError("Unrecognized token '" + firstUnits(c.text[c.at:], 1) + "'")
	}
	return c.kind
}

// peekByte returns the next byte, or 0 at the end.
func (c *errorParser) peekByte() byte {
	if c.at == len(c.text) {
		return 0
	}
	return c.text[c.at]
}

func (c *errorParser) setTokenError(why string) { c.kind, c.tokenError = 'x', why }

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b == '$'
}

// firstUnits returns the first n UTF-16 units of a text. If this cuts a surrogate pair, the first half is included.
func firstUnits(text string, n int) string {
	whole := UTF16Prefix(text, n)
	if rest := text[len(whole):]; rest != "" && UTF16Len(whole) < n {
		r, _ := utf8.DecodeRuneInString(rest)
		half, _ := utf16.EncodeRune(r)
		whole += string([]byte{0xe0 | byte(half>>12), 0x80 | byte(half>>6&0x3f), 0x80 | byte(half&0x3f)})
	}
	return whole
}

// checkIdentifier reads a JSON literal, even if more letters follow it, or else an identifier.
func (c *errorParser) checkIdentifier() {
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

// checkNumber reads a number. If the number is invalid, it sets the error of the token.
func (c *errorParser) checkNumber() {
	c.acceptByte('-')
	if !c.acceptByte('0') && c.skipDigits() == 0 {
		c.setTokenError("Invalid number")
		return
	}
	if c.acceptByte('.') && c.skipDigits() == 0 {
		c.setTokenError("Invalid digits after decimal point")
		return
	}
	if c.acceptByte('e') || c.acceptByte('E') {
		if !c.acceptByte('+') {
			c.acceptByte('-')
		}
		if c.skipDigits() == 0 {
			c.lost = true
		}
	}
}

// checkString reads a string. If the string is invalid, it sets the error of the token.
func (c *errorParser) checkString() {
	for c.at++; c.at < len(c.text) && c.text[c.at] >= ' '; c.at++ {
		switch c.text[c.at] {
		case '"':
			c.at++
			return
		case '\\':
			if c.at++; !c.checkEscape() {
				return
			}
		}
	}
	c.setTokenError("Unterminated string")
}

// checkEscape reads the escape after a backslash, except its last byte. If the escape is invalid, it sets the
// error and returns false.
func (c *errorParser) checkEscape() bool {
	rest := c.text[c.at:]
	switch {
	case rest == "":
		c.setTokenError("Unterminated string")
		return false
	case rest[0] == 'u':
		return c.checkUnicode(rest)
	case strings.IndexByte(`"\/bfnrt`, rest[0]) < 0:
		c.setTokenError("Invalid escape character " + firstUnits(rest, 1))
		return false
	}
	return true
}

// checkUnicode reads the digits of a \u escape. If they are invalid, it sets the error and returns false.
func (c *errorParser) checkUnicode(rest string) bool {
	if UTF16Len(rest) < 5 {
		c.setTokenError(`\u must be followed by 4 hex digits`)
		return false
	}
	for i := 1; i < 5; i++ {
		if !isHex(rest[i]) {
			c.setTokenError(`"\` + firstUnits(rest, 5) + `" is not a valid unicode escape`)
			return false
		}
	}
	c.at += 4
	return true
}

// checkValue reads the value that begins with the current token, and the token after it. It returns false
// after an error.
func (c *errorParser) checkValue(depth int) bool {
	switch {
	case depth > maxNesting:
		return false
	case c.kind == '{':
		return c.checkObject(depth)
	case c.kind == '[':
		return c.checkArray(depth)
	case c.kind == '"', c.kind == 'v':
		c.nextToken()
		return true
	case c.kind == 'i':
		c.syntaxError = `Unexpected identifier "` + c.word + `"`
	case c.kind == 0:
		c.syntaxError = "Unexpected EOF"
	case c.kind == 'x':
		c.syntaxError = "Could not parse value expression"
	default:
		c.syntaxError = "Unexpected token '" + string(c.kind) + "'"
	}
	return false
}

func (c *errorParser) checkArray(depth int) bool {
	if c.nextToken() == ']' {
		c.nextToken()
		return true
	}
	for c.checkValue(depth + 1) {
		switch {
		case c.kind != ',':
			return c.expectToken(']', "Expected ']'")
		case c.nextToken() == ']':
			c.syntaxError = "Unexpected comma at the end of array expression"
			return false
		}
	}
	return false
}

func (c *errorParser) checkObject(depth int) bool {
	if c.nextToken() != '"' {
		return c.expectToken('}', "Expected '}'")
	}
	for {
		if c.nextToken(); !c.expectToken(':', "Expected ':' before value in object property definition") || !c.checkValue(depth+1) {
			return false
		}
		if c.kind != ',' {
			return c.expectToken('}', "Expected '}'")
		}
		if c.nextToken() != '"' {
			c.syntaxError = "Property name must be a string literal"
			return false
		}
	}
}

// expectToken reads a token of the given kind. For any other token, it sets the error and returns false.
func (c *errorParser) expectToken(kind byte, otherwise string) bool {
	if c.kind != kind {
		c.syntaxError = otherwise
		return false
	}
	c.nextToken()
	return true
}
