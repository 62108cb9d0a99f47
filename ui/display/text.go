package display

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Text is text that is safe to draw. It has no control characters, no escape sequences, and no characters
// that are invisible or reorder others. Only this package makes a Text: [Lit] makes one from a constant in
// the program, and all other text is cleaned. Code that forgets to clean text therefore does not compile. The
// zero Text is empty.
type Text struct {
	s     string
	cells int // width in cells, or unmeasured
}

// unmeasured is the width of a long text until the width is needed. Long texts are often only printed, and
// measuring a text takes longer than cleaning it.
const (
	unmeasured = -1
	longText   = 4 << 10 // bytes
)

// literal is a string constant in the source. Other packages can't name this type, so they can only pass constants.
type literal string

// Lit returns a constant as a Text.
func Lit(s literal) Text { return Clean(string(s)) }

// Format is [Drawer.Format] with the Unicode alphabet, for arguments that contain no strings from outside.
func Format(f literal, args ...any) Text { return Drawer{}.Format(f, args...) }

// Format is fmt.Sprintf for texts. Each string, []byte, error or Stringer in args is cleaned separately, so it
// can't combine with the text around it. A Text is used as it is.
func (d Drawer) Format(f literal, args ...any) Text {
	var few [8]any
	said := append(few[:0], args...)
	for i, arg := range said {
		switch v := arg.(type) {
		case Text:
		case string:
			if !isPlain(v) {
				said[i] = d.Clean(v)
			}
		case []byte:
			said[i] = d.CleanBytes(v)
		case error:
			said[i] = d.Clean(v.Error())
		case fmt.Stringer:
			if s := v.String(); !isPlain(s) {
				said[i] = d.Clean(s)
			}
		}
	}
	return d.Clean(fmt.Sprintf(string(f), said...)) // for other types of arguments, and %c
}

// String returns the text.
func (t Text) String() string { return t.s }

// Width returns the width of t on the screen, in cells.
func (t Text) Width() int {
	if t.cells == unmeasured {
		return ansi.StringWidth(t.s)
	}
	return t.cells
}

// Empty reports whether t is empty.
func (t Text) Empty() bool { return t.s == "" }

// Between returns t between two constants.
func (t Text) Between(before, after literal) Text { return Join(Lit(before), t, Lit(after)) }

// Join concatenates texts.
func Join(parts ...Text) Text {
	n, cells, seams := 0, 0, false
	var last Text
	for _, t := range parts {
		if t.s == "" {
			continue
		}
		seams = seams || n > 0 && last.s[len(last.s)-1] >= 0x80 && t.s[0] >= 0x80
		last = t
		n += len(t.s)
		if cells += t.cells; t.cells == unmeasured {
			seams = true
		}
	}
	if n == len(last.s) { // at most one of the texts is not empty
		return last
	}
	var b strings.Builder
	b.Grow(n)
	for _, t := range parts {
		b.WriteString(t.s)
	}
	if seams { // characters at a seam may have joined, such as the two halves of a flag
		return textOf(b.String())
	}
	return Text{b.String(), cells}
}

// Repeat concatenates n copies of t.
func Repeat(t Text, n int) Text {
	return textOf(strings.Repeat(t.s, max(n, 0)))
}

// Wrap cuts t into lines of at most the given width in cells, between words if possible.
func Wrap(t Text, cells int) (lines []Text) {
	for line := range strings.SplitSeq(ansi.Wrap(t.s, cells, ""), "\n") {
		lines = append(lines, textOf(line))
	}
	return lines
}

// textOf returns a clean string as a Text.
func textOf(s string) Text {
	if len(s) > longText && !isPlain(s) {
		return Text{s, unmeasured}
	}
	return Text{s, cellWidth(s)}
}

// cellWidth returns the width of a clean string, in cells.
func cellWidth(s string) int {
	if isPlain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// Truncate returns t if it is at most cells wide. Otherwise it returns as much of the start of t as fits, without
// trailing blanks, and an ellipsis.
func (d Drawer) Truncate(t Text, cells int) Text {
	if cells <= 0 {
		return Text{}
	}
	if t.Width() <= cells {
		return t
	}
	end := "…"
	switch {
	case d.ASCII:
		end = "..."[:min(3, cells)]
	case cellWidth(end) > cells:
		end = ""
	}
	at, wide := t.cutAt(cells - cellWidth(end))
	for at > 0 && t.s[at-1] == ' ' {
		at, wide = at-1, wide-1
	}
	return Text{t.s[:at] + end, wide + cellWidth(end)}
}

// Skip returns t without units at its start. It removes whole units until at least the given number of cells is
// removed.
func Skip(t Text, cells int) Text {
	if cells <= 0 {
		return t
	}
	at, wide := t.cutAt(cells)
	if wide < cells && at < len(t.s) { // the next unit is wider than the cells left
		n, more := Measure([]byte(t.s[at:]))
		at, wide = at+n, wide+more
	}
	return Text{t.s[at:], t.Width() - wide}
}

// cutAt returns the end and the width of the units at the start of t that fit into the given number of cells.
func (t Text) cutAt(cells int) (at, wide int) {
	b := []byte(t.s)
	for at < len(b) && wide < cells {
		n := min(PlainLen(b[at:]), cells-wide)
		w := n
		if n == 0 {
			n, w = Measure(b[at:])
		}
		if wide+w > cells {
			break
		}
		at, wide = at+n, wide+w
	}
	return at, wide
}

// ElideMiddle returns t if it is at most cells wide. Otherwise it returns the start and the end of t, with a mark
// between them. If there is no room for both, it truncates t.
func (d Drawer) ElideMiddle(t Text, cells int) Text {
	if t.Width() <= cells {
		return t
	}
	more := Lit("…")
	if d.ASCII {
		more = Lit("..")
	}
	rest := cells - more.Width()
	if rest < 2 {
		return d.Truncate(t, cells)
	}
	at, wide := t.cutAt(rest - rest/2)
	return Join(Text{t.s[:at], wide}, more, Skip(t, t.Width()-rest/2))
}

// Pad returns t, truncated or filled with spaces to exactly the given number of cells.
func (d Drawer) Pad(t Text, cells int) Text {
	t = d.Truncate(t, cells)
	if n := cells - t.Width(); n > 0 {
		t = Text{t.s + strings.Repeat(" ", n), cells}
	}
	return t
}
