package panes

import (
	"slices"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/filter"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// List is the pane of turns and their calls.
type List struct {
	PaneRows
	scene *Context
	rows  machineRows
	on    *machineTurns // the machine row with the cursor; nil if it is on a turn or call
	aim   stream.Ref    // the selection when the cursor moved to that row
	last  stream.Ref    // the selection at the last Extend
	who   speakers
	stuck bool // the first visible row is a call: the row of its turn replaces it
	above int  // bad calls above the visible rows
	below int  // bad calls below them
	known int  // number of rows when the last one was visible
	now   time.Duration

	Unsearched int // turns whose arguments the latest Find did not search
}

// NewList returns the pane.
func NewList(h Host) *List {
	l := &List{PaneRows: NewRows(h, nil)}
	l.rows.plain.folded, l.rows.up = map[int32]bool{}, l.parentTurn
	return l
}

// parentTurn returns the turn and call that started the agent of t; nil if there is none.
func (l *List) parentTurn(t *stream.Turn) (up *stream.Turn, call int32) {
	if t.Request == nil || t.Request.StartedBy.Call == 0 {
		return nil, 0
	}
	return l.scene.View.Session().Turn(t.Request.StartedBy.Turn), t.Request.StartedBy.Call
}

// Keys returns the keys that move, fold, and open the selection.
func (l *List) Keys() []screen.Binding {
	open := func() {
		switch {
		case l.on != nil:
			l.toggleFold()
		case l.scene.Of().Turn != nil:
			l.host.Focus(Main)
		}
	}
	keys := screen.Can("help")
	if l.host.Moving() {
		keys = append(keys, screen.Can("pause")...)
	}
	keys = append(keys, screen.Key("enter", "open", "open the selection", open))
	keys = append(keys, screen.Can("step", "next-finding", "replay", "search", "onward", "compare", "mark", "resend", "result", "filter", "copy", "save",
		"streams", "clock", "zoom", "palette")...)
	keys = append(keys,
		screen.Key("-", "", "fold or show a turn's calls or a machine's turns", l.toggleFold),
		screen.Key("right l", "", "open the call", open),
	)
	if l.rows.hasMachines() {
		keys = append(keys, screen.Key("*", "", "fold or show all machines", l.foldMachines))
	}
	return append(keys, cursorKeys(l.host, l.CursorKeys("", l.GoTo), func() { l.host.Follow(true) })...)
}

// GoTo selects the turn or call of a row. On a machine row it selects the newest shown turn of that
// machine. If the machine has none, only the cursor moves.
func (l *List) GoTo(row int) {
	l.MoveTo(row)
	of := l.RefAt(l.scene.View.Session(), l.At)
	if of == stream.NoRef {
		of = l.scene.Chosen
	}
	l.on, l.aim = nil, of
	if h, t, _ := l.rows.rowTarget(l.At); t == nil {
		l.on = h
	}
	l.host.Choose(of)
}

// Click selects the turn or call of a row.
func (l *List) Click(_, y int) (again bool) {
	row := l.RowAt(y)
	of := l.RefAt(l.scene.View.Session(), row)
	switch h, t, _ := l.rows.rowTarget(row); {
	case h != nil && t == nil:
		l.GoTo(row)
		l.toggleFold()
		return false
	case row < 0 || of == stream.NoRef:
		return false
	case l.stuck && row == l.Top:
		of.Call = 0
	}
	again = of == l.scene.Chosen
	l.host.Choose(of)
	return again
}

// SeveralFiles reports whether the turns come from more than one file.
func (l *List) SeveralFiles() bool { return l.who.files }

// AgentOf returns the agent of a turn, or "" if all turns have the same agent.
func (l *List) AgentOf(t *stream.Turn) string {
	if !l.who.several {
		return ""
	}
	return agentName(t.Request)
}

// Selection is the selected turn, or one of its calls. Either may be nil.
type Selection struct {
	Turn *stream.Turn
	Call *stream.Call
}

// SelectionOf returns the turn and call of a Ref.
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
	s, plain := scene.View.Session(), &l.rows.plain
	again := scene.News.All || plain.quiet != scene.Quiet || scene.Sieve.Changed
	plain.quiet, plain.only = scene.Quiet, scene.Sieve
	alone := len(l.rows.machines) < 2
	known := l.rows.countTurns(scene.View, again)
	gone := l.rows.updateStates(scene.Machines)
	l.who.addTurns(scene.View, s.Turns[min(known, len(s.Turns)):], again)
	for _, number := range scene.News.Turns {
		if t := s.Turn(number); t != nil {
			l.rows.recountTurn(scene.View, t)
		}
	}
	if again || gone {
		l.on = l.rows.shownMachine(l.on)
	}
	l.revealSelected(alone && len(l.rows.machines) > 1)
	for again := true; again; again = l.recountVisible() {
		l.Fit(l.rows.totalRows(), l.titleRows(), height)
		if l.on != nil {
			l.MoveTo(l.rows.firstRow(l.on))
		} else {
			l.MoveTo(l.RowOf(s, scene.Chosen))
		}
		l.keepTurn()
	}
	l.countHidden(s)
}

// keepTurn keeps the row of a turn visible above its calls, but never in place of the selection.
func (l *List) keepTurn() {
	isCall := func(row int) bool {
		_, t, n := l.rows.rowTarget(row)
		return t != nil && n > 0
	}
	if l.stuck = l.Height > 1 && isCall(l.Top); l.stuck && l.At == l.Top {
		l.Top--
		l.stuck = isCall(l.Top)
	}
}

// Visible returns the visible rows.
func (l *List) Visible() (first, last, of int) {
	first, last, of = l.Window.Visible()
	if l.stuck {
		first++
	}
	return first, last, of
}

// countHidden counts bad calls out of view.
func (l *List) countHidden(s *stream.Session) {
	first, last, of := l.Visible()
	among := func(t *stream.Turn, n int) int { return badAmong(t, n, l.rows.plain.folded[t.Number]) }
	l.above, l.below = l.rows.badBefore(first-1, among), 0
	if last < of {
		l.below = l.rows.allBad() - l.rows.badBefore(last, among)
	} else {
		l.known = of
	}
	if l.now = 0; l.scene.View.Events() > 0 {
		l.now = l.scene.View.EventPrefix(l.scene.View.Events()-1, 0).At
	}
}

// badAmong returns the number of bad ones among the first n rows of a turn.
func badAmong(t *stream.Turn, n int, folded bool) (bad int) {
	if n == 0 {
		return 0
	}
	if folded || n > len(t.Calls) {
		return badIn(t)
	}
	for _, c := range t.Calls {
		if !wentWrong(c) {
			continue
		}
		if bad++; c.Number >= n {
			return bad - 1
		}
	}
	if bad == 0 {
		return badIn(t)
	}
	return bad
}

// titleRows returns the height of the title.
func (l *List) titleRows() int {
	if l.scene.Bare {
		return 0
	}
	return titleRow
}

// recountVisible counts the rows of the visible turns again, and reports whether any changed: a dropped
// turn has no calls left, and no event reports that.
func (l *List) recountVisible() (changed bool) {
	var last *stream.Turn
	for row := l.Top; row < min(l.Top+l.Height, l.rows.totalRows()); row++ {
		if _, t, _ := l.rows.rowTarget(row); t != nil && t != last {
			changed, last = l.rows.recountTurn(l.scene.View, t) || changed, t
		}
	}
	return changed
}

// toggleFold hides or shows the calls of the selected turn, or the turns of a machine.
func (l *List) toggleFold() {
	t := l.scene.Of().Turn
	h, _ := l.rows.find(l.scene.View, t)
	switch {
	case l.on != nil:
		l.host.Follow(false)
		l.rows.setFolded(l.on, !l.on.shut)
		return
	case h == nil:
		return
	case h.shut:
		l.host.Follow(false)
		l.rows.setFolded(h, false)
		return
	}
	l.host.Follow(false)
	if folded := l.rows.plain.folded; folded[t.Number] {
		delete(folded, t.Number)
	} else {
		folded[t.Number] = true
	}
	l.rows.recountTurn(l.scene.View, t)
	l.host.Choose(t.Ref())
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

// revealSelected unfolds the machine of the selection if the selection was changed elsewhere, or if a
// second machine appears while the user views turns of the first.
func (l *List) revealSelected(joined bool) {
	chosen := l.scene.Chosen
	if chosen != l.aim {
		l.on = nil
	}
	if (chosen != l.last || joined) && l.on == nil && !l.scene.Follow {
		if h, _ := l.rows.find(l.scene.View, l.scene.Of().Turn); h != nil && h.shut {
			l.rows.setFolded(h, false)
		}
	}
	l.last = chosen
}

// NextAlarm returns the next turn or call with findings above info. After the last one it continues at the
// first.
func (l *List) NextAlarm() stream.Ref {
	all := l.rows.turnCount()
	if all == 0 {
		return stream.NoRef
	}
	h, t, row := l.rows.rowTarget(l.At)
	if h == nil {
		h = l.rows.machines[0]
	}
	i := max(0, indexIn(h.turns, t))
	if t == nil {
		row = -1
	}
	for n := 0; n <= all; n++ {
		if i >= len(h.turns) {
			h, i = l.rows.nextTurn(h, i)
		}
		from, to := 0, len(h.turns[i].Calls)
		if n == 0 {
			from = row + 1
		}
		if n == all {
			to = min(row, to)
		}
		if of := l.alarmIn(h.turns[i], from, to); of != stream.NoRef {
			return of
		}
		if n < all {
			h, i = l.rows.nextTurn(h, i)
		}
	}
	return stream.NoRef
}

// alarmIn returns the first of some rows of a turn with findings above info.
func (l *List) alarmIn(t *stream.Turn, from, to int) stream.Ref {
	for n := from; n <= to && !l.rows.plain.isHidden(t); n++ {
		owner, found := t.Ref(), t.Findings
		if n > 0 {
			owner, found = t.Calls[n-1].Ref(), t.Calls[n-1].Findings
		}
		_, above := l.scene.Alarms.Of(owner, found)
		if above || n > 0 && wentWrong(t.Calls[n-1]) {
			return owner
		}
	}
	return stream.NoRef
}

// RowOf returns the row of a turn or call, or of its folded machine.
func (l *List) RowOf(s *stream.Session, r stream.Ref) int {
	t, c := s.Find(r)
	n := 0
	if c != nil {
		n = c.Number
	}
	return max(0, l.rows.rowOf(l.scene.View, t, n))
}

// RefAt returns the turn or call of a row; for a machine its newest turn.
func (l *List) RefAt(_ *stream.Session, row int) stream.Ref {
	h, t, n := l.rows.rowTarget(row)
	switch {
	case t != nil && n > 0 && n <= len(t.Calls):
		return t.Calls[n-1].Ref()
	case t != nil:
		return t.Ref()
	case h != nil:
		return newestOf(h.newestTurn(&l.rows.plain))
	}
	return stream.NoRef
}

// Newest returns the newest turn or call, for following. With several machines it is that of the
// selection's machine.
func (l *List) Newest(v *providers.View, sieve *TurnFilter, chosen stream.Ref) stream.Ref {
	s := v.Session()
	if h, _ := l.rows.find(v, s.Turn(chosen.Turn)); h != nil && len(l.rows.machines) > 1 && !sieve.Active() {
		return newestRef(h.turns)
	}
	return Newest(s, sieve)
}

// Label returns the name of the list.
func (l *List) Label() Label { return Label{Name: display.Lit("the list")} }

// Find returns the rows of turns and calls whose text, arguments or findings contain query. It begins at turn
// from. Evicted turns are not searched. Unsearched counts them.
func (l *List) Find(query string, from int, time func() bool) (rows []int, next int) {
	if query == "" {
		return nil, AllFound
	}
	if from == 0 {
		l.Unsearched = 0
		for _, h := range l.rows.machines { // matches need rows
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

// bytesPerCheck is the number of bytes that are searched between two checks of the time.
const bytesPerCheck = 1 << 20

// turnSearchCost is the cost of searching a turn without calls, in bytes of arguments.
const turnSearchCost = 1 << 11

// searchTurn searches one turn and its calls.
func (l *List) searchTurn(rows []int, n *textQuery, t *stream.Turn, looked int) ([]int, int) {
	v := l.scene.View
	l.rows.recountTurn(v, t)
	if t.Retention != stream.InMemory {
		l.Unsearched++
	}
	if l.rows.plain.isHidden(t) {
		return rows, looked + 1
	}
	if l.turnMatches(n, t) {
		rows = append(rows, l.rows.rowOf(v, t, 0))
	}
	looked += turnSearchCost + len(t.Text) + len(t.Thinking)
	for _, c := range t.Calls {
		if callMatches(n, c) {
			rows = append(rows, l.rows.rowOf(v, t, c.Number))
		}
		looked += c.ArgsLen() + turnSearchCost/8
	}
	return rows, looked
}

// turnMatches reports whether the row of a turn or its texts contain the query.
func (l *List) turnMatches(n *textQuery, t *stream.Turn) bool {
	_, _, state := turnState(t)
	return containsQuery(n, state) || containsQuery(n, t.Model) || containsQuery(n, t.ID) || containsQuery(n, t.Finish) || containsQuery(n, t.Failure) ||
		containsQuery(n, present.TurnTitle(l.scene.View.Exchange(t.Exchange), t)) || requestMatches(n, t.Request) || findingMatches(n, t.Findings) ||
		containsQuery(n, t.Text) || containsQuery(n, t.Thinking)
}

// callMatches reports whether the row of a call or its arguments contain the query.
func callMatches(n *textQuery, c *stream.Call) bool {
	return containsQuery(n, c.Name) || containsQuery(n, c.ID) || containsQuery(n, c.Status().String()) || findingMatches(n, c.Findings) || containsQuery(n, c.Args())
}

// findingMatches reports whether the code of a finding contains the query.
func findingMatches(n *textQuery, list []stream.Finding) bool {
	return slices.ContainsFunc(list, func(f stream.Finding) bool { return containsQuery(n, f.Code) })
}

// Find returns the matches of query in the arguments, and keeps them. A query without capitals ignores case.
func (d *Document) Find(query string) []int {
	d.Hits = Hits{length: len(query)}
	if d.Call == nil || query == "" {
		return nil
	}
	d.Hits.at = FindAll(d.Call.Args(), query)
	return d.Hits.at
}

// FindAll returns the offsets of query in text. A query without capitals ignores the case of A-Z.
func FindAll(text []byte, query string) (at []int) {
	n := filter.NewTextQuery(query)
	for off := range n.All(text) {
		at = append(at, off)
	}
	return at
}

// textQuery is a query and its buffer.
type textQuery struct {
	filter.TextQuery
	room []byte // a buffer for strings
}

func newTextQuery(query string) *textQuery { return &textQuery{TextQuery: filter.NewTextQuery(query)} }

// containsQuery reports whether a text contains the query.
func containsQuery[T string | []byte](n *textQuery, text T) bool {
	b, ok := any(text).([]byte)
	if !ok {
		n.room = append(n.room[:0], text...)
		b = n.room
	}
	return n.In(b)
}

// requestMatches reports whether a request's agent, purpose or prompt contains the query.
func requestMatches(n *textQuery, a *stream.RequestInfo) bool {
	return a != nil && (containsQuery(n, a.Agent) || containsQuery(n, a.Title) || containsQuery(n, a.Purpose) || containsQuery(n, a.ResultsOf) || containsQuery(n, a.Snippet))
}
