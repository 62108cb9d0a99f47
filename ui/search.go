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

// search is a query and its matches in the focused pane, or else in the first other pane that has a match. A
// match is a byte of the arguments or a row, depending on the pane.
type search struct {
	m      *Model
	query  string
	pane   panes.Pane
	hits   []int
	at     int        // current match
	there  bool       // the user went to a match
	cursor int        // position in the pane at which the search for the first match starts
	next   int        // how far the pane was searched, or panes.AllFound
	round  int        // number of the current search step
	of     stream.Ref // the selection when the search ran
	events int        // number of events when the search ran
}

// seekTime is the maximum search time before the next frame.
const seekTime = 6 * time.Millisecond

// findText searches for query, first in the focused pane, and goes to the first match from the cursor on.
func (sr *search) findText(query string) {
	sr.m.setFollow(false)
	sr.clearSearch()
	sr.query, sr.pane = query, sr.m.focus
	sr.findHits()
	sr.selectFirstHit()
}

func (sr *search) clearSearch() {
	if sr.pane != nil {
		sr.pane.Find("", 0, nil)
	}
	*sr = search{m: sr.m, next: panes.AllFound, round: sr.round + 1}
}

// findHits searches the pane, and then other panes until one has a match.
func (sr *search) findHits() {
	if sr.query == "" {
		return
	}
	sr.hits, sr.next, sr.at, sr.there, sr.of, sr.events = nil, 0, 0, false, sr.m.selected, sr.m.view.Events()
	sr.searchPart()
	if len(sr.hits) > 0 || sr.next != panes.AllFound {
		sr.seekLater()
		return
	}
	if other := sr.afterPane(sr.pane); other != nil {
		sr.pane.Find("", 0, nil)
		sr.pane = other
		sr.findHits()
	}
}

// afterPane returns the pane to search after another. The focused pane is first; the others follow in tab
// order. It returns nil after the last one.
func (sr *search) afterPane(asked panes.Pane) panes.Pane {
	from := 0
	if asked != sr.m.focus {
		from = sr.m.index(asked) + 1
	}
	for _, p := range sr.m.table[from:] {
		if p.Pane != sr.m.focus {
			return p.Pane
		}
	}
	return nil
}

// searchPart searches a part of the pane, or all of it if that is fast.
func (sr *search) searchPart() {
	if sr.next == 0 {
		sr.cursor = sr.pane.Cursor()
	}
	began, current := sr.m.opt.Now(), -1
	if sr.there {
		current = sr.hits[sr.at]
	}
	more, next := sr.pane.Find(sr.query, sr.next, func() bool { return sr.m.opt.Now().Sub(began) < seekTime })
	sr.hits = append(sr.hits, more...)
	slices.Sort(sr.hits) // matches in turns under a call come before the next call
	if sr.next = next; sr.there {
		sr.at, _ = slices.BinarySearch(sr.hits, current)
	}
}

// seekLater continues an incomplete search after the next frame.
func (sr *search) seekLater() {
	if sr.next == panes.AllFound {
		return
	}
	sr.round++
	piece := sr.round
	sr.m.modeStack.queueCmd(func() tea.Msg {
		return workDone{then: func() {
			if sr.round != piece || sr.next == panes.AllFound { // the search has changed
				return
			}
			sr.searchPart()
			if sr.next != panes.AllFound {
				sr.seekLater()
			} else if other := sr.afterPane(sr.pane); len(sr.hits) == 0 && other != nil {
				sr.pane = other
				sr.findHits()
			}
			sr.selectFirstHit()
		}}
	})
}

// selectFirstHit goes to the first match after the cursor or, once the search is complete and no such match exists,
// to the first match in the pane. It goes to another pane only after the user has finished typing, because each
// letter may change the match.
func (sr *search) selectFirstHit() {
	from := sort.SearchInts(sr.hits, sr.cursor)
	switch {
	case sr.query == "" || sr.there || from == len(sr.hits) && sr.next != panes.AllFound:
		return
	case from == len(sr.hits):
		from = 0
	}
	sr.at = from
	if _, typed := sr.m.modeStack.activeMode().Mode.(*searchBar); sr.pane == sr.m.focus || !typed {
		sr.goToHit(0)
	}
}

// lookAgain repeats the search if the content has changed since the last one.
func (sr *search) lookAgain(step int) {
	before := sr.m.search
	inList := before.pane == sr.m.last[panes.Left] // the list does not depend on the selection
	if before.events == sr.m.view.Events() && (inList || before.of == sr.m.selected) {
		return
	}
	if len(before.hits) == 0 {
		sr.pane = sr.m.focus
	}
	sr.findHits()
	if sr.at = before.at; len(before.hits) == 0 || before.of != sr.m.selected && !inList || sr.pane != before.pane {
		if sr.at = sort.SearchInts(sr.hits, sr.cursor); sr.at == len(sr.hits) {
			sr.at = 0
		}
		sr.at -= max(step, 0)
	}
}

// goToHit goes to the match that is step places after the current one.
func (sr *search) goToHit(step int) {
	if step != 0 && sr.query != "" {
		sr.lookAgain(step)
	}
	n := len(sr.hits)
	if n == 0 {
		if sr.m.notice = display.Lit("no search: / finds, ! goes to the next error"); sr.query != "" {
			sr.m.notice = display.Join(sr.m.draw.Clean(sr.query).Between("no matches for ", ""), sr.unsearchedNote())
		}
		return
	}
	sr.at, sr.there = ((sr.at+step)%n+n)%n, true
	sr.m.setFollow(false)
	if sr.pane != sr.m.focus {
		if sr.m.showPane(sr.pane); sr.pane == sr.m.below {
			sr.m.tabs, sr.m.picks = TabsOpen, true
		}
	}
	sr.pane.GoTo(sr.hits[sr.at])
	if sr.pane == sr.m.focus {
		sr.m.linkPanes()
	} else {
		sr.m.refreshPanes()
	}
	sr.m.notice = display.Join(sr.m.draw.Clean(sr.query), display.Lit("  "), sr.hitsText(), sr.unsearchedNote())
}

// hitsText returns the number of the current match, the total, and the name of the pane.
func (sr *search) hitsText() display.Text {
	n := len(sr.hits)
	switch {
	case sr.query == "":
		return display.Text{}
	case n == 0 && sr.next != panes.AllFound:
		return display.Lit("searching")
	case n == 0:
		return display.Lit("no matches")
	}
	text := sr.m.draw.Format("%s of %s", screen.Count(sr.at+1), screen.Count(n))
	if sr.next != panes.AllFound {
		text = text.Between("", " so far")
	}
	if sr.pane == sr.m.focus {
		return text
	}
	return display.Join(text, display.Lit(" "), placeName(sr.pane))
}

// unsearchedNote returns a note with the number of turns whose arguments were not searched. It is empty if
// there are none.
func (sr *search) unsearchedNote() display.Text {
	if l, ok := sr.pane.(*panes.List); ok && l.Unsearched > 0 {
		return screen.Plural(l.Unsearched, "turn").Between("  arguments of ", " not searched")
	}
	return display.Text{}
}

// searchBar is the mode in which the user types a query. Meanwhile the panes show the matches.
type searchBar struct {
	browse
	input  *screen.Input
	query  string // the query that was searched for
	before search
}

// Typing returns the input for the query.
func (s *searchBar) Typing() *screen.Input { return s.input }

// Keys returns the keys that close the bar.
func (s *searchBar) Keys() []screen.Binding {
	return []screen.Binding{
		screen.Key("enter", "keep", "keep the matches", func() {
			s.m.modeStack.closeTop()
			s.m.search.goToHit(0) // shows the number of matches
		}),
		screen.Key("esc", "cancel", "restore the view", func() {
			s.m.search.clearSearch()
			before := s.before
			before.round = s.m.search.round
			s.m.search = before
			if before.query != "" {
				s.m.search.findHits()
				s.m.search.at, s.m.search.there = before.at, len(s.m.search.hits) > before.at
			}
			s.m.modeStack.closeTop()
		}),
	}
}

// Extend searches for the typed query.
func (s *searchBar) Extend(*providers.View, int, int) {
	if query := s.input.Value(); query != s.query {
		s.query = query
		s.m.search.findText(query)
	}
	s.input.Note = s.m.search.hitsText()
}

// filterBar is the overlay in which the user types a filter. The list shows the matches at once.
type filterBar struct {
	m      *Model
	line   *screen.Input
	read   string // the text by which the list is filtered
	faults []filter.Error
	may    []string // completions of the last word, once requested
	past   int      // position in the kept filters, counted from the latest

	before stream.Ref // the selection when the bar was opened; restored when a filter shows it again
}

// filtering decides which turns the list shows.
type filtering struct {
	m     *Model
	turns panes.TurnFilter
	kept  []string // filters that the user kept; the latest is last
}

// openFilter opens the filter bar with the current filter.
func (f *filtering) openFilter() {
	text := ""
	if f.turns.Active() {
		text = f.turns.Text()
	}
	f.m.modeStack.pushMode(&filterBar{m: f.m, line: newFilterLine(text), read: text, before: f.m.selected})
}

func newFilterLine(text string) *screen.Input { return screen.NewInput(display.Text{}, text, 400) }

// Typing returns the input for the filter.
func (f *filterBar) Typing() *screen.Input { return f.line }

// Keys returns the keys that close the bar, complete words, and recall filters.
func (f *filterBar) Keys() []screen.Binding {
	return []screen.Binding{
		screen.Key("enter", "keep", "keep the filter", f.acceptFilter),
		screen.Key("tab", "complete", "complete a field or value", func() {
			text := f.line.Value()
			longer, may := filter.Complete(text, f.m.filtering.fieldWords)
			if f.may = nil; longer != text {
				f.line = newFilterLine(longer)
			} else {
				f.may = may
			}
		}),
		screen.Key("up", "last", "previous filter", func() { f.recallFilter(1) }),
		screen.Key("down", "", "next filter", func() { f.recallFilter(-1) }),
		screen.Key("esc", "drop", "show all turns", func() {
			f.m.modeStack.closeTop()
			f.m.filtering.applyFilter("")
			f.selectBefore()
		}),
	}
}

// acceptFilter closes the bar. If a part of the filter is invalid, the bar stays open and shows that part.
func (f *filterBar) acceptFilter() {
	text := strings.TrimSpace(f.line.Value())
	if f.applyText(); len(f.faults) > 0 {
		return
	}
	if text != "" && !slices.Contains(f.m.filtering.kept, text) {
		f.m.filtering.kept = append(f.m.filtering.kept, text)
	}
	f.m.modeStack.closeTop()
}

// recallFilter recalls the kept filter that is step places further back.
func (f *filterBar) recallFilter(step int) {
	n := len(f.m.filtering.kept)
	if back := f.past + step; n > 0 && back >= 0 && back <= n {
		if f.past = back; back == 0 {
			f.line = newFilterLine("")
		} else {
			f.line = newFilterLine(f.m.filtering.kept[n-back])
		}
	}
}

// Extend applies the typed filter to the list.
func (f *filterBar) Extend(*providers.View, int, int) { f.applyText() }

func (f *filterBar) applyText() {
	if text := f.line.Value(); text != f.read {
		f.read, f.may = text, nil
		f.faults = f.m.filtering.applyFilter(text)
		f.selectBefore()
	}
}

// selectBefore restores the selection from when the bar was opened, if the filter shows it.
func (f *filterBar) selectBefore() {
	if t, _ := f.m.view.Find(f.before); t != nil && !f.m.follow && f.m.filtering.turns.Shows(t) {
		f.m.selectRef(f.before)
	}
}

// applyFilter filters the list, and returns the invalid parts of the filter.
func (f *filtering) applyFilter(text string) []filter.Error {
	of, faults := filter.Parse(text)
	f.turns.Set(of)
	f.m.refreshPanes()
	if t := f.m.selectedTurn(); t != nil && !f.turns.Shows(t) && f.m.list.Rows > 0 {
		f.m.selectRef(f.m.list.RefAt(f.m.view.Session(), f.m.list.At))
	}
	return faults
}

// updateFilter applies the filter to new turns. Only matching turns are followed.
func (f *filtering) updateFilter() {
	f.turns.Extend(f.m.view, &f.m.news, f.m.bill.CostOf, f.m.lastAt, f.m.selected)
	if f.turns.Active() && f.m.follow && !f.m.modeStack.isCovered() {
		f.m.selected = f.newestShown()
	}
}

// newestShown returns the newest shown turn or call, which the selection follows. If no turn matches, it
// returns the current selection.
func (f *filtering) newestShown() stream.Ref {
	if r := f.m.list.Newest(f.m.view, &f.turns, f.m.selected); r != stream.NoRef || !f.turns.Active() {
		return r
	}
	return f.m.selected
}

// maxTurnsScanned is the maximum number of turns that are read for completions. The latest turns are read.
const maxTurnsScanned = 2000

// fieldWords returns the values of a field in the latest turns.
func (f *filtering) fieldWords(field string) (words []string) {
	add := func(word string) {
		if word != "" && len(word) < 80 && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for _, t := range slices.Backward(lastOf(f.m.view.Session().Turns, maxTurnsScanned)) {
		x := f.m.view.Exchange(t.Exchange)
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

// filterRows is the total height of the input, the fields, and the errors.
const filterRows = 4

// WantedRows returns the height of the bar, which is at most two rows on a small screen.
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

// matchCount returns the number of turns and, if a filter is active, how many of them match.
func (f *filterBar) matchCount(p *screen.Pen) display.Text {
	all := screen.Plural(f.m.pinned.turnCount(), "turn")
	if !f.m.filtering.turns.Active() {
		return all
	}
	text := p.Format("%s of %s", screen.Count(f.m.filtering.turns.Count()), all)
	if n := f.m.filtering.turns.Undecided; n > 0 {
		text = p.Format("%s, %s not in memory", text, screen.Count(n))
	}
	return text
}

// drawWords wraps words into rows, and draws one of these rows.
func drawWords(p *screen.Pen, words []string, row int) {
	lines := display.Wrap(p.Clean(strings.Join(words[:min(len(words), maxWords)], " ")), p.Left-3)
	if row < len(lines) {
		p.Text(screen.Muted, lines[row].Between("  ", ""))
	}
}

// maxWords is the maximum number of completions that are laid out. A screen rarely has room for more.
const maxWords = 64
