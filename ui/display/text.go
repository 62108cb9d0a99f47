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

// CleanStart returns the clean form of the units that begin in the first n bytes of text, and the bytes after
// those units. A text that is cleaned in several steps has the same clean form as one cleaned at once.
func CleanStart(text []byte, n int) (clean Text, rest []byte) {
	if n <= 0 {
		return Text{}, text
	}
	part, rest := Drawer{}.appendClean(make([]byte, 0, min(n, len(text))), text, min(n, len(text)))
	return Text{string(part), unmeasured}, rest
}

// Rows breaks a line into rows between words. A word that is wider than a row is broken too. The line is
// added in pieces, each with its ink.
type Rows[Ink any] struct {
	Cells  int             // cells in a row; 0 if the line is not broken
	Indent int             // indentation of each row except the first
	Write  func(Ink, Text) // receives the pieces of a row, and a Text of blanks for each indentation
	Break  func()          // ends a row, between two calls of Write

	used      int // cells of the current row
	blanks    int // number of blank cells before the word
	blankInk  Ink
	word      []inkedText[Ink]
	wordCells int
	begun     bool // the row has a word
}

type inkedText[Ink any] struct {
	ink  Ink
	text Text
}

// Add adds a piece of the line.
func (r *Rows[Ink]) Add(ink Ink, t Text) {
	if r.Cells == 0 {
		r.Write(ink, t)
		return
	}
	b := []byte(t.s)
	start, cells := 0, 0 // cells of the part that has not been added to the word yet
	push := func(end int) {
		if end > start {
			r.word = append(r.word, inkedText[Ink]{ink, Text{t.s[start:end], cells}})
		}
		start, cells = end, 0
	}
	for at := 0; at < len(b); {
		n, wide := 1, 1
		if PlainLen(b[at:min(len(b), at+1+maxRuneBytes)]) == 0 {
			n, wide = Measure(b[at:])
		}
		if b[at] == ' ' && n == 1 {
			push(at)
			r.endWord()
			r.blanks, r.blankInk = r.blanks+1, ink
			at++
			start = at
			continue
		}
		if r.wordCells+wide > max(r.Cells-r.Indent, 1) {
			push(at)
			r.endWord()
		}
		at, cells, r.wordCells = at+n, cells+wide, r.wordCells+wide
	}
	push(len(b))
}

// maxRuneBytes is the maximum number of bytes in a character.
const maxRuneBytes = 4

// End writes the last word of the line. Blanks after it are left out.
func (r *Rows[Ink]) End() {
	if r.Cells > 0 {
		r.endWord()
	}
}

// endWord writes the word. If the word does not fit, it starts a new row.
func (r *Rows[Ink]) endWord() {
	if r.wordCells == 0 {
		return
	}
	if r.begun && r.used+r.blanks+r.wordCells > r.Cells {
		var plain Ink
		r.Break()
		r.used, r.blanks, r.blankInk = 0, r.Indent, plain
	}
	if r.blanks > 0 {
		r.Write(r.blankInk, Repeat(Text{" ", 1}, r.blanks))
	}
	for _, w := range r.word {
		r.Write(w.ink, w.text)
	}
	r.used, r.begun = r.used+r.blanks+r.wordCells, true
	r.word, r.wordCells, r.blanks = r.word[:0], 0, 0
}
