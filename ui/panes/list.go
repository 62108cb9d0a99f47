package panes

import (
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

	Unsearched int // turns whose arguments the latest Find did not look through
}

func NewList(h Host) *List { return &List{host: h} }

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
	return append([]screen.Binding{
		helpHint,
		{Keys: []string{"enter"}, Hint: display.Lit("enter open"), Does: display.Lit("open what is selected"), Do: open},
		replayHint, findHint, tabHint,
		{Keys: []string{" "}, Hint: display.Lit("space pause")},
		{Keys: []string{"R"}, Hint: display.Lit("R send again")},
		{Keys: []string{"q"}, Hint: display.Lit("q quit")},
		{Keys: []string{"right", "l"}, Does: display.Lit("into the call"), Do: open},
	}, moves(l.host, l.Steps(display.Text{}, l.GoTo), func() { l.host.Follow(true) })...)
}

// GoTo chooses what a row shows.
func (l *List) GoTo(row int) {
	l.MoveTo(row)
	l.host.Choose(l.RefAt(l.scene.View.Session(), l.At))
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
		l.Resize(l.rows.all(), max(1, height-l.head()))
		l.MoveTo(l.RowOf(s, scene.Chosen))
	}
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
			if _, above := l.scene.Alarms.Of(owner, found); above {
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
	case c == nil:
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
