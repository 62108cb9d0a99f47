package ui

import "toolscope/ui/screen"

// minWidth and minHeight are the smallest window size.
const (
	minWidth  = 20
	minHeight = 5
)

func (m *Model) bodyHeight() int { return max(1, m.h-2-m.stripRows()) }

func (m *Model) paneColumns() []column {
	above, below := m.marginRows()
	return m.arrangeBody(m.w, max(1, m.bodyHeight()-above-below))
}

// drawFrame draws one frame: a row with the path, the body, and a row with keys or a notice. Each row is
// exactly as wide as the window.
func (m *Model) drawFrame() string {
	p := &m.pen
	p.Reset()
	if m.w < minWidth || m.h < minHeight {
		return m.tooSmall()
	}
	p.Field(m.w)
	if !m.large || !m.drawBand(p) {
		m.drawTop(p)
		p.Fill(screen.Bare)
	}
	body := m.bodyHeight()
	m.cols = m.paneColumns()
	for y := range body {
		p.Newline()
		p.Field(m.w)
		m.drawMode(p, len(m.modeStack.all), y, body)
		p.Fill(screen.Bare)
	}
	for y := range min(m.stripRows(), m.h-3) {
		p.Newline()
		p.Field(m.w)
		m.drawStrip(p, y)
		p.Fill(screen.Bare)
	}
	p.Newline()
	p.Field(m.w)
	m.drawFooter(p)
	p.Fill(screen.Bare)
	return p.Frame()
}

// drawStrip draws row y between the body and the keys: the timeline, or the caption of the demo.
func (m *Model) drawStrip(p *screen.Pen, y int) {
	if m.isTourShown() {
		m.drawCaption(p, y)
		return
	}
	m.moment.strip.Draw(p, y)
}

func (m *Model) tooSmall() string {
	p := &m.pen
	for y := range m.h {
		if y > 0 {
			p.Newline()
		}
		p.Field(m.w)
		if y == 0 {
			p.Text(screen.Caution, m.draw.Format("at least %dx%d", minWidth, minHeight))
		}
		p.Fill(screen.Bare)
	}
	return p.Frame()
}

// drawPanes draws row y of the panes.
func (m *Model) drawPanes(p *screen.Pen, y int) {
	if m.isTourOpening() {
		m.drawOpening(p, y, m.bodyHeight())
		return
	}
	if m.isWaitingForClients() {
		m.drawSetup(p, y, m.bodyHeight())
		return
	}
	if len(m.in.Session().Turns) == 0 {
		if len(m.in.Executed().Requests) > 0 {
			m.drawMCP(p, y, m.bodyHeight())
			return
		}
		m.drawEmpty(p, y, m.bodyHeight())
		return
	}
	if m.large && m.drawMargin(p, y) {
		return
	}
	above, _ := m.marginRows()
	for i, c := range m.cols {
		if i > 0 {
			p.Field(1)
			p.Text(screen.Muted, p.Glyph.Rule)
		}
		p.Field(c.width)
		row := y - above
		for _, s := range c.panes {
			if row == 0 && s.tabs != nil {
				m.drawTabs(p, s)
				break
			}
			if row < s.height {
				s.pane.Draw(p, row, s.pane == m.focus)
				break
			}
			row -= s.height
		}
	}
}
