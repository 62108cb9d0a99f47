package ui

import (
	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// searchBar is the mode in which a query is typed; the panes show matches meanwhile.
type searchBar struct {
	browse
	input  *screen.Input
	query  string // the searched query
	before search
}

func newSearchBar(m *Model) *searchBar {
	return &searchBar{browse: browse{m}, input: screen.NewInput(display.Lit(" /"), "", 200), before: m.search}
}

// Typing returns the input of the query.
func (s *searchBar) Typing() *screen.Input { return s.input }

// Keys returns the keys that end it.
func (s *searchBar) Keys() []screen.Binding {
	return []screen.Binding{
		{Keys: []string{"enter"}, Hint: display.Lit("enter keep"), Does: display.Lit("keep the matches"), Do: func() {
			s.m.closeTop()
			s.m.goToHit(0) // shows the number of matches
		}},
		{Keys: []string{"esc"}, Hint: display.Lit("esc cancel"), Does: display.Lit("restore the view"), Do: func() {
			s.m.clearSearch()
			before := s.before
			before.round = s.m.search.round
			s.m.search = before
			if before.query != "" {
				s.m.findHits()
				s.m.search.at, s.m.search.there = before.at, len(s.m.search.hits) > before.at
			}
			s.m.closeTop()
		}},
	}
}

// Extend searches for the typed query.
func (s *searchBar) Extend(*providers.View, int, int) {
	if query := s.input.Value(); query != s.query {
		s.query = query
		s.m.findText(query)
	}
	s.input.Note = s.m.hitsText()
}
