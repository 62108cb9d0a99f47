package layout

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"toolscope/ui/display"
)

// Text lays out a growing text without indentation: one row per line, with long lines wrapped. A mark is a
// byte offset, such as the start of a delta. At each mark, one cell is left blank for a sign.
type Text struct {
	lineBreaker
	off   int
	marks []uint32
}

// NewText returns a layout with the given width in cells.
func NewText(width int, draw display.Drawer) *Text {
	return &Text{lineBreaker: lineBreaker{draw: draw, width: max(width, 1)}}
}

// NewProse returns a layout for a text without marks. It breaks rows between words, and line breaks use no
// cells.
func NewProse(width int, draw display.Drawer) *Text {
	return &Text{lineBreaker: lineBreaker{draw: draw, width: max(width, 1), breaks: plainBreaks}}
}

// Width returns the width of the layout in cells.
func (t *Text) Width() int { return t.width }

// Len returns the number of bytes that are laid out.
func (t *Text) Len() int { return t.off }

// Mark adds a mark at off. Marks must be added in order, and before the byte at off is laid out. A mark at 0, or a
// second mark at the same offset, has no effect.
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

// NextMark returns the first mark after off, or limit if there is none before limit.
func (t *Text) NextMark(off, limit int) int {
	if i := t.nextMark(off + 1); i < len(t.marks) {
		return min(int(t.marks[i]), limit)
	}
	return limit
}

func (t *Text) nextMark(off int) int {
	return sort.Search(len(t.marks), func(i int) bool { return t.marks[i] >= uint32(off) })
}

// Extend lays out the new bytes of text. All marks up to the end of text must be added before the call. A
// character that is cut off at the end is laid out only when it is complete, or if whole is set.
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

// placeUnmarked places text that contains no marks. It leaves sign cells blank before the text, on the same
// row as the text.
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

// settledChar returns the length of b without an unsettled end. The end is unsettled if it is an incomplete
// character, or a character that the next one may change.
func settledChar(b []byte) int {
	n := len(b)
	for back := 1; back <= 3 && back <= len(b); back++ {
		c := b[len(b)-back]
		if c < utf8.RuneSelf {
			break
		}
		if c >= 0xc0 {
			if c >= 0xf0 && back < 4 || c >= 0xe0 && back < 3 || back < 2 { // the character has 4, 3 or 2 bytes
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

// joiner and selector are drawn only inside a well-formed emoji, in which another character must follow them.
var (
	joiner   = []byte("\u200d") // zero width joiner
	selector = []byte("\ufe0f") // variation selector 16
)
