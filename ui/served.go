package ui

import (
	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// drawServed writes row y of a session with servers of MCP alone, where no model answered: the
// latest requests that there is room for, each with what came of it in the row below.
func (m *Model) drawServed(p *screen.Pen, y, height int) {
	v := m.in.View()
	all := v.Executed()
	if y == 0 {
		p.Say(screen.Accent, display.Lit(" MCP "))
		p.Say(screen.Plain, m.servedTitle(v, all, p))
		return
	}
	rows := (height - 1) / 2
	from := max(0, len(all)-rows)
	n := from + (y-1)/2
	if n >= len(all) || y > 2*rows {
		return
	}
	if r := all[n]; (y-1)%2 == 0 {
		m.drawAsked(p, r)
	} else {
		m.drawGiven(p, r)
	}
}

// servedTitle says how much there is, and where the rest is to be had.
func (m *Model) servedTitle(v *providers.View, all []*mcp.Request, p *screen.Pen) display.Text {
	calls := 0
	for _, s := range v.Servers() {
		calls += s.Calls
	}
	return m.draw.Truncate(p.Format("%s, %s; no turns of a model. toolscope print has all of them", screen.Plural(len(all), "request"), screen.Plural(calls, "tool call")), m.w-6)
}

// drawAsked writes what was asked, of whom, and what became of it.
func (m *Model) drawAsked(p *screen.Pen, r *mcp.Request) {
	role, mark := screen.Good, p.Glyph.Mark.Between(" ", " ")
	switch {
	case r.State == mcp.Refused || r.Failed:
		role = screen.Bad
	case r.State != mcp.Done:
		role = screen.Caution
	}
	p.Say(role, mark)
	state := r.State.String()
	if r.Failed {
		state = "failed"
	}
	took := ""
	if d := r.Took(); d >= 0 {
		took = " in " + screen.Time(d).String()
	}
	p.Say(role, p.Format("%-10s", state))
	asks := ""
	if r.FromServer {
		asks = "asks "
	}
	room := max(0, m.w-13)
	p.Say(screen.Plain, m.draw.Truncate(p.Format("%s  %s%s %s%s  %s", r.Server.Name, asks, r.Method, r.Tool, took, string(r.Args[:min(len(r.Args), 4*m.w)])), room))
}

// drawGiven writes what came back.
func (m *Model) drawGiven(p *screen.Pen, r *mcp.Request) {
	text := r.Text
	if r.Error != "" {
		text = r.Error
	}
	if r.Shell() {
		text = r.Exit
	}
	if text == "" && r.ShapeSize > 0 {
		text = string(r.Shape)
	}
	p.Say(screen.Muted, m.draw.Truncate(p.Format("             %s", text[:min(len(text), 4*m.w)]), m.w-1))
}
