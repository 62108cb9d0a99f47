package ui

import (
	"toolscope/providers/dialect"
	"toolscope/ui/panes"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
	"toolscope/ui/display"
)

// say shows a word in the status line until the next key.
func (m *Model) say(text display.Text) { m.notice = text }

// back closes the top thing: zoom, then the pane, then the program.
func (m *Model) back(last tea.Cmd) {
	switch {
	case m.search.query != "":
		m.clearSearch()
	case m.zoom:
		m.zoom = false
	case m.wire.Open && m.focus == wirePane:
		m.wire.Open = false
	case m.focus != listPane && m.turn() != nil:
		m.focus = listPane
	default:
		m.do(last)
		return
	}
	m.refresh()
}

func (m *Model) focusOn(p paneID) {
	m.focus = p
	if p == wirePane || p == findingsPane {
		m.lower = p
	}
	if c := m.call(); m.follow && c != nil && c.Arriving() {
		m.doc.Stick, m.wire.Stick = true, true
	}
	m.refresh()
}

// focusNext moves on to another pane; with one pane on the screen, through all.
func (m *Model) focusNext(step int) {
	panes := []paneID{listPane, docPane, m.lower}
	if m.w >= threeColumns || m.w < twoColumns || m.zoom || m.bodyHeight() < stackHeight {
		panes = []paneID{listPane, docPane, wirePane, findingsPane}
	}
	at := 0
	for i, p := range panes {
		if p == m.focus {
			at = i
		}
	}
	m.focusOn(panes[(at+step+len(panes))%len(panes)])
}

// goToFinding leads to what the selected finding points at: a byte of the
// arguments, or the frame that showed it.
func (m *Model) goToFinding() {
	if r := m.findings.Request(); r != nil {
		m.goToRequest(r.Exchange)
		return
	}
	f, ok := m.findings.Chosen()
	if !ok {
		return
	}
	m.setFollow(false)
	if f.Call != nil && f.Offset >= 0 {
		m.chosen = f.Call.Ref()
		m.focusOn(docPane)
		m.doc.GoTo(min(f.Offset, max(0, len(f.Call.Args())-1)))
		m.linkFromDocument()
		return
	}
	e := m.in.Timeline.Event(f.Event)
	t := m.in.Session().Turn(e.Turn)
	if t == nil {
		m.say(display.Lit("this finding is about the source, not a frame"))
		return
	}
	m.chosen = t.Ref()
	m.focusOn(wirePane)
	for row, n := range m.wire.Events {
		if int(n) >= f.Event || e.Kind != stream.SentBack && m.in.Timeline.Event(int(n)).Frame >= e.Frame {
			m.wire.MoveTo(row)
			m.wire.Open = true
			break
		}
	}
	m.refresh()
}

// toEnd goes to the end of the focused pane and, where more may come, follows
// from there.
func (m *Model) toEnd() {
	switch m.focus {
	case docPane:
		m.doc.End()
		m.summary.Scroll(m.summary.Rows)
	case wirePane:
		m.wire.End()
	case findingsPane:
		m.findings.End()
		return
	}
	if m.moving() || m.focus == listPane {
		m.setFollow(true)
	}
	m.refresh()
}

// setFollow says whether the selection goes where things happen.
func (m *Model) setFollow(on bool) {
	m.follow, m.post.awaited = on, 0
	if !on {
		m.doc.Release()
		m.wire.Stick = false
		return
	}
	m.chosen = panes.Newest(m.in.Session())
	m.refresh()
	m.doc.Stick, m.wire.Stick = true, true
	m.refresh()
}

// pause stops the playback or, where there is none, the screen.
func (m *Model) pause() {
	if p := m.opt.Playback; p != nil && !m.ended {
		p.Pause(!p.Paused())
		return
	}
	if !m.moving() {
		m.say(display.Lit("the source has ended"))
		return
	}
	if m.paused = !m.paused; !m.paused {
		for _, inbox := range m.inboxes() {
			inbox.Ring()
		}
	}
}

// markTurn marks the chosen turn to be compared, or takes the mark away.
func (m *Model) markTurn() {
	t := m.turn()
	if t == nil {
		m.say(display.Lit("no turn to mark"))
		return
	}
	m.say(m.marks.Toggle(t.Ref()))
	m.refresh()
}

func (m *Model) changeSpeed(faster bool) {
	p := m.opt.Playback
	if p == nil {
		m.say(display.Lit("only a recording or the demo has a speed"))
		return
	}
	factor := 0.5
	if faster {
		factor = 2
	}
	p.SetSpeed(p.Speed() * factor)
}

// canDemo reports whether there is nothing else to look at.
func (m *Model) canDemo() bool { return m.opt.Demo != nil && len(m.in.Session().Turns) == 0 }

// playDemo starts the demo when there is nothing to look at. A source that is
// still silent goes on: what it brings later comes after.
func (m *Model) playDemo() {
	if !m.canDemo() {
		return
	}
	own := m.settled()
	inbox, playback := m.opt.Demo(own)
	if own {
		m.opt.Inbox, m.ended, m.failure = inbox, false, nil
		m.do(listen(inbox, 0))
	}
	m.opt.Source, m.opt.Playback, m.opt.Demo = "demo", playback, nil
	m.setFollow(true)
}

func (m *Model) suspend() {
	if m.opt.Suspend == nil {
		return
	}
	m.do(func() tea.Msg {
		m.opt.Suspend()
		return nil
	})
}

func (m *Model) toggleTheme() {
	next := m.opt.Themes[0]
	if !m.pen.Ink.Theme.Dark {
		next = m.opt.Themes[1]
	}
	m.paint(next)
	m.say(m.draw.Clean(next.Name).Between("theme ", ""))
}

// statusWord is a status with its glyph.
func (m *Model) statusWord(s stream.Status) display.Text {
	return display.Join(m.pen.Glyph.Status[s], display.Lit(" "), m.draw.Clean(s.String()))
}

// goToRequest chooses the turn of an exchange.
func (m *Model) goToRequest(exchange int) {
	t := panes.TurnOf(m.in.Session(), exchange)
	if t == nil {
		m.say(m.draw.Clean(panes.RequestName(m.in.Session(), exchange)))
		return
	}
	m.setFollow(false)
	m.focus = listPane
	m.choose(t.Ref())
	m.say(m.draw.Format("turn %d: its request has it", t.Number+1))
}

// reread has an exchange read as a dialect, and starts to look at it again.
func (m *Model) reread(exchange int, as *dialect.Dialect) {
	m.in.Reread(exchange, as)
	m.list, m.doc, m.summary = panes.List{Alarms: panes.Alarms{}}, panes.Document{Raw: m.doc.Raw, When: m.when}, panes.Summary{}
	m.wire, m.findings, m.chosen = panes.Wire{}, panes.Findings{}, stream.NoRef
	m.marks = nil
	clear(m.results)
	m.bill = panes.Bill{Prices: m.opt.Prices}
	m.clearSearch()
	for _, t := range m.in.Session().Turns {
		if t.Exchange == exchange {
			m.chosen = t.Ref()
			break
		}
	}
	m.setFollow(false)
	m.refresh()
}
