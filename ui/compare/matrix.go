package compare

import (
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/diff"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// head is the part of the page that does not scroll: a title, the callout, the matrix of turns, and the edge with
// the names of the columns.
type head struct {
	says    []display.Text // the callout; the first row is its headline
	first   int            // number of turns above the visible ones
	turns   int            // number of visible turns
	heads   bool           // whether the matrix has column heads
	blank   bool           // whether there are blank rows around the matrix
	edge    bool
	columns []matrixColumn // from left to right, without the turn's name and the text about the difference
	name    int            // width of the names
	cells   [][]screen.StyledText
	against []screen.StyledText
}

// matrixColumn is a column of the matrix. If there is too little room, the column with the highest rank is
// dropped first.
type matrixColumn struct {
	title string
	cells int
	rank  int
}

var matrixColumns = []matrixColumn{{"CALLS", 6, 0}, {"VALID", 6, 1}, {"SCHEMA", 7, 2}, {"FIRST", 9, 4}, {"TOTAL", 8, 5}, {"COST", 10, 3}}

const (
	matrixLeft   = 2  // cells before the names
	minName      = 8  // cells for a turn's name
	againstCells = 16 // cells for the text about the difference, including the blanks before it
	calloutLeft  = 5  // cells before the callout's texts
	barRows      = 3  // height of the callout
)

// rowCount returns the number of rows of the head.
func (h *head) rowCount() int {
	n := 1 + len(h.says) + h.turns
	for _, is := range []bool{h.heads, h.edge, h.blank && len(h.says) > 0, h.blank && h.turns > 0} {
		if is {
			n++
		}
	}
	return n
}

// calloutRows returns the longest form of the sentence that fits in the given number of rows. If none fits, it cuts
// off the shortest form.
func (c *comparison) calloutRows(rows int) []display.Text {
	room := max(8, c.w-calloutLeft-1)
	if rows < 1 || len(c.sentence) == 0 {
		return nil
	}
	for _, form := range c.sentence {
		lines := display.Wrap(c.draw.Clean(form), room)
		if first, rest := splitSentence(form); rows > 1 && rest != "" {
			lines = append(display.Wrap(c.draw.Clean(first), room), display.Wrap(c.draw.Clean(rest), room)...)
		}
		if len(lines) <= rows {
			return lines
		}
	}
	return []display.Text{c.draw.Truncate(c.draw.Clean(c.sentence[len(c.sentence)-1]), room)}
}

// splitSentence splits text after its first sentence. A value in quotation marks is not split.
func splitSentence(text string) (first, rest string) {
	quoted := false
	for i := range len(text) - 1 {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case !quoted && text[i] == '.' && text[i+1] == ' ':
			return text[:i+1], text[i+2:]
		}
	}
	return text, ""
}

// fillMatrix computes the texts in the matrix.
func (c *comparison) fillMatrix(v *providers.View) {
	h := &c.head
	h.name = minName
	for i := range c.columns {
		h.name = max(h.name, c.turnName(i).Width())
	}
	h.columns = slices.Clone(matrixColumns)
	used := matrixLeft + againstCells
	for _, of := range h.columns {
		used += of.cells
	}
	narrow := c.isStacked()
	for rank := len(matrixColumns) - 1; rank > 0 && (narrow && rank >= 4 || used+min(h.name, 14) > c.w); rank-- {
		h.columns = slices.DeleteFunc(h.columns, func(of matrixColumn) bool {
			if of.rank == rank {
				used -= of.cells
			}
			return of.rank == rank
		})
	}
	h.name = max(min(h.name, c.w-used, 30), 4)
	p := c.newComparison(v)
	h.cells, h.against = make([][]screen.StyledText, len(c.columns)), make([]screen.StyledText, len(c.columns))
	for i, t := range c.columnTurns(v) {
		for _, of := range h.columns {
			h.cells[i] = append(h.cells[i], c.matrixCell(v, of.title, i, t))
		}
		words, weight := p.Against(i)
		role := [...]screen.Role{diff.Equal: screen.Muted, diff.Other: screen.Plain, diff.Uneven: screen.Caution, diff.Fault: screen.Bad}[weight]
		if words == "" && t == nil {
			words = "nothing yet"
		}
		h.against[i] = screen.StyledText{Role: role, Text: c.draw.Clean(words)}
	}
}

// turnName returns the name of a column's turn, with a sign if it is marked.
func (c *comparison) turnName(i int) display.Text {
	name := c.draw.Clean(c.columns[i].name)
	if slices.Contains(*c.marks, c.columns[i].Turn) {
		name = name.Between("", " m")
	}
	return name
}

// matrixCell returns a cell of the matrix. An unknown value is a dash.
func (c *comparison) matrixCell(v *providers.View, title string, i int, t *stream.Turn) screen.StyledText {
	styled := func(r screen.Role, text display.Text) screen.StyledText {
		return screen.StyledText{Role: r, Text: text}
	}
	none := styled(screen.Muted, c.draw.Clean(c.glyphSet().None.String()))
	if t == nil {
		return none
	}
	switch title {
	case "CALLS":
		base, role := c.columns[c.base].findTurn(v), screen.Plain
		if base != nil && t.Closed() && len(t.Calls) < len(base.Calls) {
			role = screen.Bad
		}
		return styled(role, screen.Count(len(t.Calls)))
	case "VALID":
		valid, open, role := 0, 0, screen.Plain
		for _, call := range t.Calls {
			switch st := call.Status(); {
			case st == stream.Complete || st == stream.NoArguments:
				valid++
			case call.MayGrow():
				open++
			}
		}
		if valid+open < len(t.Calls) {
			role = screen.Bad
		}
		return styled(role, screen.Count(valid))
	case "SCHEMA":
		return c.schemaCell(v, t, none)
	case "FIRST":
		if i < len(c.times) && c.times[i].Asked && c.times[i].First >= 0 {
			return styled(screen.Muted, screen.Time(c.times[i].First))
		}
	case "TOTAL":
		if i < len(c.times) && c.times[i].End >= 0 {
			took := screen.Time(c.times[i].End)
			if !c.times[i].Over {
				took = took.Between("~", "")
			}
			return styled(screen.Muted, took)
		}
	case "COST":
		if f := c.bill.CostOf(t); f.Known() {
			return styled(screen.Plain, shortCost(c.draw, f))
		}
	}
	return none
}

// schemaCell says how many calls in a turn break their schemas, or that none does.
func (c *comparison) schemaCell(v *providers.View, t *stream.Turn, none screen.StyledText) screen.StyledText {
	breaks, checked, x := 0, 0, v.Exchange(t.Exchange)
	for _, call := range t.Calls {
		if slices.ContainsFunc(call.Findings, diff.BreaksSchema) {
			breaks++
		}
		if x != nil && call.Status() == stream.Complete && !call.Freeform() {
			if _, ok := x.Required(call); ok {
				checked++
			}
		}
	}
	switch {
	case breaks > 0:
		return screen.StyledText{Role: screen.Bad, Text: display.Join(c.glyphSet().Status[stream.Malformed], display.Lit(" "), screen.Count(breaks))}
	case checked > 0 && checked == len(t.Calls):
		return screen.StyledText{Role: screen.Muted, Text: display.Lit("ok")}
	}
	return none
}

// glyphSet returns the signs that the screen uses, Unicode or ASCII.
func (c *comparison) glyphSet() *screen.Glyphs {
	if c.draw.ASCII {
		return screen.ASCIIGlyphs
	}
	return screen.UnicodeGlyphs
}

// drawMatrix draws the row of a turn.
func (c *comparison) drawMatrix(p *screen.Pen, i int) {
	h := &c.head
	if i == c.selected {
		p.Text(screen.Accent, p.Glyph.Mark)
	} else {
		p.Spaces(screen.Bare, 1)
	}
	p.Spaces(screen.Bare, matrixLeft-1)
	role := screen.Plain
	if i == c.selected {
		role = screen.Accent
	}
	name := p.Truncate(c.turnName(i), h.name)
	p.Text(role, name)
	p.Spaces(screen.Bare, h.name-name.Width())
	for n, of := range h.columns {
		cell := h.cells[i][n]
		p.Spaces(screen.Bare, of.cells-cell.Text.Width())
		p.Text(cell.Role, p.Truncate(cell.Text, of.cells))
	}
	p.Spaces(screen.Bare, 2)
	if words := h.against[i]; !words.Text.Empty() {
		p.Text(words.Role, p.Truncate(words.Text, p.Left))
	}
	// The time bars of all turns have the same scale.
	if c.w < laneFrom || i >= len(c.bars.of) {
		return
	}
	p.Spaces(screen.Bare, p.Left-(c.w-c.laneStart()))
	if i >= len(c.times) || c.times[i].End < 0 {
		if v := c.host.View(); c.columns[i].findTurn(v) == nil && !c.isFinished(v, i, nil) {
			p.Text(screen.Muted, display.Join(p.Glyph.Idle, display.Lit(" nothing yet")))
		} else {
			p.Text(screen.Muted, p.Glyph.None)
		}
		return
	}
	t := &c.times[i]
	coming := screen.Plain
	if !t.Over {
		coming = screen.Live
	}
	for n := 0; n < len(c.bars.of[i]); {
		piece, from := c.bars.of[i][n], n
		for n < len(c.bars.of[i]) && c.bars.of[i][n] == piece {
			n++
		}
		look := [...]struct {
			role screen.Role
			sign display.Text
		}{{screen.Plain, display.Lit(" ")}, {screen.Muted, p.Glyph.Idle}, {screen.Muted, p.Glyph.Silent}, {coming, p.Glyph.Coming}}[piece]
		p.Text(look.role, display.Repeat(look.sign, n-from))
	}
	took := screen.Time(t.End)
	if !t.Over {
		took = took.Between("~", "")
	}
	p.Text(screen.Plain, took.Between(" ", ""))
}

// laneFrom is the minimum width at which the matrix shows the times of the turns as bars.
const laneFrom = 110

// laneStart returns the cell where the bars begin.
func (c *comparison) laneStart() int {
	at := matrixLeft + c.head.name + againstCells + 2
	for _, of := range c.head.columns {
		at += of.cells
	}
	return at
}

// drawMatrixHeads draws the column heads of the matrix.
func (c *comparison) drawMatrixHeads(p *screen.Pen) {
	p.Spaces(screen.Bare, matrixLeft)
	p.Text(screen.Muted, display.Lit("TURN"))
	p.Spaces(screen.Bare, c.head.name-4)
	for _, of := range c.head.columns {
		p.Spaces(screen.Bare, of.cells-len(of.title))
		p.Text(screen.Muted, p.Clean(of.title))
	}
	p.Text(screen.Muted, display.Lit("  AGAINST BASE"))
	if label := c.clockLabel(); c.w >= laneFrom {
		p.Spaces(screen.Bare, p.Left-(c.w-c.laneStart()))
		p.Text(screen.Muted, p.Clean(strings.ToUpper(label.String())))
	}
}

// drawCallout draws a row of the callout. Its role and sign show whether turns differ.
func (c *comparison) drawCallout(p *screen.Pen, n int) {
	role, sign := screen.Muted, sideSign(p, screen.Same)
	switch {
	case c.differs:
		role, sign = screen.Caution, sideSign(p, screen.Differs)
	case c.pending:
		sign = p.Glyph.Idle
	}
	p.Spaces(screen.Bare, 1)
	if c.differs {
		p.Text(role, p.Glyph.Bar)
	} else {
		p.Spaces(screen.Bare, 1)
	}
	p.Spaces(screen.Bare, 1)
	if n > 0 {
		p.Spaces(screen.Bare, sign.Width()+1)
		p.Text(screen.Plain, c.head.says[n])
		return
	}
	p.Text(role, sign.Between("", " "))
	p.Text(role, c.head.says[n])
}
