package ui

import (
	"strings"

	"toolscope/ui/display"
	"toolscope/ui/panes"
)

// openAtWorst selects the row to start with once a source has been read completely: the worst call, or the
// first row if no call is bad.
func (m *Model) openAtWorst() {
	m.setFollow(false)
	if m.verdicts.Counts.Bad() > 0 {
		m.list.SetOrder(panes.WorstFirst)
		m.refreshPanes()
	}
	m.list.GoTo(0)
	m.refreshPanes()
}

// swapOrder switches the list between the order by time and the worst calls first.
func (m *Model) swapOrder() {
	by := panes.WorstFirst
	if m.list.Order() != panes.ByTime {
		by = panes.ByTime
	}
	m.setOrder(by)
}

// setOrder orders the list. The cursor stays on its call.
func (m *Model) setOrder(by panes.SortKey) {
	m.list.SetOrder(by)
	m.showNotice(m.draw.Clean(by.String()))
	m.refreshPanes()
}

// sortBy orders the list by the column that word names.
func (m *Model) sortBy(word string) {
	by, ok := panes.SortKeyNamed(word)
	if !ok {
		m.showNotice(display.Join(display.Lit("sort by one of: "), m.draw.Clean(strings.Join(panes.SortWords(), " "))))
		return
	}
	m.setOrder(by)
}
