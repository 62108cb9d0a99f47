package display

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// MaxCells is the maximum width of a [Unit]. Only decoded tag characters come near it. A longer run of tag
// characters continues in further units.
const MaxCells = 64

// Unit is the smallest part of a text that is drawn as a whole: one grapheme cluster, or a mark that replaces
// bytes that must not be drawn. While a text is still arriving, more bytes may change its last unit.
type Unit struct {
	Len     int    // bytes of the source; at least 1
	Cells   int    // cells on the screen; at least 1
	Shown   string // the drawn form
	Altered bool   // Shown differs from the source
}

// Measure returns the number of bytes and cells of the first unit of b, like [Drawer.Next] but without the
// unit's drawn form. It does not allocate for text that is drawn as it is.
func Measure(b []byte) (n, cells int) { return Drawer{}.Measure(b) }

// Next returns the first unit of b, which must not be empty. A UTF-8 sequence that is cut off at the end of b
// is shown as single bytes.
func (d Drawer) Next(b []byte) Unit {
	p := d.scan(b)
	if !p.isAltered() {
		return Unit{Len: p.n, Cells: p.cells, Shown: string(b[:p.n])}
	}
	shown := d.drawnText(b, p)
	return Unit{Len: p.n, Cells: cellWidth(shown), Shown: shown, Altered: true}
}

// Measure is the function [Measure] with this drawer's alphabet.
func (d Drawer) Measure(b []byte) (n, cells int) {
	p := d.scan(b)
	if !p.isAltered() {
		return p.n, p.cells
	}
	return p.n, cellWidth(d.drawnText(b, p))
}

// PlainLen returns the length of the prefix of b in which every byte is a printable ASCII character that may
// be drawn as it is, in one cell. It leaves out a last character with a combining mark, because the two are
// one unit.
func PlainLen(b []byte) int {
	n := printableLen(b)
	if n > 0 && n < len(b) && b[n] >= utf8.RuneSelf {
		if r, _ := utf8.DecodeRune(b[n:]); joinsPrevious(r) {
			n--
		}
	}
	return n
}

// plainLen is PlainLen for b[:most]. It reads only a few bytes after that prefix.
func plainLen(b []byte, most int) int {
	return min(PlainLen(b[:min(len(b), most+utf8.UTFMax)]), most)
}

// printableLen counts the bytes 0x20 to 0x7e at the start of b, eight at a time.
func printableLen(b []byte) int {
	const low, one, high = 0x2020202020202020, 0x0101010101010101, 0x8080808080808080
	n := 0
	for len(b)-n >= 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		// In the lowest byte that is out of range, one of three terms sets the high bit: the difference if
		// the byte is below 0x20, the sum if it is 0x7f, and the byte itself from 0x80 on. No byte before it
		// borrows or carries.
		if ((w-low)|(w+one)|w)&high != 0 {
			break
		}
		n += 8
	}
	for n < len(b) && b[n]-0x20 <= 0x7e-0x20 {
		n++
	}
	return n
}

// scannedUnit is a unit before it is drawn.
type scannedUnit struct {
	n     int  // bytes of the source
	cells int  // width in cells, if it is not altered
	form  form // how it is drawn
	keep  int  // bytes at the start that are drawn as they are
	lost  int  // characters after the keep bytes that are only counted
	r     rune // the character, byte or surrogate that is replaced
}

func (p scannedUnit) isAltered() bool { return p.form != asIs || p.lost > 0 }

// form selects how a unit is drawn.
type form uint8

const (
	asIs      form = iota // draw the first keep bytes
	based                 // draw the first keep bytes on a dotted circle
	control               // a C0 control
	octet                 // one stray byte, or a C1 control
	surrogate             // half of a pair
	point                 // one code point
	tags                  // a run of tag characters
)

// scan returns the first unit of b, which must not be empty, in the alphabet of d.
func (d Drawer) scan(b []byte) scannedUnit {
	if d.ASCII && b[0] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(b)
		if p, ok := scanReplaced(b, r, n); ok {
			return p
		}
		return scannedUnit{n: n, form: point, r: r}
	}
	if d.ASCII && b[0] >= 0x20 && b[0] < 0x7f {
		return scannedUnit{n: 1, cells: 1, keep: 1}
	}
	return scan(b)
}

// scan returns the first unit of b, which must not be empty, in Unicode.
func scan(b []byte) scannedUnit {
	r, n := utf8.DecodeRune(b)
	if (isWide(r) || isNarrow(r)) && (len(b) == n || isSeparate(b[n:])) {
		p := scannedUnit{n: n, cells: 1, keep: n}
		if isWide(r) {
			p.cells = 2
		}
		return p
	}
	if p, ok := scanReplaced(b, r, n); ok {
		return p
	}
	bare := joinsPrevious(r)
	if bare && !isMark(r) {
		// This is a letter that joins the character before it, such as Thai sara am. On a dotted circle it would be
		// wider than measured.
		return scannedUnit{n: utf8.RuneLen(r), form: point, r: r}
	}
	c, cells := ansi.FirstGraphemeCluster(clusterWindow(b), ansi.GraphemeWidth)
	keep, full := utf8.RuneLen(r), false
	if len(c) > keep {
		keep, full = wellFormed(c)
	}
	p := scannedUnit{n: keep, keep: keep, cells: cells}
	for full && p.n < len(b) { // skip the characters that would be drawn on top of the cluster
		r, size := utf8.DecodeRune(b[p.n:])
		if r == utf8.RuneError && size == 1 || !isDrawable(r) || isSkinTone(r) || p.n >= len(c) && !joinsPrevious(r) {
			break
		}
		p.n += size
		p.lost++
	}
	if bare {
		p.form = based
	} else if keep < len(c) {
		_, p.cells = ansi.FirstGraphemeCluster(b[:keep], ansi.GraphemeWidth)
	}
	return p
}

// scanReplaced returns the unit at the start of b if its first character is never drawn as it is. That
// character is r, which has n bytes. For any other character, the second result is false.
func scanReplaced(b []byte, r rune, n int) (scannedUnit, bool) {
	switch {
	case r == utf8.RuneError && n == 1:
		if s, ok := decodeSurrogate(b); ok {
			return scannedUnit{n: 3, form: surrogate, r: s}, true
		}
		return scannedUnit{n: 1, form: octet, r: rune(b[0])}, true
	case r < 0x20:
		return scannedUnit{n: n, form: control, r: r}, true
	case r >= 0x7f && r < 0xa0:
		return scannedUnit{n: n, form: octet, r: r}, true
	case isTag(r):
		return scannedUnit{n: tagRun(b), form: tags}, true
	case !isDrawable(r) || isSkinTone(r) || joinsNext(r):
		return scannedUnit{n: n, form: point, r: r}, true
	}
	return scannedUnit{}, false
}

// Limits of one cluster. Written language stays far below them. Only text that is meant to cover its surroundings
// exceeds them.
const (
	maxMarks  = 8   // combining marks on one base
	maxPoints = 32  // code points
	maxWindow = 160 // bytes that are searched for the end of a cluster; more than maxPoints code points can take
)

const (
	zwj        = '\u200d'
	vs16       = '\ufe0f'
	keycapMark = '\u20e3'
)

// clusterWindow returns the start of b, up to the maximum length of a cluster. Without this limit, a text that
// is one long cluster would be searched again at each character.
func clusterWindow(b []byte) []byte {
	if len(b) <= maxWindow {
		return b
	}
	n := maxWindow
	for n > maxWindow-utf8.UTFMax && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// wellFormed returns how many bytes of the cluster c may be drawn as they are: all bytes, or the bytes before
// the first character that is not allowed in its position. The result full is true if that character only
// exceeds a limit.
//
// Emoji sequences follow https://unicode.org/reports/tr51/#def_emoji_sequence, except tag sequences.
func wellFormed(c []byte) (keep int, full bool) {
	last, keep := utf8.DecodeRune(c)
	marks := 0
	if isMark(last) {
		marks = 1
	}
	for points := 1; keep < len(c); points++ {
		r, n := utf8.DecodeRune(c[keep:])
		ok := r != utf8.RuneError || n > 1
		switch {
		case r == zwj:
			next, _ := utf8.DecodeRune(c[keep+n:])
			ok = (isEmoji(last) || isSkinTone(last) || last == vs16) && isEmoji(next)
		case r == vs16:
			next, _ := utf8.DecodeRune(c[keep+n:])
			ok = isEmoji(last) || isKeycapBase(last) && next == keycapMark
		case isSkinTone(r):
			ok = last >= 0x261d && unicode.Is(modifierBases, last)
		default:
			ok = ok && isDrawable(r)
		}
		if !ok {
			return keep, false
		}
		if isMark(r) {
			marks++
		} else {
			marks = 0
		}
		if marks > maxMarks || points >= maxPoints {
			return keep, true
		}
		last, keep = r, keep+n
	}
	return keep, false
}

// tagRun returns the length of the run of tag characters at the start of b, up to the maximum width of a
// unit.
func tagRun(b []byte) int {
	n, cells := 0, cellWidth(tagsOpen+tagsClose)
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if !isTag(r) {
			break
		}
		var buf [4]byte
		cells += len(appendTag(buf[:0], r))
		if cells > MaxCells {
			break
		}
		n += size
	}
	return n
}

// decodeSurrogate decodes a surrogate from the three bytes that UTF-8 would have for it. Such bytes are invalid
// UTF-8. The second result is false for any other bytes.
func decodeSurrogate(b []byte) (rune, bool) {
	if len(b) < 3 || b[0] != 0xed || b[1]&0xe0 != 0xa0 || b[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), true
}

// isDrawable reports whether r is a visible character or a space. It returns false for all other categories:
// controls, format characters (including bidi), private use, noncharacters, unassigned code points, and line
// and paragraph separators. It also returns false for the few letters and marks that are invisible.
func isDrawable(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0x20 && r < 0x7f
	}
	return unicode.IsGraphic(r) &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) &&
		!unicode.Is(unicode.Variation_Selector, r)
}

// joinsPrevious reports whether r is drawn in one cluster with any character that comes before it.
func joinsPrevious(r rune) bool {
	switch r {
	case 0x0e33, 0x0eb3, 0xff9e, 0xff9f: // Thai and Lao am, halfwidth voiced sound marks
		return true
	}
	return isMark(r) && !unicode.Is(spacing, r)
}

// isMark reports whether r is a combining mark.
func isMark(r rune) bool { return r >= 0x300 && unicode.Is(unicode.M, r) }

// joinsNext reports whether r is a letter that is drawn in one cluster with any character that comes after
// it.
func joinsNext(r rune) bool { return r >= 0xd4e && unicode.Is(leading, r) }

// isTag reports whether r is a tag character: invisible ASCII.
func isTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

// isSkinTone reports whether r is a skin tone.
func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// isEmoji reports whether r is an emoji on its own. It returns false for digits, halves of flags and skin
// tones.
func isEmoji(r rune) bool { return r >= 0xa9 && unicode.Is(emojis, r) }

// isKeycapBase reports whether r can be the character on a keycap.
func isKeycapBase(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// isWide reports whether r is one of the common East Asian characters that are drawable, two cells wide and
// not emoji. These characters form a cluster only with characters that join every character.
func isWide(r rune) bool {
	switch {
	case r < 0x3001:
		return false
	case r <= 0x9fff:
		return r >= 0x4e00 || r <= 0x3020 || r >= 0x3041 && r <= 0x3096 || r >= 0x30a0 && r <= 0x30ff ||
			r >= 0x3400 && r <= 0x4dbf
	}
	return r >= 0xac00 && r <= 0xd7a3 || r >= 0xff01 && r <= 0xff60
}

// isNarrow reports whether r is one of the common European letters that are drawable and one cell wide. These
// letters form a cluster only with characters that join every character.
func isNarrow(r rune) bool { return r >= 0xc0 && r <= 0x24f || r >= 0x400 && r <= 0x481 }

// isSeparate reports whether the first character of b is certainly not in one cluster with a wide or narrow
// character before it. It may return false for a character that is separate.
func isSeparate(b []byte) bool {
	if b[0] < utf8.RuneSelf {
		return true
	}
	r, _ := utf8.DecodeRune(b)
	return isWide(r)
}
