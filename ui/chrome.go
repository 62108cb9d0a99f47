package ui

import (
	"strings"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// drawTop writes the first row: the way to where we are, as much of its end as fits, and what it
// is.
func (m *Model) drawTop(p *screen.Pen) {
	right, crumbs := m.motion(), m.crumbs()
	need := 0
	for _, part := range crumbs {
		need += part.Width() + 3
	}
	if about := m.about(p.Left - need - 4 - right.Width()); !about.Empty() {
		right = display.Join(about, display.Lit("   "), right)
	}
	width := right.Width()
	keep := p.Left
	p.Left = max(0, p.Left-width-2)
	room := p.Left
	for ; len(crumbs) > 1 && need-2 > room; crumbs = crumbs[1:] {
		need -= crumbs[0].Width() + 3
	}
	for i, part := range crumbs {
		if i > 0 {
			p.Say(screen.Muted, p.Glyph.Sep.Between(" ", " "))
		} else {
			p.Spaces(screen.Bare, 1)
		}
		r := screen.Plain
		if i == 0 {
			r = screen.Accent
		}
		p.Put(r, screen.Bare, part)
	}
	p.Left = keep - (room - p.Left)
	r := screen.Muted
	if m.moving() {
		r = screen.Live
	}
	p.Tail(r, screen.Bare, right.Between("", " "))
}

// crumbs are the parts of the way, from the program to the token. On a narrow screen only the last
// ones are shown: they are the way back.
func (m *Model) crumbs() []display.Text {
	parts := []display.Text{display.Lit("toolscope"), m.draw.Truncate(m.pen.Name(m.opt.Source), 32)}
	if m.awaits() {
		return parts
	}
	if t := m.turn(); t != nil {
		parts = append(parts, m.draw.Format("turn %d", t.Number+1))
	}
	if c := m.call(); c != nil {
		name := m.draw.Truncate(m.pen.Name(c.Name), 32)
		if name.Empty() {
			name = m.draw.Format("call %d", c.Number)
		}
		parts = append(parts, name)
		if at, ok := m.focus.(panes.Pather); ok {
			if path := at.Path(); path != "" {
				parts = append(parts, m.pen.Name(path))
			}
		}
	}
	if m.w < 72 && len(parts) > 2 {
		return parts[2:]
	}
	return parts
}

// about is what was taken off around the chosen turn, its dialect, how that is known, and the model,
// or less of it where there is less room.
func (m *Model) about(room int) display.Text {
	t := m.turn()
	if t == nil || m.awaits() {
		return display.Text{}
	}
	name, model, why := m.pen.Name(t.Dialect), display.Text{}, display.Text{}
	if t.Model != "" {
		model = display.Join(display.Lit(" "), m.pen.Glyph.Dot, display.Lit(" "), m.draw.Truncate(m.pen.Name(t.Model), 28))
	}
	var peeled display.Text
	if x := m.in.Exchange(t.Exchange); x != nil {
		if x.Why != "" {
			why = m.draw.Truncate(m.pen.Name(x.Why), 40).Between(" (", ")")
		}
		sep := m.pen.Glyph.Sep.Between(" ", " ")
		for layer := range strings.SplitSeq(x.Head.Peeled, " › ") {
			if layer != "" {
				peeled = display.Join(peeled, m.pen.Name(layer), sep)
			}
		}
	}
	switch {
	case !peeled.Empty() && peeled.Width()+name.Width()+model.Width() < room:
		return display.Join(peeled, name, model)
	case name.Width()+why.Width()+model.Width() < room:
		return display.Join(name, why, model)
	case name.Width()+model.Width() < room:
		return display.Join(name, model)
	case name.Width() < room:
		return name
	}
	return display.Text{}
}

// motion says whether things move: live, playing, paused or ended.
func (m *Model) motion() display.Text {
	glyph := func(s stream.Status) display.Text { return m.pen.Glyph.Status[s] }
	switch p := m.opt.Playback; {
	case m.awaits() && m.moving() && !m.paused:
		return display.Lit("WAITING")
	case m.moving() && m.settled() && !m.paused:
		return glyph(stream.Complete).Between("", " LIVE")
	case m.failure != nil:
		return glyph(stream.Aborted).Between("", " FAILED")
	case m.ended && !m.paused:
		return glyph(stream.NoArguments).Between("", " END")
	case m.opt.Inbox == nil:
		return display.Lit("NO SOURCE")
	case m.paused:
		return m.draw.Format("%s PAUSED +%s new", glyph(stream.LooksDone), screen.Count(m.waiting()))
	case p != nil && p.Paused():
		return m.draw.Format("%s PAUSED %gx", glyph(stream.LooksDone), p.Speed())
	case p != nil:
		return m.draw.Format("%s PLAY %gx", glyph(stream.Complete), p.Speed())
	}
	return glyph(stream.Complete).Between("", " LIVE")
}

// hintRoom is what the hints need of the status line before a cost is shown.
const hintRoom = 40

// drawCounts writes how much there is, by state, and whether the view follows.
func (m *Model) drawCounts(p *screen.Pen) {
	s := m.in.Session()
	calls := 0
	for _, n := range s.Counts {
		calls += n
	}
	p.Say(screen.Plain, display.Join(display.Lit(" "), screen.Plural(m.turns(), "turn"), screen.Plural(calls, "call").Between("  ", " ")))
	for st, n := range s.Counts {
		stopped := 0
		if stream.Status(st) == stream.Aborted {
			stopped = s.Stopped
		}
		if n > stopped {
			p.Say(screen.StatusRoles[st], display.Join(display.Lit(" "), p.Glyph.Status[st], screen.Count(n-stopped)))
		}
		if stopped > 0 {
			p.Say(screen.Muted, display.Join(display.Lit(" "), p.Glyph.Status[st], screen.Count(stopped), display.Lit(" stopped")))
		}
	}
	m.drawDropped(p)
	m.drawStatus(p)
	if cost := p.Clean(m.bill.Total().String()); !cost.Empty() && m.notice.Empty() && p.Left > hintRoom+cost.Width() {
		p.Put(screen.Plain, screen.Bare, cost.Between("  ", ""))
		if month := m.bill.Total().AsOf; len(month) >= 7 && p.Left > hintRoom+30 {
			p.Put(screen.Muted, screen.Bare, display.Join(display.Lit(" "), p.Glyph.Dot, display.Lit(" prices "), m.draw.Clean(month[:7])))
		}
	}
	if m.rate.last > 0 && m.moving() {
		p.Put(screen.Muted, screen.Bare, screen.Bytes(m.rate.last).Between("  ", "/s"))
	}
	if m.follow && m.moving() {
		p.Say(screen.Live, display.Lit("  FOLLOW"))
	}
	if m.failure != nil {
		p.Say(screen.Bad, display.Lit("  "))
		p.Outside(screen.Bad, screen.Bare, m.failure.Error())
	}
}
