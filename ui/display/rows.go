package display

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
