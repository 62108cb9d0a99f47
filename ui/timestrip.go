package ui

import (
	"toolscope/stream"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// stripRows returns the current height of the strip; 0 unless the screen is paused.
func (m *Model) stripRows() int {
	switch {
	case m.isTourShown():
		return m.captionRows()
	case !m.isPaused() || m.isSummaryOpen():
		return 0
	}
	t, _ := m.steppedTurn()
	if t == nil {
		return 1
	}
	return panes.StripRows(m.h, len(t.Calls))
}

// extendStrip updates the strip.
func (m *Model) extendStrip() {
	if !m.isPaused() || m.isTourShown() || m.isSummaryOpen() {
		return
	}
	w := &m.moment
	at := panes.StripSubject{
		Live: m.in.View(), Then: w.view, Turn: stream.NoTurn, Chosen: m.selected, Word: m.playWord().Text, Moves: w.playing, Ended: w.view.Ended(),
	}
	if t, _ := m.steppedTurn(); t != nil {
		at.Turn = t.Number
	}
	if n := m.in.Timeline.Len() - m.eventCount(); n > 0 {
		events := screen.Plural(n, "event").Between("+", "")
		at.Less, at.Ahead = events, events.Between("the end is ", " ahead")
		if m.isLive() {
			at.Ahead = events.Between("now is ", " ahead")
		}
		if len(m.in.Session().Turns) > 1 {
			at.Ahead = at.Ahead.Between("", ", all turns")
		}
	}
	w.strip.Extend(at, m.w, m.h, &m.pen)
}
