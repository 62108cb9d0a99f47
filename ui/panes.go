package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// paneSet has the panes, and methods that link them.
type paneSet struct {
	m        *Model
	list     *panes.List
	doc      *panes.Subject
	wire     *panes.Wire
	findings *panes.Findings
	runs     *panes.RunRules
	request  *panes.Request
	result   *panes.Result
	time     *panes.TimeTab
}

// newPanes returns all panes in tab order. The first has the key 1. Each area has at least one pane.
func (ps *paneSet) newPanes() []placedPane {
	h := paneHost{ps.m}
	*ps = paneSet{
		ps.m, panes.NewList(h), panes.NewSubject(h), panes.NewWire(h), panes.NewFindings(h, ps.goToFinding, ps.goToSentBack),
		panes.NewRunRules(h, ps.goToEvent), panes.NewRequest(h), panes.NewResult(h), panes.NewTimeTab(h),
	}
	return []placedPane{
		{ps.list, panes.Left, "1"},
		{ps.doc, panes.Main, "2"},
		{ps.findings, panes.Low, "3"},
		{ps.wire, panes.Side, "4"},
		{ps.runs, panes.Low, "5"},
		{ps.request, panes.Side, "6"},
		{ps.result, panes.Low, "7"},
		{ps.time, panes.Low, ""}, // not among the tabs: its key pauses the screen
	}
}

// paneHost implements panes.Host.
type paneHost struct{ m *Model }

func (h paneHost) Choose(r stream.Ref)   { h.m.selectRef(r) }
func (h paneHost) Focus(at panes.Area)   { h.m.focusOn(h.m.last[at]) }
func (h paneHost) Follow(on bool)        { h.m.setFollow(on) }
func (h paneHost) Moving() bool          { return h.m.isLive() }
func (h paneHost) Say(text display.Text) { h.m.showNotice(text) }
func (h paneHost) Do(work func() func()) {
	h.m.modeStack.queueCmd(func() tea.Msg {
		then := work()
		return workDone{then: func() {
			if then != nil {
				then()
				h.m.refreshPanes()
			}
		}}
	})
}

// paneKeys returns the keys for the focused pane. Their actions also update the other panes.
func (ps *paneSet) paneKeys() []screen.Binding {
	keys := ps.m.focus.Keys()
	covered := ps.m.frame.isLargePageShown()
	for i := range keys {
		if do := keys[i].Do; do != nil {
			keys[i].Do = func() { ps.m.zoom = ps.m.zoom || covered; do(); ps.m.refreshPanes() }
		}
		if covered {
			keys[i] = keys[i].WithoutHint()
		}
	}
	if covered {
		keys = append([]screen.Binding{screen.Can("next")[0], screen.Can("zoom")[0].Hinted("arguments")}, keys...)
	}
	return keys
}

// linkPanes highlights the bytes at the focused pane's cursor in all other panes.
func (ps *paneSet) linkPanes() {
	at := ps.m.focus.Spot().Span
	ps.m.focus.Point(panes.Span{})
	for _, p := range ps.m.table {
		if p.Pane != ps.m.focus {
			p.Point(at)
		}
	}
}

// followEnd sets whether the panes stay at the end of new data.
func (ps *paneSet) followEnd(on bool) {
	for _, p := range ps.m.table {
		p.Follow(on)
	}
}

// goToFinding goes to the evidence for a finding: a byte in the arguments, or a frame. A notice shows the
// finding's code.
func (ps *paneSet) goToFinding(f panes.Found) {
	ps.m.setFollow(false)
	ps.m.showNotice(ps.m.draw.Format("%s: see toolscope explain %s", ps.m.draw.Clean(f.Code), ps.m.draw.Clean(f.Code)))
	defer ps.leaveFrom(ps.m.focus, ps.m.selected)
	if _, c := ps.m.view.Find(f.Of); c != nil && f.Offset >= 0 {
		ps.m.selected = f.Of
		ps.m.focusOn(ps.doc)
		ps.doc.GoToByte(min(f.Offset, max(0, len(c.Args())-1)))
		return
	}
	e := ps.m.view.EventPrefix(f.Event, 0)
	t := ps.m.view.Session().Turn(e.Turn)
	if t == nil {
		ps.m.showNotice(display.Lit("this finding is about the source, not a frame"))
		return
	}
	ps.m.selected = t.Ref()
	ps.m.focusOn(ps.wire)
	ps.wire.OpenAt(func(n int) bool {
		return n >= f.Event || !e.Kind.IsAfterTurn() && ps.m.view.EventPrefix(n, 0).Frame >= e.Frame
	})
}

// findingAtCursor returns the finding at the cursor in the findings pane, if that pane has the focus and the
// finding belongs to the selected turn. Otherwise, it returns nil.
func (ps *paneSet) findingAtCursor() *stream.Finding {
	if ps.m.focus != ps.findings {
		return nil
	}
	if x, ok := ps.findings.Chosen(); ok && x.Of.Turn == ps.m.selected.Turn {
		return &x.Finding
	}
	return nil
}

// leaveFrom remembers the pane and selection that the user has left. esc goes back to them.
func (ps *paneSet) leaveFrom(pane panes.Pane, chosen stream.Ref) {
	if pane != ps.m.focus || chosen != ps.m.selected {
		ps.m.from = &backTarget{pane, chosen, ps.m.selected}
	}
}

// goToEvent goes to the frame with an event of a call.
func (ps *paneSet) goToEvent(of stream.Ref, event int) {
	ps.m.setFollow(false)
	defer ps.leaveFrom(ps.m.focus, ps.m.selected)
	ps.m.selected = of
	ps.m.focusOn(ps.wire)
	ps.wire.SelectFrom(func(n int) bool { return n >= event })
}

// goToSentBack selects the turn whose request sent the call back. If the request has no turn, it only shows a notice
// that names the request by its exchange.
func (ps *paneSet) goToSentBack(r *stream.SentBackCall) {
	t := ps.m.view.TurnAfter(r)
	if t == nil {
		ps.m.showNotice(ps.m.draw.Clean(panes.RequestName(ps.m.view, r.Exchange)))
		return
	}
	ps.m.setFollow(false)
	ps.m.turnTo(ps.list)
	ps.m.selectRef(t.Ref())
	ps.m.showNotice(ps.m.draw.Format("see the request of turn %d", t.Number+1))
}

// goToError goes to the next bad call or turn in the list, or to the previous one if step is -1.
func (ps *paneSet) goToError(step int) {
	m := ps.m
	at, any := ps.list.NextError(step)
	switch {
	case !any:
		m.showNotice(display.Lit("no errors"))
		return
	case at == stream.NoRef && step < 0:
		m.showNotice(display.Lit("no earlier errors: N starts over"))
		return
	case at == stream.NoRef:
		m.showNotice(display.Lit("no more errors: ! starts over"))
		return
	}
	m.setFollow(false)
	here := backTarget{pane: m.focus, chosen: m.selected}
	if m.from != nil && m.from.to == m.selected { // repeated use keeps the first place that esc goes back to
		here = *m.from
	}
	m.selected = at
	ps.list.Leave()
	m.refreshPanes()
	m.from = &backTarget{here.pane, here.chosen, at}
}

// typedResultSize returns the size of the result that the user typed for a call, if any.
func (ps *paneSet) typedResultSize(call stream.Ref) (size int, typed bool) {
	r, typed := ps.m.results[call]
	return len(r.Text), typed
}

// Layout is the saved layout of the screen. The zero value is the built-in layout.
type Layout struct {
	List, Side int            // widths of the first and third columns, 0 for the default
	Above, Low int            // heights of a list above other panes and of the lower tab, 0 for the default
	Columns    SplitDirection // side by side or stacked
	Tabs       TabState       // whether a tab is open under the document
}

// SplitDirection says how panes are arranged.
type SplitDirection string

// The arrangements. With ByWidth, the width of the screen decides.
const (
	ByWidth SplitDirection = ""
	Beside  SplitDirection = "beside"
	Above   SplitDirection = "above"
)

// TabState says whether a tab is open under the document.
type TabState string

// The states of the tabs. With TabsByRoom, a tab is open if the document has enough room.
const (
	TabsByRoom TabState = ""
	TabsOpen   TabState = "open"
	TabsShut   TabState = "shut"
)

// Layout returns the user's current layout. In the demo and in the large layout, it returns the saved layout.
func (pl *paneLayout) Layout() Layout {
	if pl.m.tour != nil || pl.large {
		return pl.m.opt.Layout
	}
	l := pl.m.opt.Layout
	l.List, l.Side, l.Above, l.Low = pl.sizes.list, pl.sizes.side, pl.sizes.above, pl.sizes.low
	l.Columns = pl.order
	return l
}

// keepTabs saves whether the user opened a tab. It ignores tabs that links open. It doesn't save which tab is open,
// because the next call may have no content for that tab. Closed tabs are not saved, because the next run would hide
// the findings from a user who doesn't know the tabs.
func (pl *paneLayout) keepTabs() {
	if pl.m.tour != nil {
		return
	}
	if pl.m.opt.Layout.Tabs = pl.tabs; pl.tabs == TabsShut {
		pl.m.opt.Layout.Tabs = TabsByRoom
	}
}

// toggleSplit switches panes between side by side and stacked. If the layout or the width allows only one of
// them, it shows a notice instead.
func (pl *paneLayout) toggleSplit() {
	pl.zoom = false
	switch {
	case pl.large:
		pl.m.showNotice(display.Lit("only one pane here"))
		return
	case pl.m.isStacked(pl.m.w) && pl.m.w < minBesideWidth:
		pl.m.showNotice(pl.m.draw.Format("side-by-side panes need %d columns", minBesideWidth))
		return
	case pl.m.isStacked(pl.m.w):
		pl.order = Beside
		pl.m.showNotice(display.Lit("panes side by side"))
	default:
		pl.order = Above
		pl.m.showNotice(display.Lit("panes stacked"))
	}
	if piled := pl.order == Above; piled == (pl.m.w < twoColumns) {
		pl.order = ByWidth
	}
	pl.m.refreshPanes()
}

type entry = modes.Entry

// inDocument does nothing, because the scene's evidence is in the document.
func inDocument(*Model) {}

// withFindings opens the tab of findings for a scene.
func withFindings(m *Model) { m.openEvidence(m.findings) }

// withRuns opens the tab of run rules for a scene.
func withRuns(m *Model) { m.openEvidence(m.runs) }

// openEvidence opens a tab, if the document keeps enough room.
func (ps *paneSet) openEvidence(tab panes.Pane) {
	if ps.m.bodyHeight() >= tabFrom && !ps.m.large {
		ps.m.picks = true
		ps.m.showPane(tab)
		ps.m.tabs = TabsOpen
	}
}

// tabFrom is the minimum height of the body for a tab as a scene's evidence.
const tabFrom = 12

// inMode returns a function that opens a mode for a scene.
func inMode(of func(*Model) entry) func(*Model) {
	return func(m *Model) { m.modeStack.openEntry(of(m)) }
}

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
