package ui

import (
	"toolscope/stream"
	"toolscope/ui/display"
)

// Rows of a pane that are not its list: titles.
const (
	listTitle = 1
	paneTitle = 1
	docMargin = 2 // cells left free beside the document
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
	p.reset()
	if m.w < leastWidth || m.h < leastHeight {
		return m.tooSmall()
	}
	p.field(m.w)
	m.drawTop(p)
	p.fill(bare)
	body := m.bodyHeight()
	columns := m.columns()
	for y := range body {
		p.newline()
		m.drawBody(p, columns, y, body)
	}
	p.newline()
	p.field(m.w)
	m.mode.footer(m, p)
	p.fill(bare)
	return string(p.b)
}

func (m *Model) tooSmall() string {
	p := &m.pen
	for y := range m.h {
		if y > 0 {
			p.newline()
		}
		p.field(m.w)
		if y == 0 {
			p.say(caution, m.draw.Format("at least %dx%d", leastWidth, leastHeight))
		}
		p.fill(bare)
	}
	return string(p.b)
}

func (m *Model) drawBody(p *pen, columns []column, y, height int) {
	p.field(m.w)
	if m.mode.body(m, p, y, height) {
		return
	}
	if len(m.in.Session().Turns) == 0 && len(m.in.Session().Findings) == 0 {
		m.drawEmpty(p, y, height)
		p.fill(bare)
		return
	}
	for i, c := range columns {
		if i > 0 {
			p.field(1)
			p.say(muted, p.glyph.rule)
		}
		p.field(c.width)
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

func (m *Model) drawPane(p *pen, pane paneID, y, h int) {
	focused := m.focus == pane
	switch pane {
	case listPane:
		if y == 0 {
			drawTitle(p, display.Lit("TURNS AND CALLS"), display.Text{}, focused)
			return
		}
		m.list.draw(p, &m.in, &m.bill, m.list.top+y-listTitle, focused)
	case docPane:
		m.drawDocument(p, y, h, focused)
	case wirePane:
		if y == 0 {
			drawTitle(p, display.Lit("WIRE"), plural(len(m.wire.events), "event"), focused)
			return
		}
		m.wire.draw(p, &m.in, y-paneTitle, focused)
	case findingsPane:
		if y == 0 {
			drawTitle(p, display.Lit("FINDINGS"), commas(m.findings.total), focused)
			return
		}
		m.findings.draw(p, y-paneTitle, focused)
	}
}

// drawTitle writes the first row of a pane.
func drawTitle(p *pen, title, note display.Text, focused bool) {
	r := muted
	if focused {
		r = accent
	}
	p.say(r, title.Between(" ", ""))
	if !note.Empty() {
		p.say(muted, note.Between("  ", ""))
	}
	p.fill(bare)
}

// drawDocument writes a row of the document pane: title rows about the call,
// then its arguments; or about a turn, then what is known of it.
func (m *Model) drawDocument(p *pen, y, h int, focused bool) {
	title := docTitle(h)
	switch c := m.chosen.call; {
	case c != nil && y >= title:
		p.spaces(bare, 1)
		m.doc.draw(p, m.doc.top+y-title, focused)
	case c != nil && y == 0:
		m.drawCallHead(p, c, focused)
	case c != nil && y == 1:
		p.put(muted, bare, m.callFacts(c, p.left))
	case c != nil:
		m.drawTabs(p, focused)
	case m.chosen.turn != nil && y == 0:
		m.drawTurnHead(p, m.chosen.turn, focused)
	case m.chosen.turn != nil && y >= turnTitleRows(h):
		m.summary.draw(p, y-turnTitleRows(h))
	}
	p.fill(bare)
}

func (m *Model) drawCallHead(p *pen, c *stream.Call, focused bool) {
	name := m.pen.clean(c.Name)
	if c.Name == "" {
		name = display.Lit("(no name)")
	}
	st := c.Status()
	right := p.draw.Format(" %s   %s %s %s ", m.statusWord(st), c.Phase(), p.glyph.dot, c.Syntax())
	if right.Width() > p.left/2 {
		right = m.statusWord(st).Between(" ", " ")
	}
	p.spaces(bare, 1)
	room := p.left - right.Width()
	r := plain
	if focused {
		r = accent
	}
	p.put(r, bare, m.draw.Truncate(name, max(room, 4)))
	if id := shortID(m.pen.clean(ends(c.ID)), p.left-right.Width()-4); !id.Empty() {
		p.put(muted, bare, id.Between("  ", ""))
	}
	p.tail(callRole(c), bare, right)
}

// ends is a long text without its middle.
func ends(s string) string {
	if len(s) <= mostName {
		return s
	}
	return s[:mostName/2] + s[len(s)-mostName/2:]
}

// shortID is an id that fits into so many cells: its ends matter most.
func shortID(id display.Text, cells int) display.Text {
	s, w := id.String(), id.Width()
	switch {
	case cells < 8 || w == 0:
		return display.Text{}
	case w <= cells:
		return id
	case w != len(s): // not plain ASCII: cut at the end
		return display.Drawer{}.Truncate(id, cells)
	}
	return display.Clean(s[:cells-6] + ".." + s[w-4:])
}

// findingsNote is what is kept free for how many findings there are.
const findingsNote = 16

// drawTabs writes what the pane shows, what the tool wants of it, and what
// there is to see elsewhere.
func (m *Model) drawTabs(p *pen, focused bool) {
	r := muted
	if focused {
		r = accent
	}
	word := " ARGUMENTS"
	if m.doc.text != nil {
		word = " RAW TEXT"
	}
	p.say(r, p.draw.Clean(word))
	if path := m.doc.path(); focused && path != "" {
		p.put(muted, bare, m.draw.Truncate(m.pen.clean(path).Between("  ", ""), p.left/2))
	} else if x := m.in.Exchange(m.chosen.turn.Exchange); x != nil {
		if wants := x.Wanted(m.chosen.call); wants != "" {
			p.put(muted, bare, m.draw.Truncate(m.pen.clean(wants).Between("  schema: ", ""), p.left-findingsNote))
		}
	}
	if n := m.findings.total; n > 0 {
		c, t, r := m.chosen.call, m.chosen.turn, muted
		_, ofCall := m.list.alarms.of(c, c.Findings)
		if _, ofTurn := m.list.alarms.of(t, t.Findings); ofCall || ofTurn {
			r = caution
		}
		p.tail(r, bare, p.draw.Format(" %s ", plural(n, "finding")))
	}
}

func (m *Model) drawTurnHead(p *pen, t *stream.Turn, focused bool) {
	st, look, word := turnLook(t)
	right := display.Join(display.Lit(" "), p.glyph.status[st], display.Lit(" "), p.draw.Clean(word), display.Lit(" "))
	cost := p.draw.Clean(m.bill.of(t).String())
	if !cost.Empty() && p.left > longName+display.Join(cost, right).Width() {
		right = display.Join(display.Lit(" "), cost, display.Lit(" "), right)
	}
	r := plain
	if focused {
		r = accent
	}
	p.say(r, p.draw.Format(" turn %d  ", t.Number+1))
	p.put(plain, bare, m.draw.Truncate(m.pen.clean(turnTitle(m.in.Exchange(t.Exchange), t)), max(1, p.left-right.Width())))
	p.tail(look, bare, right)
}
