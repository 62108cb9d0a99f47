package panes

import (
	"strings"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// drawTitle draws the counts of turns, calls and states, and the cost; on the right the bad and new calls
// out of view, and the visible rows. With little room it drops the cost, then the healthy states, then
// the number of calls.
func (l *List) drawTitle(p *screen.Pen, focused bool) {
	s, calls := l.scene.View.Session(), 0
	for _, n := range s.Counts {
		calls += n
	}
	if l.scene.Sieve.Active() {
		l.drawSifted(p, focused)
		return
	}
	right, turns := l.outOfSight(p), p.Format(" TURNS %s", screen.Count(len(s.Turns)+s.TrimmedTurns()))
	many, well, ill := p.Format("  CALLS %s", screen.Count(calls)), countsOf(p, s, wellOrder), countsOf(p, s, badOrder)
	cost := totalCost(p, l.scene.Bill.Total())
	room := p.Left - turns.Width() - right.Width() - 3
	fits := func(width int) bool {
		if width > room {
			return false
		}
		room -= width
		return true
	}
	tells := [...]bool{fits(screen.Width(ill)), fits(many.Width()), fits(screen.Width(well)), !cost.Empty() && fits(cost.Width()+2)}
	p.Text(titleRole(focused), turns)
	if tells[1] {
		p.Text(titleRole(focused), many)
	}
	if len(well)+len(ill) > 0 {
		p.Spaces(screen.Bare, 1)
	}
	for i, counts := range [][]screen.StyledText{well, ill} {
		if i == 0 && tells[2] || i == 1 && tells[0] {
			p.Texts(counts)
		}
	}
	if tells[3] {
		p.Text(screen.Muted, cost.Between("  ", ""))
	}
	l.drawOutOfSight(p, right)
}

// drawSifted draws the title of a filtered list.
func (l *List) drawSifted(p *screen.Pen, focused bool) {
	s, right := l.scene.View.Session(), l.outOfSight(p)
	p.Text(titleRole(focused), p.Format(" %s of %s  ", screen.Count(l.scene.Sieve.Count()), screen.Count(len(s.Turns)+s.TrimmedTurns())))
	p.Text(screen.Accent, p.Truncate(p.Name(l.scene.Sieve.Text()).Between("f ", ""), p.Left-right.Width()-1))
	l.drawOutOfSight(p, right)
}

// The order in which states are counted.
var (
	wellOrder = []stream.Status{stream.Streaming, stream.Waiting, stream.LooksDone, stream.Complete, stream.NoArguments}
	badOrder  = []stream.Status{stream.CutShort, stream.Malformed, stream.NotObject, stream.Aborted, stream.Rejected, stream.Unseen}
)

// countsOf counts the calls in some states. Calls that the client stopped are not faults.
func countsOf(p *screen.Pen, s *stream.Session, states []stream.Status) (all []screen.StyledText) {
	for _, st := range states {
		n, stopped, r := s.Counts[st], 0, screen.StatusRoles[st]
		if st == stream.Aborted {
			stopped = s.Stopped
		}
		if st == stream.Complete || st == stream.NoArguments {
			r = screen.Muted
		}
		if n > stopped {
			all = append(all, screen.StyledText{Role: r, Text: display.Join(display.Lit(" "), p.Glyph.Status[st], screen.Count(n-stopped))})
		}
		if stopped > 0 {
			all = append(all, screen.StyledText{Role: screen.Muted, Text: display.Join(display.Lit(" "), p.Glyph.Status[st], screen.Count(stopped), display.Lit(" stopped"))})
		}
	}
	return all
}

// titleCounts are the texts at the right end of the title.
type titleCounts struct{ bad, news, rows display.Text }

// Width returns the total width in cells.
func (s titleCounts) Width() int { return s.bad.Width() + s.news.Width() + s.rows.Width() }

// outOfSight returns the counts of the title: bad calls out of view, rows that arrived since the end was
// visible, and the visible range.
func (l *List) outOfSight(p *screen.Pen) (out titleCounts) {
	space := display.Lit(" ")
	if l.above > 0 {
		out.bad = display.Join(p.Glyph.Up, space, screen.Count(l.above), display.Lit(" bad  "))
	}
	if l.below > 0 {
		out.bad = display.Join(out.bad, p.Glyph.Below, space, screen.Count(l.below), display.Lit(" bad  "))
	}
	if n := l.Rows - l.known; n > 0 && !l.scene.Follow {
		out.news = display.Join(p.Glyph.Below, screen.Count(n).Between(" +", " new  G  "))
	}
	first, last, of := l.Visible()
	out.rows = p.ScrollInfo(first, last, of)
	return out
}

// HiddenTrouble returns the count of bad calls out of view, long and short, for a list without a title.
func (l *List) HiddenTrouble(p *screen.Pen) []display.Text {
	if l.above+l.below == 0 {
		return nil
	}
	bad := display.Clean(strings.TrimRight(l.outOfSight(p).bad.String(), " "))
	return []display.Text{bad, screen.Count(l.above+l.below).Between("", " bad")}
}

// drawOutOfSight draws the counts flush right: the bad count is never dropped.
func (l *List) drawOutOfSight(p *screen.Pen, out titleCounts) {
	for _, less := range []*display.Text{&out.rows, &out.news} {
		if out.Width() >= p.Left {
			*less = display.Text{}
		}
	}
	p.Spaces(screen.Bare, p.Left-out.Width())
	p.Text(screen.Bad, out.bad)
	p.Text(screen.Live, out.news)
	p.Text(screen.Muted, out.rows)
	p.Fill(screen.Bare)
}
