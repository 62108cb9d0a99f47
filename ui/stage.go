package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
)

// stage is the demo as it is shown to a room: it plays up to a claim, opens what proves it, says it,
// and goes on after a while, unless somebody takes over. Invariants:
//
//   - What is played is what has been read, as from any moment that is held. So the way back to a claim
//     is the way there, and nobody waits twice.
//   - A claim has a moment: the first at which it can be seen. Its caption is made of the call that it
//     is about, as that is then, and is gone once the user goes elsewhere.
//   - The caption has rows of its own, below those of the panes.
type stage struct {
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
	claimTime = 4 * time.Second
	readTime  = 50 * time.Millisecond
)

// curtain begins the demo from its start.
func (m *Model) curtain() {
	if m.stage == nil {
		m.stage = new(stage)
	}
	m.clearDesk()
	m.stage.at, m.stage.shown, m.stage.off, m.stage.waits = -1, false, false, false
	m.setFollow(true)
	m.walkTo(0)
	m.halt()
	m.countDown(claimTime)
}

// onStage reports whether the demo is being shown.
func (m *Model) onStage() bool { return m.stage != nil && !m.stage.off && m.held() }

// atStage reports whether its keys are those of the demo. The help, for one, may be on top of it.
func (m *Model) atStage() bool { return m.onStage() && len(m.seats.all) <= m.stage.seats }

// opening reports whether nothing has been played yet.
func (m *Model) opening() bool {
	return m.onStage() && m.stage.at < 0 && m.moment() == 0 && !m.walk.playing
}

// rehearse looks for claims in what has come since.
func (m *Model) rehearse() {
	s, live := m.stage, m.in.View()
	if s == nil {
		return
	}
	if s.looked == nil {
		s.looked = live.At(0)
	}
	for n := s.looked.ArrivedEvents(); len(s.moments) < len(claims); {
		c := &claims[len(s.moments)]
		if a, ok := c.of.in(s.looked); ok && c.seen(a) {
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

// clearDesk has only the panes be there, as they are at the start.
func (m *Model) clearDesk() {
	m.closeAll()
	m.clearSearch()
	m.zoom = false
	m.turnTo(m.list)
	if m.large {
		m.turnTo(m.doc)
	}
	m.tabs = TabsByWidth
	m.stage.seats = 0
}

// showClaim goes to a claim, and opens what proves it.
func (m *Model) showClaim(n int) {
	s := m.stage
	if n = min(n, len(s.moments)-1); n < 0 {
		m.curtain()
		return
	}
	m.clearDesk()
	m.follow = true // up to there, as if it had played
	m.walkTo(s.moments[n])
	m.halt()
	s.at, s.shown, s.off = n, true, false
	m.setFollow(false)
	m.chosen = s.about[n]
	m.walk.wanted, m.walk.shown = m.chosen, m.chosen
	m.refresh() // the document is of that call, before it is led to its end
	m.doc.Follow(true)
	claims[n].proof(m)
	s.seats = len(m.seats.all)
	s.off = m.summing() // there is nothing to go on to
	m.refresh()
	m.countDown(claimTime)
}

// countDown has the stage go on after a while, at the speed at which it plays, unless it waits for the
// user.
func (m *Model) countDown(wait time.Duration) {
	s := m.stage
	s.timer++
	timer := s.timer
	s.waits = s.waits || m.opt.Calm && wait == claimTime
	if s.waits || s.off {
		return
	}
	m.do(tea.Tick(time.Duration(float64(wait)/m.walk.speed), func(time.Time) tea.Msg {
		return done{then: func() {
			if m.stage == s && s.timer == timer {
				m.goOn()
			}
		}}
	}))
}

// goOn plays from where one is to the next claim.
func (m *Model) goOn() {
	s, n := m.stage, m.moment()
	if !s.shown || n != s.moments[s.at] { // the user walked away, and comes back
		for s.at = -1; s.at+1 < len(s.moments) && s.moments[s.at+1] <= n && n > 0; s.at++ {
		}
	}
	s.off, s.waits = false, false
	if s.at+1 >= len(s.moments) {
		if s.at+1 < len(claims) { // it is still being read
			m.countDown(readTime)
		}
		return
	}
	s.timer++
	s.shown = false
	m.clearDesk()
	m.setFollow(true)
	m.walk.playing = true
	m.setClock()
	m.tick(0)
}

// playsTo is how many events there are when playing on from a moment comes to its end.
func (m *Model) playsTo() int {
	if s := m.stage; m.onStage() && s.at+1 < len(s.moments) {
		return max(m.moment(), s.moments[s.at+1])
	}
	return m.in.Timeline.Len()
}

// stepOff leaves the stage: the user is at the place where it was.
func (m *Model) stepOff() {
	m.stage.off, m.stage.waits = true, true
	m.stage.timer++
	m.halt()
	m.refresh()
}

// leaveStage does so and says how to go on.
func (m *Model) leaveStage() {
	m.stepOff()
	m.say(display.Lit("yours now: space goes on, } next claim, d restart"))
}

// spaceOnStage holds what is shown, or goes on.
func (m *Model) spaceOnStage() {
	s := m.stage
	if s.waits {
		m.goOn()
		return
	}
	m.holdStage()
}

// holdStage has it stay where it is.
func (m *Model) holdStage() {
	m.stage.waits = true
	m.stage.timer++
	m.halt()
}

// nextClaim goes to the claim so many further. One that the stage was on the way from is the one
// before.
func (m *Model) nextClaim(by int) {
	s := m.stage
	if by < 0 && !s.shown {
		by++
	}
	s.waits = s.waits || s.off
	m.showClaim(s.at + by)
}

// summing reports whether the summary is open.
func (m *Model) summing() bool {
	_, is := m.top().Mode.(*summary)
	return is && m.stage != nil
}
