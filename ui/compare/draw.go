package compare

import (
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// highBody is how many rows a body has that holds all heads.
const highBody = 16

// heads is how many rows are above those that scroll: a title, then what is known of each turn.
func (c *comparison) heads() int {
	if c.seen.h < highBody {
		return 4
	}
	return 6
}

// Draw writes row y.
func (c *comparison) Draw(p *screen.Pen, y int) {
	defer func() { p.Fill(screen.Bare) }()
	if y == 0 {
		c.drawTitle(p)
		return
	}
	var g *group
	heads := c.heads()
	row := c.Top + y - heads
	if y >= heads {
		g = c.groupAt(row)
	}
	for n := range c.seen.shown {
		if n > 0 {
			p.Field(1)
			p.Say(screen.Muted, p.Glyph.Rule)
		}
		p.Field(c.widthOf(n))
		col := &c.columns[c.first+n]
		t, _ := c.host.View().Find(col.turn)
		switch {
		case y < heads:
			c.drawHead(p, col, t, y, c.first+n == c.chosen)
		case g != nil && g.kind == callGroup:
			c.drawCall(p, g.calls, c.first+n, row-g.first)
		case g != nil && t != nil:
			col.drawText(p, t, g.kind, row-g.first)
		}
		p.Fill(screen.Bare)
	}
}

func (c *comparison) drawTitle(p *screen.Pen) {
	what := screen.Plural(len(c.columns), "turn")
	if c.seen.shown < len(c.columns) {
		what = p.Format("column %d of %d", c.chosen+1, len(c.columns))
	}
	p.Say(screen.Accent, what.Between(" SIDE BY SIDE  ", ""))
	if c.Rows > c.Height {
		p.Tail(screen.Muted, screen.Bare, p.Format(" %s to %s of %s ", screen.Count(c.Top+1), screen.Count(min(c.Rows, c.Top+c.Height)), screen.Count(c.Rows)))
	}
}

// drawHead writes row y of what is known of a turn, nil if it has not opened.
func (c *comparison) drawHead(p *screen.Pen, col *column, t *stream.Turn, y int, chosen bool) {
	switch {
	case y == 1:
		col.drawWho(p, t, chosen)
	case y == 2:
		col.drawState(p, t)
	case y == 3:
		col.drawTimes(p, t)
	case y == 4 && t != nil:
		c.drawUsage(p, t)
	case y == 5:
		for p.Left > 0 {
			p.Say(screen.Muted, p.Glyph.Line)
		}
	}
}

// drawWho writes whose answer a turn is.
func (c *column) drawWho(p *screen.Pen, t *stream.Turn, chosen bool) {
	r, sign := screen.Muted, display.Lit(" ")
	if chosen {
		r, sign = screen.Accent, p.Glyph.Mark
	}
	p.Say(screen.Accent, sign)
	if t != nil {
		p.Say(r, p.Format("%d ", t.Number+1))
	}
	p.Put(r, screen.Bare, p.Truncate(p.Name(c.name), max(p.Left/2, 8)))
	if t != nil && t.Model != "" {
		p.Put(screen.Plain, screen.Bare, p.Truncate(p.Name(t.Model).Between("  ", ""), p.Left))
	}
}

// drawState writes what became of a turn.
func (c *column) drawState(p *screen.Pen, t *stream.Turn) {
	p.Spaces(screen.Bare, 1)
	switch {
	case t == nil && c.exchange.Ended:
		p.Say(screen.Bad, p.Glyph.Status[stream.Aborted].Between("", " no answer came"))
		return
	case t == nil:
		p.Say(screen.Muted, p.Glyph.Status[stream.Waiting].Between("", " waiting for the first byte"))
		return
	}
	st, look, word := screen.TurnLook(t)
	p.Put(look, screen.Bare, display.Join(p.Glyph.Status[st], display.Lit(" "), p.Clean(word)))
	if status := c.exchange.Head.Status; status >= 300 {
		p.Put(screen.Bad, screen.Bare, p.Format("  HTTP %d", status))
	}
	p.Put(screen.Muted, screen.Bare, p.Name(panes.FinishText(t)).Between("  ", ""))
}

// drawTimes writes how long it took since the request, or where that has no time, since the answer
// began.
func (c *column) drawTimes(p *screen.Pen, t *stream.Turn) {
	p.Spaces(screen.Bare, 1)
	x := c.exchange
	if x.Response.Records() == 0 {
		return
	}
	_, first := x.Response.Record(0)
	from := first
	if x.Request.Records() > 0 {
		if _, at := x.Request.Record(0); at >= 0 && at <= first {
			from = at
			p.Put(screen.Plain, screen.Bare, screen.Time(screen.Since(from, first)).Between("byte ", "  "))
		}
	}
	if t == nil {
		return
	}
	arg, sealed := stream.NoTime, stream.NoTime
	for _, call := range t.Calls {
		if at := call.FirstArgAt; at >= 0 && (arg < 0 || at < arg) {
			arg = at
		}
		sealed = max(sealed, call.SealedAt)
	}
	for _, f := range []struct {
		word display.Text
		at   time.Duration
	}{{display.Lit("arg "), arg}, {display.Lit("sealed "), sealed}, {display.Lit("end "), t.ClosedAt}} {
		if took := screen.Time(screen.Since(from, f.at)); !took.Empty() && display.Join(f.word, took).Width()+2 <= p.Left {
			p.Put(screen.Plain, screen.Bare, display.Join(f.word, took, display.Lit("  ")))
		}
	}
}

// drawUsage writes what a turn has used and cost so far.
func (c *comparison) drawUsage(p *screen.Pen, t *stream.Turn) {
	p.Spaces(screen.Bare, 1)
	for _, f := range []struct {
		word  display.Text
		count stream.Count
	}{{display.Lit("in "), t.Usage.Input}, {display.Lit("out "), t.Usage.Output}} {
		if f.count.Told {
			p.Say(screen.Plain, display.Join(f.word, screen.Count(int(f.count.N)), display.Lit("  ")))
		}
	}
	p.Say(screen.Plain, p.Clean(c.bill.Of(t).String()))
}

// drawText writes row n of a turn's error, or of its text under a title.
func (c *column) drawText(p *screen.Pen, t *stream.Turn, kind groupKind, n int) {
	switch {
	case kind == failureGroup:
		if n < len(c.failure) {
			p.Spaces(screen.Bare, 1)
			p.Put(screen.Bad, screen.Bare, c.failure[n])
		}
	case len(c.text.Rows()) == 0:
	case n == 0:
		p.Say(screen.Muted, display.Lit(" TEXT"))
	case n <= len(c.text.Rows()):
		r := c.text.Rows()[n-1]
		p.Spaces(screen.Bare, 1)
		p.Raw(screen.Plain, screen.Bare, screen.TrimEnd(t.Text[r.Start:r.End]))
	}
}

// drawCall writes row n of the call of column i: its name and state, then its arguments.
func (c *comparison) drawCall(p *screen.Pen, calls callSet, i, n int) {
	col := &c.columns[i]
	t, _ := c.host.View().Find(col.turn)
	d := col.calls[calls[i]]
	if _, call := c.host.View().Find(calls[i]); call == nil {
		d = nil
	} else if d != nil {
		d.Call = call
	}
	switch {
	case d != nil && n == 0:
		c.drawCallHead(p, calls, i)
	case d != nil && n <= d.FullHeight():
		p.Spaces(screen.Bare, 1)
		d.Draw(p, n-1, false)
	case n > 0:
	case t != nil && t.Closed():
		p.Put(screen.Muted, screen.Bare, p.Glyph.None.Between(" ", " no such call"))
	default:
		p.Put(screen.Muted, screen.Bare, p.Glyph.Status[stream.Waiting].Between(" ", ""))
	}
}

// drawCallHead writes a call's name, its state, and whether its arguments are those of the others.
func (c *comparison) drawCallHead(p *screen.Pen, calls callSet, i int) {
	v := c.host.View()
	_, call := v.Find(calls[i])
	st := call.Status()
	right := p.Clean(st.String()).Between(" ", " ")
	if set, sealed := calls.sealed(v); sealed > 1 && set[i] == calls[i] {
		same := display.Lit(" same")
		if d := c.judged[set].differs; d > 0 {
			same = screen.Count(d).Between(" ", " differ")
		}
		right = display.Join(same, right)
	}
	name := p.Name(call.Name)
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	p.Put(screen.CallRole(call), screen.Bare, p.Glyph.Status[st].Between(" ", " "))
	p.Put(screen.Accent, screen.Bare, p.Truncate(name, max(p.Left-right.Width(), 4)))
	p.Tail(screen.CallRole(call), screen.Bare, right)
}
