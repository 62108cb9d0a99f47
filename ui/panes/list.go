package panes

import (
	"path"
	"slices"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// List is the pane of calls. A turn without calls has one row.
type List struct {
	PaneRows
	scene *Context
	rows  machineRows
	order rowOrder
	on    *machineTurns // the machine whose row has the cursor; nil if the cursor is on a turn or call
	aim   stream.Ref    // the selection when the cursor moved to the machine's row
	last  stream.Ref    // the selection at the last Extend
	call  stream.Ref    // the last selected call; the cursor stays on it while its turn is selected
	who   speakers
	over  bool // the last error has been reached, so the next search starts over

	Unsearched int // number of turns whose arguments the latest Find did not search
}

// NewList returns the pane.
func NewList(h Host) *List {
	l := &List{PaneRows: NewRows(h, nil), call: stream.NoRef}
	l.rows.up = l.parentTurn
	return l
}

// parentTurn returns the turn and call that started the agent of t. The turn is nil if there is none.
func (l *List) parentTurn(t *stream.Turn) (up *stream.Turn, call int32) {
	if t.Request == nil || t.Request.StartedBy.Call == 0 {
		return nil, 0
	}
	return l.scene.View.Session().Turn(t.Request.StartedBy.Turn), t.Request.StartedBy.Call
}

// Keys returns the keys that move and open the selection, that fold, sort and filter rows, and that act on a turn.
func (l *List) Keys() []screen.Binding {
	open := func() {
		switch of := l.scene.Of(); {
		case l.on != nil:
			l.foldMachine()
		case of.Turn != nil && of.Call == nil && l.call.Turn == of.Turn.Number:
			l.host.Choose(l.call)
		case of.Turn != nil:
			l.host.Focus(Main)
		}
	}
	enter := func() {
		if l.on == nil && l.scene.Of().Turn != nil {
			l.host.Focus(Main)
			return
		}
		open()
	}
	keys := screen.Can("help")
	word := "open"
	if l.scene != nil && l.scene.Verdicts.Counts.Bad() > 0 {
		word = "why"
		keys = append(keys, screen.Can("next-finding")...)
		keys = append(keys, screen.Binding{Keys: screen.ActionNamed("again").KeyList()[1:]}.Hinted("previous"))
	}
	keys = append(keys, screen.Key("enter", word, "open the selection", enter))
	hinted := func(action, word string) screen.Binding { return screen.Can(action)[0].Hinted(word) }
	other := WorstFirst
	if l.order.by != ByTime {
		other = ByTime
	}
	order, right := hinted("order", other.String()), screen.Key("right l", "", "show the call, open it", open)
	switch {
	case l.showsTurnOfCall():
		right = right.Hinted("its call").Show("l")
		keys = append(screen.Can("help"), right, screen.Binding{Keys: []string{"6"}}.Hinted("request"), hinted("onward", "sent back"), hinted("mark", "mark"), hinted("copy", "copy"))
	case l.host.Moving():
		keys = append(append(keys, order), hinted("follow", "follow"), hinted("pause", "pause"), hinted("filter", "filter"), hinted("streams", "streams"),
			hinted("copy", "copy"), hinted("save", "report"), hinted("search", "find"), hinted("replay", "sent back"))
	default:
		keys = append(keys, hinted("replay", "sent back"), hinted("filter", "filter"), hinted("search", "find"), hinted("copy", "copy"),
			hinted("save", "report"), hinted("compare", "compare"), order, hinted("streams", "streams"))
	}
	keys = append(keys, screen.Can("next", "step", "onward", "compare", "mark", "resend", "result", "clock", "zoom")...)
	commands := hinted("palette", "commands")
	commands.Last = true
	keys = append(keys, commands)
	fold := func(on bool) func() {
		return func() {
			if l.on != nil {
				l.setMachineFolded(on)
			} else {
				l.foldHealthy(on)
			}
		}
	}
	keys = append(keys,
		screen.Key("-", "", "fold healthy calls, or a machine", fold(true)), screen.Key("+", "", "unfold them", fold(false)),
		screen.Key("left h", "", "show the turn of the call", func() { // the cursor stays on the call
			if t := l.scene.Of().Turn; t != nil && l.on == nil {
				l.host.Follow(false)
				l.host.Choose(t.Ref())
			}
		}),
	)
	if !right.HasHint() {
		keys = append(keys, right)
	}
	if l.rows.hasMachines() {
		keys = append(keys, screen.Key("*", "", "fold or show all machines", l.foldMachines))
	}
	return append(keys, cursorKeys(l.host, l.CursorKeys("", l.GoTo), func() { l.host.Follow(true) })...)
}

// showsTurnOfCall reports whether the document shows the turn of the call at the cursor.
func (l *List) showsTurnOfCall() bool {
	if l.scene == nil {
		return false
	}
	of := l.scene.Of()
	return of.Turn != nil && of.Call == nil && l.call.Call > 0 && l.call.Turn == of.Turn.Number
}

// GoTo selects the turn or call of a row. On a machine row it selects the newest shown turn of that machine.
// If the machine has none, only the cursor moves. It skips the rule above the healthy calls.
func (l *List) GoTo(row int) {
	if row = max(0, min(row, l.Rows-1)); row == l.order.ruleRow() {
		if row < l.At {
			row--
		} else {
			row++
		}
	}
	l.MoveTo(row)
	of := l.RefAt(l.scene.View.Session(), l.At)
	if of == stream.NoRef {
		of = l.scene.Chosen
	}
	l.on, l.aim, l.over = nil, of, false
	if at := l.targetOf(l.At); at.turn == nil {
		l.on = at.machine
	}
	l.host.Choose(of)
}

// Click selects the turn or call in a row, and reports whether it was already selected. On a machine row, it
// folds or unfolds the machine.
func (l *List) Click(_, y int) (again bool) {
	row := l.RowAt(y)
	of := l.RefAt(l.scene.View.Session(), row)
	switch at := l.targetOf(row); {
	case at.machine != nil && at.turn == nil:
		l.GoTo(row)
		l.foldMachine()
		return false
	case row < 0 || of == stream.NoRef:
		return false
	}
	again = of == l.scene.Chosen
	l.host.Choose(of)
	return again
}

// Files returns the number of files that the turns come from.
func (l *List) Files() int { return l.who.files }

// FilePattern returns the common part of the names of several files, such as "talks/*.sse", or "" if there is
// none.
func (l *List) FilePattern() string {
	if l.who.files < 2 || l.who.before == "" {
		return ""
	}
	return path.Base(l.who.before) + "/*" + l.who.after
}

// SeveralAgents reports whether the turns come from several agents.
func (l *List) SeveralAgents() bool { return l.who.several }

// AgentOf returns the agent of a turn, or "" if all turns have the same agent.
func (l *List) AgentOf(t *stream.Turn) string {
	if !l.who.several {
		return ""
	}
	return agentName(t.Request)
}

// Selection is the selected turn and, if a call is selected, that call. Both are nil if nothing is selected.
type Selection struct {
	Turn *stream.Turn
	Call *stream.Call
}

// SelectionOf returns the turn and call that a Ref identifies.
func SelectionOf(s *stream.Session, r stream.Ref) (c Selection) {
	c.Turn, c.Call = s.Find(r)
	return c
}

// asRef returns the Ref of the selection.
func (c Selection) asRef() stream.Ref {
	switch {
	case c.Call != nil:
		return c.Call.Ref()
	case c.Turn != nil:
		return c.Turn.Ref()
	}
	return stream.NoRef
}

// Extend counts new turns, and moves the cursor to the selection.
func (l *List) Extend(scene *Context, _, height int) {
	l.scene = scene
	if scene.Chosen.Call > 0 {
		l.call = scene.Chosen
	}
	s, plain := scene.View.Session(), &l.rows.plain
	again := scene.News.All || plain.quiet != scene.Quiet || scene.Sieve.Changed
	*plain = rowSettings{quiet: scene.Quiet, only: scene.Sieve, verdicts: scene.Verdicts}
	alone := len(l.rows.machines) < 2
	known := l.rows.countTurns(scene.View, again)
	gone := l.rows.updateStates(scene.Machines)
	l.who.addTurns(scene, s.Turns[min(known, len(s.Turns)):], again)
	for _, number := range scene.News.Turns {
		if t := s.Turn(number); t != nil {
			l.rows.recountTurn(scene.View, t)
			l.who.addTimes(t)
		}
	}
	if (again || gone) && l.on != nil { // the machine with the same name, if it has rows now
		if l.on = l.rows.machineNamed(l.on.name); l.on != nil && l.rows.rowCount(l.on) <= 0 {
			l.on = nil
		}
	}
	// Unfold the machine of the selection if the selection was changed elsewhere, or if a second machine has appeared.
	joined, chosen := alone && len(l.rows.machines) > 1, l.scene.Chosen
	if chosen != l.aim {
		l.on = nil
	}
	if (chosen != l.last || joined) && l.on == nil && !l.scene.Follow {
		if h, _ := l.rows.find(l.scene.View, l.scene.Of().Turn); h != nil && h.shut {
			l.rows.setFolded(h, false)
		}
	}
	l.last = chosen
	for again := true; again; again = l.recountVisible() {
		l.updateOrder()
		l.Fit(l.totalRows(), l.headRows(height), height)
		if l.on != nil {
			l.MoveTo(l.rows.firstRow(l.on))
		} else {
			l.MoveTo(l.RowOf(s, scene.Chosen))
		}
	}
}

// headRows returns the number of rows above the first row: the edge and the column heads.
func (l *List) headRows(height int) int {
	switch {
	case l.scene.Bare:
		return 0
	case height < minHeadRows && l.totalRows() > height-titleRow-1:
		return titleRow
	}
	return titleRow + 1
}

// minHeadRows is the minimum height of a list with column heads. A shorter list has them if all rows fit.
const minHeadRows = 4

// recountVisible counts the rows of the visible turns again, and reports whether any count changed. This is needed
// because no event reports that a dropped turn has lost its calls.
func (l *List) recountVisible() (changed bool) {
	var last *stream.Turn
	for row := l.Top; row < min(l.Top+l.Height, l.Rows); row++ {
		if t := l.targetOf(row).turn; t != nil && t != last {
			changed, last = l.rows.recountTurn(l.scene.View, t) || changed, t
		}
	}
	return changed
}

// foldHealthy folds or unfolds the runs of healthy calls.
func (l *List) foldHealthy(on bool) {
	switch {
	case l.order.by != ByTime:
		l.host.Say(display.Lit("works only in time order: s changes the order"))
	case on && l.order.folded:
		l.host.Say(display.Lit("already folded: + unfolds"))
	default:
		l.host.Follow(false)
		if l.order.folded = on; on {
			l.updateOrder()
			if !slices.ContainsFunc(l.order.runs, func(r rowRun) bool { return r.n > 1 }) {
				l.order.folded = false
				l.host.Say(display.Lit("fewer than three healthy calls in a row"))
			}
		}
	}
}

// foldMachine hides or shows the turns of the machine at the cursor.
func (l *List) foldMachine() {
	if l.on != nil {
		l.setMachineFolded(!l.on.shut)
	}
}

// setMachineFolded folds or unfolds the machine at the cursor.
func (l *List) setMachineFolded(shut bool) {
	l.host.Follow(false)
	l.rows.setFolded(l.on, shut)
}

// foldMachines hides the turns of all machines, or shows them if all are hidden.
func (l *List) foldMachines() {
	l.host.Follow(false)
	shut := slices.ContainsFunc(l.rows.machines, func(h *machineTurns) bool { return !h.shut })
	for _, h := range l.rows.machines {
		l.rows.setFolded(h, shut)
	}
	if h, _ := l.rows.find(l.scene.View, l.scene.Of().Turn); shut && h != nil {
		l.GoTo(l.rows.firstRow(h))
	}
}

// Leave moves the cursor from a machine row back to the selection.
func (l *List) Leave() { l.on, l.last = nil, stream.NoRef }

// NextError returns the next bad call or turn in the order of the list, or the previous one if step is -1. At
// the end, it returns NoRef once and then starts again. The second result reports whether there is a bad call
// or turn at all.
func (l *List) NextError(step int) (of stream.Ref, any bool) {
	first, last, before, after := stream.NoRef, stream.NoRef, stream.NoRef, stream.NoRef
	here, passed := l.call, false // the call in the cursor's row, or else its turn
	if chosen := l.scene.Chosen; chosen.Call > 0 || l.call.Turn != chosen.Turn {
		here = chosen
	}
	for of, h := range l.allRows() {
		if of == here {
			passed = true
			continue
		}
		if !h.IsBad() {
			continue
		}
		if last = of; first == stream.NoRef {
			first = of
		}
		if !passed {
			before = of
		} else if after == stream.NoRef {
			after = of
		}
	}
	of, around := after, first
	if step < 0 {
		of, around = before, last
	}
	if of == stream.NoRef && l.over {
		of = around
	}
	l.over = of == stream.NoRef
	return of, first != stream.NoRef
}

// RowOf returns the row of a turn or call, or of its folded machine. If a turn has no row of its own, it returns the
// row of the call that was selected last, or else of the first call.
func (l *List) RowOf(s *stream.Session, r stream.Ref) int {
	t, c := s.Find(r)
	switch {
	case t == nil:
		return 0
	case c != nil:
		return max(0, l.rowOfOwn(t, c.Number-1))
	case l.call.Turn == t.Number && int(l.call.Call) <= len(t.Calls) && l.rows.plain.rowsOf(t) == len(t.Calls):
		return max(0, l.rowOfOwn(t, int(l.call.Call)-1))
	}
	return max(0, l.rowOfOwn(t, l.ownRow(t)))
}

// ownRow returns the index of the row that is about the turn itself: its own row, or else its first row.
func (l *List) ownRow(t *stream.Turn) int {
	if n := len(t.Calls); l.rows.plain.rowsOf(t) > n {
		return n
	}
	return 0
}

// RefAt returns the turn or call in a row. For a machine's row, it returns the machine's newest shown turn or call.
func (l *List) RefAt(_ *stream.Session, row int) stream.Ref {
	switch at := l.targetOf(row); {
	case at.turn != nil:
		return at.asRef()
	case at.machine != nil:
		return newestOf(at.machine.newestTurn(&l.rows.plain))
	}
	return stream.NoRef
}

// Newest returns the newest turn or call, for following. If there are several machines and no filter is set,
// it returns the newest one on the selection's machine.
func (l *List) Newest(v *providers.View, sieve *TurnFilter, chosen stream.Ref) stream.Ref {
	s := v.Session()
	if h, _ := l.rows.find(v, s.Turn(chosen.Turn)); h != nil && len(l.rows.machines) > 1 && !sieve.Active() {
		return newestRef(h.turns)
	}
	return Newest(s, sieve)
}

// Label returns the name of the list.
func (l *List) Label() Label { return Label{Name: display.Lit("the list")} }

// verdictOf returns the verdict on the call or turn in a row.
func (l *List) verdictOf(at rowTarget) present.Verdict {
	if c := at.toolCall(); c != nil {
		return present.VerdictOfCall(c)
	}
	return present.VerdictOfTurn(l.scene.View.Exchange(at.turn.Exchange), at.turn)
}

// Find returns the rows of turns and calls whose text, arguments or findings contain query. It begins at turn
// from. The texts and arguments of turns that are not in memory are not searched; Unsearched counts these
// turns.
func (l *List) Find(query string, from int, time func() bool) (rows []int, next int) {
	if query == "" {
		return nil, AllFound
	}
	if from == 0 {
		l.Unsearched = 0
		for _, h := range l.rows.machines { // a match must have a row, and the turns of folded machines have none
			if h.shut {
				l.rows.setFolded(h, false)
			}
		}
	}
	n, turns := newTextQuery(query), l.scene.View.Session().Turns
	looked := 0
	for i := from; i < len(turns); i++ {
		if looked > bytesPerCheck {
			if looked = 0; !time() {
				return rows, i
			}
		}
		rows, looked = l.searchTurn(rows, n, turns[i], looked)
	}
	return rows, AllFound
}

// bytesPerCheck is the number of bytes that are searched between two checks of the remaining time.
const bytesPerCheck = 1 << 20

// turnSearchCost is the cost of searching a turn without calls, in bytes of arguments.
const turnSearchCost = 1 << 11

// searchTurn searches one turn and its calls. It appends the matching rows to rows, and adds the cost of the
// search to looked.
func (l *List) searchTurn(rows []int, n *textQuery, t *stream.Turn, looked int) ([]int, int) {
	v := l.scene.View
	l.rows.recountTurn(v, t)
	if t.Retention != stream.InMemory {
		l.Unsearched++
	}
	if l.rows.plain.isHidden(t) {
		return rows, looked + 1
	}
	last := -1
	add := func(own int) {
		if row := l.rowOfOwn(t, own); row >= 0 && row != last {
			rows, last = append(rows, row), row
		}
	}
	if l.turnMatches(n, t) {
		add(l.ownRow(t))
	}
	looked += turnSearchCost + len(t.Text) + len(t.Thinking)
	for i, c := range t.Calls {
		if callMatches(n, c) {
			add(i)
		}
		looked += c.ArgsLen() + turnSearchCost/8
	}
	return rows, looked
}

// turnMatches reports whether the row of a turn, or one of its texts, contains the query.
func (l *List) turnMatches(n *textQuery, t *stream.Turn) bool {
	state, a := present.VerdictOfTurn(l.scene.View.Exchange(t.Exchange), t).Words, t.Request
	return containsQuery(n, state) || containsQuery(n, t.Model) || containsQuery(n, t.ID) || containsQuery(n, t.Finish) || containsQuery(n, t.Failure) ||
		containsQuery(n, present.TurnTitle(l.scene.View.Exchange(t.Exchange), t)) || findingMatches(n, t.Findings) || containsQuery(n, t.Text) || containsQuery(n, t.Thinking) ||
		a != nil && (containsQuery(n, a.Agent) || containsQuery(n, a.Title) || containsQuery(n, a.Purpose) || containsQuery(n, a.ResultsOf) || containsQuery(n, a.Snippet))
}

// callMatches reports whether the row, a finding code or the arguments of a call contain the query.
func callMatches(n *textQuery, c *stream.Call) bool {
	return containsQuery(n, c.Name) || containsQuery(n, c.ID) || containsQuery(n, c.Status().String()) || findingMatches(n, c.Findings) || containsQuery(n, c.Args())
}

// findingMatches reports whether the code of a finding contains the query.
func findingMatches(n *textQuery, list []stream.Finding) bool {
	return slices.ContainsFunc(list, func(f stream.Finding) bool { return containsQuery(n, f.Code) })
}
