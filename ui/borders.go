package ui

import (
	"slices"

	"toolscope/ui/panes"
)

// paneSizes are sizes set by the user, 0 for the default: the width of the first and third column, the height
// of the list above others and of the lower tab.
type paneSizes struct{ list, side, above, low int }

// Minimum sizes: the width of a column, the height of stacked panes.
const (
	minColumnWidth = 24
	minPaneRows    = 3
)

// clampSize returns the wanted or else the usual size, within limits.
func clampSize(asked, usual, least, most int) int {
	if asked == 0 {
		return usual
	}
	return max(min(asked, most), min(least, usual))
}

// resizePane enlarges the focused pane.
func (m *Model) resizePane(by int) {
	columns := m.paneColumns()
	for at, c := range columns {
		n := slices.IndexFunc(c.panes, func(s paneSlot) bool { return s.pane == m.focus })
		if n < 0 {
			continue
		}
		_, tab := m.focus.(panes.Tab)
		switch last := len(c.panes) - 1; {
		case m.zoom:
		case tab && n == last:
			m.sizes.low = max(1, c.panes[n].height+by)
		case tab:
			m.sizes.low = max(1, c.panes[last].height-by)
		case at > 0:
			m.sizes.list = max(1, columns[0].width-2*by)
		case n > 0:
			m.sizes.above = max(1, c.panes[0].height-by)
		case len(columns) > 1:
			m.sizes.list = max(1, c.width+2*by)
		default:
			m.sizes.above = max(1, c.panes[0].height+by)
		}
	}
	m.refreshPanes()
}

// borderAt returns the function that drags the border at a place of the body, or nil.
func (m *Model) borderAt(x, y int) (drag func(x, y int)) {
	columns := m.paneColumns()
	sized := func(size func(x, y int)) func(x, y int) {
		return func(x, y int) {
			size(x, y-1)
			m.refreshPanes()
		}
	}
	from := 0
	for i, c := range columns {
		switch {
		case i+1 < len(columns) && x == from+c.width && i == 0:
			return sized(func(x, _ int) { m.sizes.list = max(x, 1) })
		case i+1 < len(columns) && x == from+c.width:
			return sized(func(x, _ int) { m.sizes.side = max(m.w-x-1, 1) })
		case x >= from && x < from+c.width:
			return m.borderIn(c, y, len(columns) == 1, sized)
		}
		from += c.width + 1
	}
	return nil
}

// borderIn is like borderAt, but within a column. There the border is the first row of a lower pane. The
// first row of the document is a border only if all panes are stacked.
func (m *Model) borderIn(c column, y int, piled bool, sized func(func(x, y int)) func(x, y int)) func(x, y int) {
	h := m.bodyHeight()
	for i, top := 0, 0; i < len(c.panes); i++ {
		s := c.panes[i]
		switch {
		case i == 0 || y != top || s.pane == nil:
		case s.tabs != nil:
			return sized(func(_, y int) { m.sizes.low = max(h-y, 1) })
		case piled:
			return sized(func(_, y int) { m.sizes.above = max(y, 1) })
		}
		top += s.height
	}
	return nil
}
