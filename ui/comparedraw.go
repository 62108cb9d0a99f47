package ui

import (
	"fmt"
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
)

// heads is how many rows are above those that scroll: a title, then what is known
// of each turn.
func (v *compareView) heads(m *Model) int {
	if m.bodyHeight() < replayHigh {
		return 4
	}
	return 6
}

func (v *compareView) body(m *Model, p *pen, y, h int) bool {
	defer func() { p.fill(bare) }()
	shown, heads := v.shown(m), v.heads(m)
	switch {
	case y >= h:
		return true
	case y == 0:
		v.drawTitle(p, shown)
		return true
	}
	var g *group
	row := v.top + y - heads
	if y >= heads {
		g = v.groupAt(row)
	}
	for n := range shown {
		if n > 0 {
			p.field(1)
			p.say(muted, p.glyph.rule)
		}
		p.field(v.widthOf(m, n, shown))
		c := &v.columns[v.first+n]
		switch {
		case y < heads:
			c.drawHead(m, p, y, v.first+n == v.col)
		case g != nil:
			c.drawGroup(p, g, row-g.first, v.first+n, v.judged)
		}
		p.fill(bare)
	}
	return true
}

func (v *compareView) drawTitle(p *pen, shown int) {
	title := " SIDE BY SIDE"
	if shown < len(v.columns) {
		title += fmt.Sprintf("  column %d of %d", v.col+1, len(v.columns))
	} else {
		title += fmt.Sprintf("  %s", plural(len(v.columns), "turn"))
	}
	p.say(accent, p.draw.Clean(title))
	if v.rows > v.height {
		p.tail(muted, bare, p.draw.Format(" %s to %s of %s ", commas(v.top+1), commas(min(v.rows, v.top+v.height)), commas(v.rows)))
	}
}

// drawHead writes row y of what is known of a turn.
func (c *comparison) drawHead(m *Model, p *pen, y int, chosen bool) {
	switch {
	case y == 1:
		c.drawWho(p, chosen)
	case y == 2:
		c.drawState(p)
	case y == 3:
		c.drawTimes(p)
	case y == 4 && c.turn != nil:
		cost := p.draw.Clean(m.bill.of(c.turn).String())
		p.spaces(bare, 1)
		for _, f := range []struct {
			word  string
			count stream.Count
		}{{"in ", c.turn.Usage.Input}, {"out ", c.turn.Usage.Output}} {
			if f.count.Told {
				p.put(plain, bare, display.Join(p.draw.Clean(f.word), commas(int(f.count.N)), display.Lit("  ")))
			}
		}
		p.put(plain, bare, cost)
	case y == 5:
		for p.left > 0 {
			p.say(muted, p.glyph.line)
		}
	}
}

// drawWho writes whose answer it is.
func (c *comparison) drawWho(p *pen, chosen bool) {
	r, sign := muted, display.Lit(" ")
	if chosen {
		r, sign = accent, p.glyph.mark
	}
	p.say(accent, sign)
	if t := c.turn; t != nil {
		p.say(r, p.draw.Format("%d ", t.Number+1))
	}
	p.put(r, bare, p.draw.Truncate(p.clean(c.name), max(p.left/2, 8)))
	if t := c.turn; t != nil && t.Model != "" {
		p.put(plain, bare, p.draw.Truncate(p.clean(t.Model).Between("  ", ""), p.left))
	}
}

// drawState writes what became of a turn.
func (c *comparison) drawState(p *pen) {
	p.spaces(bare, 1)
	t := c.turn
	switch {
	case t == nil && c.exchange.Ended:
		p.say(bad, p.glyph.status[stream.Aborted].Between("", " no answer came"))
		return
	case t == nil:
		p.say(muted, p.glyph.status[stream.Waiting].Between("", " waiting for the first byte"))
		return
	}
	st, look, word := turnLook(t)
	p.put(look, bare, display.Join(p.glyph.status[st], display.Lit(" "), p.draw.Clean(word)))
	if status := c.exchange.Head.Status; status >= 300 {
		p.put(bad, bare, p.draw.Format("  HTTP %d", status))
	}
	p.put(muted, bare, p.clean(FinishText(t)).Between("  ", ""))
}

// drawTimes writes how long it took since the request, or where that has no time,
// since the answer began.
func (c *comparison) drawTimes(p *pen) {
	p.spaces(bare, 1)
	x := c.exchange
	if x.Response.Records() == 0 {
		return
	}
	_, first := x.Response.Record(0)
	from := first
	if x.Request.Records() > 0 {
		if _, at := x.Request.Record(0); at >= 0 && at <= first {
			from = at
			p.put(plain, bare, timeText(since(from, first)).Between("byte ", "  "))
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
		if took := timeText(since(from, f.at)); !took.Empty() && display.Join(f.word, took).Width()+2 <= p.left {
			p.put(plain, bare, display.Join(f.word, took, display.Lit("  ")))
		}
	}
}

// drawGroup writes row n of a column in a group.
func (c *comparison) drawGroup(p *pen, g *group, n, col int, judged map[callSet]verdictOfCalls) {
	switch g.kind {
	case failureGroup:
		if n < len(c.failure) {
			p.spaces(bare, 1)
			p.put(bad, bare, c.failure[n])
		}
	case callGroup:
		c.drawCall(p, g, n, col, judged)
	case textGroup:
		switch {
		case c.text == nil || len(c.text.Rows()) == 0:
		case n == 0:
			p.say(muted, display.Lit(" TEXT"))
		case n <= len(c.text.Rows()):
			r := c.text.Rows()[n-1]
			p.spaces(bare, 1)
			p.raw(plain, bare, trimEnd(c.turn.Text[r.Start:r.End]))
		}
	}
}

// drawCall writes row n of a call: its name and state, then its arguments.
func (c *comparison) drawCall(p *pen, g *group, n, col int, judged map[callSet]verdictOfCalls) {
	call := g.calls[col]
	switch {
	case call == nil && n == 0 && (c.turn == nil || !c.turn.Closed()):
		p.put(muted, bare, p.glyph.status[stream.Waiting].Between(" ", ""))
	case call == nil && n == 0:
		p.put(muted, bare, p.glyph.none.Between(" ", " no such call"))
	case call == nil || n > c.cells[call].fullHeight():
	case n > 0:
		p.spaces(bare, 1)
		c.cells[call].draw(p, n-1, false)
	default:
		st := call.Status()
		right := p.draw.Clean(st.String()).Between(" ", " ")
		if set, sealed := g.sealed(); sealed > 1 && set[col] != nil {
			same := display.Lit(" same")
			if d := judged[set].differs; d > 0 {
				same = commas(d).Between(" ", " differ")
			}
			right = display.Join(same, right)
		}
		name := p.clean(call.Name)
		if name.Empty() {
			name = display.Lit("(no name)")
		}
		p.put(callRole(call), bare, p.glyph.status[st].Between(" ", " "))
		p.put(accent, bare, p.draw.Truncate(name, max(p.left-right.Width(), 4)))
		p.tail(callRole(call), bare, right)
	}
}
