package ui

import (
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/filter"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

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
