package ui

import (
	"strings"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// logPage is the mode that shows the journal, or its matching lines.
type logPage struct {
	screen.Window
	m     *Model
	line  *screen.Input // the search text, or nil
	typed bool          // the search text is being typed
	rows  []logRow
	laid  logKey
}

// logRow is a display row; the first row of a line has its time.
type logRow struct {
	journalLine
	line  display.Text
	first bool
}

// logKey identifies the inputs of the layout of the rows.
type logKey struct {
	w, lines int
	query    string
	made     bool
}

func (m *Model) openLog() {
	m.noteNews()
	m.pushMode(&logPage{m: m, Window: screen.Window{Stick: true}})
}

// Typing returns the search input while it is typed, else nil.
func (l *logPage) Typing() *screen.Input {
	if l.typed {
		return l.line
	}
	return nil
}

// Keys returns the keys that move, find and export.
func (l *logPage) Keys() []screen.Binding {
	all := func() { l.line, l.typed = nil, false }
	if l.typed {
		return []screen.Binding{
			{Keys: []string{"enter"}, Hint: display.Lit("enter keep"), Does: display.Lit("keep these lines"), Do: func() { l.typed = false }},
			{Keys: []string{"esc"}, Hint: display.Lit("esc show all"), Does: display.Lit("show all"), Do: all},
		}
	}
	keys := []screen.Binding{
		{Keys: []string{"/"}, Hint: display.Lit("/ find"), Does: display.Lit("show only matching lines"), Do: func() {
			l.line, l.typed = screen.NewInput(display.Text{}, "", 80), true
		}},
		{Keys: []string{"esc", "q"}, Hint: display.Lit("esc back"), Does: display.Lit("close"), Do: func() {
			if l.line != nil {
				all()
				return
			}
			l.m.closeTop()
		}},
	}
	keys = append(keys, l.m.newExport().Keys(modeHost{l.m}, l.m.draw, l.shownBody)...)
	keys = append(keys, l.CursorKeys(display.Lit("j k scroll"), l.MoveTo)...)
	keys[len(keys)-1].Do = l.End
	return keys
}

// shownBody returns the shown lines as text.
func (l *logPage) shownBody() modes.Body {
	var text strings.Builder
	for _, n := range l.matchingLines() {
		text.WriteString(n.at.Format("2006-01-02 15:04:05  ") + n.text + "\n")
	}
	if text.Len() == 0 {
		return modes.Body{What: display.Lit("the log is empty")}
	}
	return modes.Body{Data: []byte(text.String()), What: display.Lit("the log"), File: "log.txt"}
}

// matchingLines returns the lines that match the search.
func (l *logPage) matchingLines() (some []journalLine) {
	all, _ := l.m.journal.lines()
	query := l.queryText()
	for _, n := range all {
		if strings.Contains(strings.ToLower(n.text), query) {
			some = append(some, n)
		}
	}
	return some
}

func (l *logPage) queryText() string {
	if l.line == nil {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(l.line.Value()))
}

// logTime is the width of the time before a line.
const logTime = 11

// Extend lays out the lines again if they or the width changed.
func (l *logPage) Extend(_ *providers.View, w, h int) {
	all, gone := l.m.journal.lines()
	if key := (logKey{w, len(all) + gone, l.queryText(), true}); key != l.laid {
		l.laid, l.rows = key, nil
		for _, n := range l.matchingLines() {
			for i, line := range display.Wrap(l.m.draw.Clean(n.text), max(w-logTime-1, 8)) {
				l.rows = append(l.rows, logRow{n, line, i == 0})
			}
		}
	}
	l.Fit(len(l.rows), 1, h)
}

// Draw draws row y: the title, or a row of a line.
func (l *logPage) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		l.drawTitle(p)
		return
	}
	n := l.RowAt(y)
	if n < 0 {
		if y == 1 && len(l.rows) == 0 {
			p.Text(screen.Muted, display.Lit(" nothing yet: toolscope's notes and errors appear here"))
		}
		return
	}
	row, g, mark := l.rows[n], screen.Bare, display.Lit(" ")
	if n == l.At {
		g, mark = screen.Selected, p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	if row.first {
		p.TextOn(screen.Muted, g, p.Clean(row.at.Format("15:04:05")))
		p.Spaces(g, 2)
	} else {
		p.Spaces(g, logTime-1)
	}
	p.TextOn(row.role, g, row.line)
	p.Fill(g)
}

func (l *logPage) drawTitle(p *screen.Pen) {
	all, gone := l.m.journal.lines()
	note := p.ScrollInfo(l.Visible())
	if l.typed {
		modes.DrawInputRow(p, display.Lit("LOG /"), l.line, note)
		return
	}
	p.Text(screen.Accent, display.Lit(" LOG  "))
	p.Text(screen.Plain, screen.Plural(len(all), "line"))
	if gone > 0 {
		p.Text(screen.Muted, screen.Count(gone).Between("  ", " earlier ones dropped"))
	}
	if n := l.m.in.Others.Count; n > 0 {
		p.Text(screen.Muted, p.Format("  %s in no exchange", screen.Plural(int(n), "line")))
	}
	if q := l.queryText(); q != "" {
		p.Text(screen.Accent, p.Name(q).Between("  /", ""))
	}
	p.Right(screen.Muted, screen.Bare, note.Between("  ", " "))
}
