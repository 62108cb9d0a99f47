package compare

import (
	"bytes"
	"strings"

	"toolscope/stream"
	"toolscope/ui/diff"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// drawLine writes a row of the window.
func (c *comparison) drawLine(p *screen.Pen, n int) {
	l, cursor := &c.rows[n], n == c.At
	role, label := c.labelOf(p, l)
	if !c.isStacked() {
		p.Field(c.label - 1)
		c.drawLabel(p, role, label, cursor)
		shown := c.shownColumns()
		for at, i := range shown {
			p.Field(1)
			p.Fill(screen.Bare)
			p.Field(c.widthOf(at, len(shown)))
			c.drawCell(p, l, i, surfaceOf(cursor && i == c.selected))
			p.Fill(screen.Bare)
		}
		return
	}
	if l.under {
		label = display.Text{}
	}
	shown := c.shownColumns()
	p.Field(c.label - 1)
	c.drawLabel(p, role, label, cursor)
	p.Field(1)
	p.Fill(screen.Bare)
	p.Field(c.w - c.label)
	if l.under {
		c.drawCell(p, l, shown[1], surfaceOf(cursor))
		return
	}
	c.drawCell(p, l, c.base, surfaceOf(cursor))
	if n+1 == len(c.rows) || !c.rows[n+1].under {
		p.Text(screen.Muted, p.Glyph.Side[screen.Same].Between("  ", ""))
	}
}

func surfaceOf(chosen bool) screen.Surface {
	if chosen {
		return screen.Selected
	}
	return screen.Bare
}

// labelOf returns the label of a row.
func (c *comparison) labelOf(p *screen.Pen, l *line) (screen.Role, display.Text) {
	switch l.kind {
	case failLine:
		return screen.Bad, display.Lit("error")
	case wireLine:
		return screen.Muted, p.Clean(c.wire[l.row].Name)
	case textLine:
		return screen.Muted, display.Lit("text")
	case callLine:
		name := p.Name(c.groups[l.group].callName(c.host.View()))
		if name.Empty() {
			name = display.Lit("(no name)")
		}
		return screen.Accent, name
	}
	r := &c.groups[l.group].rows[l.row]
	name := p.Name(r.Name)
	switch {
	case r.Name == "":
		name = display.Lit("(arguments)")
	case r.Name == ".":
		name = display.Lit(`.""`)
	}
	return screen.KeyToken, display.Join(display.Repeat(display.Lit(" "), 2+2*r.Depth), name)
}

// drawCell writes column i's cell in a row.
func (c *comparison) drawCell(p *screen.Pen, l *line, i int, g screen.Surface) {
	v := c.host.View()
	t := c.columns[i].findTurn(v)
	switch l.kind {
	case failLine:
		fails := c.failureText(v, i, t)
		if t != nil && t.Failure != "" {
			fails = t.Failure
		}
		p.TextOn(screen.Bad, g, p.Truncate(p.Name(fails), p.Left))
	case wireLine:
		c.drawFact(p, &c.wire[l.row], i, g)
	case textLine:
		if t != nil {
			p.TextOn(screen.Muted, g, p.Truncate(p.Name(string(bytes.TrimSpace(t.Text[:min(len(t.Text), screen.MaxNameBytes)]))), p.Left))
		}
	case callLine:
		c.drawCall(p, c.groups[l.group], i, g)
	case fieldLine:
		c.drawField(p, c.groups[l.group], l.row, i, g)
	}
}

// drawFact writes a property of a response. It writes nothing for a column whose request is not the
// base's.
func (c *comparison) drawFact(p *screen.Pen, f *diff.Fact, i int, g screen.Surface) {
	if i != c.base && (i >= len(c.sameRequests) || c.sameRequests[i].Host == "") {
		return
	}
	if f.Marks[i] != diff.Own {
		side := sides[f.Marks[i]]
		p.TextOn(screen.SideRoles[side], g, p.Glyph.Side[side].Between("", " "))
	}
	if f.Marks[i] != diff.Same {
		p.TextOn(screen.Plain, g, p.Truncate(p.Name(f.Cells[i]), p.Left))
	}
}

// sides maps relations to signs.
var sides = [...]screen.Side{
	diff.Own: screen.Same, diff.Same: screen.Same, diff.Alike: screen.Alike, diff.Differs: screen.Differs, diff.Absent: screen.Absent,
	diff.Open: screen.Same, diff.NotYet: screen.Absent, diff.Unknown: screen.Absent,
}

// drawCall writes the state of a call, and the number of its warnings and errors.
func (c *comparison) drawCall(p *screen.Pen, g *group, i int, on screen.Surface) {
	v := c.host.View()
	_, call := v.Find(g.calls[i])
	if call == nil {
		if c.isFinished(v, i, c.columns[i].findTurn(v)) {
			p.TextOn(screen.SideRoles[screen.Absent], on, p.Glyph.None)
		} else {
			p.TextOn(screen.Muted, on, p.Glyph.Idle)
		}
		return
	}
	st := call.Status()
	p.TextOn(screen.CallRole(call), on, display.Join(p.Glyph.Status[st], display.Lit(" "), p.Clean(st.String())))
	if worst, n := worstOf(call.Findings); n > 0 {
		p.TextOn(screen.SeverityRoles[worst], on, p.Format("  %s %d", severitySign(p, worst), n))
	}
}

// drawField writes one field of one call: a sign, the value if it differs from the base's, and its
// findings.
func (c *comparison) drawField(p *screen.Pen, g *group, row, i int, on screen.Surface) {
	r := &g.rows[row]
	cell := &r.Cells[i]
	_, call := c.host.View().Find(g.calls[i])
	switch cell.Relation {
	case diff.Unknown:
		p.TextOn(screen.Muted, on, display.Lit("not kept"))
		return
	case diff.NotYet:
		p.TextOn(screen.Muted, on, p.Glyph.Idle)
		return
	case diff.Own:
	case diff.Open:
		p.Spaces(on, 3)
	default:
		side := sides[cell.Relation]
		sign := p.Glyph.Side[side]
		if cell.Relation == diff.Absent {
			sign = p.Glyph.None
		}
		p.TextOn(screen.SideRoles[side], on, sign.Between("", " "))
	}
	if call == nil || !cell.Has() {
		return
	}
	var found []stream.Finding
	if !r.Split {
		found = diff.CellFindings(call, cell)
	}
	worst, n := worstOf(found)
	room := p.Left
	if n > 0 {
		room -= 4
	}
	if cell.Relation != diff.Same {
		c.drawValue(p, r, cell, call, room, on)
	}
	if n > 0 {
		at := found[0]
		for _, f := range found {
			if f.Severity == worst {
				at = f
				break
			}
		}
		words := p.Clean(at.Brief())
		if words.Width()+4 > p.Left {
			words = p.Clean(at.Diagnosis.Brief())
		}
		said := display.Join(severitySign(p, worst).Between("  ", " "), words)
		p.TextOn(screen.SeverityRoles[worst], on, p.Truncate(said, p.Left))
	}
}

// severitySign returns the sign of a severity without its trailing blank.
func severitySign(p *screen.Pen, s stream.Severity) display.Text {
	return p.Clean(strings.TrimSpace(p.Glyph.Severity[s].String()))
}

// drawValue writes a value in room cells. A container is written as the number of its values, a scalar
// from the place where it differs.
func (c *comparison) drawValue(p *screen.Pen, r *diff.Row, cell *diff.Cell, call *stream.Call, room int, g screen.Surface) {
	end := display.Text{}
	switch {
	case cell.Growing && call.MayGrow():
		end = p.Glyph.Cursor
	case cell.Cut:
		end = p.Glyph.Status[stream.CutShort]
	}
	role, text := screen.Plain, containerText(p, r, cell)
	if cell.Kind != stream.ObjectOpen && cell.Kind != stream.ArrayOpen {
		args := call.Args()
		role, text = screen.TokenRoles[cell.Kind], valueFrom(p, args[min(int(cell.Start), len(args)):min(int(cell.End), len(args))], int(cell.At), room-end.Width())
	}
	p.TextOn(role, g, p.Truncate(text, max(room-end.Width(), 0)))
	role = screen.Live
	if cell.Cut {
		role = screen.Bad
	}
	p.TextOn(role, g, end)
}

// valueFrom returns the visible start of a value. If the place where it differs would not fit, the text
// begins a little before that place.
func valueFrom(p *screen.Pen, value []byte, at, room int) display.Text {
	before := display.Text{}
	if at > room-4 && at < len(value) {
		value = value[max(0, at-room/3):]
		for len(value) > 0 && value[0]&0xc0 == 0x80 {
			value = value[1:]
		}
		before = p.Truncate(display.Lit("....."), 1)
		if !p.ASCII {
			before = display.Lit("…")
		}
	}
	return display.Join(before, p.Clean(string(value[:min(len(value), 4*max(room, 1)+8)])))
}

// containerText describes the size of an array or object, and how it differs.
func containerText(p *screen.Pen, r *diff.Row, cell *diff.Cell) display.Text {
	n, word := int(cell.Holds), "item"
	if cell.Kind == stream.ObjectOpen {
		word = "key"
	}
	switch {
	case r.Split && cell.Differing == 1:
		return display.Lit("1 differs")
	case r.Split && cell.Differing > 1:
		return p.Format("%s differ", screen.Count(int(cell.Differing)))
	case n == 0 && !cell.Growing && cell.Kind == stream.ObjectOpen:
		return display.Lit("{}")
	case n == 0 && !cell.Growing:
		return display.Lit("[]")
	case cell.List == nil:
		return screen.Plural(n, word)
	case cell.List.Lacks == "" && cell.List.Adds == "":
		return screen.Count(n).Between("", ", other order")
	}
	text := screen.Count(n)
	if cell.List.Lacks != "" {
		text = display.Join(text, p.Name(cell.List.Lacks).Between(", no ", ""))
	}
	if cell.List.Adds != "" {
		text = display.Join(text, p.Name(cell.List.Adds).Between(", with ", ""))
	}
	return text
}
