// Package display makes text from outside safe to draw. All text on the screen goes through it.
//
// Traffic, a capture, a file name or an upstream error may contain anything: terminal control
// sequences, characters that are invisible or reorder their neighbours, bytes that are not text.
// This package makes each of them visible and harmless. Nothing is executed, and nothing is left out
// without a mark:
//
//	C0 controls               ␛ ␇ ␍ ␊ ␉            the Unicode control pictures
//	DEL, C1, stray bytes      \x7f \x9b \xff       a raw C1 byte and its UTF-8 form alike
//	lone surrogates           \ud83d               three bytes that spell half of a pair
//	invisible, bidi, unknown  ⟨U+202E⟩             also private use, noncharacters, U+2028 and U+2029
//	tag characters            ⟨tags:"hello"⟩       a run of them, decoded
//	a mark with no base       ◌́                    alone it would join the text before it
//	more than 8 marks         á⟨+40⟩               the other marks are only counted
//
// A [Unit] is the smallest part of a text that is drawn as a whole. A joiner (zero width joiner,
// variation selector 16, skin tone) is drawn only inside a well-formed emoji. Anywhere else it is
// handled as an invisible character.
//
// Invariants:
//   - Only the introducer of an escape sequence is changed. The bytes after it are drawn as text, so
//     an unterminated sequence hides nothing.
//   - Cleaning clean text does not change it.
//   - Widths are those of x/ansi, which Bubble Tea also uses. Every unit is at least one cell wide
//     and at most [MaxCells].
//   - The units of a text, one after another, are the clean text. Its width is the sum of their
//     widths.
//   - Only a [Text] is drawn, and only this package can make one.
package display

// Drawer sets the alphabet for drawing. The zero Drawer draws Unicode; the functions of this package use
// it. With ASCII set, no byte above 0x7e is produced: é is \u00e9, an escape is \x1b.
type Drawer struct{ ASCII bool }

// Clean returns s as one line that is safe to draw: line feeds and tabs are shown as marks too.
func Clean(s string) Text { return Drawer{}.Clean(s) }

// Clean is the function [Clean] with this drawer's alphabet.
func (d Drawer) Clean(s string) Text {
	if isPlain(s) {
		return Text{s, len(s)}
	}
	return d.CleanBytes([]byte(s))
}

// CleanBytes is [Drawer.Clean] for bytes.
func (d Drawer) CleanBytes(b []byte) Text {
	return textOf(string(d.AppendClean(make([]byte, 0, len(b)), b)))
}

// AppendClean appends the clean form of src to dst. It allocates only to grow dst.
func (d Drawer) AppendClean(dst, src []byte) []byte {
	dst, _ = d.appendClean(dst, src, len(src))
	return dst
}

// appendClean is AppendClean of the units that begin in the first most bytes of src. It returns the bytes
// after them as rest.
func (d Drawer) appendClean(dst, src []byte, most int) (_, rest []byte) {
	for last := len(src) - most; len(src) > last; {
		n := plainLen(src, len(src)-last)
		if n > 0 {
			dst = append(dst, src[:n]...)
		} else {
			p := d.scan(src)
			dst = d.appendUnit(dst, src, p)
			n = p.n
		}
		src = src[n:]
	}
	return dst, src
}

// isPlain reports whether every byte of s is printable ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i]-0x20 > 0x7e-0x20 {
			return false
		}
	}
	return true
}
