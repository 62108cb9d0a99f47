package ui

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

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
