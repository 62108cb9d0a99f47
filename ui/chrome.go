package ui

import (
	"toolscope/stream"
	"toolscope/ui/display"
)

// drawTop writes the first row: the way to where we are, as much of its end as
// fits, and what it is.
func (m *Model) drawTop(p *pen) {
	right, crumbs := m.motion(), m.crumbs()
	need := 0
	for _, part := range crumbs {
		need += part.Width() + 3
	}
	if about := m.about(p.left - need - 4 - right.Width()); !about.Empty() {
		right = display.Join(about, display.Lit("   "), right)
	}
	width := right.Width()
	keep := p.left
	p.left = max(0, p.left-width-2)
	room := p.left
	for ; len(crumbs) > 1 && need-2 > room; crumbs = crumbs[1:] {
		need -= crumbs[0].Width() + 3
	}
	for i, part := range crumbs {
		if i > 0 {
			p.say(muted, p.glyph.sep.Between(" ", " "))
		} else {
			p.spaces(bare, 1)
		}
		r := plain
		if i == 0 {
			r = accent
		}
		p.put(r, bare, part)
	}
	p.left = keep - (room - p.left)
	r := muted
	if m.moving() {
		r = live
	}
	p.tail(r, bare, right.Between("", " "))
}

// crumbs are the parts of the way, from the program to the token. On a narrow
// screen only the last ones are shown: they are the way back.
func (m *Model) crumbs() []display.Text {
	parts := []display.Text{display.Lit("toolscope"), m.draw.Truncate(m.pen.clean(m.opt.Source), 32)}
	if t := m.chosen.turn; t != nil {
		parts = append(parts, m.draw.Format("turn %d", t.Number+1))
	}
	if c := m.chosen.call; c != nil {
		name := m.draw.Truncate(m.pen.clean(c.Name), 32)
		if name.Empty() {
			name = m.draw.Format("call %d", c.Number)
		}
		parts = append(parts, name)
		if m.focus == docPane {
			if path := m.doc.path(); path != "" {
				parts = append(parts, m.pen.clean(path))
			}
		}
	}
	if m.w < twoColumns && len(parts) > 2 {
		return parts[2:]
	}
	return parts
}

// about is the dialect of the chosen turn, how it is known, and the model, or
// less of it where there is less room.
func (m *Model) about(room int) display.Text {
	t := m.chosen.turn
	if t == nil {
		return display.Text{}
	}
	name, model, why := m.pen.clean(t.Dialect), display.Text{}, display.Text{}
	if t.Model != "" {
		model = display.Join(display.Lit(" "), m.pen.glyph.dot, display.Lit(" "), m.draw.Truncate(m.pen.clean(t.Model), 28))
	}
	if x := m.in.Exchange(t.Exchange); x != nil && x.Why != "" {
		why = m.draw.Truncate(m.pen.clean(x.Why), 40).Between(" (", ")")
	}
	switch {
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
	glyph := func(s stream.Status) display.Text { return m.pen.glyph.status[s] }
	switch p := m.opt.Playback; {
	case m.moving() && m.settled() && !m.paused:
		return glyph(stream.Complete).Between("", " LIVE")
	case m.failure != nil:
		return glyph(stream.Aborted).Between("", " FAILED")
	case m.ended && !m.paused:
		return glyph(stream.NoArguments).Between("", " END")
	case m.opt.Inbox == nil:
		return display.Lit("NO SOURCE")
	case m.paused:
		return m.draw.Format("%s PAUSED +%s new", glyph(stream.LooksDone), commas(m.waiting()))
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
func (m *Model) drawCounts(p *pen) {
	s := m.in.Session()
	calls := 0
	for _, n := range s.Counts {
		calls += n
	}
	p.say(plain, p.draw.Format(" %s  %s ", plural(len(s.Turns), "turn"), plural(calls, "call")))
	for st, n := range s.Counts {
		stopped := 0
		if stream.Status(st) == stream.Aborted {
			stopped = s.Stopped
		}
		if n > stopped {
			p.say(statusRoles[st], display.Join(display.Lit(" "), p.glyph.status[st], commas(n-stopped)))
		}
		if stopped > 0 {
			p.say(muted, display.Join(display.Lit(" "), p.glyph.status[st], commas(stopped), display.Lit(" stopped")))
		}
	}
	m.drawStatus(p)
	if cost := p.draw.Clean(m.bill.total().String()); !cost.Empty() && m.notice.Empty() && p.left > hintRoom+cost.Width() {
		p.put(plain, bare, cost.Between("  ", ""))
		if month := m.bill.total().AsOf; len(month) >= 7 && p.left > hintRoom+30 {
			p.put(muted, bare, display.Join(display.Lit(" "), p.glyph.dot, display.Lit(" prices "), m.draw.Clean(month[:7])))
		}
	}
	if m.rate.last > 0 && m.moving() {
		p.put(muted, bare, bytesText(m.rate.last).Between("  ", "/s"))
	}
	if m.follow && m.moving() {
		p.say(live, display.Lit("  FOLLOW"))
	}
	if m.failure != nil {
		p.say(bad, display.Lit("  "))
		p.outside(bad, bare, m.failure.Error())
	}
}
