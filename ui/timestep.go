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

// stepDelta goes to the next or previous delta: of the selected call, or else of any text in the turn, or
// else of any turn.
func (pm *pausedMoment) stepDelta(by int) {
	if pm.pauseScreen(); !pm.isPaused() {
		return
	}
	pm.stopPlaying()
	n := pm.eventCount()
	t, call := pm.steppedTurn()
	for _, next := range []func() (int, bool){
		func() (int, bool) { return pm.deltaOfCall(t, call, n, by) },
		func() (int, bool) { return pm.deltaOfTurn(t, n, by) },
		func() (int, bool) { return pm.deltaOfAny(n, by) },
	} {
		if at, ok := next(); ok {
			pm.goToMoment(at)
			return
		}
	}
	if by < 0 {
		pm.goToMoment(0)
		return
	}
	pm.goToMoment(pm.m.in.Timeline.Len())
	pm.m.showNotice(display.Lit("this is the latest moment: G follows new events"))
}

// deltaOfCall returns the moment after the next or previous delta of a call. The parameter by is 1 or -1. The
// result ok is false if there is no such delta.
func (pm *pausedMoment) deltaOfCall(t *stream.Turn, call int32, n, by int) (at int, ok bool) {
	if t == nil || call == 0 || int(call) > len(t.Calls) {
		return 0, false
	}
	c, v := t.Calls[call-1], pm.m.in.View()
	i := c.DeltasBefore(n) // the next delta
	if by < 0 {
		for i--; i >= 0 && v.AfterEvent(int(c.DeltaEvent(i))) >= n; i-- {
		}
	}
	if i < 0 || i >= c.Deltas() {
		return 0, false
	}
	return v.AfterEvent(int(c.DeltaEvent(i))), true
}

// bringsText reports whether stepping stops at events of the given kind.
func bringsText(kind stream.EventKind) bool {
	return kind == stream.Args || kind == stream.Rewrite || kind == stream.TextDelta || kind == stream.ThinkDelta
}

// deltaOfTurn is like deltaOfCall, but for all text in a turn.
func (pm *pausedMoment) deltaOfTurn(t *stream.Turn, n, by int) (at int, ok bool) {
	if t == nil {
		return 0, false
	}
	v := pm.m.in.View()
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

// deltaOfAny is like deltaOfTurn, but for any turn.
func (pm *pausedMoment) deltaOfAny(n, by int) (at int, ok bool) {
	v, e := pm.m.in.View(), n
	if by < 0 {
		e = n - 2
	}
	for ; e >= 0 && e < v.Events(); e += by {
		if kind, of := v.Subject(e); bringsText(kind) && (by > 0 || v.AfterEvent(e) < n) {
			if pm.wanted.Turn != of.Turn && !pm.m.follow {
				pm.wanted, pm.shown = of, pm.m.selected
			}
			return v.AfterEvent(e), true
		}
	}
	return 0, false
}

// stepMarker goes to the next or previous marker, and continues in other turns. If marks is false, it stops
// only at findings above severity info and at states of calls.
func (pm *pausedMoment) stepMarker(by int, marks bool) {
	if pm.pauseScreen(); !pm.isPaused() {
		return
	}
	pm.stopPlaying()
	t, call := pm.steppedTurn()
	turns, n := pm.m.in.Session().Turns, pm.eventCount()
	i := slices.IndexFunc(turns, func(of *stream.Turn) bool { return t != nil && of.Number == t.Number })
	if i < 0 {
		i = 0
	}
	for ; i >= 0 && i < len(turns); i, call = i+by, 0 {
		if at, ok := pm.markerMoment(turns[i], call, n, by, marks); ok {
			if turns[i] != t {
				pm.wanted = turns[i].Ref()
				pm.shown = pm.m.selected
			}
			pm.goToMoment(at)
			return
		}
	}
	pm.m.showNotice(display.Lit("no more matches"))
}

// markerMoment returns the moment after the next or previous marker of a turn. The result ok is false if there
// is none.
func (pm *pausedMoment) markerMoment(t *stream.Turn, call int32, n, by int, marks bool) (at int, ok bool) {
	stops := panes.Markers(pm.m.in.View(), t, call)
	if by < 0 {
		slices.Reverse(stops)
	}
	for _, s := range stops {
		fits := s.Mark
		if !marks {
			fits = s.Kind == panes.MarkerState && s.ByCall > 0 || s.Kind == panes.MarkerFinding && s.Found > stream.Info
		}
		if e := pm.m.in.View().AfterEvent(s.Event); fits && cmp.Compare(e, n) == by {
			return e, true
		}
	}
	return 0, false
}

// goToTurnStart goes to the start of the turn. If the screen already shows that moment, it goes to the start
// of the timeline.
func (pm *pausedMoment) goToTurnStart() {
	t, _ := pm.steppedTurn()
	pm.stopPlaying()
	if t == nil || pm.eventCount() <= int(t.OpenedBy)+1 {
		pm.goToMoment(0)
		return
	}
	pm.goToMoment(int(t.OpenedBy) + 1)
}

// goAt goes to a moment of the turn, given as a time since the turn's start or as a delta of the call.
func (pm *pausedMoment) goAt(arg string) {
	t, call := pm.steppedTurn()
	if t == nil {
		pm.m.showNotice(display.Lit("no turn selected"))
		return
	}
	if number, ok := strings.CutPrefix(strings.Replace(arg, "Δ", "d", 1), "d"); ok {
		if call == 0 && pm.m.selected.Turn == t.Number {
			call = pm.m.selected.Call
		}
		n, err := strconv.Atoi(number)
		if call == 0 || int(call) > len(t.Calls) || err != nil || n < 1 || n > t.Calls[call-1].Deltas() {
			pm.m.showNotice(pm.m.draw.Format("the call has no delta %s", pm.m.draw.Clean(number)))
			return
		}
		pm.goToMoment(pm.m.in.View().AfterEvent(int(t.Calls[call-1].DeltaEvent(n - 1))))
		return
	}
	d, err := time.ParseDuration(arg)
	if seconds, bare := strconv.ParseFloat(arg, 64); bare == nil {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	switch {
	case err != nil:
		pm.m.showNotice(pm.m.draw.Format("%q: use a time, e.g. :at 1.25s, or a delta, e.g. :at d14", arg))
	case t.OpenedAt < 0:
		pm.m.showNotice(display.Lit("the source has no times: use a delta, :at d14"))
	default:
		pm.goToMoment(pm.m.in.View().EventsAt(t, t.OpenedAt+d))
	}
}

// bookmark is a named place: a turn, or a byte of a call. Bookmarks last until the program ends, and don't
// depend on the shown moment.
type bookmark struct {
	name  display.Text
	given bool // the user gave the name
	of    stream.Ref
	off   int // offset in the arguments

	exchange, nth int // exchange of the turn, and index in that exchange: turn numbers change when an exchange is read as another protocol
}

// maxBookmarks is the maximum number of bookmarks.
const maxBookmarks = 200

// bookmarks are the user's named places.
type bookmarks struct {
	m      *Model
	places []bookmark
}

// toggleBookmark bookmarks the current place, with a default name if name is empty. If another place has that name,
// the name moves to the current place. If the current place already has that name, the bookmark is removed.
func (bm *bookmarks) toggleBookmark(name string) {
	t, c := bm.m.view.Find(bm.m.selected)
	if t == nil {
		bm.m.showNotice(display.Lit("nothing to bookmark"))
		return
	}
	b := bookmark{name: bm.m.pen.Name(name), given: name != "", of: bm.m.selected, exchange: t.Exchange}
	for _, other := range bm.m.in.Session().Turns {
		if other.Exchange == t.Exchange && other.Number < t.Number {
			b.nth++
		}
	}
	if c != nil {
		b.off = bm.m.doc.Offset()
	}
	if name == "" {
		b.name = display.Join(bm.m.placeText(), bm.m.draw.Format(", turn %d", t.Number+1))
	}
	i := slices.IndexFunc(bm.places, func(p bookmark) bool { return p.name.String() == b.name.String() })
	switch {
	case i >= 0 && bm.places[i] == b:
		bm.places = slices.Delete(bm.places, i, i+1)
		bm.m.showNotice(b.name.Between("bookmark removed: ", ""))
		return
	case i >= 0:
		bm.places = slices.Delete(bm.places, i, i+1)
	case len(bm.places) == maxBookmarks:
		bm.m.showNotice(bm.m.draw.Format("at most %d bookmarks", maxBookmarks))
		return
	}
	bm.places = append(bm.places, b)
	bm.m.showNotice(b.name.Between("bookmarked ", ": ' goes there"))
}

// paletteBookmarks returns the bookmarks for the palette, the latest first.
func (bm *bookmarks) paletteBookmarks() (all []modes.Bookmark) {
	for _, b := range slices.Backward(bm.places) {
		var where display.Text // no detail if the name already contains it
		if b.given {
			where = bm.m.draw.Format("turn %s", screen.Count(int(b.of.Turn)+1))
		}
		if b.of.Call > 0 {
			where = display.Join(where, bm.m.draw.Format(" call %d", b.of.Call))
		}
		all = append(all, modes.Bookmark{Name: b.name.Between("go to ", ""), Where: where, Go: func() { bm.goToBookmark(b) }})
	}
	return all
}

// openBookmarks lists the bookmarks that the user can go to.
func (bm *bookmarks) openBookmarks() {
	if len(bm.places) == 0 {
		bm.m.showNotice(display.Lit("no bookmarks: add one with B or :mark NAME"))
		return
	}
	bm.m.modeStack.pushMode(modes.NewPalette(modeHost{bm.m}, modes.PaletteActions{Bookmarks: bm.paletteBookmarks(), Turn: bm.m.goTo}, bm.m.draw))
}

// goToBookmark goes to a bookmark. esc goes back.
func (bm *bookmarks) goToBookmark(b bookmark) {
	t, c := bm.m.view.Find(b.of)
	if live, _ := bm.m.in.View().Find(b.of); t == nil || b.of.Call > 0 && c == nil {
		if bm.m.showNotice(b.name.Between("", " is no longer kept")); live != nil {
			bm.m.showNotice(b.name.Between("", " is later than this moment: G shows the latest"))
		}
		return
	}
	bm.m.modeStack.closeAll()
	bm.m.setFollow(false)
	pane, chosen := bm.m.focus, bm.m.selected
	bm.m.selected = b.of
	if c == nil {
		bm.m.focusOn(bm.m.list)
	} else {
		bm.m.focusOn(bm.m.doc)
		bm.m.doc.GoToByte(min(b.off, max(0, len(c.Args())-1)))
	}
	bm.m.refreshPanes()
	bm.m.leaveFrom(pane, chosen)
}

// updateBookmarks updates the bookmarks whose turns have new numbers, and removes those whose turns no longer
// exist.
func (bm *bookmarks) updateBookmarks() {
	bm.places = slices.DeleteFunc(bm.places, func(b bookmark) bool { return bm.refOf(b) == stream.NoRef })
	for i := range bm.places {
		bm.places[i].of = bm.refOf(bm.places[i])
	}
}

// refOf returns the turn or call that a bookmark refers to, or NoRef if the turn no longer exists.
func (bm *bookmarks) refOf(b bookmark) stream.Ref {
	n := b.nth
	for _, t := range bm.m.in.Session().Turns {
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
