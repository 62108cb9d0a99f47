package display

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Text is text that is safe to draw: it holds no control character, no escape sequence, and nothing
// that is invisible or reorders. Only this package makes one: of constants of the program with
// [Lit], and of everything else by cleaning it. So what is a Text was cleaned, and forgetting to
// does not compile. The zero Text is empty.
type Text struct {
	s     string
	cells int // or unmeasured
}

// unmeasured is the width of a text that nobody may want to know: that of a long one, as it is
// printed, takes longer to find out than the text takes to clean.
const (
	unmeasured = -1
	longText   = 4 << 10 // bytes
)

// literal is a string that stands in the source. As no other package can name the type, they can
// only give constants.
type literal string

// Lit is a text of our own.
func Lit(s literal) Text { return Clean(string(s)) }

// Format is [Drawer.Format] in Unicode, for what holds no string from outside.
func Format(f literal, args ...any) Text { return Drawer{}.Format(f, args...) }

// Format is fmt.Sprintf for texts. What is given as a string, bytes, an error or a Stringer is
// cleaned, so that it begins and ends with itself; a Text stands as it is.
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
	return d.Clean(fmt.Sprintf(string(f), said...)) // whatever else was given, and %c
}

// String is the text itself.
func (t Text) String() string { return t.s }

// Width is the number of cells that t takes on the screen.
func (t Text) Width() int {
	if t.cells == unmeasured {
		return ansi.StringWidth(t.s)
	}
	return t.cells
}

// Empty reports whether there is nothing to draw.
func (t Text) Empty() bool { return t.s == "" }

// Between is t with words of our own before and after it.
func (t Text) Between(before, after literal) Text { return Join(Lit(before), t, Lit(after)) }

// Join puts texts one after the other.
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
	if n == len(last.s) { // there is only one
		return last
	}
	var b strings.Builder
	b.Grow(n)
	for _, t := range parts {
		b.WriteString(t.s)
	}
	if seams { // characters may have become one: two halves of a flag do
		return textOf(b.String())
	}
	return Text{b.String(), cells}
}

// Repeat puts n of a text one after the other.
func Repeat(t Text, n int) Text {
	return textOf(strings.Repeat(t.s, max(n, 0)))
}

// Wrap cuts t into lines of at most so many cells, between words where it can.
func Wrap(t Text, cells int) (lines []Text) {
	for line := range strings.SplitSeq(ansi.Wrap(t.s, cells, ""), "\n") {
		lines = append(lines, textOf(line))
	}
	return lines
}

// textOf is a clean string as a Text.
func textOf(s string) Text {
	if len(s) > longText && !isPlain(s) {
		return Text{s, unmeasured}
	}
	return Text{s, cellWidth(s)}
}

// cellWidth is how many cells a clean string takes.
func cellWidth(s string) int {
	if isPlain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}
