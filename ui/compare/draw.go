package compare

import (
	"bytes"
	"fmt"
	"strings"

	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/diff"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// Draw draws row y.
func (c *comparison) Draw(p *screen.Pen, y int) {
	defer func() { p.Fill(screen.Bare) }()
	if c.full != nil {
		c.full.draw(c, p, y)
		return
	}
	h := &c.head
	if y >= h.rowCount() {
		c.drawBody(p, y-h.rowCount())
		return
	}
	if y == 0 {
		c.drawTitle(p)
		return
	}
	if y--; y < len(h.says) {
		c.drawCallout(p, y)
		return
	}
	y -= len(h.says)
	for _, of := range []struct {
		is   bool
		rows int
		draw func(n int)
	}{
		{h.blank && len(h.says) > 0, 1, func(int) {}},
		{h.heads, 1, func(int) { c.drawMatrixHeads(p) }},
		{true, h.turns, func(n int) { c.drawMatrix(p, c.columnOrder()[h.first+n]) }},
		{h.blank && h.turns > 0, 1, func(int) {}},
		{h.edge, 1, func(int) { c.drawEdge(p) }},
	} {
		switch {
		case !of.is:
		case y < of.rows:
			of.draw(y)
			return
		default:
			y -= of.rows
		}
	}
}

// drawEdge draws the line above the differences, which has the names of the columns.
func (c *comparison) drawEdge(p *screen.Pen) {
	p.Field(c.table)
	start := p.Left
	line := func(until int) {
		p.Text(screen.Frame, display.Repeat(p.Glyph.Line, max(0, until-(start-p.Left))))
	}
	line(2)
	p.Text(screen.Plain, p.Format(" Differences %s ", screen.Count(c.different)))
	columns := c.shownColumns()
	for at, i := range columns {
		from, room := c.columnStart(at, len(columns)), c.widthOf(at, len(columns))
		if c.isStacked() {
			from, room = start-p.Left+1, (p.Left-2)/(len(columns)-at)
		}
		line(from - 1)
		role := screen.Muted
		if i == c.selected {
			role = screen.Accent
		}
		p.Text(role, p.Truncate(p.Clean(c.columns[i].name), max(0, min(room-2, p.Left-2))).Between(" ", " "))
	}
	line(start)
	if c.table < c.w {
		p.Field(1)
		p.Text(screen.Frame, p.Glyph.Tee)
		p.Field(c.w - c.table - 1)
		c.drawBelow(p, 0)
	}
}

// drawBody draws row y below the head: a row of the table, and the rows to the right of the table or below it.
func (c *comparison) drawBody(p *screen.Pen, y int) {
	n, wide := c.Top+y, c.table < c.w
	p.Field(c.table)
	switch {
	case n < len(c.rows):
		c.drawLine(p, n)
	case wide:
		c.drawWires(p, n-len(c.rows)-1)
	default:
		c.drawBelow(p, n-len(c.rows)-1)
	}
	if p.Fill(screen.Bare); wide {
		p.Field(1)
		p.Text(screen.Frame, p.Glyph.Rule)
		p.Field(c.w - c.table - 1)
		c.drawBelow(p, y+1)
	}
}

// clockLabel names the start of the bars: the request, or the start of the response if the request was not captured.
// If the bars have different starts, or no known start, the label is "time". Bars by phase have their own label.
func (c *comparison) clockLabel() display.Text {
	asked, timed := 0, 0
	for i := range c.times {
		if c.times[i].End >= 0 {
			timed++
		}
		if c.times[i].Asked {
			asked++
		}
	}
	switch {
	case c.byPhase:
		return display.Lit("time, phases")
	case asked == len(c.times) && asked > 0:
		return display.Lit("since request")
	case asked == 0 && timed > 0:
		return display.Lit("since began")
	}
	return display.Lit("time")
}

func (c *comparison) drawLabel(p *screen.Pen, r screen.Role, label display.Text, cursor bool) {
	if cursor {
		p.Text(screen.Accent, p.Glyph.Mark)
	} else {
		p.Spaces(screen.Bare, 1)
	}
	p.Text(r, p.Truncate(label, p.Left-1))
	p.Fill(screen.Bare)
}

func (c *comparison) drawTitle(p *screen.Pen) {
	p.Text(screen.Accent, display.Lit(" Compare  "))
	shown := c.shownColumns()
	many := p.Format("%d", len(c.columns))
	if len(shown) < len(c.columns) {
		many = p.Format("%d of %d", len(shown), len(c.columns))
	}
	switch c.why {
	case diff.Marked:
		p.Text(screen.Plain, many.Between("", " marked turns"))
	case diff.Asked:
		p.Text(screen.Plain, many.Between("", " turns, same request"))
	default:
		p.Text(screen.Plain, p.Format("%s nearby turns that call %s", many, screen.ShortName(c.tool)))
	}
	tail := display.Text{}
	if len(shown) < len(c.columns) {
		from, to := c.first+2, c.first+len(shown)
		which := p.Format("%d%s%d", from, p.Glyph.Dash, to)
		switch {
		case c.first == 0:
			which = p.Format("1%s%d", p.Glyph.Dash, to)
		case from == to:
			which = p.Format("1, %d", to)
		default:
			which = which.Between("1, ", "")
		}
		tail = p.Format("columns %s of %d", which, len(c.columns))
		if c.first > 0 {
			tail = display.Join(tail, display.Lit(" "), p.Glyph.Back)
		}
		if to < len(c.columns) {
			tail = display.Join(tail, display.Lit(" "), p.Glyph.Onward)
		}
	}
	if len(c.rows) > c.Height {
		rows := p.Format("  rows %d%s%d of %s", c.Top+1, p.Glyph.Dash, min(len(c.rows), c.Top+c.Height), screen.Count(len(c.rows)))
		if tail.Width()+rows.Width()+2 < p.Left {
			tail = display.Join(tail, rows)
		}
	}
	p.Right(screen.Muted, screen.Bare, tail.Between("", " "))
}

// drawFinish draws the failure or finish reason of a turn, and the sign for its worst finding.
func (c *comparison) drawFinish(p *screen.Pen, i int, g screen.Surface) {
	v := c.host.View()
	t := c.columns[i].findTurn(v)
	if t == nil {
		p.TextOn(screen.Muted, g, p.Glyph.None)
		return
	}
	if base := c.columns[c.base].findTurn(v); i != c.base && base != nil && base.Phase() == t.Phase() {
		p.TextOn(screen.SideRoles[screen.Same], g, sideSign(p, screen.Same).Between("", " "))
	}
	switch fails := c.failureText(v, i, t); {
	case fails != "":
		p.Untrusted(screen.Bad, g, fails)
	case t.Finish != "":
		p.TextOn(screen.Plain, g, p.Truncate(p.Name(present.FinishText(t)), p.Left))
	case t.Closed():
		_, role, word := screen.TurnLook(t)
		p.Untrusted(role, g, word)
	default:
		p.TextOn(screen.Muted, g, display.Lit("open"))
	}
	if worst, n := worstOf(t.Findings); n > 0 {
		p.TextOn(screen.SeverityRoles[worst], g, severitySign(p, worst).Between("  ", ""))
	}
}

// maxCost is the maximum width of a cost in cells, as in $0.0074.
const maxCost = 8

// shortCost returns a cost with as many digits as fit.
func shortCost(draw display.Drawer, f price.Figure) display.Text {
	text := f.String()
	if len(text) > maxCost && f.USD > 0 && f.USD < 0.00005 {
		return display.Lit("<$0.0001") // all visible digits would be 0
	}
	for digits := 5; len(text) > maxCost && digits > 1; digits-- {
		if text = fmt.Sprintf("$%.*f", digits, f.USD); f.Approximate {
			text = "~" + text
		}
	}
	return draw.Clean(text)
}

// worstOf returns the worst severity, and the number of warnings and errors. It ignores findings with
// severity info.
func worstOf(list []stream.Finding) (worst stream.Severity, n int) {
	for i := range list {
		if s := list[i].Severity; s >= stream.Warn {
			worst = max(worst, s)
			n++
		}
	}
	return worst, n
}

// drawLine draws a row of the window.
func (c *comparison) drawLine(p *screen.Pen, n int) {
	l, cursor := &c.rows[n], n == c.At
	if l.kind == edgeLine {
		c.drawEqualEdge(p, l.row, cursor)
		return
	}
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
	sign := sideSign(p, screen.Same).Between("  ", " ")
	p.Field(c.w - c.label - sign.Width())
	c.drawCell(p, l, c.base, surfaceOf(cursor))
	p.Fill(screen.Bare)
	p.Field(sign.Width())
	if n+1 == len(c.rows) || !c.rows[n+1].under {
		p.Text(screen.Muted, sign)
	}
}

// drawEqualEdge draws the line above the equal rows.
func (c *comparison) drawEqualEdge(p *screen.Pen, n int, cursor bool) {
	if cursor {
		p.Text(screen.Accent, p.Glyph.Mark)
	} else {
		p.Text(screen.Frame, p.Glyph.Line)
	}
	p.Text(screen.Frame, p.Glyph.Line)
	p.Text(screen.Plain, screen.Count(n).Between(" The same ", " "))
	if c.folded {
		p.Text(screen.Muted, display.Lit(" + shows them "))
	}
	p.Text(screen.Frame, display.Repeat(p.Glyph.Line, max(0, p.Left)))
}

func surfaceOf(chosen bool) screen.Surface {
	if chosen {
		return screen.Selected
	}
	return screen.Bare
}

// labelOf returns the role and the label of a row.
func (c *comparison) labelOf(p *screen.Pen, l *line) (screen.Role, display.Text) {
	switch l.kind {
	case failLine:
		return screen.Bad, display.Lit("error")
	case wireLine:
		return screen.Muted, p.Clean(c.wire[l.row].Name)
	case textLine:
		return screen.Muted, display.Lit("text")
	case finishLine:
		return screen.Muted, display.Lit("finish")
	case callLine:
		return screen.Accent, c.groupName(p, l.group, c.label-3)
	}
	switch path := p.Name(l.path).Between(" ", ""); {
	case l.named:
		return screen.KeyToken, display.Join(c.groupName(p, l.group, c.label-3-path.Width()), path)
	case l.path != "":
		return screen.KeyToken, p.Name(l.path)
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

// drawCell draws column i's cell in a row.
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
	case finishLine:
		c.drawFinish(p, i, g)
	case callLine:
		c.drawCall(p, c.groups[l.group], i, g)
	case fieldLine:
		c.drawField(p, c.groups[l.group], l.row, i, g)
	}
}

// drawFact draws a property of a response. It draws nothing for a column whose request differs from the
// base's.
func (c *comparison) drawFact(p *screen.Pen, f *diff.Fact, i int, g screen.Surface) {
	if i != c.base && (i >= len(c.sameRequests) || c.sameRequests[i].Host == "") {
		return
	}
	if f.Marks[i] != diff.Own {
		side := sides[f.Marks[i]]
		p.TextOn(screen.SideRoles[side], g, sideSign(p, side).Between("", " "))
	}
	if f.Marks[i] != diff.Same {
		p.TextOn(screen.Plain, g, p.Truncate(p.Name(f.Cells[i]), p.Left))
	}
}

// sides maps relations to comparison signs.
var sides = [...]screen.Side{
	diff.Own: screen.Same, diff.Same: screen.Same, diff.Alike: screen.Alike, diff.Differs: screen.Differs, diff.Absent: screen.Absent,
	diff.Open: screen.Same, diff.NotYet: screen.Absent, diff.Unknown: screen.Absent,
}

// drawCall draws the state of a call, and the number of its warnings and errors.
func (c *comparison) drawCall(p *screen.Pen, g *group, i int, on screen.Surface) {
	v := c.host.View()
	_, call := v.Find(g.calls[i])
	if call == nil {
		switch t := c.columns[i].findTurn(v); {
		case !c.isFinished(v, i, t):
			p.TextOn(screen.Muted, on, p.Glyph.Idle)
		case c.failureText(v, i, t) != "":
			p.TextOn(screen.Muted, on, p.Glyph.None)
		default:
			p.TextOn(screen.SideRoles[screen.Absent], on, p.Glyph.None.Between("", " not called"))
		}
		return
	}
	st := call.Status()
	if i != c.base && c.sameState(v, g, i) && !(i < len(g.other) && g.other[i]) {
		p.TextOn(screen.SideRoles[screen.Same], on, sideSign(p, screen.Same))
		return
	}
	p.TextOn(screen.CallRole(call), on, display.Join(p.Glyph.Status[st], display.Lit(" "), p.Clean(st.String())))
	if worst, n := worstOf(call.Findings); n > 0 {
		p.TextOn(screen.SeverityRoles[worst], on, p.Format("  %s %d", severitySign(p, worst), n))
	}
}

// drawField draws one field of one call: a sign, the value if it differs from the base's, and its findings.
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
		p.Spaces(on, 1+sideSign(p, screen.Same).Width())
	default:
		side := sides[cell.Relation]
		sign := sideSign(p, side)
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

// sideSign returns the sign for a relation, without its trailing blank.
func sideSign(p *screen.Pen, s screen.Side) display.Text {
	return p.Clean(strings.TrimSpace(p.Glyph.Side[s].String()))
}

// severitySign returns the sign for a severity, without its trailing blank.
func severitySign(p *screen.Pen, s stream.Severity) display.Text {
	return p.Clean(strings.TrimSpace(p.Glyph.Severity[s].String()))
}

// drawValue draws a value in room cells. A container is drawn as the number of its values. A scalar is drawn
// from the position where it differs.
func (c *comparison) drawValue(p *screen.Pen, r *diff.Row, cell *diff.Cell, call *stream.Call, room int, g screen.Surface) {
	end := display.Text{}
	switch {
	case cell.Growing && call.MayGrow():
		end = p.Glyph.Cursor
	case cell.Cut:
		end = p.Glyph.Status[stream.CutShort]
	}
	role, text := screen.Plain, containerText(p, r, cell)
	if cell.Kind != json.ObjectOpen && cell.Kind != json.ArrayOpen {
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

// valueFrom returns the visible part of a value. It begins at the start of the value or, if the first
// difference would not fit, a little before that difference.
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

// containerText describes the size of an array or object, and how the container differs.
func containerText(p *screen.Pen, r *diff.Row, cell *diff.Cell) display.Text {
	n, word := int(cell.Holds), "item"
	if cell.Kind == json.ObjectOpen {
		word = "key"
	}
	switch {
	case r.Split && cell.Differing == 1:
		return display.Lit("1 differs")
	case r.Split && cell.Differing > 1:
		return p.Format("%s differ", screen.Count(int(cell.Differing)))
	case n == 0 && !cell.Growing && cell.Kind == json.ObjectOpen:
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
