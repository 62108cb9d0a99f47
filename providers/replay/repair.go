package replay

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/jsonbytes"
)

// repairJSON repairs arguments that are not an object as a forgiving parser such as partial-json does. It
// keeps the text before the first wrong byte, drops a field without a value, and closes open strings and
// brackets. ok is false if the result is not an object, or an empty one.
func repairJSON(f *argsFacts) (object []byte, ok bool) {
	tokens := f.tokens
	if n := tokens.Len(); n > 0 && tokens.At(n-1).Kind == stream.Junk {
		tokens = tokens.Before(n - 1)
	}
	var b prefixCloser
	start := 0
	for n, t := range tokens.All() {
		if !b.add(t.Kind, f.raw[start:t.End], n == tokens.Len()-1) {
			break
		}
		start = int(t.End)
	}
	return b.closeText()
}

// RepairPrefix repairs the beginning of an object as a forgiving parser does: see repairJSON. It returns a
// complete object unchanged, and also a text from which the parser reads no object.
func RepairPrefix(text []byte) []byte {
	f := factsOf(text, false)
	if f.syntax == stream.SyntaxObject {
		return text
	}
	if object, _ := repairJSON(f); object != nil {
		return object
	}
	return text
}

// prefixCloser closes a prefix of a JSON text.
type prefixCloser struct {
	out     []byte
	closers []byte
	keep    int  // length of the part of out that is valid JSON with the closers after it
	began   bool // the object has begun
}

// add adds a token; false ends the text.
func (b *prefixCloser) add(kind stream.TokenKind, lit []byte, last bool) bool {
	switch kind {
	case stream.Space:
		return true
	case stream.ObjectOpen, stream.ArrayOpen:
		if !b.began && kind == stream.ArrayOpen {
			return false
		}
		b.began = true
		b.out = append(b.out, lit...)
		b.closers = append(b.closers, lit[0]+2) // } is two after {, ] two after [
		b.keep = len(b.out)
		return true
	case stream.ObjectClose, stream.ArrayClose:
		b.out = append(b.out[:b.keep], lit...)
		b.closers = b.closers[:len(b.closers)-1]
		b.keep = len(b.out)
		return len(b.closers) > 0
	}
	if !b.began {
		return false
	}
	switch kind {
	case stream.Comma, stream.Colon:
		b.out = append(b.out, lit...)
	case stream.Key:
		if !isClosed(lit) {
			return false
		}
		b.out = append(b.out, lit...)
	case stream.String:
		b.out = append(b.out, closedString(lit)...)
		b.keep = len(b.out)
	case stream.Number:
		lit = bytes.TrimRight(lit, "-+.eE")
		if len(lit) == 0 {
			return false
		}
		b.out = append(b.out, lit...)
		b.keep = len(b.out)
	default:
		b.out = append(b.out, literalOf(lit)...)
		b.keep = len(b.out)
	}
	return !last
}

// closeText returns the closed text; ok is false if it is not an object with fields.
func (b *prefixCloser) closeText() (object []byte, ok bool) {
	if !b.began {
		return nil, false
	}
	out := b.out[:b.keep]
	for i := len(b.closers) - 1; i >= 0; i-- {
		out = append(out, b.closers[i])
	}
	return out, len(bytes.TrimSpace(out)) > len("{}")
}

// isClosed reports whether a string literal has its closing quote.
func isClosed(lit []byte) bool {
	_, closed := jsonbytes.StringEnd(lit)
	return closed
}

// closedString closes a string literal that may be cut. It drops an incomplete escape or character.
func closedString(lit []byte) []byte {
	if isClosed(lit) {
		return lit
	}
	text := jsonbytes.AppendUnquoted(nil, lit[1:])
	for n := 1; n <= min(3, len(text)); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) && !utf8.FullRune(tail) {
			text = text[:len(text)-n]
			break
		}
	}
	return protocol.AppendString(nil, text)
}

// literalOf completes a cut literal.
func literalOf(lit []byte) string {
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(word, string(lit)) {
			return word
		}
	}
	return string(lit)
}
