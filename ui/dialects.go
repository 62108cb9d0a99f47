package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
)

// dialects is the mode that lets the user say which protocol the response of
// the chosen turn speaks. The first row lets its bytes tell.
type dialects struct {
	window
	exchange *providers.Exchange
}

func newDialects(m *Model) mode {
	if m.chosen.turn == nil {
		m.say(display.Lit("no response to choose a dialect for"))
		return browse{}
	}
	d := &dialects{exchange: m.in.Exchange(m.chosen.turn.Exchange)}
	d.resize(1+len(providers.All), 1+len(providers.All))
	for i := range providers.All {
		if d.exchange.Dialect != nil && providers.All[i].Name == d.exchange.Dialect.Name {
			d.moveTo(i + 1)
		}
	}
	return d
}

func (d *dialects) update(m *Model, k tea.KeyMsg) tea.Cmd {
	km := m.keys
	switch row, moved := km.move(k, d.window); {
	case moved:
		d.moveTo(row)
	case km.is(k, km.Enter):
		m.mode = browse{}
		m.reread(d.exchange.Number, d.at)
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
	m.list, m.doc, m.summary = turnList{alarms: alarms{}}, document{raw: m.doc.raw, when: m.when}, summary{}
	m.wire, m.findings, m.chosen = wire{}, findings{}, choice{}
	m.marks, m.results = nil, map[*stream.Call]typedResult{}
	m.clearSearch()
	for _, t := range m.in.Session().Turns {
		if t.Exchange == exchange {
			m.chosen = choice{turn: t}
			break
		}
	}
	m.setFollow(false)
	m.refresh()
}

func (d *dialects) body(m *Model, p *pen, y, height int) bool {
	defer p.fill(bare)
	if y == 0 {
		p.say(accent, display.Lit(" READ THE RESPONSE AS"))
		return true
	}
	d.resize(d.rows, max(1, height-1))
	row := d.top + y - 1
	if row >= d.rows || y > height {
		return true
	}
	g, mark := bare, display.Lit("  ")
	if row == d.at {
		g, mark = selected, p.glyph.mark.Between("", " ")
	}
	name, title := "auto", "let its bytes tell"
	if row > 0 {
		name, title = providers.All[row-1].Name, providers.All[row-1].Title
	}
	p.put(accent, g, mark)
	p.put(plain, g, p.draw.Format("%-*s", dialectColumn, name))
	p.put(muted, g, p.draw.Clean(title))
	if d.exchange.Dialect != nil && name == d.exchange.Dialect.Name {
		p.put(live, g, display.Lit("  now: "))
		p.outside(live, g, d.exchange.Why)
	}
	p.fill(g)
	return true
}

const dialectColumn = 22 // cells before a dialect's title

func (d *dialects) footer(m *Model, p *pen) {
	p.say(muted, display.Lit(" enter read it so   esc close"))
}
