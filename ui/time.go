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
// which follows new records, or, while the screen is paused, the moment after an event. Played and live
// sources are treated the same. Invariants:
//
//   - Every pane draws only m.view; see providers.View.At. Some modes, such as the list of streams, show
//     current data.
//   - While the screen is paused, new records are read, but only their number is shown.
//   - A source that plays by a clock stops while the screen is paused, so none of its records are lost.
//     Playback from a moment plays the timeline and never moves the source's clock. That clock continues once
//     the screen has caught up.

// pausedMoment is the moment at which the screen is paused.
type pausedMoment struct {
	m      *Model
	view   *providers.View // the view at the moment; nil while the screen shows now
	strip  panes.TimeStrip
	shown  stream.Ref // the selection when the screen changed to the moment
	wanted stream.Ref // the user's selection, which might not exist yet at the moment
	playState
}

// isPaused reports whether the screen shows a past moment instead of now.
func (pm *pausedMoment) isPaused() bool { return pm.view != nil }

// pauseScreen pauses the screen at the current moment.
func (pm *pausedMoment) pauseScreen() {
	if pm.isPaused() {
		return
	}
	if pm.m.in.Timeline.Len() == 0 && !pm.m.isLive() {
		pm.m.showNotice(display.Lit("nothing has arrived yet"))
		return
	}
	if p := pm.m.opt.Playback; p != nil {
		p.Pause(true)
		pm.speed = p.Speed()
	}
	pm.view = pm.m.in.View().At(pm.m.in.Timeline.Len())
	pm.shown, pm.wanted = pm.m.selected, pm.m.selected
	pm.setView(pm.view)
}

// toggleTimeline opens the timeline at the current moment, or closes it.
func (pm *pausedMoment) toggleTimeline() {
	if pm.isPaused() {
		pm.goNow()
	} else {
		pm.pauseScreen()
	}
}

// goNow shows the current view again, and lets a source that plays by a clock continue.
func (pm *pausedMoment) goNow() {
	if !pm.isPaused() {
		return
	}
	wanted := pm.selectedRef()
	pm.view, pm.playing = nil, false
	pm.strip = panes.TimeStrip{}
	if p := pm.m.opt.Playback; p != nil {
		p.Pause(false)
	}
	pm.setView(pm.m.in.View())
	if pm.m.selected = wanted; pm.m.follow || pm.m.selectedTurn() == nil {
		pm.m.selected = pm.m.filtering.newestShown()
	}
	pm.m.refreshPanes()
	pm.m.outbox.followSentTurn()
}

// setView changes the view for all panes and modes.
func (pm *pausedMoment) setView(v *providers.View) {
	pm.m.view, pm.m.context.View = v, v
	pm.m.refreshPanes()
}

// selectedRef returns the user's last selection.
func (pm *pausedMoment) selectedRef() stream.Ref {
	if pm.m.selected != pm.shown {
		pm.wanted, pm.shown = pm.m.selected, pm.m.selected
	}
	return pm.wanted
}

// goToMoment shows the moment after n events.
func (pm *pausedMoment) goToMoment(n int) {
	if pm.pauseScreen(); !pm.isPaused() {
		return
	}
	pm.selectedRef()
	pm.view.MoveTo(n)
	pm.restoreSelection()
}

// restoreSelection restores the user's selection at the shown moment. If a selected call does not exist yet,
// it selects the call's turn, or else the newest turn. While the panes follow, it selects the newest turn or
// call.
func (pm *pausedMoment) restoreSelection() {
	pm.m.selected = pm.m.filtering.newestShown()
	for _, r := range []stream.Ref{{Turn: pm.wanted.Turn}, pm.wanted} {
		if t, c := pm.m.view.Find(r); t != nil && (c != nil || r.Call == 0) && !pm.m.follow {
			pm.m.selected = r
		}
	}
	pm.shown = pm.m.selected
	pm.m.refreshPanes()
	if pm.m.follow { // move to the end at that moment
		pm.m.followEnd(true)
		pm.m.refreshPanes()
	}
}

// eventCount returns the number of events up to the shown moment.
func (pm *pausedMoment) eventCount() int {
	if pm.isPaused() {
		return pm.view.ArrivedEvents()
	}
	return pm.m.in.Timeline.Len()
}

// steppedTurn returns the turn within which steps move, in its current state. It also returns the number of
// the call that the user selected, 0 for none.
func (pm *pausedMoment) steppedTurn() (t *stream.Turn, call int32) {
	of := pm.m.selected
	if pm.isPaused() && !pm.m.follow {
		of = pm.selectedRef()
	}
	live := pm.m.in.Session()
	if t = live.Turn(of.Turn); t == nil {
		return nil, 0
	}
	if call = of.Call; pm.m.follow {
		call = 0
	}
	return t, call
}

// endHere turns on or off the view in which the source ended at the moment.
func (pm *pausedMoment) endHere() {
	if pm.pauseScreen(); !pm.isPaused() {
		return
	}
	pm.stopPlaying()
	pm.selectedRef()
	if n := pm.eventCount(); pm.view.Ended() {
		pm.view.MoveTo(n)
	} else {
		pm.view.EndHere()
	}
	pm.restoreSelection()
}

// playState is the state of playback from a moment.
type playState struct {
	playing bool
	speed   float64
	from    time.Duration // source time at since
	since   time.Time
	timer   int // number of the valid timer
}

// The limits of the speed. They are the same as for a played source.
const (
	minSpeed = 0.25
	maxSpeed = 16
)

const (
	deltaTime  = 80 * time.Millisecond // playback time of each delta if the source has no times
	maxIdle    = time.Second           // maximum wait while no turn is open
	skipAtOnce = 1 << 14               // maximum number of events between two frames
)

// togglePlaying pauses the screen. If the screen is paused already, it starts or stops playback.
func (pm *pausedMoment) togglePlaying() {
	switch {
	case !pm.isPaused():
		pm.pauseScreen()
	case pm.m.tour != nil && !pm.playing:
		pm.m.tour.playToNextScene()
	case pm.playing:
		pm.stopPlaying()
	default:
		pm.playOn()
	}
}

// playOn continues playback. At the end of the timeline, it follows new records, or restarts if no more will
// arrive.
func (pm *pausedMoment) playOn() {
	n := pm.eventCount()
	switch total := pm.m.in.Timeline.Len(); {
	case n >= total && pm.m.isLive():
		pm.goNow()
		return
	case n >= total:
		pm.goToMoment(0)
	case pm.view.Ended():
		pm.goToMoment(n)
	}
	pm.playing = true
	pm.setClock()
	pm.scheduleAdvance(0)
}

// stopPlaying stops playback at the moment.
func (pm *pausedMoment) stopPlaying() { pm.playing = false }

// setClock starts the playback clock at the time of the moment.
func (pm *pausedMoment) setClock() {
	pm.from, pm.since = stream.NoTime, pm.m.opt.Now()
	for n := pm.eventCount(); n < pm.m.in.Timeline.Len() && pm.from < 0; n++ {
		pm.from = pm.m.in.View().EventPrefix(n, 0).At
	}
}

// playTime returns the source time that playback has reached.
func (pm *pausedMoment) playTime() time.Duration {
	return pm.from + time.Duration(float64(pm.m.opt.Now().Sub(pm.since))*pm.speed)
}

// scheduleAdvance schedules the next step of playback. The step is cancelled if playback stops or another
// step is scheduled before then.
func (pm *pausedMoment) scheduleAdvance(wait time.Duration) {
	pm.timer++
	timer := pm.timer
	pm.m.modeStack.queueCmd(tea.Tick(max(wait, frameTime), func(time.Time) tea.Msg {
		return workDone{then: func() {
			if pm.timer == timer && pm.playing {
				pm.advanceToClock()
			}
		}}
	}))
}

// advanceToClock goes to the moment that the playback clock has reached.
func (pm *pausedMoment) advanceToClock() {
	v, n, now := pm.m.in.View(), pm.eventCount(), pm.playTime()
	wait, total := time.Duration(0), pm.m.in.Timeline.Len()
	if s := pm.m.tour; s.isTourShown() && s.at+1 < len(s.moments) {
		total = max(n, s.moments[s.at+1])
	}
	for most := n + skipAtOnce; n < total && n < most; n++ {
		kind, _ := v.Subject(n)
		at := v.EventPrefix(n, 0).At
		if at < 0 && bringsText(kind) { // without times, playback steps by delta
			n, wait = n+1, time.Duration(float64(deltaTime)/pm.speed)
			break
		}
		if at > now {
			wait = time.Duration(float64(at-now) / pm.speed)
			break
		}
	}
	pm.goToMoment(n)
	switch {
	case n < total:
		pm.scheduleAdvance(pm.playDelay(wait))
	case pm.m.tour.isTourShown():
		pm.m.tour.showScene(pm.m.tour.at + 1)
	case pm.m.isLive():
		pm.goNow()
	default:
		pm.stopPlaying()
	}
}

// playDelay returns the delay before the next step. A long pause while no turn is open is shortened.
func (pm *pausedMoment) playDelay(wait time.Duration) time.Duration {
	if wait <= maxIdle {
		return wait
	}
	for _, n := range []stream.Status{stream.Waiting, stream.Streaming, stream.LooksDone} {
		if pm.m.view.Session().Counts[n] > 0 {
			return wait
		}
	}
	turns := pm.m.view.Session().Turns
	for i := len(turns) - 1; i >= max(0, len(turns)-64); i-- {
		if !turns[i].Closed() {
			return wait
		}
	}
	pm.from += time.Duration(float64(wait-maxIdle) * pm.speed)
	return maxIdle
}

// setSpeed changes the speed of playback.
func (pm *pausedMoment) setSpeed(faster bool) {
	factor := 0.5
	if faster {
		factor = 2
	}
	now := pm.playTime()
	pm.speed = min(max(pm.speed*factor, minSpeed), maxSpeed)
	if p := pm.m.opt.Playback; p != nil {
		p.SetSpeed(pm.speed)
	}
	if pm.playing {
		pm.from, pm.since = now, pm.m.opt.Now()
		pm.scheduleAdvance(0)
	}
	pm.m.showNotice(pm.m.draw.Format("speed %g%s", pm.speed, pm.m.pen.Glyph.Times))
}

// playWord returns PLAY with the speed, or PAUSED.
func (pm *pausedMoment) playWord() screen.StyledText {
	if pm.playing {
		return screen.StyledText{Role: screen.Live, Text: pm.m.frame.speedText("PLAY", pm.speed)}
	}
	return screen.StyledText{Role: screen.Caution, Text: display.Lit("PAUSED")}
}

// saveCut saves a capture that ends at the moment.
func (pm *pausedMoment) saveCut() {
	data, err := pm.m.opt.Cut(pm.view)
	if err != nil {
		pm.m.showNotice(pm.m.draw.Clean(err.Error()))
		return
	}
	path, err := pm.m.opt.Save("cut.tsc", data)
	if err != nil {
		pm.m.showNotice(pm.m.draw.Clean(err.Error()))
		return
	}
	pm.m.showNotice(pm.m.draw.Format("saved %s, %s", pm.m.draw.Clean(path), screen.Bytes(len(data))))
}

// stripRows returns the current height of the strip, or of the tour's caption. It is 0 unless the screen is
// paused.
func (pm *pausedMoment) stripRows() int {
	switch {
	case pm.m.tour.isTourShown():
		return pm.m.tour.captionRows()
	case !pm.isPaused() || pm.m.tour.isSummaryOpen():
		return 0
	}
	t, _ := pm.steppedTurn()
	return pm.strip.RowsFor(pm.m.in.View(), t, pm.m.h)
}

// extendStrip updates the strip.
func (pm *pausedMoment) extendStrip() {
	if !pm.isPaused() || pm.m.tour.isTourShown() || pm.m.tour.isSummaryOpen() {
		return
	}
	at := panes.StripSubject{
		Live: pm.m.in.View(), Then: pm.view, Turn: stream.NoTurn, Chosen: pm.m.selected, Word: pm.playWord().Text, Moves: pm.playing, Ended: pm.view.Ended(), Clock: pm.m.context.Clock,
	}
	if t, _ := pm.steppedTurn(); t != nil {
		at.Turn = t.Number
	}
	if n := pm.m.in.Timeline.Len() - pm.eventCount(); n > 0 {
		at.Ahead = screen.Plural(n, "event").Between("", " to come")
		if len(pm.m.in.Session().Turns) > 1 {
			at.Ahead = screen.Plural(n, "event").Between("", " to come in all turns")
		}
	}
	pm.strip.Extend(at, pm.m.w, pm.m.h, &pm.m.pen)
}
