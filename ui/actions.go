package ui

import (
	"toolscope/ui/panes"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
	"toolscope/ui/display"
)

// say shows a word in the status line until the next key.
func (m *Model) say(text display.Text) { m.notice = text }

// back closes the top thing: zoom, then the pane, then the program.
func (m *Model) back(last tea.Cmd) tea.Cmd {
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
		return last
	}
	m.refresh()
	return nil
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

// movePane gives a movement key to the focused pane.
func (m *Model) movePane(k tea.KeyMsg) tea.Cmd {
	km := m.keys
	if km.is(k, km.Bottom) {
		m.toEnd()
		return nil
	}
	switch m.focus {
	case listPane:
		m.moveList(k)
	case docPane:
		return m.moveDocument(k)
	case wirePane:
		m.moveWire(k)
	case findingsPane:
		if row, ok := km.move(k, m.findings.Window); ok {
			m.setFollow(false)
			m.findings.MoveTo(row)
		} else if km.is(k, km.Enter) {
			m.goToFinding()
		} else if km.is(k, km.Left) {
			m.focusOn(listPane)
		}
	}
	return nil
}

func (m *Model) moveList(k tea.KeyMsg) {
	km := m.keys
	if row, ok := km.move(k, m.list.Window); ok {
		m.setFollow(false)
		m.list.MoveTo(row)
		m.choose(m.list.RefAt(m.in.Session(), m.list.At))
	} else if km.is(k, km.Enter, km.Right) && m.turn() != nil {
		m.focusOn(docPane)
	}
}

func (m *Model) moveDocument(k tea.KeyMsg) tea.Cmd {
	km := m.keys
	if m.call() == nil {
		if row, ok := km.move(k, m.summary.Pages()); ok {
			m.setFollow(false)
			m.summary.Scroll(row)
		} else if km.is(k, km.Left) {
			m.focusOn(listPane)
		}
		return nil
	}
	if _, ok := km.move(k, m.doc.Window); ok {
		m.setFollow(false)
		row, _ := km.move(k, m.doc.Window) // from where the cursor is now
		m.doc.MoveRow(row)
		m.linkFromDocument()
		return nil
	}
	switch {
	case km.is(k, km.Left):
		if m.setFollow(false); !m.doc.MoveToken(-1) {
			m.focusOn(listPane)
		}
	case km.is(k, km.Right):
		m.setFollow(false)
		m.doc.MoveToken(1)
	case km.is(k, km.Enter):
		cmd, ok := m.openString()
		if !ok {
			m.say(display.Lit("no string here: enter opens string values"))
		}
		return cmd
	}
	m.linkFromDocument()
	return nil
}

func (m *Model) moveWire(k tea.KeyMsg) {
	km := m.keys
	if row, ok := km.move(k, m.wire.Window); ok {
		m.setFollow(false)
		m.wire.MoveTo(row)
	} else if km.is(k, km.Enter, km.Right) {
		m.wire.Open = !m.wire.Open
		m.refresh()
	} else if km.is(k, km.Left) {
		m.focusOn(listPane)
	}
	m.linkFromWire()
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
func (m *Model) pause() tea.Cmd {
	if p := m.opt.Playback; p != nil && !m.ended {
		p.Pause(!p.Paused())
		return nil
	}
	if !m.moving() {
		m.say(display.Lit("the source has ended"))
		return nil
	}
	if m.paused = !m.paused; !m.paused {
		for _, inbox := range m.inboxes() {
			inbox.Ring()
		}
	}
	return nil
}

func (m *Model) changeSpeed(factor float64) {
	p := m.opt.Playback
	if p == nil {
		m.say(display.Lit("only a recording or the demo has a speed"))
		return
	}
	p.SetSpeed(p.Speed() * factor)
}

// canDemo reports whether there is nothing else to look at.
func (m *Model) canDemo() bool { return m.opt.Demo != nil && len(m.in.Session().Turns) == 0 }

// playDemo starts the demo when there is nothing to look at. A source that is
// still silent goes on: what it brings later comes after.
func (m *Model) playDemo() (cmd tea.Cmd) {
	if !m.canDemo() {
		return nil
	}
	own := m.settled()
	inbox, playback := m.opt.Demo(own)
	if own {
		m.opt.Inbox, m.ended, m.failure = inbox, false, nil
		cmd = listen(inbox, 0)
	}
	m.opt.Source, m.opt.Playback, m.opt.Demo = "demo", playback, nil
	m.setFollow(true)
	return cmd
}

func (m *Model) suspend() tea.Cmd {
	if m.opt.Suspend == nil {
		return nil
	}
	return func() tea.Msg {
		m.opt.Suspend()
		return nil
	}
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

// goOnward goes to the turn whose request first had the chosen call, or a call
// of the chosen turn, in its history.
func (m *Model) goOnward() {
	switch c := panes.LookAt(m.in.Session(), m.chosen); {
	case c.Call != nil && len(c.Call.SentBack) > 0:
		m.goToRequest(c.Call.SentBack[0].Exchange)
	case c.Call == nil && c.Turn != nil && c.Turn.Returned:
		m.goToRequest(c.Turn.Next)
	default:
		m.say(display.Lit("no request that is known sent it back"))
	}
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
