package ui

import (
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
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

// tourKeys returns the keys of the tour, whatever evidence is open. After any other key, the user has
// control.
func (m *Model) tourKeys() []screen.Binding {
	km := m.keys
	hold := bindAction(km.Pause, m.toggleTour)
	if hold.Hint = display.Lit("space pause"); m.tour.waits {
		hold.Hint = display.Lit("space next")
	}
	claim := m.sceneKeys()
	keys := []screen.Binding{
		{Keys: []string{"?"}, Hint: display.Lit("? help")}, hold,
		{Keys: []string{","}, Hint: display.Lit(", . step")},
		claim[0], claim[1], m.restartKey(),
		{Keys: km.Escape.Keys(), Hint: display.Lit("esc end"), Does: display.Lit("end the tour and explore"), Do: m.leaveTourWithNote},
	}
	if m.large {
		next := screen.Binding{Keys: []string{"tab"}, Hint: display.Lit("tab next call")}
		keys = append(append(slices.Clone(keys[1:5]), next, keys[0]), keys[5:]...)
	}
	return m.asUser(append(keys, bindPair(km.Speed, func(step int) { m.setSpeed(step < 0) })...), false)
}

// sceneKeys returns the keys that go to other scenes.
func (m *Model) sceneKeys() []screen.Binding {
	keys := bindPair(m.keys.Change, func(step int) { m.nextScene(-step) })
	keys[0].Hint = display.Lit("{ } scene")
	keys[0].Does, keys[1].Does = display.Lit("previous scene"), display.Lit("next scene of the demo")
	return keys
}

// restartKey returns the key that restarts the demo.
func (m *Model) restartKey() screen.Binding {
	b := bindAction(m.keys.Demo, m.startTour)
	b.Hint, b.Does = display.Lit("d restart"), display.Lit("restart the demo")
	return b
}

// handleTourKey handles a key during the tour. During the opening, any key that the tour doesn't use
// continues. Later, such a key ends the tour and has its usual effect.
func (m *Model) handleTourKey(k tea.KeyMsg) {
	km, name := m.keys, k.String()
	if b := screen.FindBinding(m.tourKeys(), name); b != nil {
		b.Do()
		return
	}
	if b := screen.FindBinding(m.userGlobalKeys(), name); b != nil && containsKey(name, km.Help, km.Theme, km.Suspend, km.Interrupted) {
		if containsKey(name, km.Help, km.Theme) {
			m.pauseTour()
		}
		b.Do()
		return
	}
	if m.isTourOpening() && !containsKey(name, km.Quit) {
		m.playToNextScene()
		return
	}
	m.leaveTour()
	m.handleKey(k)
	if _, browsing := m.activeMode().Mode.(browse); browsing && m.notice.Empty() {
		m.leaveTourWithNote()
	}
}

func containsKey(name string, of ...key.Binding) bool {
	return slices.ContainsFunc(of, func(b key.Binding) bool { return slices.Contains(b.Keys(), name) })
}

// captionRows returns the height of the caption below the panes: a line across if there is room, and the
// text.
func (m *Model) captionRows() int {
	switch {
	case m.h < tallCaption:
		return 1
	case m.w >= wideCaption && m.h < ruledCaption:
		return 2
	}
	return 3
}

// The minimum screen heights for a caption of several rows, and for a line above it. On a narrow screen
// each sentence takes one more row.
const (
	tallCaption  = 14
	ruledCaption = 20
	wideCaption  = 72
)

// drawCaption draws row y of the caption.
func (m *Model) drawCaption(p *screen.Pen, y int) {
	rows := m.captionRows()
	if rows == 3 && p.Left >= wideCaption {
		if y == 0 {
			p.Text(screen.Muted, display.Repeat(p.Glyph.Line, p.Left))
			return
		}
		y, rows = y-1, 2
	}
	place := m.sceneProgress().Between(" ", "  ")
	lines := m.captionLines(p.Left-place.Width()-1, rows)
	if y == 0 {
		p.Text(screen.Accent, place)
	} else {
		p.Spaces(screen.Bare, place.Width())
	}
	if y < len(lines) {
		p.Text(lines[y].Role, lines[y].Text)
	}
}

// sceneProgress returns the number of the shown or next scene.
func (m *Model) sceneProgress() display.Text {
	return display.Join(screen.Count(m.sceneNumber()), display.Lit("/"), screen.Count(len(tourScenes)))
}

func (m *Model) sceneNumber() int {
	if s := m.tour; s.shown {
		return s.at + 1
	}
	return min(m.tour.at+2, len(tourScenes))
}

// captionLines returns the caption in the given number of rows: complete if it fits, or else a short
// caption with or without the reason.
func (m *Model) captionLines(width, rows int) (lines []screen.StyledText) {
	if !m.tour.shown {
		c := &tourScenes[m.sceneNumber()-1]
		if a, ok := c.of.subjectIn(m.view); ok && a.call.MayGrow() && a.call.ArgsLen() > 0 {
			now := display.Join(m.pen.Name(a.call.Name), display.Lit(" streams: "), c.coming)
			if now.Width() > width {
				now = display.Join(display.Lit("now: "), c.coming)
			}
			return []screen.StyledText{{Role: screen.Live, Text: now}}
		}
		return []screen.StyledText{{Role: screen.Muted, Text: display.Join(display.Lit("next: "), c.coming)}}
	}
	a, ok := m.shownSubject()
	if !ok {
		return nil
	}
	c := tourScenes[m.tour.at].caption(a)
	ways := [][]screen.StyledText{
		{{Role: screen.Accent, Text: c.what}, {Role: screen.Plain, Text: c.why}},
		{{Role: screen.Accent, Text: c.short}, {Role: screen.Plain, Text: c.why}},
		{{Role: screen.Accent, Text: c.what}},
		{{Role: screen.Accent, Text: c.short}},
	}
	for _, way := range ways {
		lines = lines[:0]
		for _, part := range way {
			for _, line := range display.Wrap(part.Text, width) {
				lines = append(lines, screen.StyledText{Role: part.Role, Text: line})
			}
		}
		if len(lines) <= rows {
			break
		}
	}
	return lines
}

// shownSubject returns the subject of the shown scene, as it is now.
func (m *Model) shownSubject() (a sceneSubject, ok bool) {
	s := m.tour
	if a.view = m.view; s.at < 0 {
		return a, false
	}
	a.turn, a.call = m.view.Find(s.about[s.at])
	return a, a.call != nil
}

// drawOpening draws row y of the title screen before the demo plays.
func (m *Model) drawOpening(p *screen.Pen, y, height int) {
	width := min(p.Left-4, openingWidth)
	var lines []screen.StyledText
	for i, text := range []screen.StyledText{
		{Role: screen.Accent, Text: display.Lit("toolscope: LLM tool calls, while they stream")},
		{Role: screen.Plain, Text: display.Lit("A model calls a tool by writing JSON, a few bytes at a time. toolscope shows each call as it streams: its open parts, its cost, and the byte that breaks it.")},
		{Role: screen.Plain, Text: display.Lit("This demo is scripted: no network, no API key. Any key continues, esc lets you explore.")},
	} {
		if i > 0 && height >= tallOpening {
			lines = append(lines, screen.StyledText{})
		}
		for _, line := range display.Wrap(text.Text, width) {
			lines = append(lines, screen.StyledText{Role: text.Role, Text: line})
		}
	}
	if n := y - max(0, (height-len(lines))/3); n >= 0 && n < len(lines) {
		p.Spaces(screen.Bare, max(1, (p.Left-width)/2))
		p.Text(lines[n].Role, lines[n].Text)
	}
}

// The width of the title screen, and the height from which blank rows separate its parts.
const (
	openingWidth = 64
	tallOpening  = 12
)
