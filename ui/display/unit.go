package display

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// MaxCells is the maximum width of a [Unit]. Only decoded tag characters come near it; a longer run of them
// continues in further units.
const MaxCells = 64

// Unit is the smallest part of a text that is drawn as a whole: one grapheme cluster, or a mark that replaces
// bytes that must not be drawn. The last unit of a text that is still arriving may change when more bytes
// arrive.
type Unit struct {
	Len     int    // bytes of the source; at least 1
	Cells   int    // cells on the screen; at least 1
	Shown   string // the drawn form
	Altered bool   // Shown is not the source itself
}

// Measure returns the bytes and cells of the first unit of b, like [Drawer.Next] but without its drawn form.
// It does not allocate for text that is drawn as it is.
func Measure(b []byte) (n, cells int) { return Drawer{}.Measure(b) }

// Next returns the first unit of b, which must not be empty. A UTF-8 sequence that the end of b cuts off is
// shown as single bytes.
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

// plainLen is PlainLen up to most bytes. It does not read far beyond them.
func plainLen(b []byte, most int) int {
	return min(PlainLen(b[:min(len(b), most+utf8.UTFMax)]), most)
}

// printableLen counts the bytes 0x20 to 0x7e at the start of b, eight at a time.
func printableLen(b []byte) int {
	const low, one, high = 0x2020202020202020, 0x0101010101010101, 0x8080808080808080
	n := 0
	for len(b)-n >= 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		// In the lowest byte that is out of range, one of the three sets the high bit: below 0x20
		// the difference, 0x7f the sum, from 0x80 on the byte itself. No byte before it borrows or
		// carries.
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
	keep  int  // bytes at its start that are drawn as they are
	lost  int  // characters after them that are only counted
	r     rune // the character, byte or surrogate that is replaced
}

func (p scannedUnit) isAltered() bool { return p.form != asIs || p.lost > 0 }

// form is the way in which a unit is drawn.
type form uint8

const (
	asIs      form = iota // the first keep bytes
	based                 // the first keep bytes, on a dotted circle
	control               // a C0 control
	octet                 // one byte, or a C1 control
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
	return scanCluster(b, r)
}

// scanReplaced returns the unit at the start of b if its first character is never drawn as it is. That
// character is r, of n bytes.
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

// scanCluster returns the unit at the start of b, whose first character r may be drawn.
func scanCluster(b []byte, r rune) scannedUnit {
	bare := joinsPrevious(r)
	if bare && !isMark(r) {
		// A letter that joins the one before it, e.g. Thai sara am. On a dotted circle it would be wider
		// than measured.
		return scannedUnit{n: utf8.RuneLen(r), form: point, r: r}
	}
	c, cells := ansi.FirstGraphemeCluster(clusterWindow(b), ansi.GraphemeWidth)
	keep, full := utf8.RuneLen(r), false
	if len(c) > keep {
		keep, full = wellFormed(c)
	}
	p := scannedUnit{n: keep, keep: keep, cells: cells}
	if full {
		p.n, p.lost = skipStacked(b, keep, len(c))
	}
	if bare {
		p.form = based
	} else if keep < len(c) {
		_, p.cells = ansi.FirstGraphemeCluster(b[:keep], ansi.GraphemeWidth)
	}
	return p
}
