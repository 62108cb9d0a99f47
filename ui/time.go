package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
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
