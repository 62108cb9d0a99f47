package ui

import (
	"strings"

	"toolscope/ui/display"
	"toolscope/ui/panes"
)

// openAtWorst selects the row to start with once a source has been read completely: the worst call, or the
// first row if no call is bad.
func (ps *paneSet) openAtWorst() {
	ps.m.setFollow(false)
	if ps.m.verdicts.Counts.Bad() > 0 {
		ps.list.SetOrder(panes.WorstFirst)
		ps.m.refreshPanes()
	}
	ps.list.GoTo(0)
	ps.m.refreshPanes()
}

// swapOrder switches the list between the order by time and the worst calls first. The cursor stays on its call. If it
// followed new calls, the user didn't choose the call, and the worst one is selected.
func (ps *paneSet) swapOrder() {
	if ps.list.Order() != panes.ByTime {
		ps.setOrder(panes.ByTime)
		return
	}
	followed := ps.m.follow && ps.m.isLive()
	ps.setOrder(panes.WorstFirst)
	if followed {
		ps.m.setFollow(false)
		ps.list.GoTo(0)
		ps.m.refreshPanes()
	}
}

// setOrder orders the list. The cursor stays on its call.
func (ps *paneSet) setOrder(by panes.SortKey) {
	ps.list.SetOrder(by)
	ps.m.showNotice(ps.m.draw.Clean(by.String()))
	ps.m.refreshPanes()
}

// sortBy orders the list by the column that word names.
func (ps *paneSet) sortBy(word string) {
	by, ok := panes.SortKeyNamed(word)
	if !ok {
		ps.m.showNotice(display.Join(display.Lit("sort by one of: "), ps.m.draw.Clean(strings.Join(panes.SortWords(), " "))))
		return
	}
	ps.setOrder(by)
}
