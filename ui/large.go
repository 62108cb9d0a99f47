package ui

import (
	"strings"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// marginRows returns how many rows of the body are free above and below the panes in the large layout. The
// last free row shows the worst finding.
func (fd *frameDrawer) marginRows() (above, below int) {
	switch h := fd.m.bodyHeight(); {
	case !fd.m.large:
		return 0, 0
	case h >= 5:
		return 1, 2
	}
	return 0, 1
}

// drawBand draws the selection's state across the first row in the large layout, and reports whether it did
// so.
func (fd *frameDrawer) drawBand(p *screen.Pen) bool {
	t, c := fd.m.selectedTurn(), fd.m.selectedCall()
	if t == nil || fd.m.tour.isTourOpening() || fd.m.setup.isWaitingForClients() || fd.m.modeStack.isCovered() || fd.m.focus == fd.m.list {
		return false
	}
	st, role, word := screen.TurnLook(t)
	word = "response " + word
	name := fd.m.draw.Format("turn %d", t.Number+1)
	if c != nil {
		st, role, word, name = c.Status(), screen.CallRole(c), c.Status().String(), p.Name(c.Name)
	}
	if role == screen.Muted {
		role = screen.Plain
	}
	left := display.Join(display.Lit(" "), p.Glyph.Status[st], display.Lit(" "), p.Pad(p.Clean(word), bandState), name)
	why := display.Text{}
	if c != nil {
		why = fd.m.frame.whyOf(c)
	}
	if why.Empty() {
		why = fd.motionWord().Text
	}
	left = p.Truncate(left, p.Left)
	if room := p.Left - left.Width() - 1; why.Width()+2 <= room {
		left = display.Join(p.Pad(left, p.Left-why.Width()-1), why)
	}
	p.TextOn(role, screen.Match, p.Pad(left, p.Left))
	return true
}

// bandState is the width of the state in the first row.
const bandState = 13

// whyOf returns a short reason for a call's state. It is empty if the call is complete or has no finding of
// severity error.
func (fd *frameDrawer) whyOf(c *stream.Call) display.Text {
	f := worstFinding(c.Findings)
	if f == nil || f.Severity < stream.Error || c.Status() == stream.Complete {
		return display.Text{}
	}
	short := fd.m.draw.Clean(f.Brief()).String()
	if rest, ok := strings.CutPrefix(short, "cut "); ok && c.Status() == stream.CutShort {
		short = rest
	}
	return fd.m.draw.Clean(short)
}

// drawMargin draws a row of the body that is outside the panes. It reports whether row y is such a row.
func (fd *frameDrawer) drawMargin(p *screen.Pen, y int) bool {
	above, below := fd.marginRows()
	switch h := fd.m.bodyHeight(); {
	case y == h-1:
		fd.drawWorst(p)
		return true
	case y < above || y >= h-below:
		return true
	}
	return false
}

// drawWorst draws the worst fact about the selection that the first row doesn't show: how a client would have run the
// call, or a finding.
func (fd *frameDrawer) drawWorst(p *screen.Pen) {
	t, c := fd.m.selectedTurn(), fd.m.selectedCall()
	if t == nil {
		return
	}
	if text := fd.m.frame.runRuleText(c, p.Left-3); !text.Empty() {
		p.Text(screen.Bad, display.Join(p.Glyph.Severity[stream.Error], display.Lit(" "), text))
		return
	}
	f := worstFinding(t.Findings)
	if c != nil {
		if own := worstFinding(c.Findings); f == nil || own != nil && own.Severity >= f.Severity {
			f = own
		}
	}
	if f == nil || f.Severity == stream.Info {
		return
	}
	text := p.Clean(f.Message)
	if text.Width()+3 > p.Left && f.Short != "" {
		text = p.Clean(f.Brief())
	}
	p.Text(screen.SeverityRoles[f.Severity], display.Join(p.Glyph.Severity[f.Severity], display.Lit(" "), text))
}

// runRuleText names the rule by which code would have run an incomplete call, and the arguments, in at most the given
// width. It is empty if no rule would have run the call.
func (fd *frameDrawer) runRuleText(c *stream.Call, cells int) display.Text {
	if c == nil || c.Status() != stream.CutShort && c.Status() != stream.Malformed {
		return display.Text{}
	}
	for _, by := range []struct {
		rule stream.RunRule
		who  display.Text
	}{{stream.ParsableObject, display.Lit("client that runs parsable JSON")}, {stream.AnyArgs, display.Lit("client that runs any arguments")}} {
		r := c.RuleRun(by.rule)
		if r.Event == 0 || r.Bytes == 0 || r.Replaced || r.Outcome < stream.RunWrong || r.Outcome > stream.RunIncomplete || r.Bytes > len(c.Args()) {
			continue
		}
		at := fd.m.draw.Format(" at %s%d", fd.m.pen.Glyph.Change, c.DeltaAt(r.Bytes-1)+1)
		ran := by.who.Between("", " ran ")
		with := fd.m.draw.CleanBytes(c.Args()[:min(r.Bytes, screen.MaxNameBytes)])
		return display.Join(ran, fd.m.draw.Truncate(with, cells-ran.Width()-at.Width()), at)
	}
	return display.Text{}
}

// worstFinding returns the first finding with the worst severity, or nil.
func worstFinding(of []stream.Finding) (f *stream.Finding) {
	for i := range of {
		if f == nil || of[i].Severity > f.Severity {
			f = &of[i]
		}
	}
	return f
}

// goToNextCall selects the call after the selected one, or the one before it if step is -1. It continues in
// other turns.
func (m *Model) goToNextCall(step int) {
	t, c := m.selectedTurn(), m.selectedCall()
	if t == nil {
		return
	}
	at := 0
	if c != nil {
		at = c.Number
	}
	for t != nil {
		if n := at + step; n >= 1 && n <= len(t.Calls) {
			m.setFollow(false)
			m.selectRef(t.Calls[n-1].Ref())
			return
		}
		if t = m.view.Session().Turn(t.Number + int32(step)); t != nil && step < 0 {
			at = len(t.Calls) + 1
		} else {
			at = 0
		}
	}
	m.showNotice(display.Lit("no more calls"))
}
