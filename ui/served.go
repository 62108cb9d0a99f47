package ui

import (
	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// hasOnlyMCP reports whether there is a session with servers of MCP alone, where no model answered.
func (m *Model) hasOnlyMCP() bool {
	return !m.isTourOpening() && !m.isWaitingForClients() && len(m.in.Session().Turns) == 0 && len(m.in.Executed().Requests) > 0
}

// mcpKeys move in its requests.
func (m *Model) mcpKeys() []screen.Binding {
	w := &m.served.rows
	keys := w.CursorKeys(display.Text{}, func(row int) { m.served.fixed = true; w.MoveTo(row) })
	last := &keys[len(keys)-1]
	last.Does, last.Do = display.Lit("to the end, and follow"), func() { m.served.fixed = false }
	return keys
}

// requestCursor is where in the requests the screen is.
type requestCursor struct {
	rows  screen.Window
	fixed bool // it does not go to the latest by itself
}

// drawMCP writes row y of a session with servers alone: requests, each with what came of it in the
// row below, the latest unless the user went elsewhere.
func (m *Model) drawMCP(p *screen.Pen, y, height int) {
	v := m.in.View()
	all := v.Executed()
	rows := max(1, (height-1)/2)
	if y == 0 {
		m.served.rows.Stick = !m.served.fixed
		m.served.rows.Resize(len(all), rows)
		p.Text(screen.Accent, display.Lit(" MCP "))
		p.Text(screen.Plain, m.mcpTitle(v, all, p))
		return
	}
	n := m.served.rows.Top + (y-1)/2
	if n >= len(all) || y > 2*rows {
		return
	}
	if r := all[n]; (y-1)%2 == 0 {
		m.drawMCPRequest(p, r, n == m.served.rows.At && m.served.fixed)
	} else {
		m.drawMCPResult(p, r)
	}
}

// mcpTitle says how much there is, and where the rest is to be had.
func (m *Model) mcpTitle(v *providers.View, all []*mcp.Request, p *screen.Pen) display.Text {
	calls := 0
	for _, s := range v.Servers() {
		calls += s.Calls
	}
	return m.draw.Truncate(p.Format("%s, %s; no model turns", screen.Plural(len(all), "request"), screen.Plural(calls, "tool call")), m.w-6)
}

// drawMCPRequest writes what was asked, of whom, and what became of it.
func (m *Model) drawMCPRequest(p *screen.Pen, r *mcp.Request, here bool) {
	role, mark := screen.Good, display.Lit("   ")
	if here {
		mark = p.Glyph.Mark.Between(" ", " ")
	}
	switch {
	case r.State == mcp.Refused || r.Failed:
		role = screen.Bad
	case r.State != mcp.Done:
		role = screen.Caution
	}
	p.Text(role, mark)
	state := r.State.String()
	if r.Failed {
		state = "failed"
	}
	took := ""
	if d := r.Duration(); d >= 0 {
		took = " in " + screen.Time(d).String()
	}
	p.Text(role, p.Format("%-10s", state))
	asks := ""
	if r.FromServer {
		asks = "asks "
	}
	room := max(0, m.w-13)
	p.Text(screen.Plain, m.draw.Truncate(p.Format("%s  %s%s %s%s  %s", r.Server.Name, asks, r.Method, r.Tool, took, string(r.Args[:min(len(r.Args), 4*m.w)])), room))
}

// drawMCPResult writes what came back.
func (m *Model) drawMCPResult(p *screen.Pen, r *mcp.Request) {
	text := r.Text
	if r.Error != "" {
		text = r.Error
	}
	if r.Shell() {
		text = r.Exit
	}
	if text == "" && r.StructuredSize > 0 {
		text = string(r.Structured)
	}
	p.Text(screen.Muted, m.draw.Truncate(p.Format("             %s", text[:min(len(text), 4*m.w)]), m.w-1))
}
