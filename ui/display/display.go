// Package display makes text from outside safe to draw. All text on the screen goes through it.
//
// Traffic, a capture, a file name or an upstream error may contain anything: terminal control sequences,
// characters that are invisible or reorder their neighbours, and bytes that are not text. This package makes
// each of them visible and harmless. Nothing is executed, and nothing is left out without a mark:
//
//	C0 controls               ␛ ␇ ␍ ␊ ␉            the Unicode control pictures
//	DEL, C1, stray bytes      \x7f \x9b \xff       a raw C1 byte and its UTF-8 form alike
//	lone surrogates           \ud83d               three bytes that spell half of a pair
//	invisible, bidi, unknown  ⟨U+202E⟩             also private use, noncharacters, U+2028 and U+2029
//	tag characters            ⟨tags:"hello"⟩       a run of them, decoded
//	a mark with no base       ◌́                    on its own, it would join the text before it
//	more than 8 marks         á⟨+40⟩               the other marks are only counted
//
// A [Unit] is the smallest part of a text that is drawn as a whole. A joiner (zero width joiner, variation
// selector 16, skin tone) is drawn only inside a well-formed emoji. Anywhere else it is handled as an
// invisible character.
//
// Invariants:
//   - Only the introducer of an escape sequence is changed. The bytes after it are drawn as text, so
//     an unterminated sequence hides nothing.
//   - Cleaning clean text does not change it.
//   - Widths are as in x/ansi, which Bubble Tea also uses. Every unit is at least one cell wide
//     and at most [MaxCells].
//   - The units of a text, one after another, are the clean text. Its width is the sum of their
//     widths.
//   - Only a [Text] is drawn, and only this package can make one.
package display

import (
	"bytes"
	"iter"
	"strconv"
	"sync"
	"unicode/utf8"

	"toolscope/stream/json"
)

// Drawer sets the alphabet for drawing. The zero Drawer, which the functions in this package use, draws Unicode. If
// ASCII is set, no byte above 0x7e is produced: é becomes \u00e9, and an escape becomes \x1b.
type Drawer struct{ ASCII bool }

// Clean returns s as one line that is safe to draw. Line feeds and tabs are shown as marks too.
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

// appendClean is like AppendClean, but only for the units that begin in src[:most]. It returns the bytes
// after those units as rest.
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

const (
	circle    = "◌"
	tagsOpen  = `⟨tags:"`
	tagsClose = `"⟩`

	// pictures are the Unicode control pictures of the C0 controls, three bytes each.
	pictures = "␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟"
)

// drawnText returns the drawn form of the altered unit p at the start of b.
func (d Drawer) drawnText(b []byte, p scannedUnit) string {
	if p.form == control && !d.ASCII {
		return pictures[3*p.r : 3*p.r+3]
	}
	var buf [3 * MaxCells]byte
	return string(d.appendUnit(buf[:0], b, p))
}

// appendUnit appends the drawn form of the unit p at the start of b.
func (d Drawer) appendUnit(dst, b []byte, p scannedUnit) []byte {
	switch p.form {
	case control:
		if d.ASCII {
			switch p.r {
			case '\t':
				return append(dst, `\t`...)
			case '\n':
				return append(dst, `\n`...)
			case '\r':
				return append(dst, `\r`...)
			}
			return appendHex(append(dst, `\x`...), p.r, 2)
		}
		return append(dst, pictures[3*p.r:3*p.r+3]...)
	case octet:
		return appendHex(append(dst, `\x`...), p.r, 2)
	case surrogate:
		return appendHex(append(dst, `\u`...), p.r, 4)
	case point:
		return d.appendPoint(dst, p.r)
	case tags:
		return d.appendTags(dst, b[:p.n])
	case based:
		dst = append(dst, circle...)
	}
	dst = append(dst, b[:p.keep]...)
	if p.lost > 0 {
		dst = append(dst, "⟨+"...)
		dst = strconv.AppendInt(dst, int64(p.lost), 10)
		dst = append(dst, "⟩"...)
	}
	return dst
}

// appendPoint appends the number of a code point, as an escape or in brackets.
func (d Drawer) appendPoint(dst []byte, r rune) []byte {
	switch {
	case d.ASCII && r > 0xffff:
		return appendHex(append(dst, `\U`...), r, 8)
	case d.ASCII:
		return appendHex(append(dst, `\u`...), r, 4)
	}
	var buf [8]byte
	hex := appendHex(buf[:0], r, 4)
	dst = append(dst, "⟨U+"...)
	for _, c := range hex {
		if c >= 'a' {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return append(dst, "⟩"...)
}

// appendTags appends a run of tag characters, decoded.
func (d Drawer) appendTags(dst, run []byte) []byte {
	first, last := tagsOpen, tagsClose
	if d.ASCII {
		first, last = `<tags:"`, `">`
	}
	dst = append(dst, first...)
	for len(run) > 0 {
		r, n := utf8.DecodeRune(run)
		dst = appendTag(dst, r)
		run = run[n:]
	}
	return append(dst, last...)
}

// appendTag appends the ASCII character that the tag character r encodes.
func appendTag(dst []byte, r rune) []byte {
	switch c := r - 0xe0000; {
	case c == '"' || c == '\\':
		return append(dst, '\\', byte(c))
	case c >= 0x20 && c < 0x7f:
		return append(dst, byte(c))
	default:
		return appendHex(append(dst, `\x`...), c, 2)
	}
}

// appendHex appends r in lower-case hexadecimal, with at least width digits.
func appendHex(dst []byte, r rune, width int) []byte {
	for r>>(4*width) != 0 {
		width++
	}
	for shift := 4 * (width - 1); shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[r>>shift&0xf])
	}
	return dst
}

// partSize is the approximate size of a part, in bytes. Long texts are printed in parts, so that only one
// part is in memory.
const partSize = 32 << 10

// CleanParts yields the result of [Clean] in parts.
func CleanParts(text []byte) iter.Seq[Text] {
	return func(yield func(Text) bool) {
		var part []byte
		for more := true; more && len(text) > 0; {
			part, text = Drawer{}.appendClean(part[:0], text, min(partSize, len(text)))
			more = yield(Text{string(part), unmeasured})
		}
	}
}

// JSONParts yields the result of [AppendJSON] in parts. A part is valid until the next one.
func JSONParts(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		p := newTextParts(yield)
		p.appendQuoted(text, true)
		p.flushRest()
	}
}

// CompactParts yields the result of [AppendJSONText] in parts, without the spaces between tokens. The text
// must be valid JSON. A part is valid until the next one.
func CompactParts(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		p := newTextParts(yield)
		for len(text) > 0 && !p.enough {
			n := 1
			switch c := text[0]; {
			case json.IsSpace(c):
				n = json.SpaceLen(text)
			case c == '"':
				n, _ = json.StringEnd(text)
				p.appendQuoted(text[1:n-1], false)
			default:
				for n < len(text) && text[n] != '"' && !json.IsSpace(text[n]) {
					n++
				}
				p.b = append(p.b, text[:n]...)
				p.flushFull()
			}
			text = text[n:]
		}
		p.flushRest()
	}
}

// textParts collects text in b, and yields it when a part is full.
type textParts struct {
	b      []byte
	buffer *[]byte // from partBuffers
	yield  func([]byte) bool
	enough bool // the caller stopped the iteration
}

// partBuffers contains the buffers of finished textParts, so that a new one can use their memory.
var partBuffers = sync.Pool{New: func() any { return new([]byte) }}

func newTextParts(yield func([]byte) bool) textParts {
	buffer := partBuffers.Get().(*[]byte)
	return textParts{b: (*buffer)[:0], buffer: buffer, yield: yield}
}

// appendQuoted appends a JSON string.
func (p *textParts) appendQuoted(text []byte, quote bool) {
	p.b = append(p.b, '"')
	for len(text) > 0 && !p.enough {
		p.b, text = appendEscaped(p.b, text, min(partSize, len(text)), quote)
		p.flushFull()
	}
	p.b = append(p.b, '"')
}

func (p *textParts) flushFull() {
	if len(p.b) >= partSize {
		p.enough = p.enough || !p.yield(p.b)
		p.b = p.b[:0]
	}
}

// flushRest yields the last part. The textParts must not be used after that.
func (p *textParts) flushRest() {
	if len(p.b) > 0 && !p.enough {
		p.yield(p.b)
	}
	*p.buffer = p.b
	partBuffers.Put(p.buffer)
}

// AppendJSON appends s as a JSON string that is safe to print. Characters that [Clean] would alter are
// written as escapes; all others, including <, > and &, are written as they are. A JSON parser returns
// exactly s, except that each byte that is not UTF-8 becomes U+FFFD.
func AppendJSON[T string | []byte](dst []byte, s T) []byte {
	start := len(dst) + 1
	dst = append(append(dst, '"'), s...)
	if text := dst[start:]; json.PlainRun(text) < len(text) || PlainLen(text) < len(text) {
		dst, _ = appendEscaped(dst[:start], bytes.Clone(text), len(text), true)
	}
	return append(dst, '"')
}

// AppendJSONText appends a JSON text in a form that is safe to print. Inside strings, characters that [Clean]
// would alter are escaped as by [AppendJSON], and escapes are kept. Text outside of strings is kept,
// including line breaks. A text that is not valid JSON is made safe too, but its meaning may change.
func AppendJSONText(dst, text []byte) []byte {
	for len(text) > 0 {
		n := 0
		for ; n < len(text) && text[n] != '"'; n++ {
			if c := text[n]; (c < 0x20 || c >= 0x7f) && c != '\n' && c != '\r' && c != '\t' {
				break
			}
		}
		dst = append(dst, text[:n]...)
		text = text[n:]
		switch {
		case len(text) == 0:
		case text[0] == '"':
			n, closed := json.StringEnd(text)
			inside := text[1:n]
			if closed {
				inside = text[1 : n-1]
			}
			dst, _ = appendEscaped(append(dst, '"'), inside, len(inside), false)
			if closed {
				dst = append(dst, '"')
			}
			text = text[n:]
		default:
			p := scan(text)
			dst = Drawer{}.appendUnit(dst, text, p)
			text = text[p.n:]
		}
	}
	return dst
}

// appendEscaped appends the content of a JSON string: the units that begin in src[:most]. It returns the
// bytes after those units as rest. If quote is set, src is the value of the string, and quotation marks and
// backslashes are escaped. Otherwise src is already the content of a JSON string.
func appendEscaped(dst, src []byte, most int, quote bool) (_, rest []byte) {
	for last := len(src) - most; len(src) > last; {
		n := plainLen(src, len(src)-last)
		if n > 0 {
			dst = appendPlain(dst, src[:n], quote)
		} else {
			p := scan(src)
			n = p.n
			keep := p.keep
			if p.form != asIs {
				keep = 0
			}
			dst = appendPlain(dst, src[:keep], quote)
			dst = appendEscapes(dst, src[keep:n])
		}
		src = src[n:]
	}
	return dst, src
}

// appendPlain appends characters that need no Unicode escape. If quote is set, it escapes quotation marks and
// backslashes.
func appendPlain(dst, src []byte, quote bool) []byte {
	if !quote {
		return append(dst, src...)
	}
	for {
		n := json.PlainRun(src)
		if dst = append(dst, src[:n]...); n == len(src) {
			return dst
		}
		dst = append(dst, '\\', src[n])
		src = src[n+1:]
	}
}

// appendEscapes appends every character of src as an escape.
func appendEscapes(dst, src []byte) []byte {
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		src = src[n:]
		switch {
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r > 0xffff:
			r -= 0x10000
			dst = appendHex(append(dst, `\u`...), 0xd800|r>>10, 4)
			dst = appendHex(append(dst, `\u`...), 0xdc00|r&0x3ff, 4)
		default:
			dst = appendHex(append(dst, `\u`...), r, 4)
		}
	}
	return dst
}
