package ui

import (
	"slices"
	"sort"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// search is a query and its matches in the focused pane, or else in the first other pane with a match. A
// match is a byte of the arguments or a row, depending on the pane.
type search struct {
	query  string
	pane   panes.Pane
	hits   []int
	at     int        // current match
	there  bool       // the user went to a match
	cursor int        // place in the pane from which the first match is searched
	next   int        // how far the pane was searched, or searchDone
	round  int        // number of the current search step
	of     stream.Ref // the selection at the search
	events int        // number of events at the search
}

// searchDone is the position after a complete search.
const searchDone = -1

// seekTime is the search time before the next frame.
const seekTime = 6 * time.Millisecond

// findText searches for query, first in the focused pane, and goes to the first match from the cursor on.
func (m *Model) findText(query string) {
	m.setFollow(false)
	m.clearSearch()
	m.search.query, m.search.pane = query, m.focus
	m.findHits()
	m.selectFirstHit()
}

func (m *Model) clearSearch() {
	if m.search.pane != nil {
		m.search.pane.Find("")
	}
	m.search = search{next: searchDone, round: m.search.round + 1}
}

// findHits searches the pane, or else the others until one has a match.
func (m *Model) findHits() {
	s := &m.search
	if s.query == "" {
		return
	}
	s.hits, s.next, s.at, s.there, s.of, s.events = nil, 0, 0, false, m.selected, m.view.Events()
	m.searchPart()
	if len(s.hits) > 0 || s.next != searchDone {
		m.seekLater()
		return
	}
	if other := m.afterPane(s.pane); other != nil {
		s.pane.Find("")
		s.pane = other
		m.findHits()
	}
}

// afterPane returns the pane to search after another: first the focused one, then the others in the order of
// tab, then nil.
func (m *Model) afterPane(asked panes.Pane) panes.Pane {
	from := 0
	if asked != m.focus {
		from = m.index(asked) + 1
	}
	for _, p := range m.table[from:] {
		if p.Pane != m.focus {
			return p.Pane
		}
	}
	return nil
}

// searchPart searches a part of the pane, or all of it if its search is fast.
func (m *Model) searchPart() {
	s := &m.search
	of, slow := s.pane.(panes.SlowSearcher)
	if !slow {
		s.hits, s.cursor = s.pane.Find(s.query)
		s.next = searchDone
		return
	}
	if s.next == 0 {
		s.cursor = of.Cursor()
	}
	began, current := m.opt.Now(), -1
	if s.there {
		current = s.hits[s.at]
	}
	more, next := of.SearchFrom(s.query, s.next, func() bool { return m.opt.Now().Sub(began) < seekTime })
	s.hits = append(s.hits, more...)
	slices.Sort(s.hits) // turns below a call come before the next call
	if s.next = next; s.there {
		s.at, _ = slices.BinarySearch(s.hits, current)
	}
}

// seekLater continues the search after the next frame, if it is not complete.
func (m *Model) seekLater() {
	s := &m.search
	if s.next == searchDone {
		return
	}
	s.round++
	piece := s.round
	m.queueCmd(func() tea.Msg { return workDone{then: func() { m.seekOn(piece) }} })
}

// seekOn searches another part, unless the search has changed.
func (m *Model) seekOn(piece int) {
	s := &m.search
	if s.round != piece || s.next == searchDone {
		return
	}
	m.searchPart()
	if s.next != searchDone {
		m.seekLater()
	} else if other := m.afterPane(s.pane); len(s.hits) == 0 && other != nil {
		s.pane = other
		m.findHits()
	}
	m.selectFirstHit()
}

// selectFirstHit goes to the first match from the cursor on, or else to the first of all when it is known.
// It goes to another pane only after the user has finished typing, because each letter may change the
// match.
func (m *Model) selectFirstHit() {
	s := &m.search
	from := sort.SearchInts(s.hits, s.cursor)
	switch {
	case s.query == "" || s.there || from == len(s.hits) && s.next != searchDone:
		return
	case from == len(s.hits):
		from = 0
	}
	s.at = from
	if _, typed := m.activeMode().Mode.(*searchBar); s.pane == m.focus || !typed {
		m.goToHit(0)
	}
}

// lookAgain repeats the search if the content has changed since.
func (m *Model) lookAgain(step int) {
	before := m.search
	inList := before.pane == m.last[panes.Left] // which does not depend on the selection
	if before.events == m.view.Events() && (inList || before.of == m.selected) {
		return
	}
	if len(before.hits) == 0 {
		m.search.pane = m.focus
	}
	m.findHits()
	s := &m.search
	if s.at = before.at; len(before.hits) == 0 || before.of != m.selected && !inList || s.pane != before.pane {
		if s.at = sort.SearchInts(s.hits, s.cursor); s.at == len(s.hits) {
			s.at = 0
		}
		s.at -= max(step, 0)
	}
}

// goToHit goes to the match that is step places further.
func (m *Model) goToHit(step int) {
	s := &m.search
	if step != 0 && s.query != "" {
		m.lookAgain(step)
	}
	n := len(s.hits)
	if n == 0 {
		if s.query != "" {
			m.notice = display.Join(m.draw.Clean(s.query).Between("no matches for ", ""), m.unsearchedNote())
		}
		return
	}
	s.at, s.there = ((s.at+step)%n+n)%n, true
	m.setFollow(false)
	if tab, ok := s.pane.(panes.Tab); ok && s.pane != m.focus {
		m.openTab(tab)
	} else if s.pane != m.focus {
		m.showPane(s.pane)
	}
	s.pane.GoTo(s.hits[s.at])
	if s.pane == m.focus {
		m.linkPanes()
	} else {
		m.refreshPanes()
	}
	m.notice = display.Join(m.draw.Clean(s.query), display.Lit("  "), m.hitsText(), m.unsearchedNote())
}

// hitsText returns the number of the current match, the total, and their pane.
func (m *Model) hitsText() display.Text {
	s := &m.search
	n := len(s.hits)
	switch {
	case s.query == "":
		return display.Text{}
	case n == 0 && s.next != searchDone:
		return display.Lit("searching")
	case n == 0:
		return display.Lit("no matches")
	}
	text := m.draw.Format("%s of %s", screen.Count(s.at+1), screen.Count(n))
	if s.next != searchDone {
		text = text.Between("", " so far")
	}
	if s.pane == m.focus {
		return text
	}
	return display.Join(text, display.Lit(" "), placeName(s.pane))
}

// unsearchedNote says how many turns have arguments that were not searched. It is empty if there are none.
func (m *Model) unsearchedNote() display.Text {
	if l, ok := m.search.pane.(*panes.List); ok && l.Unsearched > 0 {
		return screen.Plural(l.Unsearched, "turn").Between("  arguments of ", " not searched")
	}
	return display.Text{}
}
