package panes

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Findings is the pane of the diagnoses of the chosen call and its turn, in words, each leading to
// what it points at.
type Findings struct {
	screen.Window
	host  Host
	lead  func(Found)
	again func(*stream.SentBackCall)
	list  []Found
	total int // list has the first of so many
	lines []findingLine
	grid  findingGrid
	key   findingsKey
	state findingsState
}

// findingGrid is how wide the columns of the list are: codes, and the places that they point at. The
// words stand behind them where that leaves room enough, and else in rows of their own.
type findingGrid struct{ code, where int }

// Columns of the list.
const (
	findingLeft   = 4  // the cursor, the sign
	minMessage    = 24 // or they have rows of their own
	maxCodeCells  = 24
	maxPlaceCells = 20
)

// wordsColumn is the column of the words.
func (g findingGrid) wordsColumn(width int) int {
	if at := findingLeft + g.code + 2 + g.where + 2; width-at >= minMessage {
		return at
	}
	return findingLeft
}

// NewFindings makes the pane. lead goes where a finding points; again goes to the request in which
// a call was sent back.
func NewFindings(h Host, lead func(Found), again func(*stream.SentBackCall)) *Findings {
	return &Findings{host: h, lead: lead, again: again}
}

// Keys are those that move, and lead to what is selected.
func (f *Findings) Keys() []screen.Binding {
	return append([]screen.Binding{
		helpHint,
		{Keys: []string{"enter"}, Hint: display.Lit("enter go there"), Does: display.Lit("open the selection"), Do: f.openSelected},
		nextHint,
		copyHint, findHint, tabHint, backKey(f.host),
	}, cursorKeys(f.host, f.CursorKeys(display.Text{}, f.MoveTo), f.End)...)
}

// openSelected leads to what the selected line is about.
func (f *Findings) openSelected() {
	if r := f.Request(); r != nil {
		f.again(r)
	} else if x, ok := f.Chosen(); ok {
		f.lead(x)
	}
}

// Quote is the selected finding as a line of a report.
func (f *Findings) Quote() (what display.Text, line []byte) {
	x, ok := f.Chosen()
	if !ok {
		return what, nil
	}
	return display.Lit("the finding"), []byte(x.Code + ": " + x.Message)
}

// Label is the name, and how many there are, in the colour of the gravest.
func (f *Findings) Label() Label {
	l := Label{Name: display.Lit("FINDINGS"), Count: screen.Count(f.total), Role: screen.Muted}
	worst := stream.Info
	for i := range f.list {
		worst = max(worst, f.list[i].Severity)
	}
	l.Role = screen.SeverityRoles[worst]
	return l
}

// WantedRows is a row for each line.
func (f *Findings) WantedRows() int { return len(f.lines) }

// GoTo selects a row.
func (f *Findings) GoTo(row int) { f.MoveTo(row) }

// Find are the rows that hold query.
func (f *Findings) Find(query string) (rows []int, cursor int) {
	if query == "" {
		return nil, f.At
	}
	n := newTextQuery(query)
	for row, line := range f.lines {
		if containsQuery(n, line.code.String()) || containsQuery(n, line.where.String()) || containsQuery(n, line.text.String()) {
			rows = append(rows, row)
		}
	}
	return rows, f.At
}

// Chosen is the selected finding.
func (f *Findings) Chosen() (Found, bool) {
	if f.At >= len(f.lines) {
		return Found{}, false
	}
	if i := f.lines[f.At].of; i >= 0 && i < len(f.list) {
		return f.list[i], true
	}
	return Found{}, false
}

// Request is the one that the selected line leads to, nil if none.
func (f *Findings) Request() *stream.SentBackCall {
	if f.At >= len(f.lines) {
		return nil
	}
	return f.lines[f.At].to
}

// Draw writes row y of the pane into the field.
func (f *Findings) Draw(p *screen.Pen, y int, focused bool) {
	if y == 0 {
		return
	}
	defer p.Fill(screen.Bare)
	row := f.Top + y - titleRow
	if row >= len(f.lines) {
		return
	}
	line, at := f.lines[row], f.lines[min(f.At, len(f.lines)-1)]
	g := screen.Bare
	if focused && (line.of != ours && line.of == at.of || line.of == ours && line.to != nil && line.to == at.to) {
		g = screen.Selected
	}
	if line.of == ours {
		p.TextOn(line.role, g, line.text)
		p.Fill(g)
		return
	}
	mark := display.Lit(" ")
	if line.of == at.of && !line.code.Empty() {
		mark = p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	f.drawFinding(p, line, g)
	p.Fill(g)
}

// drawFinding writes a row of a finding.
func (f *Findings) drawFinding(p *screen.Pen, line findingLine, g screen.Surface) {
	left := f.grid.wordsColumn(f.key.width)
	switch {
	case line.of >= len(f.list):
		p.TextOn(screen.Muted, g, line.code.Between("   ", ""))
	case line.code.Empty():
		p.Spaces(g, left-1)
	default:
		sev := f.list[line.of].Severity
		p.TextOn(screen.SeverityRoles[sev], g, p.Glyph.Severity[sev].Between("", " "))
		p.TextOn(screen.SeverityRoles[sev], g, p.Pad(line.code, f.grid.code).Between("", "  "))
		p.TextOn(screen.Muted, g, p.Pad(line.where, f.grid.where).Between("", "  "))
	}
	p.TextOn(screen.Plain, g, line.text)
}
