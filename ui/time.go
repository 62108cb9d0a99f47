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

// walk is the moment that the screen is held at.
type walk struct {
	view   *providers.View // of the moment; nil while the screen shows now
	strip  panes.TimeStrip
	shown  stream.Ref // what was chosen when the screen went to the moment
	wanted stream.Ref // what the user chose: it may not be there yet
	pace
}

// held reports whether the screen shows a moment, and not what there is now.
func (m *Model) held() bool { return m.walk.view != nil }

// hold has the screen stay at what there is now.
func (m *Model) hold() {
	if m.held() || !m.canWalk() {
		return
	}
	if p := m.opt.Playback; p != nil {
		p.Pause(true)
		m.walk.speed = p.Speed()
	}
	m.walk.view = m.in.View().At(m.in.Timeline.Len())
	m.walk.shown, m.walk.wanted = m.chosen, m.chosen
	m.lookAt(m.walk.view)
}

// canWalk says so where there is no time to walk in.
func (m *Model) canWalk() bool {
	if m.in.Timeline.Len() == 0 && !m.moving() {
		m.say(display.Lit("nothing has come yet"))
		return false
	}
	return true
}

// goNow has the screen show what there is, and go on with it.
func (m *Model) goNow() {
	if !m.held() {
		return
	}
	wanted := m.wanted()
	m.walk.view, m.walk.playing = nil, false
	m.walk.strip = panes.TimeStrip{}
	if p := m.opt.Playback; p != nil {
		p.Pause(false)
	}
	m.lookAt(m.in.View())
	if m.chosen = wanted; m.follow || m.turn() == nil {
		m.chosen = m.newest()
	}
	m.refresh()
	m.landed()
}

// lookAt has all that is shown be of a view.
func (m *Model) lookAt(v *providers.View) {
	m.view, m.scene.View = v, v
	m.refresh()
}

// wanted is what the user chose last.
func (m *Model) wanted() stream.Ref {
	if m.chosen != m.walk.shown {
		m.walk.wanted, m.walk.shown = m.chosen, m.chosen
	}
	return m.walk.wanted
}

// walkTo has the screen show the moment at which there were n events.
func (m *Model) walkTo(n int) {
	if m.hold(); !m.held() {
		return
	}
	m.wanted()
	m.walk.view.MoveTo(n)
	m.arriveAt()
}

// arriveAt chooses at a moment what the user chose, if it is there already: else its turn, or the
// newest there is. Who follows is led to the newest.
func (m *Model) arriveAt() {
	w := &m.walk
	m.chosen = m.newest()
	for _, r := range []stream.Ref{{Turn: w.wanted.Turn}, w.wanted} {
		if t, c := m.view.Find(r); t != nil && (c != nil || r.Call == 0) && !m.follow {
			m.chosen = r
		}
	}
	w.shown = m.chosen
	m.refresh()
	if m.follow { // to the end of what had come
		m.stick(true)
		m.refresh()
	}
}

// moment is how many events there were.
func (m *Model) moment() int {
	if m.held() {
		return m.walk.view.ArrivedEvents()
	}
	return m.in.Timeline.Len()
}

// walked is the turn that is walked in, with all that has come of it, and the number of the call that
// the user keeps to, 0 for none.
func (m *Model) walked() (t *stream.Turn, call int32) {
	of := m.chosen
	if m.held() && !m.follow {
		of = m.wanted()
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
	if m.hold(); !m.held() {
		return
	}
	m.halt()
	m.wanted()
	if n := m.moment(); m.walk.view.Ended() {
		m.walk.view.MoveTo(n)
	} else {
		m.walk.view.EndHere()
	}
	m.arriveAt()
}
