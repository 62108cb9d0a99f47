package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

const (
	maxDigits = 4300 // of an integer, the default limit of Python
	maxNested = 200  // levels; whether Python reads more depends on its version
)

// reprOf appends Python's repr of the value that json.loads reads from a text, or of the text if that raises
// an error. With inner, strings that hold a list or a dict in JSON are parsed, too. ok is false if Python's
// result is not predicted.
func reprOf(dst, text []byte, inner bool) (out []byte, ok bool) {
	return pythonWriter{inner: inner}.writeText(dst, text, false)
}

// pythonWriter writes values as Python's repr does.
type pythonWriter struct {
	inner bool
	depth int
}

// writeText writes the value of a JSON text. With looks, only a list or a dict is parsed.
func (p pythonWriter) writeText(dst, text []byte, looks bool) (out []byte, ok bool) {
	if looks && !looksNested(text) {
		return appendRepr(dst, text), true
	}
	if !json.Valid(text) {
		mayRead := bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("Infinity"))
		return appendRepr(dst, text), !mayRead && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= maxNested
	}
	var lex stream.Lexer
	lex.Write(text)
	lex.Close()
	t := newTree(text, lex.Tokens())
	return p.writeValue(dst, t, 0)
}

// looksNested reports whether a text begins and ends like a list or a dict.
func looksNested(text []byte) bool {
	return bytes.HasPrefix(text, []byte("{")) && bytes.HasSuffix(text, []byte("}")) ||
		bytes.HasPrefix(text, []byte("[")) && bytes.HasSuffix(text, []byte("]"))
}

// writeValue writes the value at token n.
func (p pythonWriter) writeValue(dst []byte, t *tokenTree, n int) (out []byte, ok bool) {
	if p.depth++; p.depth > maxNested {
		return dst, false
	}
	lit := t.literalAt(n)
	switch t.tokens[n].Kind {
	case stream.ObjectOpen:
		return p.writeDict(dst, t, n)
	case stream.ArrayOpen:
		return p.writeList(dst, t, n)
	case stream.String:
		text := protocol.Raw(lit).Append(nil)
		if p.inner {
			return p.writeText(dst, text, true)
		}
		return appendRepr(dst, text), true
	case stream.Number:
		return reprNumber(dst, lit)
	}
	return append(dst, map[string]string{"true": "True", "false": "False", "null": "None"}[string(lit)]...), true
}

func (p pythonWriter) writeDict(dst []byte, t *tokenTree, n int) (out []byte, ok bool) {
	dst = append(dst, '{')
	for i, m := range t.membersOf(n) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendRepr(dst, []byte(m.key)), ": "...)
		if dst, ok = p.writeValue(dst, t, m.value); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

func (p pythonWriter) writeList(dst []byte, t *tokenTree, n int) (out []byte, ok bool) {
	dst = append(dst, '[')
	for i := n + 1; t.tokens[i].Kind != stream.ArrayClose; i = int(t.close[i]) + 1 {
		if t.tokens[i].Kind == stream.Comma {
			dst = append(dst, ", "...)
			continue
		}
		if dst, ok = p.writeValue(dst, t, i); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

// reprNumber writes a number; ok is false for an integer that Python refuses.
func reprNumber(dst, lit []byte) (out []byte, ok bool) {
	if !bytes.ContainsAny(lit, ".eE") {
		return appendPython(dst, lit), len(bytes.TrimPrefix(lit, []byte("-"))) <= maxDigits
	}
	switch v, _ := strconv.ParseFloat(string(lit), 64); {
	case math.IsInf(v, 1):
		return append(dst, "inf"...), true
	case math.IsInf(v, -1):
		return append(dst, "-inf"...), true
	}
	return appendPython(dst, lit), true
}

// appendRepr appends a string as Python's repr writes it: in single quotes, or in double quotes if it has
// single quotes and no double quotes.
func appendRepr(dst, text []byte) []byte {
	quote := byte('\'')
	if bytes.IndexByte(text, '\'') >= 0 && bytes.IndexByte(text, '"') < 0 {
		quote = '"'
	}
	dst = append(dst, quote)
	for i := 0; i < len(text); {
		if isHalf(text[i:]) {
			half := rune(text[i]&0xf)<<12 | rune(text[i+1]&0x3f)<<6 | rune(text[i+2]&0x3f)
			dst, i = fmt.Appendf(dst, `\u%04x`, half), i+3
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		dst, i = appendReprRune(dst, r, quote), i+n
	}
	return append(dst, quote)
}

func appendReprRune(dst []byte, r rune, quote byte) []byte {
	switch {
	case r == rune(quote), r == '\\':
		return append(dst, '\\', byte(r))
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == '\t':
		return append(dst, `\t`...)
	case unicode.IsPrint(r):
		return utf8.AppendRune(dst, r)
	case r < 0x100:
		return fmt.Appendf(dst, `\x%02x`, r)
	case r < 0x10000:
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	return fmt.Appendf(dst, `\U%08x`, r)
}
