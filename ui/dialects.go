package ui

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"

	tea "github.com/charmbracelet/bubbletea"
)

// dialects is the mode that lets the user say which protocol the response of
// the chosen turn speaks. The first row lets its bytes tell.
type dialects struct {
	screen.Window
	exchange *providers.Exchange
}

func newDialects(m *Model) mode {
	if m.turn() == nil {
		m.say(display.Lit("no response to choose a dialect for"))
		return browse{}
	}
	d := &dialects{exchange: m.in.Exchange(m.turn().Exchange)}
	d.Resize(1+len(providers.All), 1+len(providers.All))
	for i := range providers.All {
		if d.exchange.Dialect != nil && providers.All[i].Name == d.exchange.Dialect.Name {
			d.MoveTo(i + 1)
		}
	}
	return d
}

func (d *dialects) update(m *Model, k tea.KeyMsg) tea.Cmd {
	km := m.keys
	switch row, moved := km.move(k, d.Window); {
	case moved:
		d.MoveTo(row)
	case km.is(k, km.Enter):
		m.mode = browse{}
		m.reread(d.exchange.Number, d.At)
	case km.is(k, km.Escape, km.Quit, km.Dialect):
		m.mode = browse{}
	}
	return nil
}

// reread has an exchange read as the dialect in row n of the list, and starts
// to look at it again.
func (m *Model) reread(exchange, n int) {
	if n == 0 {
		m.in.Reread(exchange, nil)
	} else {
		m.in.Reread(exchange, &providers.All[n-1])
	}
	m.list, m.doc, m.summary = panes.List{Alarms: panes.Alarms{}}, panes.Document{Raw: m.doc.Raw, When: m.when}, panes.Summary{}
	m.wire, m.findings, m.chosen = panes.Wire{}, panes.Findings{}, stream.NoRef
	m.marks, m.results = nil, map[stream.Ref]typedResult{}
	m.bill = panes.Bill{Prices: m.opt.Prices}
	m.clearSearch()
	for _, t := range m.in.Session().Turns {
		if t.Exchange == exchange {
			m.chosen = t.Ref()
			break
		}
	}
	m.setFollow(false)
	m.refresh()
}

func (d *dialects) body(m *Model, p *screen.Pen, y, height int) bool {
	defer p.Fill(screen.Bare)
	if y == 0 {
		p.Say(screen.Accent, display.Lit(" READ THE RESPONSE AS"))
		return true
	}
	d.Resize(d.Rows, max(1, height-1))
	row := d.Top + y - 1
	if row >= d.Rows || y > height {
		return true
	}
	g, mark := screen.Bare, display.Lit("  ")
	if row == d.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	name, title := "auto", "let its bytes tell"
	if row > 0 {
		name, title = providers.All[row-1].Name, providers.All[row-1].Title
	}
	p.Put(screen.Accent, g, mark)
	p.Put(screen.Plain, g, p.Format("%-*s", dialectColumn, name))
	p.Put(screen.Muted, g, p.Clean(title))
	if d.exchange.Dialect != nil && name == d.exchange.Dialect.Name {
		p.Put(screen.Live, g, display.Lit("  now: "))
		p.Outside(screen.Live, g, d.exchange.Why)
	}
	p.Fill(g)
	return true
}

const dialectColumn = 22 // cells before a dialect's title

func (d *dialects) footer(m *Model, p *screen.Pen) {
	p.Say(screen.Muted, display.Lit(" enter read it so   esc close"))
}
