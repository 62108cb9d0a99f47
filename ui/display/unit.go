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

// emojis are the characters with the property Emoji, except digits, halves of flags and skin tones. A block
// that contains only emojis is one range in the table, including its unassigned characters. Source:
// https://www.unicode.org/Public/15.0.0/ucd/emoji/emoji-data.txt
var emojis = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00a9, 0x00a9, 1}, {0x00ae, 0x00ae, 1}, {0x203c, 0x203c, 1}, {0x2049, 0x2049, 1}, {0x2122, 0x2122, 1},
		{0x2139, 0x2139, 1}, {0x2194, 0x2199, 1}, {0x21a9, 0x21aa, 1}, {0x231a, 0x231b, 1}, {0x2328, 0x2328, 1},
		{0x23cf, 0x23cf, 1}, {0x23e9, 0x23f3, 1}, {0x23f8, 0x23fa, 1}, {0x24c2, 0x24c2, 1}, {0x25aa, 0x25ab, 1},
		{0x25b6, 0x25b6, 1}, {0x25c0, 0x25c0, 1}, {0x25fb, 0x25fe, 1}, {0x2600, 0x2604, 1}, {0x260e, 0x260e, 1},
		{0x2611, 0x2611, 1}, {0x2614, 0x2615, 1}, {0x2618, 0x2618, 1}, {0x261d, 0x261d, 1}, {0x2620, 0x2620, 1},
		{0x2622, 0x2623, 1}, {0x2626, 0x2626, 1}, {0x262a, 0x262a, 1}, {0x262e, 0x262f, 1}, {0x2638, 0x263a, 1},
		{0x2640, 0x2640, 1}, {0x2642, 0x2642, 1}, {0x2648, 0x2653, 1}, {0x265f, 0x2660, 1}, {0x2663, 0x2663, 1},
		{0x2665, 0x2666, 1}, {0x2668, 0x2668, 1}, {0x267b, 0x267b, 1}, {0x267e, 0x267f, 1}, {0x2692, 0x2697, 1},
		{0x2699, 0x2699, 1}, {0x269b, 0x269c, 1}, {0x26a0, 0x26a1, 1}, {0x26a7, 0x26a7, 1}, {0x26aa, 0x26ab, 1},
		{0x26b0, 0x26b1, 1}, {0x26bd, 0x26be, 1}, {0x26c4, 0x26c5, 1}, {0x26c8, 0x26c8, 1}, {0x26ce, 0x26cf, 1},
		{0x26d1, 0x26d1, 1}, {0x26d3, 0x26d4, 1}, {0x26e9, 0x26ea, 1}, {0x26f0, 0x26f5, 1}, {0x26f7, 0x26fa, 1},
		{0x26fd, 0x26fd, 1}, {0x2702, 0x2702, 1}, {0x2705, 0x2705, 1}, {0x2708, 0x270d, 1}, {0x270f, 0x270f, 1},
		{0x2712, 0x2712, 1}, {0x2714, 0x2714, 1}, {0x2716, 0x2716, 1}, {0x271d, 0x271d, 1}, {0x2721, 0x2721, 1},
		{0x2728, 0x2728, 1}, {0x2733, 0x2734, 1}, {0x2744, 0x2744, 1}, {0x2747, 0x2747, 1}, {0x274c, 0x274c, 1},
		{0x274e, 0x274e, 1}, {0x2753, 0x2755, 1}, {0x2757, 0x2757, 1}, {0x2763, 0x2764, 1}, {0x2795, 0x2797, 1},
		{0x27a1, 0x27a1, 1}, {0x27b0, 0x27b0, 1}, {0x27bf, 0x27bf, 1}, {0x2934, 0x2935, 1}, {0x2b05, 0x2b07, 1},
		{0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b50, 1}, {0x2b55, 0x2b55, 1}, {0x3030, 0x3030, 1}, {0x303d, 0x303d, 1},
		{0x3297, 0x3297, 1}, {0x3299, 0x3299, 1},
	},
	R32: []unicode.Range32{
		{0x1f004, 0x1f004, 1}, {0x1f0cf, 0x1f0cf, 1}, {0x1f170, 0x1f171, 1}, {0x1f17e, 0x1f17f, 1},
		{0x1f18e, 0x1f18e, 1}, {0x1f191, 0x1f19a, 1}, {0x1f201, 0x1f202, 1}, {0x1f21a, 0x1f21a, 1},
		{0x1f22f, 0x1f22f, 1}, {0x1f232, 0x1f23a, 1}, {0x1f250, 0x1f251, 1}, {0x1f300, 0x1f321, 1},
		{0x1f324, 0x1f393, 1}, {0x1f396, 0x1f397, 1}, {0x1f399, 0x1f39b, 1}, {0x1f39e, 0x1f3f0, 1},
		{0x1f3f3, 0x1f3f5, 1}, {0x1f3f7, 0x1f3fa, 1}, {0x1f400, 0x1f4fd, 1}, {0x1f4ff, 0x1f53d, 1},
		{0x1f549, 0x1f54e, 1}, {0x1f550, 0x1f567, 1}, {0x1f56f, 0x1f570, 1}, {0x1f573, 0x1f57a, 1},
		{0x1f587, 0x1f587, 1}, {0x1f58a, 0x1f58d, 1}, {0x1f590, 0x1f590, 1}, {0x1f595, 0x1f596, 1},
		{0x1f5a4, 0x1f5a5, 1}, {0x1f5a8, 0x1f5a8, 1}, {0x1f5b1, 0x1f5b2, 1}, {0x1f5bc, 0x1f5bc, 1},
		{0x1f5c2, 0x1f5c4, 1}, {0x1f5d1, 0x1f5d3, 1}, {0x1f5dc, 0x1f5de, 1}, {0x1f5e1, 0x1f5e1, 1},
		{0x1f5e3, 0x1f5e3, 1}, {0x1f5e8, 0x1f5e8, 1}, {0x1f5ef, 0x1f5ef, 1}, {0x1f5f3, 0x1f5f3, 1},
		{0x1f5fa, 0x1f64f, 1}, {0x1f680, 0x1f6c5, 1}, {0x1f6cb, 0x1f6d2, 1}, {0x1f6d5, 0x1f6d7, 1},
		{0x1f6dc, 0x1f6e5, 1}, {0x1f6e9, 0x1f6e9, 1}, {0x1f6eb, 0x1f6ec, 1}, {0x1f6f0, 0x1f6f0, 1},
		{0x1f6f3, 0x1f6fc, 1}, {0x1f7e0, 0x1f7eb, 1}, {0x1f7f0, 0x1f7f0, 1}, {0x1f90c, 0x1f93a, 1},
		{0x1f93c, 0x1f945, 1}, {0x1f947, 0x1f9ff, 1}, {0x1fa70, 0x1faff, 1},
	},
	LatinOffset: 2,
}

// modifierBases are the characters with the property Emoji_Modifier_Base, from the same source.
var modifierBases = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x261d, 0x261d, 1}, {0x26f9, 0x26f9, 1}, {0x270a, 0x270d, 1},
	},
	R32: []unicode.Range32{
		{0x1f385, 0x1f385, 1}, {0x1f3c2, 0x1f3c4, 1}, {0x1f3c7, 0x1f3c7, 1}, {0x1f3ca, 0x1f3cc, 1},
		{0x1f442, 0x1f443, 1}, {0x1f446, 0x1f450, 1}, {0x1f466, 0x1f478, 1}, {0x1f47c, 0x1f47c, 1},
		{0x1f481, 0x1f483, 1}, {0x1f485, 0x1f487, 1}, {0x1f48f, 0x1f48f, 1}, {0x1f491, 0x1f491, 1},
		{0x1f4aa, 0x1f4aa, 1}, {0x1f574, 0x1f575, 1}, {0x1f57a, 0x1f57a, 1}, {0x1f590, 0x1f590, 1},
		{0x1f595, 0x1f596, 1}, {0x1f645, 0x1f647, 1}, {0x1f64b, 0x1f64f, 1}, {0x1f6a3, 0x1f6a3, 1},
		{0x1f6b4, 0x1f6b6, 1}, {0x1f6c0, 0x1f6c0, 1}, {0x1f6cc, 0x1f6cc, 1}, {0x1f90c, 0x1f90c, 1},
		{0x1f90f, 0x1f90f, 1}, {0x1f918, 0x1f91f, 1}, {0x1f926, 0x1f926, 1}, {0x1f930, 0x1f939, 1},
		{0x1f93c, 0x1f93e, 1}, {0x1f977, 0x1f977, 1}, {0x1f9b5, 0x1f9b6, 1}, {0x1f9b8, 0x1f9b9, 1},
		{0x1f9bb, 0x1f9bb, 1}, {0x1f9cd, 0x1f9cf, 1}, {0x1f9d1, 0x1f9dd, 1}, {0x1fac3, 0x1fac5, 1},
		{0x1faf0, 0x1faf8, 1},
	},
}

// spacing are the marks that do not join: their Grapheme_Cluster_Break is Other although their category is M.
// Source: https://www.unicode.org/Public/15.0.0/ucd/auxiliary/GraphemeBreakProperty.txt
var spacing = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x102b, 0x102c, 1}, {0x1038, 0x1038, 1}, {0x1062, 0x1064, 1}, {0x1067, 0x106d, 1}, {0x1083, 0x1083, 1},
		{0x1087, 0x108c, 1}, {0x108f, 0x108f, 1}, {0x109a, 0x109c, 1}, {0x1a61, 0x1a61, 1}, {0x1a63, 0x1a64, 1},
		{0xaa7b, 0xaa7b, 1}, {0xaa7d, 0xaa7d, 1},
	},
	R32: []unicode.Range32{
		{0x11720, 0x11721, 1},
	},
}

// leading are the letters with Grapheme_Cluster_Break Prepend, from the same source.
var leading = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0d4e, 0x0d4e, 1},
	},
	R32: []unicode.Range32{
		{0x111c2, 0x111c3, 1}, {0x1193f, 0x1193f, 1}, {0x11941, 0x11941, 1}, {0x11a84, 0x11a89, 1},
		{0x11d46, 0x11d46, 1}, {0x11f02, 0x11f02, 1},
	},
}
