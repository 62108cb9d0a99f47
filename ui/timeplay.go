package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// pace is how the screen plays on from a moment.
type pace struct {
	playing bool
	speed   float64
	from    time.Duration // of the source, at since
	since   time.Time
	timer   int // number of the one that counts
}

// The bounds of the speed, those of a source that plays.
const (
	leastSpeed = 0.25
	mostSpeed  = 16
)

const (
	deltaTime  = 80 * time.Millisecond // for each delta of a source that has no times
	mostIdle   = time.Second           // that is waited for while nothing is open
	skipAtOnce = 1 << 14               // events that may be gone through between two frames
)

// space holds the screen, plays on from the moment that it is held at, or stops there.
func (m *Model) space() {
	switch {
	case !m.held():
		m.hold()
	case m.stage != nil && !m.walk.playing:
		m.goOn()
	case m.walk.playing:
		m.halt()
	default:
		m.play()
	}
}

// play plays on: from the end of what has arrived that is what arrives, or where nothing more does,
// from the start.
func (m *Model) play() {
	n := m.moment()
	switch total := m.in.Timeline.Len(); {
	case n >= total && m.moving():
		m.goNow()
		return
	case n >= total:
		m.walkTo(0)
	case m.walk.view.Ended():
		m.walkTo(n)
	}
	m.walk.playing = true
	m.setClock()
	m.tick(0)
}

// halt stays at the moment.
func (m *Model) halt() { m.walk.playing = false }

// setClock starts the clock at the time of the moment.
func (m *Model) setClock() {
	w := &m.walk
	w.from, w.since = stream.NoTime, m.opt.Now()
	for n := m.moment(); n < m.in.Timeline.Len() && w.from < 0; n++ {
		w.from = m.in.View().EventPrefix(n, 0).At
	}
}

// clock is the time that the screen has come to.
func (m *Model) clock() time.Duration {
	return m.walk.from + time.Duration(float64(m.opt.Now().Sub(m.walk.since))*m.walk.speed)
}

// tick goes on after a while, unless something else was asked for meanwhile.
func (m *Model) tick(wait time.Duration) {
	m.walk.timer++
	timer := m.walk.timer
	m.do(tea.Tick(max(wait, frameTime), func(time.Time) tea.Msg {
		return done{then: func() {
			if m.walk.timer == timer && m.walk.playing {
				m.advance()
			}
		}}
	}))
}

// advance goes to the moment that the clock has come to.
func (m *Model) advance() {
	v, n, now := m.in.View(), m.moment(), m.clock()
	wait, total := time.Duration(0), m.playsTo()
	for most := n + skipAtOnce; n < total && n < most; n++ {
		kind, _ := v.Subject(n)
		at := v.EventPrefix(n, 0).At
		if at < 0 && bringsText(kind) { // by delta, where there are no times
			n, wait = n+1, time.Duration(float64(deltaTime)/m.walk.speed)
			break
		}
		if at > now {
			wait = time.Duration(float64(at-now) / m.walk.speed)
			break
		}
	}
	m.walkTo(n)
	switch {
	case n < total:
		m.tick(m.hurry(wait))
	case m.onStage():
		m.showClaim(m.stage.at + 1)
	case m.moving():
		m.goNow()
	default:
		m.halt()
	}
}

// hurry is how long is waited: not long for what comes after a pause between turns.
func (m *Model) hurry(wait time.Duration) time.Duration {
	if wait <= mostIdle {
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
	m.walk.from += time.Duration(float64(wait-mostIdle) * m.walk.speed)
	return mostIdle
}

// setSpeed plays slower or faster from the moment.
func (m *Model) setSpeed(faster bool) {
	factor := 0.5
	if faster {
		factor = 2
	}
	now := m.clock()
	m.walk.speed = min(max(m.walk.speed*factor, leastSpeed), mostSpeed)
	if p := m.opt.Playback; p != nil {
		p.SetSpeed(m.walk.speed)
	}
	if m.walk.playing {
		m.walk.from, m.walk.since = now, m.opt.Now()
		m.tick(0)
	}
	m.say(m.draw.Format("speed %g%s", m.walk.speed, m.pen.Glyph.Times))
}

// walkWord is whether the moment stands or goes on.
func (m *Model) walkWord() screen.StyledText {
	if m.walk.playing {
		return screen.StyledText{Role: screen.Live, Text: m.speed("PLAY", m.walk.speed)}
	}
	return screen.StyledText{Role: screen.Caution, Text: display.Lit("PAUSED")}
}

// leaveTime closes what can be closed at the moment, and then goes back to now.
func (m *Model) leaveTime() {
	if m.search.query != "" || m.zoom {
		m.back(nil)
		return
	}
	m.goNow()
}

// saveCut saves what there was at the moment, as a recording that ends there.
func (m *Model) saveCut() {
	data, err := m.opt.Cut(m.walk.view)
	if err != nil {
		m.say(m.draw.Clean(err.Error()))
		return
	}
	path, err := m.opt.Save("cut.tsc", data)
	if err != nil {
		m.say(m.draw.Clean(err.Error()))
		return
	}
	m.say(m.draw.Format("saved %s, %s", m.draw.Clean(path), screen.Bytes(len(data))))
}
