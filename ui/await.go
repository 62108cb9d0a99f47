package ui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// Await is what a live source waits for: clients that have to be sent to it.
type Await struct {
	URL   string      // where it listens
	Ways  []Way       // how clients are sent there
	More  string      // and all others; may be empty
	Hosts [][2]string // where the address leads, by what stands behind it
	Runs  func() bool // whether a client runs that ends with the program; nil for none
}

// A Way is how a client is sent to an address: a line to be pasted, and those that belong to it.
type Way struct {
	Client string
	Line   string   // "" where none of the lines does anything alone
	Also   []string // behind it
}

// lines are all of them.
func (w Way) lines() []string {
	if w.Line == "" {
		return w.Also
	}
	return append([]string{w.Line}, w.Also...)
}

// awaits reports whether nothing has come yet but what was refused.
func (m *Model) awaits() bool {
	turns := len(m.in.Session().Turns)
	return m.opt.Await != nil && (turns == 0 || turns <= mostRefused && turns == len(m.refusals()))
}

const mostRefused = 100 // before the list of turns is what tells of them

// awaitRow is a row of the screen that waits: the way of a client, one of its lines, or how all others
// are sent.
type awaitRow struct {
	way  int // or len(Ways)
	line int // of the lines below the way, or -1
	text display.Text
}

// awaitRows are the rows between the first and what was refused.
func (m *Model) awaitRows(width int) (rows []awaitRow) {
	a := m.opt.Await
	for i, way := range a.Ways {
		rows = append(rows, awaitRow{way: i, line: -1})
		if i != m.awaited || !m.pasted {
			continue
		}
		for n, line := range way.lines() {
			for _, part := range display.Wrap(m.pen.Name(line), max(width-4, 8)) {
				rows = append(rows, awaitRow{i, n, part})
			}
		}
	}
	if a.More != "" && width >= awaitWide {
		rows = append(rows, awaitRow{way: len(a.Ways), line: -1})
	}
	return rows
}

// drawAwait writes row y of the screen that waits for clients: what to paste for each, and what was
// refused.
func (m *Model) drawAwait(p *screen.Pen, y, height int) {
	a, refused, rows := m.opt.Await, m.refusals(), m.awaitRows(p.Left)
	told, room, top := m.awaitView(rows, len(refused), height)
	switch n := top + y - 1; {
	case y == 0 && p.Left >= awaitWide:
		p.Text(screen.Muted, display.Lit("  Paste one line where your agent runs (:paste shows this again):"))
	case y == 0:
		p.Text(screen.Muted, display.Lit(" Waiting at "))
		p.Text(screen.Plain, p.Name(a.URL))
	case y <= room && n < len(rows):
		m.drawWay(p, rows[n])
	case told > 0 && y == height-told-1:
		p.Caption(screen.Caution, screen.Count(len(refused)).Between("REFUSED ", ""))
	case y >= height-told:
		m.drawRefusal(p, refused[len(refused)-(height-y)])
	}
}

// awaitView is how many of what was refused are told in so many rows, how many rows the ways have, and
// which of these is the first that is seen: the one that is selected is.
func (m *Model) awaitView(rows []awaitRow, refused, height int) (told, room, top int) {
	told = min(refused, max(0, height-len(m.opt.Await.Ways)-4))
	room = height - 1
	if told > 0 {
		room -= told + 1
	}
	for i, r := range rows {
		if r.way == m.awaited && r.line < 0 && i >= room {
			top = i - room + 1
		}
	}
	return told, room, top
}

// touchWay selects the way that is drawn in row y of the screen that waits, and reports whether it was.
func (m *Model) touchWay(y int) (again bool) {
	rows := m.awaitRows(m.w)
	_, room, top := m.awaitView(rows, len(m.refusals()), m.bodyHeight())
	n := top + y - 1
	if y < 1 || y > room || n >= len(rows) || rows[n].way >= len(m.opt.Await.Ways) {
		return false
	}
	if again = rows[n].way == m.awaited; !again {
		m.awaited, m.pasted = rows[n].way, false
	}
	return again
}

// awaitWide is how wide a screen is that has room for the names of clients.
const awaitWide = 60

// drawWay writes the way of a client, one of its lines, or how all others are sent.
func (m *Model) drawWay(p *screen.Pen, r awaitRow) {
	a, g, mark := m.opt.Await, screen.Bare, display.Lit("  ")
	if r.line >= 0 {
		p.Spaces(g, 4)
		p.Text(screen.StringToken, r.text)
		return
	}
	if r.way == m.awaited {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	p.TextOn(screen.Accent, g, mark)
	name, text, role := display.Lit("others"), p.Name(a.More), screen.Muted
	if r.way < len(a.Ways) {
		way := a.Ways[r.way]
		name, text, role = p.Name(way.Client), p.Name(way.Line), screen.Plain
		if way.Line == "" {
			text, role = display.Format("%s: enter shows them", screen.Plural(len(way.Also), "line")), screen.Muted
		}
	}
	if p.Left >= awaitWide-2 {
		names := 0
		for _, way := range a.Ways {
			names = max(names, p.Name(way.Client).Width())
		}
		p.TextOn(screen.Accent, g, p.Pad(name, names).Between("", "  "))
	}
	p.TextOn(role, g, p.Truncate(text, p.Left))
	if r.way < len(a.Ways) && a.Ways[r.way].Line != "" && len(a.Ways[r.way].Also) > 0 {
		p.Right(screen.Muted, g, p.Format(" +%d: enter ", len(a.Ways[r.way].Also)))
	}
	p.Fill(g)
}

// awaitKeys are those of that screen.
func (m *Model) awaitKeys() []screen.Binding {
	return append(m.pasteKeys(), []screen.Binding{
		{Keys: []string{"L"}, Hint: display.Lit("L streams"), Does: display.Lit("open streams"), Do: m.openStreams},
		{Keys: []string{"d"}, Hint: display.Lit("d demo"), Does: display.Lit("play the demo"), Do: m.playDemo},
		{Keys: []string{"q", "esc"}, Hint: display.Lit("q quit"), Does: display.Lit("quit"), Do: func() { m.leave(tea.Quit) }},
	}...)
}

// pasteKeys are those with which a way is chosen and taken.
func (m *Model) pasteKeys() []screen.Binding {
	move := func(step int) func() {
		return func() {
			m.awaited = min(max(0, m.awaited+step), max(0, len(m.opt.Await.Ways)-1))
			m.pasted = false
		}
	}
	return []screen.Binding{
		{Keys: []string{"up", "k"}, Does: display.Lit("line before"), Do: move(-1)},
		{Keys: []string{"down", "j"}, Does: display.Lit("next line"), Do: move(1)},
		{Keys: []string{"?"}, Hint: display.Lit("? help")},
		{Keys: []string{"y"}, Hint: display.Lit("y copy line"), Does: display.Lit("copy the line, or all that belong together"), Do: m.copyWay},
		{Keys: []string{"enter"}, Does: display.Lit("show the lines whole"), Do: func() { m.pasted = !m.pasted }},
	}
}

// openPaste shows what to paste, once more.
func (m *Model) openPaste() {
	if m.opt.Await == nil {
		m.say(display.Lit("only a proxy has lines to paste"))
		return
	}
	m.open(&pasting{m})
}

// pasting is the mode that shows what to paste while there is something else to see.
type pasting struct{ m *Model }

// Keys are those that choose and take a way.
func (s *pasting) Keys() []screen.Binding {
	return append(s.m.pasteKeys(), screen.Binding{Keys: []string{"esc", "q"}, Hint: display.Lit("esc back"), Does: display.Lit("close"), Do: s.m.closeTop})
}

// Click selects the way that is there.
func (s *pasting) Click(_, y int) (again bool) { return s.m.touchWay(y) }

// Roll moves nothing: what is seen goes with what is selected.
func (*pasting) Roll(int) {}

// Extend has nothing to do.
func (s *pasting) Extend(*providers.View, int, int) {}

// Draw writes row y.
func (s *pasting) Draw(p *screen.Pen, y int) {
	s.m.drawAwait(p, y, s.m.bodyHeight())
	p.Fill(screen.Bare)
}

// openHosts shows where the address leads.
func (m *Model) openHosts() {
	if m.opt.Await == nil || len(m.opt.Await.Hosts) == 0 {
		m.say(display.Lit("only a proxy has hosts"))
		return
	}
	widest := 0
	for _, h := range m.opt.Await.Hosts {
		widest = max(widest, len(h[0]))
	}
	var lines []string
	for _, h := range m.opt.Await.Hosts {
		lines = append(lines, fmt.Sprintf("%s%-*s  %s", m.opt.Await.URL, widest, h[0], h[1]))
	}
	m.openOutput(panes.Literal{Path: "hosts", Text: strings.Join(lines, "\n")})
}

// copyWay copies the selected line.
func (m *Model) copyWay() {
	a := m.opt.Await
	if m.awaited >= len(a.Ways) {
		m.say(display.Lit("no line is selected"))
		return
	}
	m.copy([]byte(strings.Join(a.Ways[m.awaited].lines(), "\n")))
}

// copy copies a text, and says by which ways.
func (m *Model) copy(text []byte) {
	if m.opt.Copy == nil {
		m.say(display.Lit("there is no clipboard"))
		return
	}
	ways, err := m.opt.Copy(text)
	if err != nil {
		m.say(m.draw.Clean(err.Error()))
		return
	}
	m.say(m.draw.Clean(ways).Between("copied: ", ""))
}

// A Word is something to know about the source besides what it brings.
type Word struct {
	Text  string
	Alarm bool   // something is wrong
	Stays bool   // it is there as long as there is room for it and the end of the way
	Brief string // stands in place of Text where that has no room; "" for nothing
}
