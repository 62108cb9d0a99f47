package ui

import (
	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// hasOnlyMCP reports whether the session has only MCP servers and no model turns.
func (m *Model) hasOnlyMCP() bool {
	return !m.isTourOpening() && !m.isWaitingForClients() && len(m.in.Session().Turns) == 0 && len(m.in.Executed().Requests) > 0
}

// mcpKeys returns the keys that move in the MCP requests.
func (m *Model) mcpKeys() []screen.Binding {
	w := &m.served.rows
	keys := w.CursorKeys(display.Text{}, func(row int) { m.served.fixed = true; w.MoveTo(row) })
	last := &keys[len(keys)-1]
	last.Does, last.Do = display.Lit("to the end, and follow"), func() { m.served.fixed = false }
	return keys
}

// requestCursor is the position in the MCP requests.
type requestCursor struct {
	rows  screen.Window
	fixed bool // it does not follow the latest request
}

// drawMCP draws row y of a session that has only MCP servers: the requests, each with its response in the
// row below. It shows the latest ones unless the user has moved elsewhere.
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

// mcpTitle returns the numbers of requests and tool calls as text.
func (m *Model) mcpTitle(v *providers.View, all []*mcp.Request, p *screen.Pen) display.Text {
	calls := 0
	for _, s := range v.Servers() {
		calls += s.Calls
	}
	return m.draw.Truncate(p.Format("%s, %s; no model turns", screen.Plural(len(all), "request"), screen.Plural(calls, "tool call")), m.w-6)
}

// drawMCPRequest draws a request: its state, server, method, and arguments.
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

// drawMCPResult draws the response.
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
