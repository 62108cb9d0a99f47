package layout

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"toolscope/ui/display"
)

// Text lays out a growing text as it is: a row a line, wrapped. At each mark, a byte offset such as
// the boundary between two deltas, one cell is left for a sign.
type Text struct {
	lineBreaker
	off   int
	marks []uint32
}

// NewText makes a layout of that width, in cells.
func NewText(width int, draw display.Drawer) *Text {
	return &Text{lineBreaker: lineBreaker{draw: draw, width: max(width, 1)}}
}

// NewProse makes one for a text without marks: it is broken between words, and what ends a line takes
// no room.
func NewProse(width int, draw display.Drawer) *Text {
	return &Text{lineBreaker: lineBreaker{draw: draw, width: max(width, 1), breaks: plainBreaks}}
}

// Width is the width it was made for.
func (t *Text) Width() int { return t.width }

// Len is how many bytes are laid out.
func (t *Text) Len() int { return t.off }

// Mark adds a mark at off, which must not be laid out yet and not be before an earlier mark. A
// second mark at the same place is the same mark.
func (t *Text) Mark(off int) {
	if n := len(t.marks); off > 0 && (n == 0 || t.marks[n-1] != uint32(off)) {
		t.marks = append(t.marks, uint32(off))
	}
}

// Marked reports whether there is a mark before the byte at off.
func (t *Text) Marked(off int) bool {
	i := t.nextMark(off)
	return i < len(t.marks) && t.marks[i] == uint32(off)
}

// NextMark is the first mark after off, or limit when there is none before it.
func (t *Text) NextMark(off, limit int) int {
	if i := t.nextMark(off + 1); i < len(t.marks) {
		return min(int(t.marks[i]), limit)
	}
	return limit
}

func (t *Text) nextMark(off int) int {
	return sort.Search(len(t.marks), func(i int) bool { return t.marks[i] >= uint32(off) })
}

// Extend lays out what text has beyond what was laid out. Marks up to its end must have been added.
// A character cut by the end waits for its rest unless the text is whole.
func (t *Text) Extend(text []byte, whole bool) {
	t.src = text
	defer func() { t.src = nil }()
	if !t.Marked(t.off) {
		t.off = t.retakeLast(text, t.off)
	}
	end := len(text)
	if !whole {
		end = t.off + settledChar(text[t.off:])
	}
	for t.off < end {
		if len(t.rows) == 0 {
			t.startLine(0)
		}
		stop, sign := t.NextMark(t.off, end), 0
		if t.Marked(t.off) {
			sign = 1
		}
		t.placeUnmarked(text[t.off:stop], sign)
		t.off = stop
	}
}

// placeUnmarked puts text that has no mark inside on rows. In front of it so many cells are left for a
// sign, which stays with what it stands before.
func (t *Text) placeUnmarked(b []byte, sign int) {
	for len(b) > 0 {
		if b[0] == '\n' || sign > 0 {
			n, cells := t.draw.Measure(b)
			if t.breaks == plainBreaks {
				cells = 0
			}
			t.placeBytes(n, cells+sign)
			if b[0] == '\n' {
				t.startLine(int(t.rows[len(t.rows)-1].End))
			}
			b, sign = b[n:], 0
			continue
		}
		line, _, _ := bytes.Cut(b, []byte("\n"))
		t.placeText(line)
		b = b[len(line):]
	}
}

func (t *Text) startLine(off int) { t.newRow(off, Row{Token: -1, Parent: -1}, 0) }

// settledChar is the length of b without what its end cuts: half a character, or one that is drawn
// in another way when the right one follows.
func settledChar(b []byte) int {
	n := len(b)
	for back := 1; back <= 3 && back <= len(b); back++ {
		c := b[len(b)-back]
		if c < utf8.RuneSelf {
			break
		}
		if c >= 0xc0 {
			if charLen(c) > back {
				n = len(b) - back
			}
			break
		}
	}
	if bytes.HasSuffix(b[:n], joiner) || bytes.HasSuffix(b[:n], selector) {
		return n - 3
	}
	return n
}

// These are drawn only inside of a well-formed emoji, which needs one more character to be one.
var (
	joiner   = []byte("\u200d") // zero width joiner
	selector = []byte("\ufe0f") // variation selector 16
)

// charLen is how many bytes a character that begins with c has.
func charLen(c byte) int {
	switch {
	case c >= 0xf0:
		return 4
	case c >= 0xe0:
		return 3
	}
	return 2
}
