package ui

import (
	"fmt"

	"toolscope/stream"
	"toolscope/ui/display"
)

// drawTop writes the first row: the way to where we are, as much of its end as
// fits, and what it is.
func (m *Model) drawTop(p *pen) {
	right, crumbs := m.motion(), m.crumbs()
	need := 0
	for _, part := range crumbs {
		need += display.Width(part) + 3
	}
	for _, about := range m.about() {
		if need+4+display.Width(about)+display.Width(right) < p.left {
			right = about + "   " + right
			break
		}
	}
	width := display.Width(right)
	keep := p.left
	p.left = max(0, p.left-width-2)
	room := p.left
	for ; len(crumbs) > 1 && need-2 > room; crumbs = crumbs[1:] {
		need -= display.Width(crumbs[0]) + 3
	}
	for i, part := range crumbs {
		if i > 0 {
			p.say(muted, " "+p.glyph.sep+" ")
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
	p.tail(r, bare, right+" ")
}

// crumbs are the parts of the way, from the program to the token. On a narrow
// screen only the last ones are shown: they are the way back.
func (m *Model) crumbs() []display.Text {
	parts := []display.Text{"toolscope", m.draw.Truncate(m.pen.clean(m.opt.Source), 32)}
	if t := m.chosen.turn; t != nil {
		parts = append(parts, display.Text(fmt.Sprintf("turn %d", t.Number+1)))
	}
	if c := m.chosen.call; c != nil {
		name := m.draw.Truncate(m.pen.clean(c.Name), 32)
		if name == "" {
			name = display.Text(fmt.Sprintf("call %d", c.Number))
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

// about is the dialect of the chosen turn, how it is known, and the model; then
// less of it, for less room.
func (m *Model) about() []display.Text {
	t := m.chosen.turn
	if t == nil {
		return nil
	}
	name, model, why := m.pen.clean(t.Dialect), display.Text(""), display.Text("")
	if t.Model != "" {
		model = display.Text(" "+m.pen.glyph.dot+" ") + m.draw.Truncate(m.pen.clean(t.Model), 28)
	}
	if x := m.in.Exchange(t.Exchange); x != nil && x.Why != "" {
		why = " (" + m.draw.Truncate(m.pen.clean(x.Why), 40) + ")"
	}
	return []display.Text{name + why + model, name + model, name}
}

// motion says whether things move: live, playing, paused or ended.
func (m *Model) motion() display.Text {
	glyph := func(s stream.Status) string { return m.pen.glyph.status[s] }
	switch p := m.opt.Playback; {
	case m.moving() && m.settled() && !m.paused:
		return display.Text(glyph(stream.Complete) + " LIVE")
	case m.failure != nil:
		return display.Text(glyph(stream.Aborted) + " FAILED")
	case m.ended && !m.paused:
		return display.Text(glyph(stream.NoArguments) + " END")
	case m.opt.Inbox == nil:
		return "NO SOURCE"
	case m.paused:
		return display.Text(fmt.Sprintf("%s PAUSED +%s new", glyph(stream.LooksDone), commas(m.waiting())))
	case p != nil && p.Paused():
		return display.Text(fmt.Sprintf("%s PAUSED %gx", glyph(stream.LooksDone), p.Speed()))
	case p != nil:
		return display.Text(fmt.Sprintf("%s PLAY %gx", glyph(stream.Complete), p.Speed()))
	}
	return display.Text(glyph(stream.Complete) + " LIVE")
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
	p.say(plain, " "+plural(len(s.Turns), "turn")+"  "+plural(calls, "call")+" ")
	for st, n := range s.Counts {
		stopped := 0
		if stream.Status(st) == stream.Aborted {
			stopped = s.Stopped
		}
		if n > stopped {
			p.say(statusRoles[st], fmt.Sprintf(" %s%s", p.glyph.status[st], commas(n-stopped)))
		}
		if stopped > 0 {
			p.say(muted, fmt.Sprintf(" %s%s stopped", p.glyph.status[st], commas(stopped)))
		}
	}
	m.drawStatus(p)
	if cost := display.Text(m.bill.total().String()); cost != "" && m.notice == "" && p.left > hintRoom+display.Width(cost) {
		p.put(plain, bare, "  "+cost)
		if month := m.bill.total().AsOf; len(month) >= 7 && p.left > hintRoom+30 {
			p.put(muted, bare, " "+display.Text(p.glyph.dot)+" prices "+m.draw.Clean(month[:7]))
		}
	}
	if m.rate.last > 0 && m.moving() {
		p.put(muted, bare, "  "+bytesText(m.rate.last)+"/s")
	}
	if m.follow && m.moving() {
		p.say(live, "  FOLLOW")
	}
	if m.failure != nil {
		p.say(bad, "  ")
		p.outside(bad, bare, m.failure.Error())
	}
}
