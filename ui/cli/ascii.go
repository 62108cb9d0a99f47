package cli

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// asciiTo is a stream that gets no byte over 0x7F, once it is on: our own signs are written in other
// words, and all other characters as \uXXXX, which in a line of JSON is the same text; in XML they are
// references, which are the same there.
type asciiTo struct {
	to   io.Writer
	on   bool
	json bool // what is written is a line of JSON
	xml  bool // it is XML
	mid  bool // in the middle of a line
	any  bool // something was written
	rest []byte
}

// inASCII are our own signs, as ASCII has them.
var inASCII = map[rune]string{
	'·': "-", '…': "...", '–': "-", '—': "--", '×': "x", '→': "->", '←': "<-", '↑': "^", '↓': "v", '⇧': "shift-", '≈': "~=", '≠': "!=", '∅': "{}", '“': `"`, '”': `"`,
}

func (a *asciiTo) Write(p []byte) (int, error) {
	if !a.on {
		return a.to.Write(p)
	}
	text := append(a.rest, p...)
	if !a.any {
		a.any, a.xml = len(p) > 0, bytes.HasPrefix(p, []byte("<?xml"))
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 && (utf8.FullRune(text) || len(text) >= utf8.UTFMax) {
		r, n := utf8.DecodeRune(text)
		if !a.mid {
			a.json, a.mid = r == '{', true
		}
		if r == '\n' {
			a.mid = false
		}
		out = a.appendRune(out, r)
		text = text[n:]
	}
	a.rest = bytes.Clone(text)
	_, err := a.to.Write(out)
	return len(p), err
}

func (a *asciiTo) appendRune(out []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		return append(out, byte(r))
	}
	if a.xml {
		return fmt.Appendf(out, "&#x%x;", r)
	}
	if sign := inASCII[r]; sign != "" && !a.json {
		return append(out, sign...)
	}
	if one, two := utf16.EncodeRune(r); r > 0xFFFF {
		return fmt.Appendf(out, `\u%04x\u%04x`, one, two)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}
