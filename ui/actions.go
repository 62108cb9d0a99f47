package ui

import (
	"toolscope/providers/dialect"
	"toolscope/ui/panes"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// say shows a word in the last row until the next key.
func (m *Model) say(text display.Text) {
	m.notice = text
	m.note(screen.Plain, text)
}

// back closes the top thing: zoom, then the pane, then the program.
func (m *Model) back(last tea.Cmd) {
	switch {
	case m.search.query != "":
		m.clearSearch()
	case m.zoom:
		m.zoom = false
	case m.focus == m.doc && m.doc.HasOpenString() && m.backInPane():
	case m.from != nil && m.from.to == m.chosen:
		if m.focus == m.findings && m.from.chosen != m.chosen {
			m.say(display.Lit("back to where you were before !"))
		}
		m.chosen = m.from.chosen
		m.turnTo(m.from.pane)
	case m.backInPane():
	case m.focus != m.last[panes.Left] && m.turn() != nil:
		m.turnTo(m.last[panes.Left])
	case m.sieve.Active():
		m.sift("")
	case last != nil:
		m.leave(last)
		return
	default:
		return
	}
	m.refresh()
}

// backInPane has the focused pane close something, if it has it open.
func (m *Model) backInPane() bool {
	p, ok := m.focus.(panes.Closer)
	return ok && p.Back()
}

func (m *Model) focusOn(p panes.Pane) {
	m.turnTo(p)
	if c := m.call(); m.follow && c != nil && c.MayGrow() {
		m.stick(true)
	}
	m.refresh()
}

// focusNext moves on to another pane, or where only one is ever shown, to another call.
func (m *Model) focusNext(step int) {
	if m.large {
		m.nextCall(step)
		return
	}
	m.focusOn(m.next(step, m.columns()))
}

// setFollow says whether the selection goes where things happen.
func (m *Model) setFollow(on bool) {
	m.follow, m.post.awaited = on, 0
	if !on {
		m.stick(false)
		return
	}
	m.chosen = m.newest()
	m.refresh()
	m.stick(true)
	m.refresh()
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

// hideSide hides what clients ask beside their work, or shows it again.
func (m *Model) hideSide() {
	m.scene.Quiet = !m.scene.Quiet
	if m.refresh(); m.scene.Quiet {
		m.list.GoTo(m.list.At) // what was chosen may be hidden now
		m.refresh()
		m.say(display.Lit("side requests are hidden: H shows them"))
	}
}

// turnClock has the times be those of the clock, or count from the start; where the source has no
// clock nothing would be seen of that.
func (m *Model) turnClock() {
	if t := m.turn(); t != nil {
		if _, ok := m.view.WallClock(t.Exchange, t.OpenedAt); !ok {
			m.say(display.Lit("there is no time of day here: times count from the start"))
			return
		}
	}
	m.scene.Clock = !m.scene.Clock
	m.refresh()
}

func (m *Model) changeSpeed(faster bool) {
	p := m.opt.Playback
	if m.held() {
		m.setSpeed(faster)
		return
	}
	if p == nil {
		m.say(display.Lit("what comes live has no speed: space holds the screen"))
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

// playDemo starts the demo when there is nothing to look at. A source that is still silent goes on:
// what it brings later comes after.
func (m *Model) playDemo() {
	if m.stage != nil {
		m.curtain()
		return
	}
	if !m.canDemo() {
		return
	}
	own := m.settled()
	inbox := m.opt.Demo(own)
	if own {
		m.opt.Inbox, m.ended, m.failure = inbox, false, nil
		m.do(listen(inbox, 0))
	}
	m.opt.Source, m.opt.Demo = "demo tour", nil
	m.curtain()
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

// reread has an exchange read as a dialect, and starts to look at it again.
func (m *Model) reread(exchange int, as *dialect.Protocol) {
	if err := m.in.Reread(exchange, as); err != nil {
		m.say(m.draw.Clean(err.Error()))
		return
	}
	m.walk, m.stage = walk{pace: pace{speed: m.walk.speed}}, nil // what it counted by are other events now
	m.view = m.in.View()
	m.scene.View = m.view
	m.lay(m.newPanes())
	m.chosen, m.scene.Alarms, m.marks = stream.NoRef, panes.WorstSeverities{}, nil
	clear(m.results)
	m.bill, m.news = panes.Costs{Prices: m.opt.Prices}, panes.Changes{}
	m.remark()
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
