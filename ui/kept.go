package ui

import "toolscope/ui/display"

// Layout is the saved layout of the screen. The zero value is the built-in layout.
type Layout struct {
	List, Side int            // width of the first and third column, 0 for the default
	Above, Low int            // height of a list above others, and of the lower tab, 0 for the default
	Columns    SplitDirection // side by side or stacked
	Tabs       TabState       // a tab is open under the document, or not
}

// SplitDirection says how panes are arranged.
type SplitDirection string

// The arrangements. Without one, the width of the screen decides.
const (
	ByWidth SplitDirection = ""
	Beside  SplitDirection = "beside"
	Above   SplitDirection = "above"
)

// TabState says whether a tab is open under the document.
type TabState string

// The states of the tabs. Without one, a tab is open if the document has enough room.
const (
	TabsByWidth TabState = ""
	TabsOpen    TabState = "open"
	TabsShut    TabState = "shut"
)

// Layout returns the user's current layout, without changes by the demo.
func (m *Model) Layout() Layout {
	if m.tour != nil || m.large {
		return m.opt.Layout
	}
	l := m.opt.Layout
	l.List, l.Side, l.Above, l.Low = m.sizes.list, m.sizes.side, m.sizes.above, m.sizes.low
	l.Columns = m.order
	return l
}

// restoreLayout restores a saved layout.
func (m *Model) restoreLayout(l Layout) {
	m.sizes, m.order = paneSizes{l.List, l.Side, l.Above, l.Low}, l.Columns
	if l.Tabs != TabsByWidth {
		m.tabs = l.Tabs
	}
}

// keepTabs saves whether the user opened or closed a tab, without tabs that links open. It doesn't save
// which tab, because the next call may have no content for it.
func (m *Model) keepTabs() {
	if m.tour == nil {
		m.opt.Layout.Tabs = m.tabs
	}
}

// toggleSplit switches panes between side by side and stacked.
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
