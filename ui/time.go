package ui

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
)

// Time. What has arrived only grows, and the inspector has all of it. What the screen shows is one
// moment of that: now, which goes along with what arrives, or while the screen is held the moment
// after an event. A source that plays and one that is live are the same here. Invariants:
//
//   - Every pane and mode draws m.view, and nothing else says what there was: see providers.View.At.
//   - While the screen is held what arrives is read all the same, and none of it is shown but how much.
//   - A source that plays by a clock stands still while the screen is held: what it would bring is not
//     lost by waiting. On from a moment plays the timeline, which has all that came, and never the
//     clock of the source: that goes on once the screen has caught up with what has arrived.

// pausedMoment is the moment that the screen is held at.
type pausedMoment struct {
	view   *providers.View // of the moment; nil while the screen shows now
	strip  panes.TimeStrip
	shown  stream.Ref // what was chosen when the screen went to the moment
	wanted stream.Ref // what the user chose: it may not be there yet
	playState
}

// isPaused reports whether the screen shows a moment, and not what there is now.
func (m *Model) isPaused() bool { return m.moment.view != nil }

// pauseScreen has the screen stay at what there is now.
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

// canPause says so where there is no time to walk in.
func (m *Model) canPause() bool {
	if m.in.Timeline.Len() == 0 && !m.isLive() {
		m.showNotice(display.Lit("nothing arrived yet"))
		return false
	}
	return true
}

// goNow has the screen show what there is, and go on with it.
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

// setView has all that is shown be of a view.
func (m *Model) setView(v *providers.View) {
	m.view, m.context.View = v, v
	m.refreshPanes()
}

// selectedRef is what the user chose last.
func (m *Model) selectedRef() stream.Ref {
	if m.selected != m.moment.shown {
		m.moment.wanted, m.moment.shown = m.selected, m.selected
	}
	return m.moment.wanted
}

// goToMoment has the screen show the moment at which there were n events.
func (m *Model) goToMoment(n int) {
	if m.pauseScreen(); !m.isPaused() {
		return
	}
	m.selectedRef()
	m.moment.view.MoveTo(n)
	m.restoreSelection()
}

// restoreSelection chooses at a moment what the user chose, if it is there already: else its turn, or the
// newest there is. Who follows is led to the newest.
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
	if m.follow { // to the end of what had come
		m.followEnd(true)
		m.refreshPanes()
	}
}

// eventCount is how many events there were.
func (m *Model) eventCount() int {
	if m.isPaused() {
		return m.moment.view.ArrivedEvents()
	}
	return m.in.Timeline.Len()
}

// steppedTurn is the turn that is walked in, with all that has come of it, and the number of the call that
// the user keeps to, 0 for none.
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

// endHere shows what it would be if the source had ended at the moment, or no longer.
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
