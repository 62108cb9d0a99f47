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

// search is what was looked for, and where it was found: in the pane that had the focus, or else in
// the first of the others that has it. The meaning of a hit is the pane's: a byte of the arguments,
// or a row.
type search struct {
	query  string
	pane   panes.Pane
	hits   []int
	at     int        // current hit
	there  bool       // one went to a hit
	cursor int        // of the pane: the first hit is that from there on
	next   int        // how far the pane was looked through, or whole
	round  int        // how often one went on to look, so far
	of     stream.Ref // what was shown then
	events int        // how many there were then
}

// searchDone is how far a pane was looked through that has no more.
const searchDone = -1

// seekTime is how long is looked before the next frame.
const seekTime = 6 * time.Millisecond

// findText looks for query, in the focused pane first, and goes to the first hit from the cursor on.
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

// findHits looks for the query in what its pane shows now, or else in the first of the other panes that
// shows it.
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

// afterPane is the pane that is asked after another: the focused one is the first, then the others
// in the order of tab, and then none.
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

// searchPart looks through a piece of the pane, or all of it where that takes no time.
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
	slices.Sort(s.hits) // what is under a call stands before the call behind it
	if s.next = next; s.there {
		s.at, _ = slices.BinarySearch(s.hits, current)
	}
}

// seekLater goes on behind the next frame, if there is more to look through.
func (m *Model) seekLater() {
	s := &m.search
	if s.next == searchDone {
		return
	}
	s.round++
	piece := s.round
	m.queueCmd(func() tea.Msg { return workDone{then: func() { m.seekOn(piece) }} })
}

// seekOn looks through another piece, unless something else is looked for by now.
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

// selectFirstHit goes to the first hit from the cursor on, or to the first of all, once it is known. To another
// pane one goes only when nothing more is typed: each letter may be found elsewhere.
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

// lookAgain looks once more if there is something else to see than then.
func (m *Model) lookAgain(step int) {
	before := m.search
	inList := before.pane == m.last[panes.Left] // which is about all, whatever is chosen
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

// goToHit goes to the hit so many further on.
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

// hitsText is which hit one is at, of how many, and where they are.
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

// unsearchedNote says of how many turns the arguments were not looked through, if there are some.
func (m *Model) unsearchedNote() display.Text {
	if l, ok := m.search.pane.(*panes.List); ok && l.Unsearched > 0 {
		return screen.Plural(l.Unsearched, "turn").Between("  arguments of ", " not searched")
	}
	return display.Text{}
}
