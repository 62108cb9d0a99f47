package ui

import "toolscope/ui/display"

// Layout is what the user made of the screen, as far as it is kept for the next time. The zero value
// is the screen as it is built in.
type Layout struct {
	List, Side int     // cells of the first column and of the third, 0 for what they need
	Above, Low int     // rows of a list above the others, and of the lower tab, 0 for what they need
	Columns    Order   // whether panes stand beside each other
	Tabs       TabsAre // whether a tab is open under the document
}

// Order says how panes stand.
type Order string

// Orders of panes. Without one, the width of the screen says.
const (
	ByWidth Order = ""
	Beside  Order = "beside"
	Above   Order = "above"
)

// TabsAre says whether a tab is open under the document.
type TabsAre string

// What tabs are. Without it, one is open where that leaves the document enough room.
const (
	TabsByWidth TabsAre = ""
	TabsOpen    TabsAre = "open"
	TabsShut    TabsAre = "shut"
)

// Layout is how the user leaves the screen. What the demo did to it is not the user's.
func (m *Model) Layout() Layout {
	if m.stage != nil || m.large {
		return m.opt.Layout
	}
	l := m.opt.Layout
	l.List, l.Side, l.Above, l.Low = m.sizes.list, m.sizes.side, m.sizes.above, m.sizes.low
	l.Columns = m.order
	return l
}

// restore makes the screen as it was left.
func (m *Model) restore(l Layout) {
	m.sizes, m.order = extents{l.List, l.Side, l.Above, l.Low}, l.Columns
	if l.Tabs != TabsByWidth {
		m.tabs = l.Tabs
	}
}

// keepTabs takes down that the user opened a tab, or closed it: what leads somewhere opens tabs too.
// Which one it is, is not kept: the next call may have nothing in it.
func (m *Model) keepTabs() {
	if m.stage == nil {
		m.opt.Layout.Tabs = m.tabs
	}
}

// turnPanes has panes stand beside each other that stood one above the other, or the other way round.
func (m *Model) turnPanes() {
	m.zoom = false
	switch {
	case m.large:
		m.say(display.Lit("there is only one pane here"))
		return
	case m.piled(m.w) && m.w < leastBeside:
		m.say(m.draw.Format("panes stand beside each other from %d columns on", leastBeside))
		return
	case m.piled(m.w):
		m.order = Beside
		m.say(display.Lit("panes beside each other"))
	default:
		m.order = Above
		m.say(display.Lit("panes one above the other"))
	}
	if piled := m.order == Above; piled == (m.w < twoColumns) {
		m.order = ByWidth
	}
	m.refresh()
}
