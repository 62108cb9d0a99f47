package ui

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
)

// Time. The timeline only grows, and the inspector has all of it. The screen shows one moment of it: now,
// which follows new records, or while the screen is paused the moment after an event. Played and live
// sources are the same here. Invariants:
//
//   - Every pane and mode draws only m.view: see providers.View.At.
//   - While the screen is paused, new records are read, but only their amount is shown.
//   - A source that plays by a clock stops while the screen is paused: its records are not lost.
//     Playback from a moment plays the timeline, never the clock of the source, which continues once the
//     screen has caught up.

// pausedMoment is the moment at which the screen is paused.
type pausedMoment struct {
	view   *providers.View // of the moment; nil while the screen shows now
	strip  panes.TimeStrip
	shown  stream.Ref // the selection when the screen went to the moment
	wanted stream.Ref // the user's selection: it may not exist yet at the moment
	playState
}

// isPaused reports whether the screen shows a moment instead of now.
func (m *Model) isPaused() bool { return m.moment.view != nil }

// pauseScreen pauses the screen at the current moment.
func (m *Model) pauseScreen() {
	if m.isPaused() || !m.canPause() {
		return
	}
	if p := m.opt.Playback; p != nil {
		p.Pause(true)
		m.moment.speed = p.Speed()
	}
	m.moment.view = m.in.View().At(m.in.Timeline.Len())
	m.moment.shown, m.moment.wanted = m.selected, m.selected
	m.setView(m.moment.view)
}

// canPause reports whether there are, or may be, events to pause at; if not, it shows a notice.
func (m *Model) canPause() bool {
	if m.in.Timeline.Len() == 0 && !m.isLive() {
		m.showNotice(display.Lit("nothing arrived yet"))
		return false
	}
	return true
}

// goNow shows the current view again, and follows it.
func (m *Model) goNow() {
	if !m.isPaused() {
		return
	}
	wanted := m.selectedRef()
	m.moment.view, m.moment.playing = nil, false
	m.moment.strip = panes.TimeStrip{}
	if p := m.opt.Playback; p != nil {
		p.Pause(false)
	}
	m.setView(m.in.View())
	if m.selected = wanted; m.follow || m.selectedTurn() == nil {
		m.selected = m.newestShown()
	}
	m.refreshPanes()
	m.followSentTurn()
}

// setView changes the view of all panes and modes.
func (m *Model) setView(v *providers.View) {
	m.view, m.context.View = v, v
	m.refreshPanes()
}

// selectedRef returns the user's last selection.
func (m *Model) selectedRef() stream.Ref {
	if m.selected != m.moment.shown {
		m.moment.wanted, m.moment.shown = m.selected, m.selected
	}
	return m.moment.wanted
}

// goToMoment shows the moment after n events.
func (m *Model) goToMoment(n int) {
	if m.pauseScreen(); !m.isPaused() {
		return
	}
	m.selectedRef()
	m.moment.view.MoveTo(n)
	m.restoreSelection()
}

// restoreSelection selects, at a moment, the user's selection. If that does not exist there, it selects
// its turn or else the newest turn. If the panes follow, it selects the newest.
func (m *Model) restoreSelection() {
	w := &m.moment
	m.selected = m.newestShown()
	for _, r := range []stream.Ref{{Turn: w.wanted.Turn}, w.wanted} {
		if t, c := m.view.Find(r); t != nil && (c != nil || r.Call == 0) && !m.follow {
			m.selected = r
		}
	}
	w.shown = m.selected
	m.refreshPanes()
	if m.follow { // to the end at that moment
		m.followEnd(true)
		m.refreshPanes()
	}
}

// eventCount returns the number of events.
func (m *Model) eventCount() int {
	if m.isPaused() {
		return m.moment.view.ArrivedEvents()
	}
	return m.in.Timeline.Len()
}

// steppedTurn returns the turn in which steps move, in its current state, and the number of the call that
// the user selected, 0 for none.
func (m *Model) steppedTurn() (t *stream.Turn, call int32) {
	of := m.selected
	if m.isPaused() && !m.follow {
		of = m.selectedRef()
	}
	live := m.in.Session()
	if t = live.Turn(of.Turn); t == nil {
		return nil, 0
	}
	if call = of.Call; m.follow {
		call = 0
	}
	return t, call
}

// endHere toggles the view as if the source had ended at the moment.
func (m *Model) endHere() {
	if m.pauseScreen(); !m.isPaused() {
		return
	}
	m.stopPlaying()
	m.selectedRef()
	if n := m.eventCount(); m.moment.view.Ended() {
		m.moment.view.MoveTo(n)
	} else {
		m.moment.view.EndHere()
	}
	m.restoreSelection()
}
