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
	scene *Scene
	rows  turnRows
	who   cast
	stuck bool // the first visible row is of a call: that of its turn stands there instead
	above int  // of what went wrong is above what is visible
	below int  // and below
	known int  // rows there were when the last was visible
	now   time.Duration

	Unsearched int // turns whose arguments the latest Find did not look through
}

func NewList(h Host) *List { return &List{host: h, rows: turnRows{folded: map[int32]bool{}}} }

// under is the turn in the list that has the call which started the agent of t; -1 for none.
func (l *List) under(t *stream.Turn) (i int, call int32) {
	if t.Ask == nil || t.Ask.By.Call == 0 {
		return -1, 0
	}
	s := l.scene.View.Session()
	return indexOf(s, s.Turn(t.Ask.By.Turn)), t.Ask.By.Call
}

// Keys are those that move, and lead into what is chosen.
func (l *List) Keys() []screen.Binding {
	open := func() {
		if l.scene.Of().Turn != nil {
			l.host.Focus(Main)
		}
	}
	keys := []screen.Binding{helpHint}
	if l.host.Moving() {
		keys = append(keys, pauseHint)
	}
	keys = append(keys,
		screen.Binding{Keys: []string{"enter"}, Hint: display.Lit("enter open"), Does: display.Lit("open what is selected"), Do: open},
		stepHint, nextHint, replayHint, findHint, sentHint, compareHint, markHint, resendHint, answerHint, filterHint, copyHint, saveHint, streamsHint,
		clockHint, zoomHint, allHint,
		screen.Binding{Keys: []string{"-"}, Does: display.Lit("fold a turn's calls, or show them"), Do: l.fold},
		screen.Binding{Keys: []string{"right", "l"}, Does: display.Lit("into the call"), Do: open},
	)
	return append(keys, moves(l.host, l.Steps(display.Text{}, l.GoTo), func() { l.host.Follow(true) })...)
}

// fold hides the calls of the chosen turn, or shows them again.
func (l *List) fold() {
	t := l.scene.Of().Turn
	if t == nil {
		return
	}
	l.host.Follow(false)
	if l.rows.folded[t.Number] {
		delete(l.rows.folded, t.Number)
	} else {
		l.rows.folded[t.Number] = true
	}
	l.rows.count(indexOf(l.scene.View.Session(), t), t)
	l.host.Choose(t.Ref())
}

// GoTo chooses what a row shows.
func (l *List) GoTo(row int) {
	l.MoveTo(row)
	l.host.Choose(l.RefAt(l.scene.View.Session(), l.At))
}

// Touch chooses what a row shows.
func (l *List) Touch(_, y int) (again bool) {
	row := l.RowAt(y)
	of := l.RefAt(l.scene.View.Session(), row)
	switch {
	case row < 0 || of == stream.NoRef:
		return false
	case l.stuck && row == l.Top:
		of.Call = 0
	}
	again = of == l.scene.Chosen
	l.host.Choose(of)
	return again
}

// SeveralFiles reports whether what is in the list is from more than one file.
func (l *List) SeveralFiles() bool { return l.who.files }

// AgentOf is whose turn that is, where there are several agents, and "" where there are not.
func (l *List) AgentOf(t *stream.Turn) string {
	if !l.who.several {
		return ""
	}
	return agentName(t.Ask)
}

// Choice is what is chosen: a turn, or one of its calls. Either may be nil.
type Choice struct {
	Turn *stream.Turn
	Call *stream.Call
}

// LookAt is what a Ref names.
func LookAt(s *stream.Session, r stream.Ref) (c Choice) {
	c.Turn, c.Call = s.Find(r)
	return c
}

// ref names what is chosen.
func (c Choice) ref() stream.Ref {
	switch {
	case c.Call != nil:
		return c.Call.Ref()
	case c.Turn != nil:
		return c.Turn.Ref()
	}
	return stream.NoRef
}

// Extend takes what is new in the session, and has the cursor on what is chosen.
func (l *List) Extend(scene *Scene, _, height int) {
	l.scene = scene
	s := scene.View.Session()
	again := scene.News.All || l.rows.quiet != scene.Quiet || scene.Sieve.Changed
	l.rows.quiet, l.rows.only, l.rows.under = scene.Quiet, scene.Sieve, l.under
	known := l.rows.extend(s.Turns, s.Gone(), again)
	l.who.extend(scene.View, s.Turns[min(known, len(s.Turns)):], again)
	for _, number := range scene.News.Turns {
		if i := indexOf(s, s.Turn(number)); i >= 0 && i < known {
			l.rows.count(i, s.Turns[i])
		}
	}
	for again := true; again; again = l.mend(s) {
		l.Fit(l.rows.all(), l.head(), height)
		l.MoveTo(l.RowOf(s, scene.Chosen))
		l.keepTurn(s)
	}
	l.look(s)
}

// keepTurn has the row of a turn stay in view above its calls: what is chosen is never behind it.
func (l *List) keepTurn(s *stream.Session) {
	isCall := func(row int) bool { return l.RefAt(s, row).Call != 0 }
	if l.stuck = l.Height > 1 && isCall(l.Top); l.stuck && l.At == l.Top {
		l.Top--
		l.stuck = isCall(l.Top)
	}
}

// Seen is which rows are visible.
func (l *List) Seen() (first, last, of int) {
	first, last, of = l.Window.Seen()
	if l.stuck {
		first++
	}
	return first, last, of
}

// look counts what is out of sight.
func (l *List) look(s *stream.Session) {
	first, last, of := l.Seen()
	among := func(turn, n int) int {
		if turn < 0 || turn >= len(s.Turns) {
			return 0
		}
		return badAmong(s.Turns[turn], n, l.rows.folded[s.Turns[turn].Number])
	}
	l.above, l.below = l.rows.badBefore(first-1, among), 0
	if last < of {
		l.below = l.rows.allBad() - l.rows.badBefore(last, among)
	} else {
		l.known = of
	}
	if l.now = 0; l.scene.View.Events() > 0 {
		l.now = l.scene.View.Begin(l.scene.View.Events()-1, 0).At
	}
}

// badAmong is how much of the first n rows of a turn went wrong.
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

// head is how many rows the title takes.
func (l *List) head() int {
	if l.scene.Bare {
		return 0
	}
	return titleRow
}

// mend counts the rows of the visible turns again, and reports whether any has others by now: a
// turn of which only a row is kept has no calls, and no event says so.
func (l *List) mend(s *stream.Session) (changed bool) {
	last := -1
	for row := l.Top; row < min(l.Top+l.Height, l.rows.all()); row++ {
		if i, _ := l.rows.at(row); i != last && i >= 0 && i < len(s.Turns) {
			changed, last = l.rows.count(i, s.Turns[i]) || changed, i
		}
	}
	return changed
}

// NextAlarm is what comes next, round the list, of what has findings above info.
func (l *List) NextAlarm() stream.Ref {
	turns := l.scene.View.Session().Turns
	at, row := l.rows.at(l.At)
	for i := 0; len(turns) > 0 && i <= len(turns); i++ {
		t := turns[(at+i)%len(turns)]
		from, to := 0, len(t.Calls)
		if l.rows.hides(t) {
			continue
		}
		if i == 0 {
			from = row + 1
		}
		if i == len(turns) {
			to = min(row, to)
		}
		for n := from; n <= to; n++ {
			owner, found := t.Ref(), t.Findings
			if n > 0 {
				owner, found = t.Calls[n-1].Ref(), t.Calls[n-1].Findings
			}
			_, above := l.scene.Alarms.Of(owner, found)
			if above || n > 0 && wentWrong(t.Calls[n-1]) {
				return owner
			}
		}
	}
	return stream.NoRef
}

// RowOf is the row of a turn or call.
func (l *List) RowOf(s *stream.Session, r stream.Ref) int {
	t, c := s.Find(r)
	i := indexOf(s, t)
	switch {
	case i < 0:
		return 0
	case c == nil || l.rows.folded[t.Number]:
		return l.rows.first(i)
	}
	return l.rows.of(i, c.Number)
}

// RefAt is what a row shows.
func (l *List) RefAt(s *stream.Session, row int) stream.Ref {
	i, n := l.rows.at(row)
	if row < 0 || i < 0 || i >= len(s.Turns) {
		return stream.NoRef
	}
	t := s.Turns[i]
	if n > 0 && n <= len(t.Calls) {
		return t.Calls[n-1].Ref()
	}
	return t.Ref()
}
