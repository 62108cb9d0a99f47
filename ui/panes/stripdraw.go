package panes

import (
	"slices"
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Draw draws row y of the strip.
func (s *TimeStrip) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	row := y - stripHead
	switch {
	case y == 0:
		s.drawMoment(p)
	case s.liveTurn() == nil:
	case y == 1:
		s.drawAxis(p)
	case row < len(s.all) && row < s.lanes:
		s.drawLane(p, &s.all[row])
	case row == s.lanes:
		drawLegend(p, s.hasToolRun())
	default:
		for i, told := range s.timing {
			if told.Width() < p.Left && (i > 0 || told.Width() < p.Left/2) {
				p.Text(screen.Muted, told)
			}
		}
	}
}

// drawMoment draws the delta of the moment and the number of deltas, its time, and how much has arrived
// since.
func (s *TimeStrip) drawMoment(p *screen.Pen) {
	role := screen.Caution
	if s.At.Moves {
		role = screen.Live
	}
	right, left := s.At.Word.Between("  ", ""), s.momentText(p)
	since := display.Text{}
	switch {
	case s.At.Ended:
		asks := display.Lit("as if it ended here")
		if left = display.Join(left, asks.Between("  ", "")); left.Width()+right.Width() >= p.Left {
			left = asks.Between(" ", "") // the axis shows the time
		}
	case s.axis.timed && s.liveTurn() != nil:
		since = p.Format(" since turn %d began", s.At.Turn+1)
	}
	for _, ahead := range []display.Text{s.At.Ahead, s.At.Less} {
		if p.Left > left.Width()+2+ahead.Width()+right.Width() {
			right = display.Join(ahead, right)
			break
		}
	}
	if p.Left > left.Width()+since.Width()+2+right.Width() {
		left = display.Join(left, since)
	}
	p.Text(screen.Plain, p.Truncate(left, p.Left-right.Width()-1))
	p.Spaces(screen.Bare, p.Left-right.Width())
	p.Text(role, right)
}

func (s *TimeStrip) momentText(p *screen.Pen) display.Text {
	t := s.liveTurn()
	if t == nil {
		return display.Lit(" before the first turn")
	}
	then, _ := s.At.Then.Find(t.Ref())
	came, all := deltasOf(then, s.At.Chosen), deltasOf(t, s.At.Chosen)
	text := display.Join(display.Lit(" "), p.Glyph.Change, screen.Count(came), screen.Count(all).Between(" of ", ""))
	if all == 0 {
		text = p.Format(" turn %d", t.Number+1)
	}
	if !s.axis.timed {
		return display.Join(text, p.Format("  event %s of %s", screen.Count(int(s.momentPosition()-s.axis.zero)), screen.Count(int(s.axis.last-s.axis.zero))))
	}
	return display.Join(text, screen.Time(time.Duration(s.momentPosition()-s.axis.zero)).Between("  +", " of "), screen.Time(time.Duration(s.axis.last-s.axis.zero)))
}

// deltasOf returns the number of deltas of a turn, or of the selected call.
func deltasOf(t *stream.Turn, chosen stream.Ref) (n int) {
	if t == nil {
		return 0
	}
	for _, c := range t.Calls {
		if chosen.Call == 0 || c.Ref() == chosen {
			n += c.Deltas()
		}
	}
	return n
}

// momentPosition returns the position of the moment on the axis.
func (s *TimeStrip) momentPosition() int64 {
	n := s.At.Then.Events()
	if s.At.Ended {
		n = lastEventOf(s.At.Then, s.liveTurn()) // the event that would have ended it never arrived
	} else {
		n--
	}
	return min(max(s.axis.positionOf(max(n, 0)), s.axis.zero), s.axis.last)
}

// drawAxis draws the start of the turn, the moment, and the end of the turn so far.
func (s *TimeStrip) drawAxis(p *screen.Pen) {
	name, _ := sideCells(p.Left)
	zero := display.Lit("0 s")
	now := screen.Time(time.Duration(s.momentPosition()-s.axis.zero)).Between(" +", "")
	last := screen.Time(time.Duration(s.axis.last - s.axis.zero))
	if !s.axis.timed {
		zero, now, last = display.Lit("  0"), screen.Count(int(s.momentPosition()-s.axis.zero)).Between(" ", ""), screen.Count(int(s.axis.last-s.axis.zero))
	}
	width, here, began := p.Left, name+s.axis.cellOf(s.momentPosition()), name+s.axis.cellOf(s.axis.zero)
	end := min(name+s.axis.cells-3, width-last.Width()-1)
	p.Spaces(screen.Bare, began-zero.Width())
	p.Text(screen.Muted, zero)
	if here+1+now.Width() > width { // no room after the mark
		p.Spaces(screen.Bare, here-now.Width()-began-1)
		p.Text(screen.Accent, display.Join(now, display.Lit(" "), p.Glyph.Over))
		return
	}
	p.Spaces(screen.Bare, here-began)
	p.Text(screen.Accent, p.Glyph.Over)
	p.Text(screen.Accent, now)
	if at := width - p.Left; at < end {
		p.Spaces(screen.Bare, end-at)
		p.Text(screen.Muted, last)
	}
}

// drawLane draws the lane of a call: its name, its bar, and its state at the moment. Later events are
// muted.
func (s *TimeStrip) drawLane(p *screen.Pen, l *callLane) {
	name, word := sideCells(p.Left)
	t := s.liveTurn()
	then, c := s.At.Then.Find(stream.Ref{Turn: t.Number, Call: l.number})
	mark, called := display.Lit(" "), p.Format("turn %d", t.Number+1)
	if l.number > 0 && int(l.number) <= len(t.Calls) {
		if called = p.Name(t.Calls[l.number-1].Name); s.At.Chosen.Call == l.number {
			mark = p.Glyph.Mark
		}
	}
	p.Text(screen.Accent, mark)
	p.Text(screen.Plain, p.Pad(p.Truncate(called, name-2), name-1))
	here := s.axis.cellOf(s.momentPosition())
	for i, cell := range l.cells {
		switch {
		case i == here:
			p.Text(screen.Accent, p.Glyph.Here)
		case cell.sign.Empty():
			p.Spaces(screen.Bare, 1)
		case i > here:
			p.Text(screen.Muted, cell.sign)
		default:
			p.Text(cell.role, cell.sign)
		}
	}
	state, role := display.Text{}, screen.Muted
	switch {
	case c != nil:
		state, role = display.Join(p.Glyph.Status[c.Status()], p.Clean(c.Status().String()).Between(" ", "")), screen.CallRole(c)
	case l.number == 0 && then != nil:
		st, look, text := screen.TurnLook(then)
		state, role = display.Join(p.Glyph.Status[st], p.Clean(text).Between(" ", "")), look
	}
	if state.Width() < word {
		p.Right(role, screen.Bare, state)
	}
}

// LegendSign is a sign of the timeline, and its meaning.
type LegendSign struct{ Sign, Word display.Text }

// TimeSigns returns the signs of the timeline, without the signs of states.
func TimeSigns(g *screen.Glyphs) []LegendSign {
	return []LegendSign{
		{g.Idle, display.Lit("nothing yet")}, {g.Coming, display.Lit("arguments")}, {g.Silent, display.Lit("silent")},
		{g.Usable, display.Lit("actionable")}, {g.Headers, display.Lit("headers")}, {g.Token, display.Lit("first token")}, {g.End, display.Lit("end")},
		{g.Here, display.Lit("the moment")}, {ranSign, display.Lit("run")},
	}
}

// drawLegend draws the meaning of the signs, and of the lines after a state. Those of the response are
// shown only if all fit.
func drawLegend(p *screen.Pen, ran bool) {
	st, signs := p.Glyph.Status, TimeSigns(p.Glyph)
	idle, coming := signs[0].Sign, signs[1].Sign
	text := display.Join(
		display.Lit(" "), st[stream.Waiting], idle, display.Lit(" waiting  "), st[stream.Streaming], coming, display.Lit(" streaming  "),
		signs[2].Sign, display.Lit(" silent  "), st[stream.LooksDone], display.Lit(" looks done  "), st[stream.Complete], display.Lit(" complete  ! finding"))
	p.Text(screen.Muted, text)
	more := slices.Clone(signs[3 : len(signs)-2])
	if ran {
		more = slices.Insert(more, 0, signs[len(signs)-1])
	}
	for _, s := range more {
		if more := display.Join(s.Sign.Between("  ", " "), s.Word); more.Width() < p.Left {
			p.Text(screen.Muted, more)
		}
	}
}

// hasToolRun reports whether a tool got some call of the turn.
func (s *TimeStrip) hasToolRun() bool {
	t := s.At.Live.Session().Turn(s.At.Turn)
	return t != nil && slices.ContainsFunc(t.Calls, func(c *stream.Call) bool { return len(c.Runs) > 0 })
}
