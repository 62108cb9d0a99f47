package ui

import "toolscope/ui/display"

// Layout is what the user made of the screen, as far as it is kept for the next time. The zero value
// is the screen as it is built in.
type Layout struct {
	List, Side int            // cells of the first column and of the third, 0 for what they need
	Above, Low int            // rows of a list above the others, and of the lower tab, 0 for what they need
	Columns    SplitDirection // whether panes stand beside each other
	Tabs       TabState       // whether a tab is open under the document
}

// SplitDirection says how panes stand.
type SplitDirection string

// Orders of panes. Without one, the width of the screen says.
const (
	ByWidth SplitDirection = ""
	Beside  SplitDirection = "beside"
	Above   SplitDirection = "above"
)

// TabState says whether a tab is open under the document.
type TabState string

// What tabs are. Without it, one is open where that leaves the document enough room.
const (
	TabsByWidth TabState = ""
	TabsOpen    TabState = "open"
	TabsShut    TabState = "shut"
)

// Layout is how the user leaves the screen. What the demo did to it is not the user's.
func (m *Model) Layout() Layout {
	if m.tour != nil || m.large {
		return m.opt.Layout
	}
	l := m.opt.Layout
	l.List, l.Side, l.Above, l.Low = m.sizes.list, m.sizes.side, m.sizes.above, m.sizes.low
	l.Columns = m.order
	return l
}

// restoreLayout makes the screen as it was left.
func (m *Model) restoreLayout(l Layout) {
	m.sizes, m.order = paneSizes{l.List, l.Side, l.Above, l.Low}, l.Columns
	if l.Tabs != TabsByWidth {
		m.tabs = l.Tabs
	}
}

// keepTabs takes down that the user opened a tab, or closed it: what leads somewhere opens tabs too.
// Which one it is, is not kept: the next call may have nothing in it.
func (m *Model) keepTabs() {
	if m.tour == nil {
		m.opt.Layout.Tabs = m.tabs
	}
}

// toggleSplit has panes stand beside each other that stood one above the other, or the other way round.
func (m *Model) toggleSplit() {
	m.zoom = false
	switch {
	case m.large:
		m.showNotice(display.Lit("only one pane here"))
		return
	case m.isStacked(m.w) && m.w < minBesideWidth:
		m.showNotice(m.draw.Format("side-by-side panes need %d columns", minBesideWidth))
		return
	case m.isStacked(m.w):
		m.order = Beside
		m.showNotice(display.Lit("panes side by side"))
	default:
		m.order = Above
		m.showNotice(display.Lit("panes stacked"))
	}
	if piled := m.order == Above; piled == (m.w < twoColumns) {
		m.order = ByWidth
	}
	m.refreshPanes()
}
