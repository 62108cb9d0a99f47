package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// paneSet has the panes, which have links between them.
type paneSet struct {
	list     *panes.List
	doc      *panes.Subject
	wire     *panes.Wire
	findings *panes.Findings
	runs     *panes.RunRules
	request  *panes.Request
	result   *panes.Result
}

// newPanes returns all panes, one line each, in tab order. The first has the key 1. Each area has at least
// one pane.
func (m *Model) newPanes() []placedPane {
	h := paneHost{m}
	m.paneSet = paneSet{
		panes.NewList(h), panes.NewSubject(h), panes.NewWire(h), panes.NewFindings(h, m.goToFinding, m.goToSentBack),
		panes.NewRunRules(h, m.goToEvent), panes.NewRequest(h), panes.NewResult(h),
	}
	return []placedPane{
		{m.list, panes.Left, "1"},
		{m.doc, panes.Main, "2"},
		placedTab(m.wire, panes.Side, "3"),
		placedTab(m.findings, panes.Low, "4"),
		placedTab(m.runs, panes.Low, "5"),
		placedTab(m.request, panes.Side, "6"),
		placedTab(m.result, panes.Low, "7"),
	}
}

func placedTab(t panes.Tab, at panes.Area, key string) placedPane { return placedPane{t, at, key} }

// paneHost implements panes.Host.
type paneHost struct{ m *Model }

func (h paneHost) Choose(r stream.Ref)   { h.m.selectRef(r) }
func (h paneHost) Focus(at panes.Area)   { h.m.focusOn(h.m.last[at]) }
func (h paneHost) Follow(on bool)        { h.m.setFollow(on) }
func (h paneHost) Moving() bool          { return h.m.isLive() }
func (h paneHost) Say(text display.Text) { h.m.showNotice(text) }
func (h paneHost) Do(work func() func()) {
	h.m.modeStack.queueCmd(func() tea.Msg { then := work(); return workDone{then: func() { h.finishWork(then) }} })
}

// finishWork runs the rest of a pane's work, and refreshes the panes.
func (h paneHost) finishWork(then func()) {
	if then != nil {
		then()
		h.m.refreshPanes()
	}
}

// paneKeys returns the keys of the focused pane, which also update the other panes.
func (m *Model) paneKeys() []screen.Binding {
	keys := m.focus.Keys()
	for i := range keys {
		if do := keys[i].Do; do != nil {
			keys[i].Do = func() { do(); m.refreshPanes() }
		}
	}
	return keys
}

// linkPanes highlights the bytes at the cursor of the focused pane in all others.
func (m *Model) linkPanes() {
	at := panes.Span{}
	if from, ok := m.focus.(panes.LinkedPane); ok {
		at = from.Chosen()
		from.Point(panes.Span{})
	}
	for _, p := range m.table {
		if to, ok := p.Pane.(panes.LinkedPane); ok && p.Pane != m.focus {
			to.Point(at)
		}
	}
}

// followEnd sets whether the panes stay at the end of new data.
func (m *Model) followEnd(on bool) {
	for _, p := range m.table {
		if f, ok := p.Pane.(panes.Follower); ok {
			f.Follow(on)
		}
	}
}

// goToFinding goes to the evidence of a finding: a byte of the arguments, or a frame.
func (m *Model) goToFinding(f panes.Found) {
	m.setFollow(false)
	defer m.leaveFrom(m.focus, m.selected)
	if _, c := m.view.Find(f.Of); c != nil && f.Offset >= 0 {
		m.selected = f.Of
		m.focusOn(m.doc)
		m.doc.GoToByte(min(f.Offset, max(0, len(c.Args())-1)))
		return
	}
	e := m.view.EventPrefix(f.Event, 0)
	t := m.view.Session().Turn(e.Turn)
	if t == nil {
		m.showNotice(display.Lit("this finding is about the source, not a frame"))
		return
	}
	m.selected = t.Ref()
	m.focusOn(m.wire)
	m.wire.OpenAt(func(n int) bool {
		return n >= f.Event || !e.Kind.IsAfterTurn() && m.view.EventPrefix(n, 0).Frame >= e.Frame
	})
}

// leaveFrom remembers the place that the user leaves, for esc.
func (m *Model) leaveFrom(pane panes.Pane, chosen stream.Ref) {
	if pane != m.focus || chosen != m.selected {
		m.from = &backTarget{pane, chosen, m.selected}
	}
}

// goToEvent goes to the frame of an event of a call.
func (m *Model) goToEvent(of stream.Ref, event int) {
	m.setFollow(false)
	defer m.leaveFrom(m.focus, m.selected)
	m.selected = of
	m.focusOn(m.wire)
	m.wire.SelectFrom(func(n int) bool { return n >= event })
}

// goToSentBack selects the turn whose request sent a call back.
func (m *Model) goToSentBack(r *stream.SentBackCall) { m.goToTurn(m.view.TurnAfter(r), r.Exchange) }

// goToTurn selects the turn whose request, in the given exchange, sent a call back.
func (m *Model) goToTurn(t *stream.Turn, exchange int) {
	if t == nil {
		m.showNotice(m.draw.Clean(panes.RequestName(m.view, exchange)))
		return
	}
	m.setFollow(false)
	m.turnTo(m.list)
	m.selectRef(t.Ref())
	m.showNotice(m.draw.Format("see the request of turn %d", t.Number+1))
}

// goToNextFinding goes to the next call or turn with a finding above info.
func (m *Model) goToNextFinding() {
	at := m.list.NextAlarm()
	if at == stream.NoRef {
		m.showNotice(display.Lit("no findings above info"))
		return
	}
	m.setFollow(false)
	here := backTarget{pane: m.focus, chosen: m.selected}
	if m.from != nil && m.from.to == m.selected { // repeated use keeps the first target of esc
		here = *m.from
	}
	m.selected = at
	m.list.Leave()
	m.turnTo(m.findings)
	m.refreshPanes()
	m.from = &backTarget{here.pane, here.chosen, at}
}

// typedResultSize returns the size of the result that the user typed for a call, if any.
func (m *Model) typedResultSize(call stream.Ref) (size int, typed bool) {
	r, typed := m.results[call]
	return len(r.Text), typed
}

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

type entry = modes.Entry

// inDocument shows the evidence of a scene in the document.
func inDocument(*Model) {}

// withFindings opens the findings.
func withFindings(m *Model) { m.openEvidence(m.findings) }

// withRuns opens the run rules.
func withRuns(m *Model) { m.openEvidence(m.runs) }

// openEvidence opens a tab, if the document keeps enough room.
func (m *Model) openEvidence(tab panes.Tab) {
	if m.bodyHeight() >= tabFrom && !m.large {
		m.openTab(tab)
	}
}

// tabFrom is the minimum height for a tab as evidence of a scene.
const tabFrom = 12

// inList shows only the list.
func inList(m *Model) {
	m.turnTo(m.list)
	m.zoom = true
}

// inMode opens a mode for the call.
func inMode(of func(*Model) entry) func(*Model) {
	return func(m *Model) { m.modeStack.openEntry(of(m)) }
}
