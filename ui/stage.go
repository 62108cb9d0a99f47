package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
)

// tourPlayer is the tour of the demo: it plays up to a scene, opens its evidence, shows its caption, and
// continues after a while, unless the user takes over. Invariants:
//
//   - It plays records that have been read, as playback from any paused moment does. So going back to a
//     scene needs no waiting.
//   - A scene has a moment: the first at which it can be shown. Its caption is made from its call at that
//     moment, and disappears when the user goes elsewhere.
//   - The caption has its own rows, below those of the panes.
type tourPlayer struct {
	looked  *providers.View // the view that was searched for scenes
	moments []int           // moments of the scenes found, in order
	about   []stream.Ref    // the call of each
	at      int             // the scene shown last, or -1
	shown   bool            // the scene is shown now
	waits   bool            // the tour waits for the user
	off     bool            // the user has left the scene
	seats   int             // number of modes open for the scene
	timer   int             // number of the valid timer
}

// How long a scene is shown, and how long the tour waits for records.
const (
	sceneTime = 4 * time.Second
	readTime  = 50 * time.Millisecond
)

// startTour begins the demo from its start.
func (m *Model) startTour() {
	if m.tour == nil {
		m.tour = new(tourPlayer)
	}
	m.resetPanes()
	m.tour.at, m.tour.shown, m.tour.off, m.tour.waits = -1, false, false, false
	m.setFollow(true)
	m.goToMoment(0)
	m.stopPlaying()
	m.countDown(sceneTime)
}

// isTourShown reports whether the demo is being shown.
func (m *Model) isTourShown() bool { return m.tour != nil && !m.tour.off && m.isPaused() }

// hasTourKeys reports whether the keys are those of the tour. Another mode, e.g. the help, may be on top.
func (m *Model) hasTourKeys() bool { return m.isTourShown() && len(m.modeStack.all) <= m.tour.seats }

// isTourOpening reports whether the demo has not played anything yet.
func (m *Model) isTourOpening() bool {
	return m.isTourShown() && m.tour.at < 0 && m.eventCount() == 0 && !m.moment.playing
}

// findScenes searches the new events for scenes.
func (m *Model) findScenes() {
	s, live := m.tour, m.in.View()
	if s == nil {
		return
	}
	if s.looked == nil {
		s.looked = live.At(0)
	}
	for n := s.looked.ArrivedEvents(); len(s.moments) < len(tourScenes); {
		c := &tourScenes[len(s.moments)]
		if a, ok := c.of.subjectIn(s.looked); ok && c.seen(a) {
			s.moments, s.about = append(s.moments, n), append(s.about, a.call.Ref())
			continue
		}
		if n >= live.Events() {
			return
		}
		n = live.AfterEvent(n)
		s.looked.MoveTo(n)
	}
}

// resetPanes closes all modes and resets the panes.
func (m *Model) resetPanes() {
	m.closeAll()
	m.clearSearch()
	m.zoom = false
	m.turnTo(m.list)
	if m.large {
		m.turnTo(m.doc)
	}
	m.tabs = TabsByWidth
	m.tour.seats = 0
}

// showScene goes to a scene, and opens its evidence.
func (m *Model) showScene(n int) {
	s := m.tour
	if n = min(n, len(s.moments)-1); n < 0 {
		m.startTour()
		return
	}
	m.resetPanes()
	m.follow = true // the state as if the tour had played up to the scene
	m.goToMoment(s.moments[n])
	m.stopPlaying()
	s.at, s.shown, s.off = n, true, false
	m.setFollow(false)
	m.selected = s.about[n]
	m.moment.wanted, m.moment.shown = m.selected, m.selected
	m.refreshPanes() // the document shows the call before it moves to its end
	m.doc.Follow(true)
	tourScenes[n].evidence(m)
	s.seats = len(m.modeStack.all)
	s.off = m.isSummaryOpen() // there is no next scene
	m.refreshPanes()
	m.countDown(sceneTime)
}

// countDown continues the tour after a delay that depends on the speed, unless the tour waits for the
// user.
func (m *Model) countDown(wait time.Duration) {
	s := m.tour
	s.timer++
	timer := s.timer
	s.waits = s.waits || m.opt.Calm && wait == sceneTime
	if s.waits || s.off {
		return
	}
	m.queueCmd(tea.Tick(time.Duration(float64(wait)/m.moment.speed), func(time.Time) tea.Msg {
		return workDone{then: func() {
			if m.tour == s && s.timer == timer {
				m.playToNextScene()
			}
		}}
	}))
}

// playToNextScene plays from the current moment to the next scene.
func (m *Model) playToNextScene() {
	s, n := m.tour, m.eventCount()
	if !s.shown || n != s.moments[s.at] { // the user returns to a scene that they left
		for s.at = -1; s.at+1 < len(s.moments) && s.moments[s.at+1] <= n && n > 0; s.at++ {
		}
	}
	s.off, s.waits = false, false
	if s.at+1 >= len(s.moments) {
		if s.at+1 < len(tourScenes) { // it is still being read
			m.countDown(readTime)
		}
		return
	}
	s.timer++
	s.shown = false
	m.resetPanes()
	m.setFollow(true)
	m.moment.playing = true
	m.setClock()
	m.scheduleAdvance(0)
}

// playsTo returns the number of events at the end of playback from the moment.
func (m *Model) playsTo() int {
	if s := m.tour; m.isTourShown() && s.at+1 < len(s.moments) {
		return max(m.eventCount(), s.moments[s.at+1])
	}
	return m.in.Timeline.Len()
}

// leaveTour ends the tour at its current place.
func (m *Model) leaveTour() {
	m.tour.off, m.tour.waits = true, true
	m.tour.timer++
	m.stopPlaying()
	m.refreshPanes()
}

// leaveTourWithNote ends the tour and shows how to continue it.
func (m *Model) leaveTourWithNote() {
	m.leaveTour()
	m.showNotice(display.Lit("your turn: space continues, } next scene, d restart"))
}

// toggleTour pauses or continues the tour.
func (m *Model) toggleTour() {
	s := m.tour
	if s.waits {
		m.playToNextScene()
		return
	}
	m.pauseTour()
}

// pauseTour pauses the tour.
func (m *Model) pauseTour() {
	m.tour.waits = true
	m.tour.timer++
	m.stopPlaying()
}

// nextScene goes to the scene that is by places further. While the tour plays towards a scene, the scene
// that it left counts as the previous one.
func (m *Model) nextScene(by int) {
	s := m.tour
	if by < 0 && !s.shown {
		by++
	}
	s.waits = s.waits || s.off
	m.showScene(s.at + by)
}

// isSummaryOpen reports whether the summary is open.
func (m *Model) isSummaryOpen() bool {
	_, is := m.activeMode().Mode.(*summary)
	return is && m.tour != nil
}
