package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Await is what a live source waits for: clients that have to be sent to it.
type Await struct {
	URL  string      // where it listens
	Ways [][2]string // clients, and the line that sends each there
	More string      // a line for all others; may be empty
	Runs func() bool // whether a client runs that ends with the program; nil for none
}

// awaits reports whether nothing has come yet but what was refused.
func (m *Model) awaits() bool {
	turns := len(m.in.Session().Turns)
	return m.opt.Await != nil && (turns == 0 || turns <= mostRefused && turns == len(m.refusals()))
}

const mostRefused = 100 // before the list of turns is what tells of them

// drawAwait writes row y of the screen that waits for clients: a line to paste for each, and what
// was refused.
func (m *Model) drawAwait(p *screen.Pen, y, height int) {
	a, refused := m.opt.Await, m.refusals()
	told := min(len(refused), max(0, height-len(a.Ways)-4))
	switch n := y - 1; {
	case y == 0 && p.Left >= awaitWide:
		p.Say(screen.Muted, display.Lit("  Paste one line where your agent runs:"))
	case y == 0:
		p.Say(screen.Muted, display.Lit(" Waiting at "))
		p.Say(screen.Plain, p.Name(a.URL))
	case n < len(a.Ways):
		m.drawWay(p, n)
	case n == len(a.Ways) && a.More != "" && p.Left >= awaitWide:
		p.Spaces(screen.Bare, 2)
		p.Say(screen.Muted, p.Truncate(p.Name(a.More), p.Left))
	case told > 0 && y == height-told-1:
		p.Say(screen.Caution, p.Format(" REFUSED %s ", screen.Count(len(refused))))
		p.Spaces(screen.Bare, 1)
	case y >= height-told:
		m.drawRefusal(p, refused[len(refused)-(height-y)])
	}
}

// awaitWide is how wide a screen is that has room for the names of clients.
const awaitWide = 60

// drawWay writes the line of a client.
func (m *Model) drawWay(p *screen.Pen, n int) {
	a, g, mark := m.opt.Await, screen.Bare, display.Lit("  ")
	if n == m.awaited {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	p.Put(screen.Accent, g, mark)
	if p.Left >= awaitWide-2 {
		names := 0
		for _, way := range a.Ways {
			names = max(names, p.Name(way[0]).Width())
		}
		p.Put(screen.Accent, g, p.Format("%-*s  ", names, p.Name(a.Ways[n][0])))
	}
	p.Put(screen.Plain, g, p.Truncate(p.Name(a.Ways[n][1]), p.Left))
	p.Fill(g)
}

// awaitKeys are those of that screen.
func (m *Model) awaitKeys() []screen.Binding {
	move := func(step int) func() {
		return func() { m.awaited = min(max(0, m.awaited+step), max(0, len(m.opt.Await.Ways)-1)) }
	}
	return []screen.Binding{
		{Keys: []string{"up", "k"}, Does: display.Lit("line before"), Do: move(-1)},
		{Keys: []string{"down", "j"}, Does: display.Lit("next line"), Do: move(1)},
		{Keys: []string{"?"}, Hint: display.Lit("? help")},
		{Keys: []string{"y"}, Hint: display.Lit("y copy line"), Does: display.Lit("copy the line"), Do: m.copyWay},
		{Keys: []string{"L"}, Hint: display.Lit("L streams"), Does: display.Lit("open streams"), Do: m.openStreams},
		{Keys: []string{"d"}, Hint: display.Lit("d demo"), Does: display.Lit("play the demo"), Do: m.playDemo},
		{Keys: []string{"q", "esc"}, Hint: display.Lit("q quit"), Does: display.Lit("quit"), Do: func() { m.leave(tea.Quit) }},
	}
}

// copyWay copies the selected line.
func (m *Model) copyWay() {
	a := m.opt.Await
	if m.awaited >= len(a.Ways) {
		m.say(display.Lit("no line is selected"))
		return
	}
	m.copy([]byte(a.Ways[m.awaited][1]))
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
	Alarm bool // something is wrong
}
