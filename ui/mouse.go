package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// mouse is the state of the mouse. The terminal reports the mouse only while it is enabled. Selecting text
// then needs shift.
type mouse struct {
	on   bool
	drag func(x, y int) // the current drag, or nil
}

// wheelRows is the number of rows per wheel step.
const wheelRows = 3

// useMouse toggles the mouse.
func (m *Model) useMouse() {
	m.mouse = mouse{on: !m.mouse.on}
	if !m.mouse.on {
		m.queueCmd(func() tea.Msg { return tea.DisableMouse() })
		m.showNotice(display.Lit("mouse off"))
		return
	}
	m.askMouse()
	m.showNotice(display.Lit("mouse on: shift selects text, M turns it off"))
}

// askMouse enables or disables mouse reports. It is also called after another program used the terminal.
func (m *Model) askMouse() {
	if m.mouse.drag = nil; m.mouse.on {
		m.queueCmd(func() tea.Msg { return tea.EnableMouseCellMotion() })
	}
}

// handleMouse handles a mouse event.
func (m *Model) handleMouse(e tea.MouseMsg) {
	left := e.Button == tea.MouseButtonLeft
	switch {
	case !m.mouse.on || m.w < minWidth || m.h < minHeight:
	case e.Action == tea.MouseActionRelease:
		m.mouse.drag = nil
	case e.Action == tea.MouseActionMotion && m.mouse.drag != nil:
		m.mouse.drag(e.X, e.Y)
	case e.Action != tea.MouseActionPress:
	case e.Button == tea.MouseButtonWheelUp:
		m.handleWheel(e.X, e.Y, -wheelRows)
	case e.Button == tea.MouseButtonWheelDown:
		m.handleWheel(e.X, e.Y, wheelRows)
	case left && e.Y == m.h-1:
		m.clickHint(e.X)
	case left && m.isTourShown():
		m.leaveTourWithNote()
	case left:
		m.notice = display.Text{}
		m.handleClick(e.X, e.Y)
	}
}

// modeAt returns the mode that is drawn at a place of the screen, and the row in it. For browsing, rows
// count from the start of the body.
func (m *Model) modeAt(x, y int) (mode modes.Mode, row int) {
	h := m.bodyHeight()
	if y--; y < 0 || y >= h {
		return nil, 0
	}
	for n := len(m.modeStack.all); n > 0; n-- {
		over, ok := m.openModeAt(n).Mode.(modes.OverlayMode)
		if !ok {
			return m.clickableMode(n), y
		}
		if from := h - min(over.WantedRows(h), h); y >= from && x < m.overlayWidth(m.paneColumns()[0].width) {
			return over, y - from
		}
	}
	return browse{m}, y
}

// clickableMode returns open mode n, or browsing if the mode leaves clicks to the panes.
func (m *Model) clickableMode(n int) modes.Mode {
	switch mode := m.openModeAt(n).Mode.(type) {
	case *searchBar, *quitDialog:
		return browse{m}
	default:
		return mode
	}
}

// handleWheel scrolls the view under the mouse, and stops following.
func (m *Model) handleWheel(x, y, rows int) {
	if m.isTourShown() {
		m.leaveTourWithNote()
	}
	mode, row := m.modeAt(x, y)
	if _, browsing := mode.(browse); browsing {
		if at, ok := m.slotAt(x, row); ok {
			m.scrollUnderMouse(at.pane, rows)
		}
	} else if of, ok := mode.(panes.Clickable); ok {
		of.Roll(rows)
	}
}

func (m *Model) scrollUnderMouse(pane panes.Pane, rows int) {
	if of, ok := pane.(panes.Clickable); ok {
		m.setFollow(false)
		of.Roll(rows)
		m.refreshPanes()
	}
}

// handleClick moves the cursor to the clicked place. A click at the cursor opens the selection.
func (m *Model) handleClick(x, y int) {
	if y >= m.h-1-m.stripRows() {
		m.holdBar(x, y-(m.h-1-m.stripRows()))
		return
	}
	mode, row := m.modeAt(x, y)
	if of, ok := mode.(browse); ok {
		of.m.clickPane(x, row)
		return
	}
	if of, ok := mode.(panes.Clickable); ok && mode == m.activeMode().Mode && of.Click(x, row) {
		m.pressKey("enter")
	}
}

// clickHint closes a notice, and runs the key whose hint is at cell x of the footer.
func (m *Model) clickHint(x int) {
	if in := activeInput(m.activeMode().Mode); in != nil && !in.Prompt.Empty() {
		m.clickTail(x)
		return
	}
	if !m.notice.Empty() {
		m.notice = display.Text{}
		return
	}
	if key := screen.HintAt(m.now, m.w, x); key != "" {
		m.pressKey(key)
	}
}

// clickTail runs the key whose hint is at cell x, in the part of the footer that follows an input.
func (m *Model) clickTail(x int) {
	at := m.w - typedTail(m.now).Width()
	for _, b := range m.now {
		if b.Hint.Empty() {
			continue
		}
		at += typedGap
		if x >= at && x < at+b.Hint.Width() {
			m.pressKey(b.Keys[0])
			return
		}
		at += b.Hint.Width()
	}
}

// mouseTarget is a place in a slot: a cell of its width, and a row.
type mouseTarget struct {
	paneSlot
	width, x, y int
}

// slotAt returns the slot drawn at a place of the body, and the place in it.
func (m *Model) slotAt(x, y int) (of mouseTarget, ok bool) {
	above, _ := m.marginRows()
	y -= above
	for _, c := range m.paneColumns() {
		if x < c.width {
			for _, s := range c.panes {
				if y < s.height {
					return mouseTarget{s, c.width, x, y}, x >= 0 && y >= 0
				}
				y -= s.height
			}
			return of, false
		}
		x -= c.width + 1
	}
	return of, false
}

// clickPane focuses the pane at a place and moves its cursor there. A click at the cursor opens the
// selection. A click on a tab's name opens or closes the tab. A click on a border starts a drag.
func (m *Model) clickPane(x, y int) {
	if len(m.modeStack.all) == 0 && m.isWaitingForClients() {
		if m.touchSetupRow(y) {
			m.pressKey("enter")
		}
		return
	}
	if len(m.modeStack.all) > 0 || m.turnCount() == 0 {
		return
	}
	m.mouse.drag = m.borderAt(x, y)
	at, ok := m.slotAt(x, y)
	switch {
	case !ok:
		return
	case at.tabs != nil && at.y == 0:
		if t := m.tabAt(at.paneSlot, at.width, at.x); t != nil {
			m.mouse.drag = nil
			m.turnToKey(*t)
		}
		return
	}
	was := at.pane == m.focus
	m.setFollow(false)
	if !was {
		m.focusOn(at.pane)
	}
	if of, ok := at.pane.(panes.Clickable); ok && of.Click(at.x, at.y) && was {
		m.pressKey("enter")
	}
	m.refreshPanes()
}

// holdBar goes to the moment at a place of the timeline, and follows the mouse while it is pressed. On the
// name of a call, it selects that call.
func (m *Model) holdBar(x, y int) {
	if m.isTourShown() { // the caption is there
		return
	}
	if call, ok := m.moment.strip.CallAt(x, y, m.w); ok {
		m.setFollow(false)
		m.selectRef(call)
		return
	}
	if _, ok := m.moment.strip.MomentAt(x, y, m.w); !ok {
		return
	}
	m.mouse.drag = func(x, _ int) {
		if n, ok := m.moment.strip.MomentAt(x, y, m.w); ok {
			m.stopPlaying()
			m.goToMoment(n)
		}
	}
	m.mouse.drag(x, y)
}
