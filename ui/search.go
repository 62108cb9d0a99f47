package ui

import (
	"fmt"
	"sort"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// search is what was looked for in a pane, and where it was found. The meaning of a hit is the
// pane's: a byte of the arguments, or a row.
type search struct {
	query  string
	pane   panes.Pane
	hits   []int
	at     int        // current hit
	of     stream.Ref // what was shown then
	events int        // how many there were then
}

// searchBar is the mode in which a query is typed; hits show in the panes while it is.
type searchBar struct {
	browse
	input  *screen.Input
	query  string // that was looked for
	before search
}

func newSearchBar(m *Model) *searchBar {
	return &searchBar{browse: browse{m}, input: screen.NewInput(display.Lit(" /"), "", 200), before: m.search}
}

// Typing is the query.
func (s *searchBar) Typing() *screen.Input { return s.input }

// Keys are those that end it.
func (s *searchBar) Keys() []screen.Binding {
	return []screen.Binding{
		{Keys: []string{"enter"}, Hint: display.Lit("enter keep"), Does: display.Lit("keep the hits"), Do: func() {
			s.m.closeTop()
			s.m.hit(0) // says how many there are
		}},
		{Keys: []string{"esc"}, Hint: display.Lit("esc cancel"), Does: display.Lit("as it was before"), Do: func() {
			s.m.clearSearch()
			s.m.search = s.before
			s.m.look()
			s.m.closeTop()
		}},
	}
}

// Extend looks for what is typed.
func (s *searchBar) Extend(*providers.View, int, int) {
	if query := s.input.Value(); query != s.query {
		s.query = query
		s.m.find(query)
	}
	s.input.Note = s.m.draw.Clean(s.m.search.count()).Between(" ", "")
}

func (s search) count() string {
	switch {
	case s.query == "":
		return ""
	case len(s.hits) == 0:
		return "no hits"
	}
	return fmt.Sprintf("%s/%s", screen.Count(s.at+1), screen.Count(len(s.hits)))
}

// find looks for query in the focused pane and goes to the first hit from the cursor on.
func (m *Model) find(query string) {
	m.setFollow(false)
	m.clearSearch()
	m.search = search{query: query, pane: m.focus}
	m.search.at = m.look()
	m.hit(0)
}

func (m *Model) clearSearch() {
	if m.search.pane != nil {
		m.search.pane.Find("")
	}
	m.search = search{}
}

// look finds the query in what its pane shows now. It returns the number of the first hit from the
// cursor on, or of the first.
func (m *Model) look() (from int) {
	s := &m.search
	s.hits, s.of, s.events = nil, m.chosen, m.in.Timeline.Len()
	if s.query == "" {
		return 0
	}
	hits, cursor := s.pane.Find(s.query)
	s.hits = hits
	if from = sort.SearchInts(hits, cursor); from == len(hits) {
		return 0
	}
	return from
}

// lookAgain looks once more if there is something else to see than then.
func (m *Model) lookAgain(step int) {
	before := m.search
	if before.of == m.chosen && before.events == m.in.Timeline.Len() {
		return
	}
	from := m.look() // what stands in the first column is about all, whatever is chosen
	if len(before.hits) == 0 || before.of != m.chosen && before.pane != m.last[panes.Left] {
		m.search.at = from - max(step, 0)
	}
}

// unsearched says of how many turns the arguments were not looked through, if there are some.
func (m *Model) unsearched() display.Text {
	if l, ok := m.search.pane.(*panes.List); ok && l.Unsearched > 0 {
		return screen.Plural(l.Unsearched, "turn").Between("  arguments of ", " not searched")
	}
	return display.Text{}
}

// hit goes to the hit so many further on.
func (m *Model) hit(step int) {
	if step != 0 {
		m.lookAgain(step)
	}
	n := len(m.search.hits)
	if n == 0 {
		if m.search.query != "" {
			m.say(display.Join(m.draw.Clean(m.search.query).Between("no hits for ", ""), m.unsearched()))
		}
		return
	}
	m.search.at = ((m.search.at+step)%n + n) % n
	target := m.search.hits[m.search.at]
	m.setFollow(false)
	m.search.pane.GoTo(target)
	if m.search.pane == m.focus {
		m.link()
	}
	m.say(display.Join(m.draw.Clean(m.search.query), display.Lit("  "), m.draw.Clean(m.search.count()), m.unsearched()))
}
