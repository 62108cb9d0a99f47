package panes

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Findings is the pane of the findings of the selected call and its turn. Each finding leads to its
// evidence.
type Findings struct {
	screen.Window
	host  Host
	lead  func(Found)
	again func(*stream.SentBackCall)
	list  []Found
	total int // number of all findings; list has the first ones
	lines []findingLine
	grid  findingGrid
	key   findingsKey
	state findingsState
}

// findingGrid is the width of the columns of codes and places. The message follows them if there is room.
// Otherwise it has its own rows.
type findingGrid struct{ code, where int }

// Columns of the list.
const (
	findingLeft   = 4  // the cursor, the sign
	minMessage    = 24 // below it, messages have their own rows
	maxCodeCells  = 24
	maxPlaceCells = 20
)

// wordsColumn returns the column of the message.
func (g findingGrid) wordsColumn(width int) int {
	if at := findingLeft + g.code + 2 + g.where + 2; width-at >= minMessage {
		return at
	}
	return findingLeft
}

// NewFindings returns the pane. lead goes to the evidence of a finding; again goes to the request in
// which a call was sent back.
func NewFindings(h Host, lead func(Found), again func(*stream.SentBackCall)) *Findings {
	return &Findings{host: h, lead: lead, again: again}
}

// Keys returns the keys that move, and go to the evidence of the selected finding.
func (f *Findings) Keys() []screen.Binding {
	return append([]screen.Binding{
		helpHint,
		{Keys: []string{"enter"}, Hint: display.Lit("enter go there"), Does: display.Lit("open the selection"), Do: f.openSelected},
		nextHint,
		copyHint, findHint, tabHint, backKey(f.host),
	}, cursorKeys(f.host, f.CursorKeys(display.Text{}, f.MoveTo), f.End)...)
}

// openSelected goes to the evidence or request of the selected line.
func (f *Findings) openSelected() {
	if r := f.Request(); r != nil {
		f.again(r)
	} else if x, ok := f.Chosen(); ok {
		f.lead(x)
	}
}

// Quote returns the selected finding as a line for a report.
func (f *Findings) Quote() (what display.Text, line []byte) {
	x, ok := f.Chosen()
	if !ok {
		return what, nil
	}
	return display.Lit("the finding"), []byte(x.Code + ": " + x.Message)
}

// Label returns the name and the number of findings, in the colour of the worst.
func (f *Findings) Label() Label {
	l := Label{Name: display.Lit("FINDINGS"), Count: screen.Count(f.total), Role: screen.Muted}
	worst := stream.Info
	for i := range f.list {
		worst = max(worst, f.list[i].Severity)
	}
	l.Role = screen.SeverityRoles[worst]
	return l
}

// WantedRows returns a row for each line.
func (f *Findings) WantedRows() int { return len(f.lines) }

// GoTo selects a row.
func (f *Findings) GoTo(row int) { f.MoveTo(row) }

// Find returns the rows that contain query.
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

// Chosen returns the selected finding.
func (f *Findings) Chosen() (Found, bool) {
	if f.At >= len(f.lines) {
		return Found{}, false
	}
	if i := f.lines[f.At].of; i >= 0 && i < len(f.list) {
		return f.list[i], true
	}
	return Found{}, false
}

// Request returns the request that the selected line leads to, or nil.
func (f *Findings) Request() *stream.SentBackCall {
	if f.At >= len(f.lines) {
		return nil
	}
	return f.lines[f.At].to
}

// Draw draws row y of the pane into the field.
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

// drawFinding draws a row of a finding.
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
