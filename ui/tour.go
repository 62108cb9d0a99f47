package ui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// tourPlayer is the tour of the demo: it plays up to a scene, opens its evidence, shows its caption, and
// continues after a while, unless the user takes over. Invariants:
//
//   - It plays records that have been read, as playback from any paused moment does. So the user can go back
//     to a scene without waiting.
//   - A scene has a moment, which is the first one at which the scene can be shown. The caption is made from
//     the scene's call at that moment, and disappears when the user goes elsewhere.
//   - The caption has its own rows below the panes.
type tourPlayer struct {
	m       *Model
	looked  *providers.View // the view that was searched for scenes
	moments []int           // moments of the scenes found, in order
	about   []stream.Ref    // the call in each scene found
	at      int             // the last scene that was shown, or -1
	shown   bool            // the scene is shown now
	waits   bool            // the tour waits for the user
	off     bool            // the user has left the scene
	seats   int             // number of modes open for the scene
	timer   int             // number of the valid timer
}

// The time for which a scene is shown, and the time for which the tour waits for records.
const (
	sceneTime = 4 * time.Second
	readTime  = 50 * time.Millisecond
)

// startTour begins the demo from its start.
func (m *Model) startTour() {
	if m.tour == nil {
		m.tour = &tourPlayer{m: m}
	}
	m.tour.resetPanes()
	m.tour.at, m.tour.shown, m.tour.off, m.tour.waits = -1, false, false, false
	m.setFollow(true)
	m.moment.goToMoment(0)
	m.moment.stopPlaying()
	m.tour.countDown(sceneTime)
}

// isTourShown reports whether the tour is running or paused, and the user has not left it.
func (tp *tourPlayer) isTourShown() bool { return tp != nil && !tp.off && tp.m.moment.isPaused() }

// hasTourKeys reports whether the tour's keys apply. They don't if another mode, e.g. the help, is on top.
func (tp *tourPlayer) hasTourKeys() bool {
	return tp.isTourShown() && len(tp.m.modeStack.all) <= tp.seats
}

// isTourOpening reports whether the tour shows its title screen, before anything has played.
func (tp *tourPlayer) isTourOpening() bool {
	return tp.isTourShown() && tp.at < 0 && tp.m.moment.eventCount() == 0 && !tp.m.moment.playing
}

// findScenes searches the new events for scenes.
func (tp *tourPlayer) findScenes() {
	if tp == nil {
		return
	}
	live := tp.m.in.View()
	if tp.looked == nil {
		tp.looked = live.At(0)
	}
	for n := tp.looked.ArrivedEvents(); len(tp.moments) < len(tourScenes); {
		c := &tourScenes[len(tp.moments)]
		if a, ok := c.of.subjectIn(tp.looked); ok && c.seen(a) {
			tp.moments, tp.about = append(tp.moments, n), append(tp.about, a.call.Ref())
			continue
		}
		if n >= live.Events() {
			return
		}
		n = live.AfterEvent(n)
		tp.looked.MoveTo(n)
	}
}

// resetPanes closes all modes and resets the panes.
func (tp *tourPlayer) resetPanes() {
	tp.m.modeStack.closeAll()
	tp.m.search.clearSearch()
	tp.m.zoom = false
	tp.m.turnTo(tp.m.list)
	if tp.m.large {
		tp.m.turnTo(tp.m.doc)
	}
	tp.m.tabs, tp.m.picks = TabsByRoom, false
	tp.seats = 0
}

// showScene goes to a scene and opens its evidence.
func (tp *tourPlayer) showScene(n int) {
	if n = min(n, len(tp.moments)-1); n < 0 {
		tp.m.startTour()
		return
	}
	tp.resetPanes()
	tp.m.follow = true // as if the tour had played up to the scene
	tp.m.moment.goToMoment(tp.moments[n])
	tp.m.moment.stopPlaying()
	tp.at, tp.shown, tp.off = n, true, false
	tp.m.setFollow(false)
	tp.m.selected = tp.about[n]
	tp.m.moment.wanted, tp.m.moment.shown = tp.m.selected, tp.m.selected
	tp.m.refreshPanes() // the document must show the call before Follow moves the document to its end
	tp.m.doc.Follow(true)
	tourScenes[n].evidence(tp.m)
	tp.seats = len(tp.m.modeStack.all)
	tp.off = tp.isSummaryOpen() // no scene follows the summary
	tp.m.refreshPanes()
	tp.countDown(sceneTime)
}

// countDown continues the tour after a delay that depends on the speed, unless the tour waits for the
// user.
func (tp *tourPlayer) countDown(wait time.Duration) {
	tp.timer++
	timer := tp.timer
	tp.waits = tp.waits || tp.m.opt.Calm && wait == sceneTime
	if tp.waits || tp.off {
		return
	}
	tp.m.modeStack.queueCmd(tea.Tick(time.Duration(float64(wait)/tp.m.moment.speed), func(time.Time) tea.Msg {
		return workDone{then: func() {
			if tp.m.tour == tp && tp.timer == timer {
				tp.playToNextScene()
			}
		}}
	}))
}

// playToNextScene plays from the current moment to the next scene.
func (tp *tourPlayer) playToNextScene() {
	n := tp.m.moment.eventCount()
	if !tp.shown || n != tp.moments[tp.at] { // the user returns to a scene that they left
		for tp.at = -1; tp.at+1 < len(tp.moments) && tp.moments[tp.at+1] <= n && n > 0; tp.at++ {
		}
	}
	tp.off, tp.waits = false, false
	if tp.at+1 >= len(tp.moments) {
		if tp.at+1 < len(tourScenes) { // the next scene is still being read
			tp.countDown(readTime)
		}
		return
	}
	tp.timer++
	tp.shown = false
	tp.resetPanes()
	tp.m.setFollow(true)
	tp.m.moment.playing = true
	tp.m.moment.setClock()
	tp.m.moment.scheduleAdvance(0)
}

// leaveTour ends the tour at the current moment.
func (tp *tourPlayer) leaveTour() {
	tp.off, tp.waits = true, true
	tp.timer++
	tp.m.moment.stopPlaying()
	tp.m.refreshPanes()
}

// leaveTourWithNote ends the tour and shows how to continue it.
func (tp *tourPlayer) leaveTourWithNote() {
	opening := tp.isTourOpening()
	tp.leaveTour()
	if opening {
		tp.exploreDemo()
	}
	tp.m.showNotice(display.Lit("you left the tour: space continues, } skips ahead, d restarts"))
}

// exploreDemo goes to the end of the demo and selects the worst call.
func (tp *tourPlayer) exploreDemo() {
	m := tp.m
	m.modeStack.closeAll()
	m.moment.goToMoment(m.in.View().Events())
	worst, harm := stream.NoRef, present.Harm(present.NumHarm)
	for _, t := range m.view.Session().Turns {
		for _, c := range t.Calls {
			if v := present.VerdictOfCall(c); v.Harm < harm {
				worst, harm = c.Ref(), v.Harm
			}
		}
	}
	if worst != stream.NoRef {
		modeHost{m}.Choose(worst)
	}
}

func (tp *tourPlayer) pauseTour() {
	tp.waits = true
	tp.timer++
	tp.m.moment.stopPlaying()
}

// isSummaryOpen reports whether the summary is open.
func (tp *tourPlayer) isSummaryOpen() bool {
	if tp == nil {
		return false
	}
	_, is := tp.m.modeStack.activeMode().Mode.(*summary)
	return is
}

// tourKeys returns the tour's keys, which work whatever evidence is open. After any other key, the user has
// control.
func (tp *tourPlayer) tourKeys() []screen.Binding {
	hold := screen.Do("pause", func() {
		if tp.waits || tp.isTourOpening() {
			tp.playToNextScene()
		} else {
			tp.pauseTour()
		}
	}).Hinted("pause")
	switch {
	case tp.isTourOpening():
		hold.Hint = "start"
	case tp.waits:
		hold.Hint = "next"
	}
	claim := tp.sceneKeys()
	keys := []screen.Binding{
		screen.Can("help")[0], hold,
		screen.Can("step")[0],
		claim[0], claim[1], tp.restartKey(),
		screen.Key("esc", "end", "end the tour and explore", tp.leaveTourWithNote),
	}
	if tp.m.large {
		next := screen.Key("tab", "next call", "", nil)
		keys = append(append(slices.Clone(keys[1:5]), next, keys[0]), keys[5:]...)
	}
	return tp.m.asUser(append(keys, screen.DoBoth("speed", func(step int) { tp.m.moment.setSpeed(step < 0) })...), false)
}

// sceneKeys returns the keys that go to other scenes.
func (tp *tourPlayer) sceneKeys() []screen.Binding {
	keys := screen.DoBoth("change", func(step int) {
		if step > 0 && !tp.shown { // while the tour plays towards a scene, the previous scene is the one that it left
			step--
		}
		tp.waits = tp.waits || tp.off
		tp.showScene(tp.at - step)
	})
	keys[0] = keys[0].Hinted("scene").Show("{ }")
	keys[0].Does, keys[1].Does = display.Lit("previous scene"), display.Lit("next scene of the demo")
	return keys
}

// restartKey returns the key that restarts the demo.
func (tp *tourPlayer) restartKey() screen.Binding {
	return screen.Key("d", "restart", "restart the demo", tp.m.startTour)
}

// handleTourKey applies a key during the tour. During the opening, any key that the tour doesn't use starts
// the tour. Later, such a key ends the tour and has its usual effect. The keys for help, themes, suspending
// and interrupting never end the tour.
func (tp *tourPlayer) handleTourKey(k tea.KeyMsg) {
	name := k.String()
	if b := screen.FindBinding(tp.tourKeys(), name); b != nil {
		b.Do()
		return
	}
	if b := screen.FindBinding(tp.m.userGlobalKeys(), name); b != nil && isKeyOf(name, "help", "theme", "suspend", "interrupted") {
		if isKeyOf(name, "help", "theme") {
			tp.pauseTour()
		}
		b.Do()
		return
	}
	if tp.isTourOpening() && !isKeyOf(name, "quit") {
		tp.playToNextScene()
		return
	}
	tp.leaveTour()
	tp.m.handleKey(k)
	if _, browsing := tp.m.modeStack.activeMode().Mode.(browse); browsing && (tp.m.notice.Empty() || tp.m.isKeyUnknown) {
		tp.leaveTourWithNote()
	}
}

// isKeyOf reports whether a key is a built-in key of one of the actions.
func isKeyOf(key string, actions ...string) bool {
	return slices.ContainsFunc(actions, func(name string) bool { return slices.Contains(screen.ActionNamed(name).KeyList(), key) })
}

// captionRows returns the height of the caption below the panes: a title if there is room, and the text.
func (tp *tourPlayer) captionRows() int {
	switch {
	case tp.m.h < tallCaption, tp.m.h < tallLargeCaption && tp.m.frame.isLargePageShown():
		return 1
	case tp.m.w >= wideCaption && (tp.m.h < ruledCaption || tp.m.h < ruledLargeCaption && tp.m.frame.isLargePageShown()):
		return 2
	case tp.m.w >= wideCaption && tp.m.h >= nextCaption && !tp.m.frame.isLargePageShown():
		return 4
	}
	return 3
}

// The minimum screen heights for a caption of several rows, for a title above the caption, and for the next scene
// below it. On a narrow screen, each sentence takes one more row.
const (
	tallCaption  = 14
	ruledCaption = 20
	nextCaption  = 30
	wideCaption  = 72

	tallLargeCaption, ruledLargeCaption = 24, 28 // under block letters
)

// drawCaption draws row y of the caption.
func (tp *tourPlayer) drawCaption(p *screen.Pen, y int) {
	rows := tp.captionRows()
	if rows >= 3 && p.Left >= wideCaption {
		tp.drawTitledCaption(p, y, rows)
		return
	}
	place := tp.sceneProgress().Between(" ", "  ")
	lines := tp.captionLines(p.Left-place.Width()-1, rows)
	if y == 0 {
		p.Text(screen.Accent, place)
	} else {
		p.Spaces(screen.Bare, place.Width())
	}
	if y < len(lines) {
		p.Text(lines[y].Role, lines[y].Text)
	}
}

// drawTitledCaption draws row y of a caption: a title, the text of the scene and, if there are four rows, the next
// scene.
func (tp *tourPlayer) drawTitledCaption(p *screen.Pen, y, rows int) {
	next := rows == 4
	switch {
	case y == 0:
		var of, note display.Text
		if a, ok := tp.shownSubject(); ok && tp.shown {
			of = p.Name(a.call.Name)
		}
		switch seconds := sceneTime.Seconds() / tp.m.moment.speed; {
		case tp.waits:
			note = display.Lit("PAUSED")
		case tp.shown && !tp.off:
			note = p.Format("PLAY next in %.3g s", seconds)
		default:
			note = display.Lit("PLAY")
		}
		p.HeavyTitle(p.Format("Tour %d of %d", tp.sceneNumber(), len(tourScenes)), of, note)
	case next && y == rows-1:
		if n := tp.at + 1; tp.shown && n < len(tourScenes) {
			p.Text(screen.Muted, tourScenes[n].coming.Between(" next: ", ""))
		}
	default:
		if lines := tp.captionLines(p.Left-2, 2); y-1 < len(lines) {
			p.Text(lines[y-1].Role, lines[y-1].Text.Between(" ", ""))
		}
	}
}

// sceneProgress returns the number of the shown or next scene, and the total.
func (tp *tourPlayer) sceneProgress() display.Text {
	return display.Join(screen.Count(tp.sceneNumber()), display.Lit("/"), screen.Count(len(tourScenes)))
}

func (tp *tourPlayer) sceneNumber() int {
	if tp.shown {
		return tp.at + 1
	}
	return min(tp.at+2, len(tourScenes))
}

// captionLines returns the longest form of the caption that fits into the given number of rows. Until a scene is
// shown, it returns a line about the next scene.
func (tp *tourPlayer) captionLines(width, rows int) (lines []screen.StyledText) {
	if !tp.shown {
		c := &tourScenes[tp.sceneNumber()-1]
		if a, ok := c.of.subjectIn(tp.m.view); ok && a.call.MayGrow() && a.call.ArgsLen() > 0 {
			now := display.Join(tp.m.pen.Name(a.call.Name), display.Lit(" streams: "), c.coming)
			if now.Width() > width {
				now = display.Join(display.Lit("now: "), c.coming)
			}
			return []screen.StyledText{{Role: screen.Live, Text: now}}
		}
		return []screen.StyledText{{Role: screen.Muted, Text: display.Join(display.Lit("next: "), c.coming)}}
	}
	a, ok := tp.shownSubject()
	if !ok {
		return nil
	}
	c := tourScenes[tp.at].caption(a)
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

// shownSubject returns the subject of the shown scene, as it is now. The result ok is false if there is no
// scene or no call.
func (tp *tourPlayer) shownSubject() (a sceneSubject, ok bool) {
	if a.view = tp.m.view; tp.at < 0 {
		return a, false
	}
	a.turn, a.call = tp.m.view.Find(tp.about[tp.at])
	return a, a.call != nil
}

// drawOpening draws row y of the title screen, which is shown before the demo plays.
func (tp *tourPlayer) drawOpening(p *screen.Pen, y int) {
	width, height := min(p.Left-4, openingWidth), tp.m.bodyHeight()
	var lines []screen.StyledText
	for i, text := range []screen.StyledText{
		{Role: screen.Accent, Text: display.Lit("toolscope: LLM tool calls, while they stream")},
		{Role: screen.Plain, Text: display.Lit("A model calls a tool by writing JSON, a few bytes at a time. toolscope shows each call as it streams: its open parts, its cost, and the byte that breaks it.")},
		{Role: screen.Plain, Text: display.Lit("This demo is scripted: no network, no key. space starts, esc explores.")},
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

// The width of the title screen, and the minimum height at which blank rows separate its parts.
const (
	openingWidth = 64
	tallOpening  = 12
)
