package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
)

// tourPlayer is the demo as it is shown to a room: it plays up to a claim, opens what proves it, says it,
// and goes on after a while, unless somebody takes over. Invariants:
//
//   - What is played is what has been read, as from any moment that is held. So the way back to a claim
//     is the way there, and nobody waits twice.
//   - A claim has a moment: the first at which it can be seen. Its caption is made of the call that it
//     is about, as that is then, and is gone once the user goes elsewhere.
//   - The caption has rows of its own, below those of the panes.
type tourPlayer struct {
	looked  *providers.View // as far as claims were looked for
	moments []int           // of those that were found, in their order
	about   []stream.Ref    // which call each of them is about
	at      int             // the claim that was shown last, -1 for none
	shown   bool            // it is shown now
	waits   bool            // for the user, however long
	off     bool            // the user is elsewhere
	seats   int             // modes that are open for the claim
	timer   int             // number of the one that counts
}

// How long a claim is shown, and how long the stage waits for what is being read.
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

// hasTourKeys reports whether its keys are those of the demo. The help, for one, may be on top of it.
func (m *Model) hasTourKeys() bool { return m.isTourShown() && len(m.modeStack.all) <= m.tour.seats }

// isTourOpening reports whether nothing has been played yet.
func (m *Model) isTourOpening() bool {
	return m.isTourShown() && m.tour.at < 0 && m.eventCount() == 0 && !m.moment.playing
}

// findScenes looks for claims in what has come since.
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

// resetPanes has only the panes be there, as they are at the start.
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

// showScene goes to a claim, and opens what proves it.
func (m *Model) showScene(n int) {
	s := m.tour
	if n = min(n, len(s.moments)-1); n < 0 {
		m.startTour()
		return
	}
	m.resetPanes()
	m.follow = true // up to there, as if it had played
	m.goToMoment(s.moments[n])
	m.stopPlaying()
	s.at, s.shown, s.off = n, true, false
	m.setFollow(false)
	m.selected = s.about[n]
	m.moment.wanted, m.moment.shown = m.selected, m.selected
	m.refreshPanes() // the document is of that call, before it is led to its end
	m.doc.Follow(true)
	tourScenes[n].evidence(m)
	s.seats = len(m.modeStack.all)
	s.off = m.isSummaryOpen() // there is nothing to go on to
	m.refreshPanes()
	m.countDown(sceneTime)
}

// countDown has the stage go on after a while, at the speed at which it plays, unless it waits for the
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

// playToNextScene plays from where one is to the next claim.
func (m *Model) playToNextScene() {
	s, n := m.tour, m.eventCount()
	if !s.shown || n != s.moments[s.at] { // the user walked away, and comes back
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

// playsTo is how many events there are when playing on from a moment comes to its end.
func (m *Model) playsTo() int {
	if s := m.tour; m.isTourShown() && s.at+1 < len(s.moments) {
		return max(m.eventCount(), s.moments[s.at+1])
	}
	return m.in.Timeline.Len()
}

// leaveTour leaves the stage: the user is at the place where it was.
func (m *Model) leaveTour() {
	m.tour.off, m.tour.waits = true, true
	m.tour.timer++
	m.stopPlaying()
	m.refreshPanes()
}

// leaveTourWithNote does so and says how to go on.
func (m *Model) leaveTourWithNote() {
	m.leaveTour()
	m.showNotice(display.Lit("your turn: space continues, } next scene, d restart"))
}

// toggleTour holds what is shown, or goes on.
func (m *Model) toggleTour() {
	s := m.tour
	if s.waits {
		m.playToNextScene()
		return
	}
	m.pauseTour()
}

// pauseTour has it stay where it is.
func (m *Model) pauseTour() {
	m.tour.waits = true
	m.tour.timer++
	m.stopPlaying()
}

// nextScene goes to the claim so many further. One that the stage was on the way from is the one
// before.
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
