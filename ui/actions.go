package ui

import (
	"toolscope/providers/protocol"
	"toolscope/ui/panes"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// showNotice shows a notice in the last row until the next key.
func (m *Model) showNotice(text display.Text) {
	m.notice = text
	m.addJournalLine(screen.Plain, text)
}

// stepBack closes the zoom, else the pane, else the program.
func (m *Model) stepBack(last tea.Cmd) {
	switch {
	case m.search.query != "":
		m.clearSearch()
	case m.zoom:
		m.zoom = false
	case m.focus == m.doc && m.doc.HasOpenString() && m.backInPane():
	case m.from != nil && m.from.to == m.selected:
		if m.focus == m.findings && m.from.chosen != m.selected {
			m.showNotice(display.Lit("back to where you were before !"))
		}
		m.selected = m.from.chosen
		m.turnTo(m.from.pane)
	case m.backInPane():
	case m.focus != m.last[panes.Left] && m.selectedTurn() != nil:
		m.turnTo(m.last[panes.Left])
	case m.turnFilter.Active():
		m.applyFilter("")
	case last != nil:
		m.quitOrAsk(last)
		return
	default:
		return
	}
	m.refreshPanes()
}

// backInPane closes something that is open in the focused pane, and reports whether there was anything.
func (m *Model) backInPane() bool {
	p, ok := m.focus.(panes.Closer)
	return ok && p.Back()
}

func (m *Model) focusOn(p panes.Pane) {
	m.turnTo(p)
	if c := m.selectedCall(); m.follow && c != nil && c.MayGrow() {
		m.followEnd(true)
	}
	m.refreshPanes()
}

// focusNext focuses another pane. If the screen shows only one pane, it selects another call.
func (m *Model) focusNext(step int) {
	if m.large {
		m.goToNextCall(step)
		return
	}
	m.focusOn(m.nextPane(step, m.paneColumns()))
}

// setFollow sets whether the selection follows new traffic.
func (m *Model) setFollow(on bool) {
	m.follow, m.outbox.awaited = on, 0
	if !on {
		m.followEnd(false)
		return
	}
	m.selected = m.newestShown()
	m.refreshPanes()
	m.followEnd(true)
	m.refreshPanes()
}

// markTurn marks the selected turn for a comparison, or removes the mark.
func (m *Model) markTurn() {
	t := m.selectedTurn()
	if t == nil {
		m.showNotice(display.Lit("no turn to mark"))
		return
	}
	m.showNotice(m.marks.Toggle(t.Ref()))
	m.refreshPanes()
}

// toggleBackground hides or shows background requests.
func (m *Model) toggleBackground() {
	m.context.Quiet = !m.context.Quiet
	if m.refreshPanes(); m.context.Quiet {
		m.list.GoTo(m.list.At) // the selection may be hidden now
		m.refreshPanes()
		m.showNotice(display.Lit("hidden: H shows background requests"))
	}
}

// toggleClock toggles between clock and elapsed time. If the source has no clock times, it only shows a
// notice.
func (m *Model) toggleClock() {
	if t := m.selectedTurn(); t != nil {
		if _, ok := m.view.WallClock(t.Exchange, t.OpenedAt); !ok {
			m.showNotice(display.Lit("no clock times here: times count from the start"))
			return
		}
	}
	m.context.Clock = !m.context.Clock
	m.refreshPanes()
}

func (m *Model) changeSpeed(faster bool) {
	p := m.opt.Playback
	if m.isPaused() {
		m.setSpeed(faster)
		return
	}
	if p == nil {
		m.showNotice(display.Lit("live traffic has no speed: space pauses"))
		return
	}
	factor := 0.5
	if faster {
		factor = 2
	}
	p.SetSpeed(p.Speed() * factor)
}

// canDemo reports whether there is a demo and nothing else to show.
func (m *Model) canDemo() bool { return m.opt.Demo != nil && len(m.in.Session().Turns) == 0 }

// playDemo starts the demo if there is nothing else to show. A source without traffic stays open, and its
// later traffic follows the demo.
func (m *Model) playDemo() {
	if m.tour != nil {
		m.startTour()
		return
	}
	if !m.canDemo() {
		return
	}
	own := m.hasSourceEnded()
	inbox := m.opt.Demo(own)
	if own {
		m.opt.Inbox, m.ended, m.failure = inbox, false, nil
		m.queueCmd(waitForInbox(inbox, 0))
	}
	m.opt.Source, m.opt.Demo = "demo tour", nil
	m.startTour()
}

func (m *Model) suspendProgram() {
	if m.opt.Suspend == nil {
		return
	}
	m.queueCmd(func() tea.Msg {
		m.opt.Suspend()
		return nil
	})
}

// rereadExchange reads an exchange again as another protocol, and shows the result.
func (m *Model) rereadExchange(exchange int, as *protocol.Protocol) {
	if err := m.in.Reread(exchange, as); err != nil {
		m.showNotice(m.draw.Clean(err.Error()))
		return
	}
	m.moment, m.tour = pausedMoment{playState: playState{speed: m.moment.speed}}, nil // the event numbers changed
	m.view = m.in.View()
	m.context.View = m.view
	m.setPanes(m.newPanes())
	m.selected, m.context.Alarms, m.marks = stream.NoRef, panes.WorstSeverities{}, nil
	clear(m.results)
	m.bill, m.news = panes.Costs{Prices: m.opt.Prices}, panes.Changes{}
	m.updateBookmarks()
	m.clearSearch()
	for _, t := range m.in.Session().Turns {
		if t.Exchange == exchange {
			m.selected = t.Ref()
			break
		}
	}
	m.setFollow(false)
	m.refreshPanes()
}
