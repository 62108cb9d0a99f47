package panes

import (
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Draw writes row y of the strip.
func (s *Strip) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	row := y - stripHead
	switch {
	case y == 0:
		s.drawMoment(p)
	case s.turn() == nil:
	case y == 1:
		s.drawAxis(p)
	case row < len(s.all) && row < s.lanes:
		s.drawLane(p, &s.all[row])
	case row == s.lanes:
		drawLegend(p)
	default:
		for _, told := range s.told {
			if told.Width() < p.Left {
				p.Say(screen.Muted, told)
			}
		}
	}
}

// drawMoment writes which delta of how many the moment is behind, when that is, and how far behind
// what has come.
func (s *Strip) drawMoment(p *screen.Pen) {
	role := screen.Caution
	if s.At.Moves {
		role = screen.Live
	}
	right, left := s.At.Word.Between("  ", ""), s.moment(p)
	if s.At.Ended {
		left = display.Join(left, display.Lit("  what if it ended here"))
	}
	for _, ahead := range []display.Text{s.At.Ahead, s.At.Less} {
		if p.Left > left.Width()+2+ahead.Width()+right.Width() {
			right = display.Join(ahead, right)
			break
		}
	}
	p.Say(screen.Plain, p.Truncate(left, p.Left-right.Width()-1))
	p.Spaces(screen.Bare, p.Left-right.Width())
	p.Say(role, right)
}

func (s *Strip) moment(p *screen.Pen) display.Text {
	t := s.turn()
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
		return display.Join(text, p.Format("  event %s of %s", screen.Count(int(s.here()-s.axis.first)), screen.Count(int(s.axis.last-s.axis.first))))
	}
	return display.Join(text, screen.Time(time.Duration(s.here()-s.axis.first)).Between("  +", " of "), screen.Time(time.Duration(s.axis.last-s.axis.first)))
}

// deltasOf is how many deltas of arguments a turn has, of one call if that is chosen.
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

// here is where the moment is on the axis.
func (s *Strip) here() int64 {
	n := s.At.Then.Events()
	if s.At.Ended {
		n = lastOf(s.At.Then, s.turn()) // what ended it never came
	} else {
		n--
	}
	return min(max(s.axis.at(max(n, 0)), s.axis.first), s.axis.last)
}

// drawAxis writes where the turn begins, where the moment is, and where the turn ends so far.
func (s *Strip) drawAxis(p *screen.Pen) {
	name, _ := beside(p.Left)
	zero := display.Lit("0 s")
	now := screen.Time(time.Duration(s.here()-s.axis.first)).Between(" +", "")
	last := screen.Time(time.Duration(s.axis.last - s.axis.first))
	if !s.axis.timed {
		zero, now, last = display.Lit("  0"), screen.Count(int(s.here()-s.axis.first)).Between(" ", ""), screen.Count(int(s.axis.last-s.axis.first))
	}
	width, here := p.Left, name+s.axis.cell(s.here())
	end := min(name+s.axis.cells-3, width-last.Width()-1)
	p.Spaces(screen.Bare, name-zero.Width())
	p.Say(screen.Muted, zero)
	if here+1+now.Width() > width { // no room behind the mark
		p.Spaces(screen.Bare, here-now.Width()-name-1)
		p.Say(screen.Accent, display.Join(now, display.Lit(" "), p.Glyph.Over))
		return
	}
	p.Spaces(screen.Bare, here-name)
	p.Say(screen.Accent, p.Glyph.Over)
	p.Say(screen.Accent, now)
	if at := width - p.Left; at < end {
		p.Spaces(screen.Bare, end-at)
		p.Say(screen.Muted, last)
	}
}

// drawLane writes the lane of a call: its name, its bar, and its state at the moment. What comes after
// is muted.
func (s *Strip) drawLane(p *screen.Pen, l *bar) {
	name, word := beside(p.Left)
	t := s.turn()
	then, c := s.At.Then.Find(stream.Ref{Turn: t.Number, Call: l.number})
	mark, called := display.Lit(" "), p.Format("turn %d", t.Number+1)
	if l.number > 0 && int(l.number) <= len(t.Calls) {
		if called = p.Name(t.Calls[l.number-1].Name); s.At.Chosen.Call == l.number {
			mark = p.Glyph.Mark
		}
	}
	p.Say(screen.Accent, mark)
	p.Say(screen.Plain, p.Pad(p.Truncate(called, name-2), name-1))
	here := s.axis.cell(s.here())
	for i, cell := range l.cells {
		switch {
		case i == here:
			p.Say(screen.Accent, p.Glyph.Here)
		case cell.sign.Empty():
			p.Spaces(screen.Bare, 1)
		case i > here:
			p.Say(screen.Muted, cell.sign)
		default:
			p.Say(cell.role, cell.sign)
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
		p.Tail(role, screen.Bare, state)
	}
}

// drawLegend says what the signs are; that of what is least asked for only where there is room for all.
func drawLegend(p *screen.Pen) {
	st := p.Glyph.Status
	for _, of := range []struct {
		sign, word display.Text
		from       int // cells
	}{
		{st[stream.Waiting], display.Lit("named"), 0}, {p.Glyph.Idle, display.Lit("nothing yet"), 0}, {st[stream.Streaming], display.Lit("first byte"), 0},
		{p.Glyph.Coming, display.Lit("bytes"), 0}, {p.Glyph.Silent, display.Lit("silent"), 0}, {p.Glyph.Usable, display.Lit("actionable"), wideLegend},
		{st[stream.LooksDone], display.Lit("parses"), 0}, {st[stream.Complete], display.Lit("seal"), 0}, {display.Lit("!"), display.Lit("finding"), 0},
	} {
		if s := display.Join(of.sign.Between(" ", " "), of.word); of.from <= p.Left {
			p.Say(screen.Muted, s)
		}
	}
}

// wideLegend is how much room there has to be for all signs, from the one on that may go.
const wideLegend = 55
