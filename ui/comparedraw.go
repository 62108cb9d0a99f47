package ui

import (
	"fmt"
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// heads is how many rows are above those that scroll: a title, then what is known
// of each turn.
func (v *compareView) heads(m *Model) int {
	if m.bodyHeight() < replayHigh {
		return 4
	}
	return 6
}

func (v *compareView) body(m *Model, p *screen.Pen, y, h int) bool {
	defer func() { p.Fill(screen.Bare) }()
	shown, heads := v.shown(m), v.heads(m)
	switch {
	case y >= h:
		return true
	case y == 0:
		v.drawTitle(p, shown)
		return true
	}
	var g *group
	row := v.Top + y - heads
	if y >= heads {
		g = v.groupAt(row)
	}
	for n := range shown {
		if n > 0 {
			p.Field(1)
			p.Say(screen.Muted, p.Glyph.Rule)
		}
		p.Field(v.widthOf(m, n, shown))
		c := &v.columns[v.first+n]
		switch {
		case y < heads:
			c.drawHead(m, p, y, v.first+n == v.col)
		case g != nil:
			c.drawGroup(p, g, row-g.first, v.first+n, v.judged)
		}
		p.Fill(screen.Bare)
	}
	return true
}

func (v *compareView) drawTitle(p *screen.Pen, shown int) {
	title := " SIDE BY SIDE"
	if shown < len(v.columns) {
		title += fmt.Sprintf("  column %d of %d", v.col+1, len(v.columns))
	} else {
		title += fmt.Sprintf("  %s", screen.Plural(len(v.columns), "turn"))
	}
	p.Say(screen.Accent, p.Clean(title))
	if v.Rows > v.Height {
		p.Tail(screen.Muted, screen.Bare, p.Format(" %s to %s of %s ", screen.Count(v.Top+1), screen.Count(min(v.Rows, v.Top+v.Height)), screen.Count(v.Rows)))
	}
}

// drawHead writes row y of what is known of a turn.
func (c *comparison) drawHead(m *Model, p *screen.Pen, y int, chosen bool) {
	switch {
	case y == 1:
		c.drawWho(p, chosen)
	case y == 2:
		c.drawState(p)
	case y == 3:
		c.drawTimes(p)
	case y == 4 && c.turn != nil:
		cost := p.Clean(m.bill.Of(c.turn).String())
		p.Spaces(screen.Bare, 1)
		for _, f := range []struct {
			word  string
			count stream.Count
		}{{"in ", c.turn.Usage.Input}, {"out ", c.turn.Usage.Output}} {
			if f.count.Told {
				p.Put(screen.Plain, screen.Bare, display.Join(p.Clean(f.word), screen.Count(int(f.count.N)), display.Lit("  ")))
			}
		}
		p.Put(screen.Plain, screen.Bare, cost)
	case y == 5:
		for p.Left > 0 {
			p.Say(screen.Muted, p.Glyph.Line)
		}
	}
}

// drawWho writes whose answer it is.
func (c *comparison) drawWho(p *screen.Pen, chosen bool) {
	r, sign := screen.Muted, display.Lit(" ")
	if chosen {
		r, sign = screen.Accent, p.Glyph.Mark
	}
	p.Say(screen.Accent, sign)
	if t := c.turn; t != nil {
		p.Say(r, p.Format("%d ", t.Number+1))
	}
	p.Put(r, screen.Bare, p.Truncate(p.Name(c.name), max(p.Left/2, 8)))
	if t := c.turn; t != nil && t.Model != "" {
		p.Put(screen.Plain, screen.Bare, p.Truncate(p.Name(t.Model).Between("  ", ""), p.Left))
	}
}

// drawState writes what became of a turn.
func (c *comparison) drawState(p *screen.Pen) {
	p.Spaces(screen.Bare, 1)
	t := c.turn
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

// drawTimes writes how long it took since the request, or where that has no time,
// since the answer began.
func (c *comparison) drawTimes(p *screen.Pen) {
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
	if c.turn == nil {
		return
	}
	arg, sealed := stream.NoTime, stream.NoTime
	for _, call := range c.turn.Calls {
		if at := call.FirstArgAt; at >= 0 && (arg < 0 || at < arg) {
			arg = at
		}
		sealed = max(sealed, call.SealedAt)
	}
	for _, f := range []struct {
		word display.Text
		at   time.Duration
	}{{display.Lit("arg "), arg}, {display.Lit("sealed "), sealed}, {display.Lit("end "), c.turn.ClosedAt}} {
		if took := screen.Time(screen.Since(from, f.at)); !took.Empty() && display.Join(f.word, took).Width()+2 <= p.Left {
			p.Put(screen.Plain, screen.Bare, display.Join(f.word, took, display.Lit("  ")))
		}
	}
}

// drawGroup writes row n of a column in a group.
func (c *comparison) drawGroup(p *screen.Pen, g *group, n, col int, judged map[callSet]verdictOfCalls) {
	switch g.kind {
	case failureGroup:
		if n < len(c.failure) {
			p.Spaces(screen.Bare, 1)
			p.Put(screen.Bad, screen.Bare, c.failure[n])
		}
	case callGroup:
		c.drawCall(p, g, n, col, judged)
	case textGroup:
		switch {
		case c.text == nil || len(c.text.Rows()) == 0:
		case n == 0:
			p.Say(screen.Muted, display.Lit(" TEXT"))
		case n <= len(c.text.Rows()):
			r := c.text.Rows()[n-1]
			p.Spaces(screen.Bare, 1)
			p.Raw(screen.Plain, screen.Bare, screen.TrimEnd(c.turn.Text[r.Start:r.End]))
		}
	}
}

// drawCall writes row n of a call: its name and state, then its arguments.
func (c *comparison) drawCall(p *screen.Pen, g *group, n, col int, judged map[callSet]verdictOfCalls) {
	call := g.calls[col]
	switch {
	case call == nil && n == 0 && (c.turn == nil || !c.turn.Closed()):
		p.Put(screen.Muted, screen.Bare, p.Glyph.Status[stream.Waiting].Between(" ", ""))
	case call == nil && n == 0:
		p.Put(screen.Muted, screen.Bare, p.Glyph.None.Between(" ", " no such call"))
	case call == nil || n > c.cells[call].FullHeight():
	case n > 0:
		p.Spaces(screen.Bare, 1)
		c.cells[call].Draw(p, n-1, false)
	default:
		st := call.Status()
		right := p.Clean(st.String()).Between(" ", " ")
		if set, sealed := g.sealed(); sealed > 1 && set[col] != nil {
			same := display.Lit(" same")
			if d := judged[set].differs; d > 0 {
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
}
