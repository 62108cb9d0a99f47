package ui

import (
	"path"
	"slices"
	"sort"
	"strings"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
)

// turnList is the pane of turns and their calls.
type turnList struct {
	window
	starts []int // row of each turn
	calls  int   // how many there were when the rows were counted
	alarms alarms
	marks  []*stream.Turn // to be compared
}

// choice is what is selected: a turn, or one of its calls. Either may be nil.
type choice struct {
	turn *stream.Turn
	call *stream.Call
}

// extend takes what is new in the session.
func (l *turnList) extend(s *stream.Session, height int) {
	calls := 0
	for _, n := range s.Counts {
		calls += n
	}
	if len(s.Turns) != len(l.starts) || calls != l.calls {
		l.starts, l.calls = l.starts[:0], calls
		row := 0
		for _, t := range s.Turns {
			l.starts = append(l.starts, row)
			row += 1 + len(t.Calls)
		}
	}
	l.resize(len(s.Turns)+calls, height)
}

// rowOf is the row of a turn or call.
func (l *turnList) rowOf(s *stream.Session, c choice) int {
	if c.turn == nil {
		return 0
	}
	// Turns are numbered as they begin, so nearly always they are in order.
	i := sort.Search(len(s.Turns), func(i int) bool { return s.Turns[i].Number >= c.turn.Number })
	if i == len(s.Turns) || s.Turns[i] != c.turn {
		i = slices.Index(s.Turns, c.turn)
	}
	if c.call == nil {
		return l.starts[i]
	}
	return l.starts[i] + c.call.Number
}

// choiceAt is what a row shows.
func (l *turnList) choiceAt(s *stream.Session, row int) (c choice) {
	i := sort.SearchInts(l.starts, row+1) - 1
	if i < 0 || i >= len(s.Turns) {
		return c
	}
	c.turn = s.Turns[i]
	if n := row - l.starts[i]; n > 0 && n <= len(c.turn.Calls) {
		c.call = c.turn.Calls[n-1]
	}
	return c
}

// newest is what to follow: the latest call that is still coming, or else the
// latest call, or else the latest turn.
func newest(s *stream.Session) (c choice) {
	for i := len(s.Turns) - 1; i >= 0 && i >= len(s.Turns)-8; i-- {
		t := s.Turns[i]
		for j := len(t.Calls) - 1; j >= 0 && j >= len(t.Calls)-64; j-- {
			if t.Calls[j].Arriving() {
				return choice{t, t.Calls[j]}
			}
		}
	}
	if n := len(s.Turns); n > 0 {
		c.turn = s.Turns[n-1]
		if k := len(c.turn.Calls); k > 0 {
			c.call = c.turn.Calls[k-1]
		}
	}
	return c
}

// draw writes one row of the pane into the field.
func (l *turnList) draw(p *pen, in *providers.Inspector, b *bill, row int, focused bool) {
	if row >= l.rows {
		p.fill(bare)
		return
	}
	c := l.choiceAt(in.Session(), row)
	g := bare
	sign := display.Lit(" ")
	if row == l.at {
		g, sign = linked, p.glyph.mark
		if focused {
			g = selected
		}
	}
	if c.call == nil && c.turn != nil && slices.Contains(l.marks, c.turn) {
		sign = display.Lit("=")
	}
	p.put(accent, g, sign)
	if c.call != nil {
		l.drawCall(p, c.call, g)
	} else if c.turn != nil {
		l.drawTurn(p, in, b.of(c.turn), c.turn, g)
	}
	p.fill(g)
}

// drawCall writes a call: glyph, name, and flush right what fits of word,
// bytes and time.
func (l *turnList) drawCall(p *pen, c *stream.Call, g ground) {
	st := c.Status()
	p.put(plain, g, display.Lit(" "))
	l.drawAlarm(p, g, c, c.Findings)
	look := callRole(c)
	p.put(look, g, p.glyph.status[st].Between("", " "))
	name := p.clean(c.Name)
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	right := p.draw.Clean(st.String()).Between(" ", "")
	for _, part := range []display.Text{sizeOf(c), timeText(callTime(c))} {
		if !part.Empty() && right.Width()+3+part.Width()+min(name.Width(), longName) <= p.left {
			right = display.Join(right, display.Lit("  "), part)
		}
	}
	right = display.Join(right, display.Lit(" "))
	room := p.left - right.Width()
	p.put(plain, g, p.draw.Truncate(name, max(room, 1)))
	p.tail(look, g, right)
}

// drawAlarm writes a sign where findings are above info.
func (l *turnList) drawAlarm(p *pen, g ground, owner any, list []stream.Finding) {
	sign, r := display.Lit(" "), plain
	if severity, above := l.alarms.of(owner, list); above {
		sign, r = display.Lit("!"), severityRoles[severity]
	}
	p.put(r, g, sign)
}

const longName = 24 // cells that a call's name has before its size or time is shown

const longTitle = 12 // cells that a turn's title has before its time is shown beside its cost

func sizeOf(c *stream.Call) display.Text {
	if len(c.Args()) == 0 {
		return display.Text{}
	}
	return bytesText(len(c.Args()))
}

// drawTurn writes a turn: number, glyph, where it came from, its word, time and
// cost.
func (l *turnList) drawTurn(p *pen, in *providers.Inspector, cost price.Figure, t *stream.Turn, g ground) {
	st, look, word := turnLook(t)
	p.put(muted, g, p.draw.Format("%d", t.Number+1))
	l.drawAlarm(p, g, t, t.Findings)
	p.put(look, g, p.glyph.status[st].Between("", " "))
	right := p.draw.Clean(word).Between(" ", "")
	if p.left > 34 {
		paid := display.Text{}
		if cost.Known() {
			paid = p.draw.Clean(cost.String()).Between("  ", "")
		} else if t.Closed() {
			paid = p.glyph.none.Between("  ", "")
		}
		if d := timeText(since(t.OpenedAt, t.ClosedAt)); !d.Empty() && p.left > display.Join(right, display.Lit("  "), d, paid).Width()+longTitle {
			right = display.Join(right, display.Lit("  "), d)
		}
		right = display.Join(right, paid)
	}
	right = display.Join(right, display.Lit(" "))
	room := p.left - right.Width()
	p.put(accent, g, p.draw.Truncate(p.clean(turnTitle(in.Exchange(t.Exchange), t)), max(room, 1)))
	p.tail(look, g, right)
}

// turnTitle is a turn in a few words: its request, or its file, or its model.
func turnTitle(x *providers.Exchange, t *stream.Turn) string {
	switch {
	case t.Parent != "":
		return "inside " + t.Parent
	case x != nil && x.Head.Method != "" && x.Head.URL != "":
		return short(x.Head.Method) + " " + short(shortURL(x.Head.URL))
	case t.Model != "":
		return t.Model
	case x != nil && x.Head.File != "":
		return path.Base(x.Head.File)
	}
	return t.Dialect
}

// shortURL is a URL without scheme and host.
func shortURL(u string) string {
	if _, rest, ok := strings.Cut(u, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
	}
	return u
}
