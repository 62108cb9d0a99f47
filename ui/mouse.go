package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// mouse is the state of the mouse. The terminal reports mouse events only while the mouse is enabled. Then
// the user must hold shift to select text.
type mouse struct {
	m    *Model
	on   bool
	drag func(x, y int) // the current drag, or nil
}

// wheelRows is the number of rows per wheel step.
const wheelRows = 3

// useMouse toggles the mouse.
func (mo *mouse) useMouse() {
	*mo = mouse{m: mo.m, on: !mo.on}
	if !mo.on {
		mo.m.modeStack.queueCmd(func() tea.Msg { return tea.DisableMouse() })
		mo.m.showNotice(display.Lit("mouse off"))
		return
	}
	mo.askMouse()
	mo.m.showNotice(display.Lit("mouse on: shift selects text, M turns it off"))
}

// askMouse ends a drag and, if the mouse is on, enables mouse reports. It is also called after another program has
// used the terminal.
func (mo *mouse) askMouse() {
	if mo.drag = nil; mo.on {
		mo.m.modeStack.queueCmd(func() tea.Msg { return tea.EnableMouseCellMotion() })
	}
}

// handleMouse applies a mouse event: a click, a drag or a wheel step. It ignores events while the mouse is off.
func (mo *mouse) handleMouse(e tea.MouseMsg) {
	left := e.Button == tea.MouseButtonLeft
	switch {
	case !mo.on || mo.m.w < minWidth || mo.m.h < minHeight:
	case e.Action == tea.MouseActionRelease:
		mo.drag = nil
	case e.Action == tea.MouseActionMotion && mo.drag != nil:
		mo.drag(e.X, e.Y)
	case e.Action != tea.MouseActionPress:
	case e.Button == tea.MouseButtonWheelUp:
		mo.handleWheel(e.X, e.Y, -wheelRows)
	case e.Button == tea.MouseButtonWheelDown:
		mo.handleWheel(e.X, e.Y, wheelRows)
	case left && e.Y == mo.m.h-1:
		mo.clickHint(e.X)
	case left && mo.m.tour.isTourShown():
		mo.m.tour.leaveTourWithNote()
	case left:
		mo.m.notice = display.Text{}
		mo.handleClick(e.X, e.Y)
	}
}

// modeAt returns the mode that is drawn at a place on the screen, and the row in that mode. Outside the body,
// the mode is nil. For browsing, rows are counted from the start of the body.
func (mo *mouse) modeAt(x, y int) (mode modes.Mode, row int) {
	h := mo.m.bodyHeight()
	if y -= 1 + mo.m.frame.mapRows(); y < 0 || y >= h {
		return nil, 0
	}
	for n := len(mo.m.modeStack.all); n > 0; n-- {
		top := mo.m.modeStack.openModeAt(n).Mode
		over, ok := top.(modes.OverlayMode)
		if !ok {
			switch top.(type) {
			case *searchBar, *quitDialog: // these leave clicks to the panes
				return browse{mo.m}, y
			}
			return top, y
		}
		wide, isWide := over.(modes.WideOverlay)
		isWide = isWide && wide.IsWide()
		if from := h - min(over.WantedRows(h), h); y >= from && (isWide || x < mo.m.modeStack.overlayWidth(mo.m.frame.paneColumns()[0].width)) {
			return over, y - from
		}
	}
	return browse{mo.m}, y
}

// handleWheel scrolls the view under the mouse. If that is a pane, the panes no longer follow new traffic.
func (mo *mouse) handleWheel(x, y, rows int) {
	if mo.m.tour.isTourShown() {
		mo.m.tour.leaveTourWithNote()
	}
	mode, row := mo.modeAt(x, y)
	if _, browsing := mode.(browse); browsing {
		if at, ok := mo.slotAt(x, row); ok && at.pane != nil {
			mo.m.setFollow(false)
			at.pane.Roll(rows)
			mo.m.refreshPanes()
		}
	} else if of, ok := mode.(modes.Clickable); ok {
		of.Roll(rows)
	}
}

// handleClick moves the cursor to the clicked place. A click at the cursor opens the selection.
func (mo *mouse) handleClick(x, y int) {
	if y >= mo.m.h-1-mo.m.moment.stripRows() {
		mo.holdBar(x, y-(mo.m.h-1-mo.m.moment.stripRows()))
		return
	}
	if y == 1 && mo.m.frame.mapRows() > 0 {
		mo.m.frame.goToMapCell(x)
		return
	}
	mode, row := mo.modeAt(x, y)
	if of, ok := mode.(browse); ok {
		of.m.mouse.clickPane(x, row)
		return
	}
	if of, ok := mode.(modes.Clickable); ok && mode == mo.m.modeStack.activeMode().Mode && of.Click(x, row) {
		mo.m.pressKey("enter")
	}
}

// clickHint closes the notice in the footer or, if there is none, runs the key whose hint is at cell x.
func (mo *mouse) clickHint(x int) {
	if in := activeInput(mo.m.modeStack.activeMode().Mode); in != nil && !in.Prompt.Empty() {
		at := mo.m.w - mo.m.modeStack.typedTail().Width()
		for _, b := range mo.m.modeStack.currentKeys() {
			if !b.HasHint() {
				continue
			}
			at += typedGap
			width := b.HintText(mo.m.draw).Width()
			if x >= at && x < at+width {
				mo.m.pressKey(b.Keys[0])
				return
			}
			at += width
		}
		return
	}
	if !mo.m.notice.Empty() {
		mo.m.notice = display.Text{}
		return
	}
	if key := screen.HintAt(mo.m.modeStack.currentKeys(), mo.m.draw, mo.m.w, x); key != "" {
		mo.m.pressKey(key)
	}
}

// mouseTarget is a place in a slot: a cell and a row.
type mouseTarget struct {
	paneSlot
	width, x, y int
}

// slotAt returns the slot that is drawn at a place in the body, and the position within that slot. The result ok is
// false if no slot is drawn there.
func (mo *mouse) slotAt(x, y int) (of mouseTarget, ok bool) {
	above, _ := mo.m.frame.marginRows()
	y -= above
	if mo.m.isBoxed(mo.m.w, mo.m.bodyHeight()) {
		x--
	}
	for _, c := range mo.m.frame.paneColumns() {
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
func (mo *mouse) clickPane(x, y int) {
	if len(mo.m.modeStack.all) == 0 && mo.m.setup.isWaitingForClients() {
		if mo.m.setup.touchSetupRow(y) {
			mo.m.pressKey("enter")
		}
		return
	}
	if len(mo.m.modeStack.all) > 0 || mo.m.pinned.turnCount() == 0 {
		return
	}
	mo.drag = mo.m.borderAt(x, y)
	at, ok := mo.slotAt(x, y)
	switch {
	case !ok:
		return
	case at.tabs != nil && at.y == 0:
		if t := mo.m.tabAt(at.paneSlot, at.width, at.x); t != nil {
			mo.drag = nil
			mo.m.turnToKey(*t)
		}
		return
	case at.pane == nil:
		return
	}
	if by, ok := mo.m.list.SortKeyAt(at.x, at.y, at.width); ok && at.pane == mo.m.list {
		mo.m.setOrder(by)
		return
	}
	was := at.pane == mo.m.focus
	mo.m.setFollow(false)
	if !was {
		mo.m.focusOn(at.pane)
	}
	if at.pane.Click(at.x, at.y) && was {
		mo.m.pressKey("enter")
	}
	mo.m.refreshPanes()
}

// holdBar goes to the moment at a place on the timeline, and follows the mouse while its button is pressed.
// On the name of a call, it selects that call.
func (mo *mouse) holdBar(x, y int) {
	if mo.m.tour.isTourShown() { // this row has the caption instead
		return
	}
	if call, ok := mo.m.moment.strip.CallAt(x, y, mo.m.w); ok {
		mo.m.setFollow(false)
		mo.m.selectRef(call)
		return
	}
	if _, ok := mo.m.moment.strip.MomentAt(x, y, mo.m.w); !ok {
		return
	}
	mo.drag = func(x, _ int) {
		if n, ok := mo.m.moment.strip.MomentAt(x, y, mo.m.w); ok {
			mo.m.moment.stopPlaying()
			mo.m.moment.goToMoment(n)
		}
	}
	mo.drag(x, y)
}
