package cli

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// asciiTo is a writer that writes only ASCII while on is set. It replaces toolscope's own signs by ASCII
// signs. Other characters become \uXXXX, which has the same meaning in a line of JSON; in XML they become
// character references.
type asciiTo struct {
	to   io.Writer
	on   bool
	json bool // the current line is JSON
	xml  bool // the output is XML
	mid  bool // the current line has begun
	any  bool // something was written
	rest []byte
}

// inASCII maps toolscope's own signs to ASCII.
var inASCII = map[rune]string{
	'·': "-", '…': "...", '–': "-", '—': "--", '×': "x", '→': "->", '←': "<-", '↑': "^", '↓': "v", '⇧': "shift-", '≈': "~=", '≠': "!=", '∅': "{}", '“': `"`, '”': `"`,
}

// Write writes p, in ASCII if a is on. Bytes of an incomplete character wait for the next write.
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

// appendRune appends a character in ASCII.
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
