package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// stepDelta goes to the delta that is by places further: of the selected call, or else of any text of the
// turn, or else of any turn.
func (m *Model) stepDelta(by int) {
	if m.pauseScreen(); !m.isPaused() {
		return
	}
	m.stopPlaying()
	n := m.eventCount()
	t, call := m.steppedTurn()
	for _, next := range []func() (int, bool){
		func() (int, bool) { return m.deltaOfCall(t, call, n, by) },
		func() (int, bool) { return m.deltaOfTurn(t, n, by) },
		func() (int, bool) { return m.deltaOfAny(n, by) },
	} {
		if at, ok := next(); ok {
			m.goToMoment(at)
			return
		}
	}
	if by < 0 {
		m.goToMoment(0)
		return
	}
	m.goToMoment(m.in.Timeline.Len())
	m.showNotice(display.Lit("this is the latest: G follows it"))
}

// deltaOfCall returns the moment after the next or previous delta of a call.
func (m *Model) deltaOfCall(t *stream.Turn, call int32, n, by int) (at int, ok bool) {
	if t == nil || call == 0 || int(call) > len(t.Calls) {
		return 0, false
	}
	c, v := t.Calls[call-1], m.in.View()
	i := c.DeltasBefore(n) // the next
	if by < 0 {
		for i--; i >= 0 && v.AfterEvent(int(c.DeltaEvent(i))) >= n; i-- {
		}
	}
	if i < 0 || i >= c.Deltas() {
		return 0, false
	}
	return v.AfterEvent(int(c.DeltaEvent(i))), true
}

// bringsText reports whether stepping stops at events of a kind.
func bringsText(kind stream.EventKind) bool {
	return kind == stream.Args || kind == stream.Rewrite || kind == stream.TextDelta || kind == stream.ThinkDelta
}

// deltaOfTurn is like deltaOfCall, for all text of a turn.
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
		if kind, _ := v.Subject(e); bringsText(kind) && (by > 0 || v.AfterEvent(e) < n) {
			return v.AfterEvent(e), true
		}
	}
	return 0, false
}

// deltaOfAny is like deltaOfCall, for any turn.
func (m *Model) deltaOfAny(n, by int) (at int, ok bool) {
	v, e := m.in.View(), n
	if by < 0 {
		e = n - 2
	}
	for ; e >= 0 && e < v.Events(); e += by {
		if kind, of := v.Subject(e); bringsText(kind) && (by > 0 || v.AfterEvent(e) < n) {
			if m.moment.wanted.Turn != of.Turn && !m.follow {
				m.moment.wanted, m.moment.shown = of, m.selected
			}
			return v.AfterEvent(e), true
		}
	}
	return 0, false
}

// stepMarker goes to the marker that is by places further, and continues in the next turn. With marks
// false, it stops only at findings and state changes.
func (m *Model) stepMarker(by int, marks bool) {
	if m.pauseScreen(); !m.isPaused() {
		return
	}
	m.stopPlaying()
	t, call := m.steppedTurn()
	turns, n := m.in.Session().Turns, m.eventCount()
	i := slices.IndexFunc(turns, func(of *stream.Turn) bool { return t != nil && of.Number == t.Number })
	if i < 0 {
		i = 0
	}
	for ; i >= 0 && i < len(turns); i, call = i+by, 0 {
		if at, ok := m.markerMoment(turns[i], call, n, by, marks); ok {
			if turns[i] != t {
				m.moment.wanted = turns[i].Ref()
				m.moment.shown = m.selected
			}
			m.goToMoment(at)
			return
		}
	}
	m.showNotice(display.Lit("no more matches"))
}

// markerMoment returns the moment after the next or previous marker of a turn.
func (m *Model) markerMoment(t *stream.Turn, call int32, n, by int, marks bool) (at int, ok bool) {
	stops := panes.Markers(m.in.View(), t, call)
	if by < 0 {
		slices.Reverse(stops)
	}
	for _, s := range stops {
		fits := s.Mark
		if !marks {
			fits = s.Kind == panes.MarkerState && s.ByCall > 0 || s.Kind == panes.MarkerFinding && s.Found > stream.Info
		}
		if e := m.in.View().AfterEvent(s.Event); fits && cmp.Compare(e, n) == by {
			return e, true
		}
	}
	return 0, false
}

// goToTurnStart goes to the start of the turn. If it is there already, it goes to the start of the
// timeline.
func (m *Model) goToTurnStart() {
	t, _ := m.steppedTurn()
	m.stopPlaying()
	if t == nil || m.eventCount() <= int(t.OpenedBy)+1 {
		m.goToMoment(0)
		return
	}
	m.goToMoment(int(t.OpenedBy) + 1)
}

// goAt goes to a moment of the turn: a time since its start, or a delta of the call.
func (m *Model) goAt(arg string) {
	t, call := m.steppedTurn()
	if t == nil {
		m.showNotice(display.Lit("no turn selected"))
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
		m.showNotice(m.draw.Format("%q: use a time, e.g. :at 1.25s, or a delta, e.g. :at d14", arg))
	case t.OpenedAt < 0:
		m.showNotice(display.Lit("the source has no times: use a delta, :at d14"))
	default:
		m.goToMoment(m.in.View().EventsAt(t, t.OpenedAt+d))
	}
}

func (m *Model) goAtDelta(t *stream.Turn, call int32, number string) {
	if call == 0 && m.selected.Turn == t.Number {
		call = m.selected.Call
	}
	n, err := strconv.Atoi(number)
	if call == 0 || int(call) > len(t.Calls) || err != nil || n < 1 || n > t.Calls[call-1].Deltas() {
		m.showNotice(m.draw.Format("the call has no delta %s", m.draw.Clean(number)))
		return
	}
	m.goToMoment(m.in.View().AfterEvent(int(t.Calls[call-1].DeltaEvent(n - 1))))
}

// bookmark is a named place: a turn, or a byte of a call. Bookmarks last for the session, and don't depend
// on the shown moment.
type bookmark struct {
	name  display.Text
	given bool // the user gave the name
	of    stream.Ref
	off   int // in the arguments

	exchange, nth int // index in its exchange: turn numbers change when the exchange is read as another protocol
}

// maxBookmarks is the maximum number of bookmarks.
const maxBookmarks = 200

// toggleBookmark bookmarks the current place, with a default name if name is empty. If another place has
// that name, the name moves to this place. If this place has it already, the bookmark is removed.
func (m *Model) toggleBookmark(name string) {
	t, c := m.view.Find(m.selected)
	if t == nil {
		m.showNotice(display.Lit("nothing to bookmark"))
		return
	}
	b := bookmark{name: m.pen.Name(name), given: name != "", of: m.selected, exchange: t.Exchange, nth: m.nthOf(t)}
	if c != nil {
		b.off = m.doc.Offset()
	}
	if name == "" {
		b.name = display.Join(m.breadcrumb().lastWithPlace(), m.draw.Format(", turn %d", t.Number+1))
	}
	i := slices.IndexFunc(m.places, func(p bookmark) bool { return p.name.String() == b.name.String() })
	switch {
	case i >= 0 && m.places[i] == b:
		m.places = slices.Delete(m.places, i, i+1)
		m.showNotice(b.name.Between("bookmark removed: ", ""))
		return
	case i >= 0:
		m.places = slices.Delete(m.places, i, i+1)
	case len(m.places) == maxBookmarks:
		m.showNotice(m.draw.Format("at most %d bookmarks", maxBookmarks))
		return
	}
	m.places = append(m.places, b)
	m.showNotice(b.name.Between("bookmarked ", ": ' goes there"))
}

// nthOf returns the index of a turn among those of its exchange.
func (m *Model) nthOf(t *stream.Turn) (n int) {
	for _, other := range m.in.Session().Turns {
		if other.Exchange == t.Exchange && other.Number < t.Number {
			n++
		}
	}
	return n
}

// paletteBookmarks returns the bookmarks for the palette, the latest first.
func (m *Model) paletteBookmarks() (all []modes.Bookmark) {
	for _, b := range slices.Backward(m.places) {
		var where display.Text // unless the name contains it
		if b.given {
			where = m.draw.Format("turn %s", screen.Count(int(b.of.Turn)+1))
		}
		if b.of.Call > 0 {
			where = display.Join(where, m.draw.Format(" call %d", b.of.Call))
		}
		all = append(all, modes.Bookmark{Name: b.name.Between("go to ", ""), Where: where, Go: func() { m.goToBookmark(b) }})
	}
	return all
}

// openBookmarks lists the bookmarks to go to.
func (m *Model) openBookmarks() {
	if len(m.places) == 0 {
		m.showNotice(display.Lit("no bookmarks: add one with B or :mark NAME"))
		return
	}
	m.pushMode(modes.NewPalette(modeHost{m}, modes.PaletteActions{Bookmarks: m.paletteBookmarks(), Turn: m.goTo}, m.draw))
}

// goToBookmark goes to a bookmark. esc goes back.
func (m *Model) goToBookmark(b bookmark) {
	t, c := m.view.Find(b.of)
	if live, _ := m.in.View().Find(b.of); t == nil || b.of.Call > 0 && c == nil {
		if m.showNotice(b.name.Between("", " is no longer kept")); live != nil {
			m.showNotice(b.name.Between("", " is later than this moment: G shows now"))
		}
		return
	}
	m.closeAll()
	m.setFollow(false)
	pane, chosen := m.focus, m.selected
	m.selected = b.of
	if c == nil {
		m.focusOn(m.list)
	} else {
		m.focusOn(m.doc)
		m.doc.GoToByte(min(b.off, max(0, len(c.Args())-1)))
	}
	m.refreshPanes()
	m.leaveFrom(pane, chosen)
}

// updateBookmarks updates the bookmarks of turns whose numbers have changed.
func (m *Model) updateBookmarks() {
	m.places = slices.DeleteFunc(m.places, func(b bookmark) bool { return m.refOf(b) == stream.NoRef })
	for i := range m.places {
		m.places[i].of = m.refOf(m.places[i])
	}
}

// refOf returns the turn or call of a bookmark.
func (m *Model) refOf(b bookmark) stream.Ref {
	n := b.nth
	for _, t := range m.in.Session().Turns {
		if t.Exchange != b.exchange {
			continue
		}
		if n == 0 {
			return stream.Ref{Turn: t.Number, Call: min(b.of.Call, int32(len(t.Calls)))}
		}
		n--
	}
	return stream.NoRef
}
