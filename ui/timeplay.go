package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// playState is the state of playback from a moment.
type playState struct {
	playing bool
	speed   float64
	from    time.Duration // time of the source at since
	since   time.Time
	timer   int // number of the valid timer
}

// The limits of the speed, the same as for a played source.
const (
	minSpeed = 0.25
	maxSpeed = 16
)

const (
	deltaTime  = 80 * time.Millisecond // for each delta of a source without times
	maxIdle    = time.Second           // maximum wait while no turn is open
	skipAtOnce = 1 << 14               // maximum number of events between two frames
)

// togglePlaying pauses the screen. If it is paused, it starts or stops playback.
func (m *Model) togglePlaying() {
	switch {
	case !m.isPaused():
		m.pauseScreen()
	case m.tour != nil && !m.moment.playing:
		m.playToNextScene()
	case m.moment.playing:
		m.stopPlaying()
	default:
		m.playOn()
	}
}

// playOn continues playback. At the end of the timeline it follows new records, or restarts if there are no
// more.
func (m *Model) playOn() {
	n := m.eventCount()
	switch total := m.in.Timeline.Len(); {
	case n >= total && m.isLive():
		m.goNow()
		return
	case n >= total:
		m.goToMoment(0)
	case m.moment.view.Ended():
		m.goToMoment(n)
	}
	m.moment.playing = true
	m.setClock()
	m.scheduleAdvance(0)
}

// stopPlaying stops playback at the moment.
func (m *Model) stopPlaying() { m.moment.playing = false }

// setClock starts the clock at the time of the moment.
func (m *Model) setClock() {
	w := &m.moment
	w.from, w.since = stream.NoTime, m.opt.Now()
	for n := m.eventCount(); n < m.in.Timeline.Len() && w.from < 0; n++ {
		w.from = m.in.View().EventPrefix(n, 0).At
	}
}

// playTime returns the source time that playback has reached.
func (m *Model) playTime() time.Duration {
	return m.moment.from + time.Duration(float64(m.opt.Now().Sub(m.moment.since))*m.moment.speed)
}

// scheduleAdvance schedules the next step of playback, unless another action comes first.
func (m *Model) scheduleAdvance(wait time.Duration) {
	m.moment.timer++
	timer := m.moment.timer
	m.queueCmd(tea.Tick(max(wait, frameTime), func(time.Time) tea.Msg {
		return workDone{then: func() {
			if m.moment.timer == timer && m.moment.playing {
				m.advanceToClock()
			}
		}}
	}))
}

// advanceToClock goes to the moment that the clock has reached.
func (m *Model) advanceToClock() {
	v, n, now := m.in.View(), m.eventCount(), m.playTime()
	wait, total := time.Duration(0), m.playsTo()
	for most := n + skipAtOnce; n < total && n < most; n++ {
		kind, _ := v.Subject(n)
		at := v.EventPrefix(n, 0).At
		if at < 0 && bringsText(kind) { // by delta, if there are no times
			n, wait = n+1, time.Duration(float64(deltaTime)/m.moment.speed)
			break
		}
		if at > now {
			wait = time.Duration(float64(at-now) / m.moment.speed)
			break
		}
	}
	m.goToMoment(n)
	switch {
	case n < total:
		m.scheduleAdvance(m.playDelay(wait))
	case m.isTourShown():
		m.showScene(m.tour.at + 1)
	case m.isLive():
		m.goNow()
	default:
		m.stopPlaying()
	}
}

// playDelay returns the delay of the next step: short after a pause between turns.
func (m *Model) playDelay(wait time.Duration) time.Duration {
	if wait <= maxIdle {
		return wait
	}
	for _, n := range []stream.Status{stream.Waiting, stream.Streaming, stream.LooksDone} {
		if m.view.Session().Counts[n] > 0 {
			return wait
		}
	}
	turns := m.view.Session().Turns
	for i := len(turns) - 1; i >= max(0, len(turns)-64); i-- {
		if !turns[i].Closed() {
			return wait
		}
	}
	m.moment.from += time.Duration(float64(wait-maxIdle) * m.moment.speed)
	return maxIdle
}

// setSpeed changes the speed of playback.
func (m *Model) setSpeed(faster bool) {
	factor := 0.5
	if faster {
		factor = 2
	}
	now := m.playTime()
	m.moment.speed = min(max(m.moment.speed*factor, minSpeed), maxSpeed)
	if p := m.opt.Playback; p != nil {
		p.SetSpeed(m.moment.speed)
	}
	if m.moment.playing {
		m.moment.from, m.moment.since = now, m.opt.Now()
		m.scheduleAdvance(0)
	}
	m.showNotice(m.draw.Format("speed %g%s", m.moment.speed, m.pen.Glyph.Times))
}

// playWord returns PLAY with the speed, or PAUSED.
func (m *Model) playWord() screen.StyledText {
	if m.moment.playing {
		return screen.StyledText{Role: screen.Live, Text: m.speedText("PLAY", m.moment.speed)}
	}
	return screen.StyledText{Role: screen.Caution, Text: display.Lit("PAUSED")}
}

// leaveTime closes the search or the zoom if one is open, or else goes back to now.
func (m *Model) leaveTime() {
	if m.search.query != "" || m.zoom {
		m.stepBack(nil)
		return
	}
	m.goNow()
}

// saveCut saves a capture that ends at the moment.
func (m *Model) saveCut() {
	data, err := m.opt.Cut(m.moment.view)
	if err != nil {
		m.showNotice(m.draw.Clean(err.Error()))
		return
	}
	path, err := m.opt.Save("cut.tsc", data)
	if err != nil {
		m.showNotice(m.draw.Clean(err.Error()))
		return
	}
	m.showNotice(m.draw.Format("saved %s, %s", m.draw.Clean(path), screen.Bytes(len(data))))
}
