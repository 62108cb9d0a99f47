package ui

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// Rows of a pane that are not its list: titles.
const (
	listTitle = 1
	paneTitle = 1
)

// docTitle is how many rows of a document pane of h rows are about the call.
func docTitle(h int) int {
	if h < 12 {
		return 1
	}
	return 3
}

// turnTitleRows is the same where a turn is shown.
func turnTitleRows(h int) int { return min(docTitle(h), 2) }

// leastWidth and leastHeight are the smallest window that is drawn into.
const (
	leastWidth  = 20
	leastHeight = 5
)

func (m *Model) bodyHeight() int { return max(1, m.h-2) }

func (m *Model) columns() []column {
	return arrange(m.w, m.bodyHeight(), m.focus, m.lower, m.zoom)
}

// View draws one frame: a line with where we are, the body, a line with what
// is going on. Each row is exactly as wide as the window.
func (m *Model) View() string {
	p := &m.pen
	p.Reset()
	if m.w < leastWidth || m.h < leastHeight {
		return m.tooSmall()
	}
	p.Field(m.w)
	m.drawTop(p)
	p.Fill(screen.Bare)
	body := m.bodyHeight()
	top := m.top()
	m.cols = m.columns()
	for y := range body {
		p.Newline()
		p.Field(m.w)
		top.Draw(p, y)
		p.Fill(screen.Bare)
	}
	p.Newline()
	p.Field(m.w)
	m.drawFooter(p)
	p.Fill(screen.Bare)
	return p.Frame()
}

func (m *Model) tooSmall() string {
	p := &m.pen
	for y := range m.h {
		if y > 0 {
			p.Newline()
		}
		p.Field(m.w)
		if y == 0 {
			p.Say(screen.Caution, m.draw.Format("at least %dx%d", leastWidth, leastHeight))
		}
		p.Fill(screen.Bare)
	}
	return p.Frame()
}

// drawPanes writes row y of the panes.
func (m *Model) drawPanes(p *screen.Pen, y int) {
	if len(m.in.Session().Turns) == 0 && len(m.in.Session().Findings) == 0 {
		m.drawEmpty(p, y, m.bodyHeight())
		return
	}
	for i, c := range m.cols {
		if i > 0 {
			p.Field(1)
			p.Say(screen.Muted, p.Glyph.Rule)
		}
		p.Field(c.width)
		row := y
		for _, s := range c.panes {
			if row < s.height {
				m.drawPane(p, s.pane, row, s.height)
				break
			}
			row -= s.height
		}
	}
}

func (m *Model) drawPane(p *screen.Pen, pane paneID, y, h int) {
	focused := m.focus == pane
	switch pane {
	case listPane:
		if y == 0 {
			p.Title(display.Lit("TURNS AND CALLS"), display.Text{}, focused)
			return
		}
		m.list.Draw(p, m.view, &m.bill, m.list.Top+y-listTitle, focused)
	case docPane:
		m.drawDocument(p, y, h, focused)
	case wirePane:
		if y == 0 {
			p.Title(display.Lit("WIRE"), screen.Plural(len(m.wire.Events), "event"), focused)
			return
		}
		m.wire.Draw(p, m.view, y-paneTitle, focused)
	case findingsPane:
		if y == 0 {
			p.Title(display.Lit("FINDINGS"), screen.Count(m.findings.Total), focused)
			return
		}
		m.findings.Draw(p, y-paneTitle, focused)
	}
}

// drawDocument writes a row of the document pane: title rows about the call,
// then its arguments; or about a turn, then what is known of it.
func (m *Model) drawDocument(p *screen.Pen, y, h int, focused bool) {
	title := docTitle(h)
	switch c := m.call(); {
	case c != nil && y >= title:
		p.Spaces(screen.Bare, 1)
		m.doc.Draw(p, m.doc.Top+y-title, focused)
	case c != nil && y == 0:
		m.drawCallHead(p, c, focused)
	case c != nil && y == 1:
		p.Put(screen.Muted, screen.Bare, m.callFacts(c, p.Left))
	case c != nil:
		m.drawTabs(p, focused)
	case m.turn() != nil && y == 0:
		m.drawTurnHead(p, m.turn(), focused)
	case m.turn() != nil && y >= turnTitleRows(h):
		m.summary.Draw(p, y-turnTitleRows(h))
	}
	p.Fill(screen.Bare)
}

func (m *Model) drawCallHead(p *screen.Pen, c *stream.Call, focused bool) {
	name := m.pen.Name(c.Name)
	if c.Name == "" {
		name = display.Lit("(no name)")
	}
	st := c.Status()
	space := display.Lit(" ")
	right := display.Join(space, m.statusWord(st), display.Lit("   "), p.Clean(c.Phase().String()), space, p.Glyph.Dot, space,
		p.Clean(c.Syntax().String()), space)
	if right.Width() > p.Left/2 {
		right = m.statusWord(st).Between(" ", " ")
	}
	p.Spaces(screen.Bare, 1)
	room := p.Left - right.Width()
	r := screen.Plain
	if focused {
		r = screen.Accent
	}
	p.Put(r, screen.Bare, m.draw.Truncate(name, max(room, 4)))
	if id := screen.ShortID(m.pen.Name(screen.Ends(c.ID)), p.Left-right.Width()-4); !id.Empty() {
		p.Put(screen.Muted, screen.Bare, id.Between("  ", ""))
	}
	p.Tail(screen.CallRole(c), screen.Bare, right)
}

// findingsNote is what is kept free for how many findings there are.
const findingsNote = 16

// drawTabs writes what the pane shows, what the tool wants of it, and what
// there is to see elsewhere.
func (m *Model) drawTabs(p *screen.Pen, focused bool) {
	r := screen.Muted
	if focused {
		r = screen.Accent
	}
	word := " ARGUMENTS"
	if m.doc.Text != nil {
		word = " RAW TEXT"
	}
	p.Say(r, p.Clean(word))
	if path := m.doc.Path(); focused && path != "" {
		p.Put(screen.Muted, screen.Bare, m.draw.Truncate(m.pen.Name(path).Between("  ", ""), p.Left/2))
	} else if x := m.in.Exchange(m.turn().Exchange); x != nil {
		if wants := x.Wanted(m.call()); wants != "" {
			p.Put(screen.Muted, screen.Bare, m.draw.Truncate(m.pen.Name(wants).Between("  schema: ", ""), p.Left-findingsNote))
		}
	}
	if n := m.findings.Total; n > 0 {
		c, t, r := m.call(), m.turn(), screen.Muted
		_, ofCall := m.list.Alarms.Of(c.Ref(), c.Findings)
		if _, ofTurn := m.list.Alarms.Of(t.Ref(), t.Findings); ofCall || ofTurn {
			r = screen.Caution
		}
		p.Tail(r, screen.Bare, p.Format(" %s ", screen.Plural(n, "finding")))
	}
}

func (m *Model) drawTurnHead(p *screen.Pen, t *stream.Turn, focused bool) {
	st, look, word := screen.TurnLook(t)
	right := display.Join(display.Lit(" "), p.Glyph.Status[st], display.Lit(" "), p.Clean(word), display.Lit(" "))
	cost := p.Clean(m.bill.Of(t).String())
	if !cost.Empty() && p.Left > panes.LongName+display.Join(cost, right).Width() {
		right = display.Join(display.Lit(" "), cost, display.Lit(" "), right)
	}
	r := screen.Plain
	if focused {
		r = screen.Accent
	}
	p.Say(r, p.Format(" turn %d  ", t.Number+1))
	p.Put(screen.Plain, screen.Bare, m.draw.Truncate(m.pen.Name(panes.TurnTitle(m.in.Exchange(t.Exchange), t)), max(1, p.Left-right.Width())))
	p.Tail(look, screen.Bare, right)
}
