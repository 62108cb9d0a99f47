// Package display is the one door between text that came from outside and the screen.
//
// A wire, a capture, a file name or an upstream error may hold anything: terminal control
// sequences, characters that are invisible or reorder their neighbours, bytes that are no text at
// all. Here each of them is made visible and harmless. Nothing is obeyed, and nothing is left out
// without saying so:
//
//	C0 controls               ␛ ␇ ␍ ␊ ␉            the Unicode control pictures
//	DEL, C1, stray bytes      \x7f \x9b \xff       a raw C1 byte and its UTF-8 form alike
//	lone surrogates           \ud83d               three bytes that spell half of a pair
//	invisible, bidi, unknown  ⟨U+202E⟩             also private use, noncharacters, U+2028 and U+2029
//	tag characters            ⟨tags:"hello"⟩       a run of them, decoded
//	a mark with no base       ◌́                    it would land on what is drawn before it
//	more than 8 marks         á⟨+40⟩               the rest is counted
//
// Words: a [Unit] is the smallest piece that is drawn whole. A joiner (zero width joiner, variation
// selector 16, skin tone) is drawn only inside a well-formed emoji; anywhere else it is one of the
// invisible characters.
//
// Invariants:
//   - Only the introducer of an escape sequence is changed. What follows is drawn as text, so an
//     unterminated sequence swallows nothing.
//   - Clean text, cleaned again, stays as it is.
//   - Widths are those of x/ansi, which is what Bubble Tea measures with. Every unit is at least
//     one cell wide and at most [MaxCells].
//   - The units of a text, one after the other, are the clean text: their cells add up to its
//     width.
//   - What is drawn is a [Text], and there is no other way to make one: no conversion, no literal.
package display

// Drawer fixes the alphabet that is drawn with. The zero value draws Unicode, and the functions of
// this package are its methods. With ASCII set, nothing above 0x7e is ever produced: é is \u00e9,
// an escape is \x1b.
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

// AppendClean appends the clean form of src to dst. It allocates nothing but what dst needs to
// grow.
func (d Drawer) AppendClean(dst, src []byte) []byte {
	dst, _ = d.appendClean(dst, src, len(src))
	return dst
}

// appendClean is AppendClean of the units that begin in the first so many bytes of src. It returns
// what follows them.
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
