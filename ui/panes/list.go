package panes

import (
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// List is the pane of turns and their calls.
type List struct {
	screen.Window
	host  Host
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
	l := &List{host: h}
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
	keys := []screen.Binding{helpHint}
	if l.host.Moving() {
		keys = append(keys, pauseHint)
	}
	keys = append(keys,
		screen.Binding{Keys: []string{"enter"}, Hint: display.Lit("enter open"), Does: display.Lit("open the selection"), Do: open},
		stepHint, nextHint, replayHint, findHint, sentHint, compareHint, markHint, resendHint, answerHint, filterHint, copyHint, saveHint, streamsHint,
		clockHint, zoomHint, allHint,
		screen.Binding{Keys: []string{"-"}, Does: display.Lit("fold or show a turn's calls or a machine's turns"), Do: l.toggleFold},
		screen.Binding{Keys: []string{"right", "l"}, Does: display.Lit("open the call"), Do: open},
	)
	if l.rows.hasMachines() {
		keys = append(keys, screen.Binding{Keys: []string{"*"}, Does: display.Lit("fold or show all machines"), Do: l.foldMachines})
	}
	return append(keys, cursorKeys(l.host, l.CursorKeys(display.Text{}, l.GoTo), func() { l.host.Follow(true) })...)
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
