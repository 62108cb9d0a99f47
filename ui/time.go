package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
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
	strip  panes.Strip
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
	m.walk.strip = panes.Strip{}
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
	m.walk.view.Walk(n)
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
		return m.walk.view.Moment()
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

// step goes to the delta so many further: of the call that the user keeps to, else of any text of the
// turn, else of any turn.
func (m *Model) step(by int) {
	if m.hold(); !m.held() {
		return
	}
	m.halt()
	n := m.moment()
	t, call := m.walked()
	for _, next := range []func() (int, bool){
		func() (int, bool) { return m.deltaOfCall(t, call, n, by) },
		func() (int, bool) { return m.deltaOfTurn(t, n, by) },
		func() (int, bool) { return m.deltaOfAny(n, by) },
	} {
		if at, ok := next(); ok {
			m.walkTo(at)
			return
		}
	}
	if by < 0 {
		m.walkTo(0)
		return
	}
	m.walkTo(m.in.Timeline.Len())
	m.say(display.Lit("that is all that has come: G goes on with it"))
}

// deltaOfCall is the moment after the next delta of a call, or after the one before.
func (m *Model) deltaOfCall(t *stream.Turn, call int32, n, by int) (at int, ok bool) {
	if t == nil || call == 0 || int(call) > len(t.Calls) {
		return 0, false
	}
	c, v := t.Calls[call-1], m.in.View()
	i := c.DeltasBefore(n) // the next
	if by < 0 {
		for i--; i >= 0 && v.After(int(c.DeltaEvent(i))) >= n; i-- {
		}
	}
	if i < 0 || i >= c.Deltas() {
		return 0, false
	}
	return v.After(int(c.DeltaEvent(i))), true
}

// bringsText reports whether events of a kind are what steps go by.
func bringsText(kind stream.EventKind) bool {
	return kind == stream.Args || kind == stream.Rewrite || kind == stream.TextDelta || kind == stream.ThinkDelta
}

// deltaOfTurn is the same of a turn, and of all its text.
func (m *Model) deltaOfTurn(t *stream.Turn, n, by int) (at int, ok bool) {
	if t == nil {
		return 0, false
	}
	v := m.in.View()
	events := v.EventsBefore(t, n-1)
	if by > 0 {
		events = v.EventsOf(t, n)
	}
	for e := range events {
		if kind, _ := v.About(e); bringsText(kind) && (by > 0 || v.After(e) < n) {
			return v.After(e), true
		}
	}
	return 0, false
}

// deltaOfAny is the same of any turn.
func (m *Model) deltaOfAny(n, by int) (at int, ok bool) {
	v, e := m.in.View(), n
	if by < 0 {
		e = n - 2
	}
	for ; e >= 0 && e < v.Events(); e += by {
		if kind, of := v.About(e); bringsText(kind) && (by > 0 || v.After(e) < n) {
			if m.walk.wanted.Turn != of.Turn && !m.follow {
				m.walk.wanted, m.walk.shown = of, m.chosen
			}
			return v.After(e), true
		}
	}
	return 0, false
}

// stop goes to the stop so many further: a mark, or with marks false a finding or a change of state.
// Behind those of the turn come those of the next one.
func (m *Model) stop(by int, marks bool) {
	if m.hold(); !m.held() {
		return
	}
	m.halt()
	t, call := m.walked()
	turns, n := m.in.Session().Turns, m.moment()
	i := slices.IndexFunc(turns, func(of *stream.Turn) bool { return t != nil && of.Number == t.Number })
	if i < 0 {
		i = 0
	}
	for ; i >= 0 && i < len(turns); i, call = i+by, 0 {
		if at, ok := m.stopOf(turns[i], call, n, by, marks); ok {
			if turns[i] != t {
				m.walk.wanted = turns[i].Ref()
				m.walk.shown = m.chosen
			}
			m.walkTo(at)
			return
		}
	}
	m.say(display.Lit("there is none further on"))
}

// stopOf is the moment after the next stop of a turn, or the one before.
func (m *Model) stopOf(t *stream.Turn, call int32, n, by int, marks bool) (at int, ok bool) {
	stops := panes.Moments(m.in.View(), t, call)
	if by < 0 {
		slices.Reverse(stops)
	}
	for _, s := range stops {
		fits := s.Mark
		if !marks {
			fits = s.Is == panes.Begins && s.ByCall > 0 || s.Is == panes.Finding && s.Found > stream.Info
		}
		if e := m.in.View().After(s.Event); fits && cmp.Compare(e, n) == by {
			return e, true
		}
	}
	return 0, false
}

// restart goes to where the turn begins, and from there to the start of all.
func (m *Model) restart() {
	t, _ := m.walked()
	m.halt()
	if t == nil || m.moment() <= int(t.OpenedBy)+1 {
		m.walkTo(0)
		return
	}
	m.walkTo(int(t.OpenedBy) + 1)
}

// endHere shows what it would be if the source had ended at the moment, or no longer.
func (m *Model) endHere() {
	if m.hold(); !m.held() {
		return
	}
	m.halt()
	m.wanted()
	if n := m.moment(); m.walk.view.Ended() {
		m.walk.view.Walk(n)
	} else {
		m.walk.view.EndHere()
	}
	m.arriveAt()
}

// goAt goes to a moment of the turn: so long after it began, or a delta of the call.
func (m *Model) goAt(arg string) {
	t, call := m.walked()
	if t == nil {
		m.say(display.Lit("no turn to go to a moment of"))
		return
	}
	if number, ok := strings.CutPrefix(strings.Replace(arg, "Δ", "d", 1), "d"); ok {
		m.goAtDelta(t, call, number)
		return
	}
	d, err := time.ParseDuration(arg)
	if seconds, bare := strconv.ParseFloat(arg, 64); bare == nil {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	switch {
	case err != nil:
		m.say(m.draw.Format("%q: a time of the turn, as in :at 1.25s, or a delta, as in :at d14", arg))
	case t.OpenedAt < 0:
		m.say(display.Lit("the source has no times: :at d14 goes to a delta"))
	default:
		m.walkTo(m.in.View().MomentAt(t, t.OpenedAt+d))
	}
}

func (m *Model) goAtDelta(t *stream.Turn, call int32, number string) {
	if call == 0 && m.chosen.Turn == t.Number {
		call = m.chosen.Call
	}
	n, err := strconv.Atoi(number)
	if call == 0 || int(call) > len(t.Calls) || err != nil || n < 1 || n > t.Calls[call-1].Deltas() {
		m.say(m.draw.Format("the call has no delta %s", m.draw.Clean(number)))
		return
	}
	m.walkTo(m.in.View().After(int(t.Calls[call-1].DeltaEvent(n - 1))))
}

// stripRows is how many rows the strip has now, 0 while the screen shows what there is.
func (m *Model) stripRows() int {
	if !m.held() {
		return 0
	}
	t, _ := m.walked()
	if t == nil {
		return 1
	}
	return panes.StripRows(m.h, len(t.Calls))
}

// extendStrip has the strip take what has come.
func (m *Model) extendStrip() {
	if !m.held() {
		return
	}
	w := &m.walk
	at := panes.StripAt{
		Live: m.in.View(), Then: w.view, Turn: stream.NoTurn, Chosen: m.chosen, Word: m.walkWord().text, Moves: w.playing, Ended: w.view.Ended(),
	}
	if t, _ := m.walked(); t != nil {
		at.Turn = t.Number
	}
	if n := m.in.Timeline.Len() - m.moment(); n > 0 && m.moving() {
		at.Ahead, at.Less = screen.Count(n).Between("live is +", " ahead"), screen.Count(n).Between("+", "")
	} else if n > 0 {
		at.Ahead, at.Less = screen.Count(n).Between("the end is +", " ahead"), screen.Count(n).Between("+", "")
	}
	w.strip.Extend(at, m.w, m.h, &m.pen)
}
