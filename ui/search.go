package ui

import (
	"slices"
	"sort"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/filter"
	"toolscope/ui/modes"
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

// filterBar is the overlay in which a filter is typed. The list shows its matches at once.
type filterBar struct {
	m      *Model
	line   *screen.Input
	read   string // the text that the list is filtered by
	faults []filter.Error
	may    []string // completions of the last word, once requested
	past   int      // position in the kept filters, from the latest
}

// openFilter opens the filter bar with the current filter.
func (m *Model) openFilter() {
	text := ""
	if m.turnFilter.Active() {
		text = m.turnFilter.Text()
	}
	m.pushMode(&filterBar{m: m, line: newFilterLine(text), read: text})
}

func newFilterLine(text string) *screen.Input { return screen.NewInput(display.Text{}, text, 400) }

// Typing returns the input of the filter.
func (f *filterBar) Typing() *screen.Input { return f.line }

// Keys returns the keys that end it, and complete words.
func (f *filterBar) Keys() []screen.Binding {
	up := screen.Binding{Keys: []string{"up"}}.Name(f.m.draw)
	return []screen.Binding{
		{Keys: []string{"enter"}, Hint: display.Lit("enter keep"), Does: display.Lit("keep the filter"), Do: f.acceptFilter},
		{Keys: []string{"tab"}, Hint: display.Lit("tab complete"), Does: display.Lit("complete a field or value"), Do: f.completeWord},
		{Keys: []string{"up"}, Hint: up.Between("", " last"), Does: display.Lit("previous filter"), Do: func() { f.recallFilter(1) }},
		{Keys: []string{"down"}, Does: display.Lit("next filter"), Do: func() { f.recallFilter(-1) }},
		{Keys: []string{"esc"}, Hint: display.Lit("esc drop"), Does: display.Lit("show all turns"), Do: func() {
			f.m.closeTop()
			f.m.applyFilter("")
		}},
	}
}

// acceptFilter closes the bar, unless a part of the filter is invalid. The bar then shows that part.
func (f *filterBar) acceptFilter() {
	text := strings.TrimSpace(f.line.Value())
	if f.applyText(); len(f.faults) > 0 {
		return
	}
	if text != "" && !slices.Contains(f.m.filters, text) {
		f.m.filters = append(f.m.filters, text)
	}
	f.m.closeTop()
}

func (f *filterBar) completeWord() {
	text := f.line.Value()
	longer, may := filter.Complete(text, f.m.fieldWords)
	if f.may = nil; longer != text {
		f.line = newFilterLine(longer)
	} else {
		f.may = may
	}
}

// recallFilter recalls a kept filter.
func (f *filterBar) recallFilter(step int) {
	n := len(f.m.filters)
	if back := f.past + step; n > 0 && back >= 0 && back <= n {
		if f.past = back; back == 0 {
			f.line = newFilterLine("")
		} else {
			f.line = newFilterLine(f.m.filters[n-back])
		}
	}
}

// Extend applies the typed filter to the list.
func (f *filterBar) Extend(*providers.View, int, int) { f.applyText() }

func (f *filterBar) applyText() {
	if text := f.line.Value(); text != f.read {
		f.read, f.may = text, nil
		f.faults = f.m.applyFilter(text)
	}
}

// applyFilter filters the list, and returns the invalid parts of the filter.
func (m *Model) applyFilter(text string) []filter.Error {
	of, faults := filter.Parse(text)
	m.turnFilter.Set(of)
	m.refreshPanes()
	if t := m.selectedTurn(); t != nil && !m.turnFilter.Shows(t) && m.list.Rows > 0 {
		m.selectRef(m.list.RefAt(m.view.Session(), m.list.At))
	}
	return faults
}

// updateFilter evaluates new turns. Only matching turns are followed.
func (m *Model) updateFilter() {
	m.turnFilter.Extend(m.view, &m.news, m.bill.CostOf, m.lastAt, m.selected)
	if m.turnFilter.Active() && m.follow && !m.isCovered() {
		m.selected = m.newestShown()
	}
}

// newestShown returns the newest shown turn or call, for following. If no turn matches, the selection
// stays.
func (m *Model) newestShown() stream.Ref {
	if r := m.list.Newest(m.view, &m.turnFilter, m.selected); r != stream.NoRef || !m.turnFilter.Active() {
		return r
	}
	return m.selected
}

// maxTurnsScanned is the maximum number of turns, the latest ones, that are read for completions.
const maxTurnsScanned = 2000

// fieldWords returns the values of a field in the latest turns.
func (m *Model) fieldWords(field string) (words []string) {
	add := func(word string) {
		if word != "" && len(word) < 80 && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for _, t := range slices.Backward(lastOf(m.view.Session().Turns, maxTurnsScanned)) {
		x := m.view.Exchange(t.Exchange)
		switch {
		case field == "model":
			add(t.Model)
		case field == "tool":
			for _, c := range lastOf(t.Calls, maxTurnsScanned) {
				add(c.Name)
			}
		case field == "agent" && t.Request != nil:
			add(t.Request.Title)
			add(t.Request.Agent)
		case field == "file" && x != nil:
			add(x.Head.File)
		case field == "host" && x != nil:
			add(filter.HostOf(x.Head.URL))
		}
		if x == nil || x.Head.Origin == nil {
			continue
		}
		switch field {
		case "agent":
			add(x.Head.Origin.Agent)
		case "host":
			add(x.Head.Origin.Host)
		}
	}
	return words
}

// filterRows is the height of the input, the fields, and the errors.
const filterRows = 4

// WantedRows returns the height of the bar, two rows on a small screen.
func (f *filterBar) WantedRows(h int) int {
	if h < 2*filterRows {
		return min(2, h)
	}
	return filterRows
}

// Draw draws row y.
func (f *filterBar) Draw(p *screen.Pen, y int) {
	short := f.WantedRows(f.m.bodyHeight()) < filterRows
	switch {
	case y == 0:
		modes.DrawInputRow(p, display.Lit("filter"), f.line, f.matchCount(p))
	case y == 3 || short && len(f.faults) > 0:
		if len(f.faults) > 0 {
			p.Text(screen.Caution, display.Lit("!  "))
			p.Untrusted(screen.Caution, screen.Bare, f.faults[0].Error())
		}
	case len(f.may) > 0:
		drawWords(p, f.may, y-1)
	default:
		names := filter.FieldNames()
		drawWords(p, append(names[:len(names)-1], filterMore), y-1)
	}
	p.Fill(screen.Bare)
}

// filterMore describes the last field, and the texts that plain words match.
const filterMore = "sent:changed, or words: names, ids, text, arguments"

// matchCount returns the number of matching turns and the total.
func (f *filterBar) matchCount(p *screen.Pen) display.Text {
	all := screen.Plural(f.m.turnCount(), "turn")
	if !f.m.turnFilter.Active() {
		return all
	}
	text := p.Format("%s of %s", screen.Count(f.m.turnFilter.Count()), all)
	if n := f.m.turnFilter.Undecided; n > 0 {
		text = p.Format("%s, %s not in memory", text, screen.Count(n))
	}
	return text
}

// drawWords draws one row of words that are wrapped into rows.
func drawWords(p *screen.Pen, words []string, row int) {
	lines := display.Wrap(p.Clean(strings.Join(words[:min(len(words), maxWords)], " ")), p.Left-3)
	if row < len(lines) {
		p.Text(screen.Muted, lines[row].Between("  ", ""))
	}
}

// maxWords limits the completions. More words than this never fit.
const maxWords = 64
