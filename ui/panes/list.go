package panes

import (
	"path"
	"slices"
	"strings"

	"toolscope/providers"
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

	Unsearched int // turns whose arguments the latest Find did not look through
}

func NewList(h Host) *List { return &List{host: h} }

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
	known := l.rows.extend(s.Turns, s.Gone(), scene.News.All)
	for _, number := range scene.News.Turns {
		if i := indexOf(s, s.Turn(number)); i >= 0 && i < known {
			l.rows.count(i, s.Turns[i])
		}
	}
	for again := true; again; again = l.mend(s) {
		l.Resize(l.rows.all(), max(1, height-titleRow))
		l.MoveTo(l.RowOf(s, scene.Chosen))
	}
}

// mend counts the rows of the visible turns again, and reports whether any has others by now: a
// turn of which only a row is kept has no calls, and no event says so.
func (l *List) mend(s *stream.Session) (changed bool) {
	i, rest := l.rows.at(l.Top)
	for row := l.Top - rest; i < len(s.Turns) && row < l.Top+l.Height; i++ {
		changed = l.rows.count(i, s.Turns[i]) || changed
		row += rowsOf(s.Turns[i])
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
	return l.rows.first(i) + c.Number
}

// RefAt is what a row shows.
func (l *List) RefAt(s *stream.Session, row int) stream.Ref {
	i, n := l.rows.at(row)
	if row < 0 || i >= len(s.Turns) {
		return stream.NoRef
	}
	t := s.Turns[i]
	if n > 0 && n <= len(t.Calls) {
		return t.Calls[n-1].Ref()
	}
	return t.Ref()
}

// Newest is what to follow: the latest call that is still coming, or else the latest call, or else
// the latest turn.
func Newest(s *stream.Session) stream.Ref {
	for i := len(s.Turns) - 1; i >= 0 && i >= len(s.Turns)-8; i-- {
		t := s.Turns[i]
		for j := len(t.Calls) - 1; j >= 0 && j >= len(t.Calls)-64; j-- {
			if t.Calls[j].Arriving() {
				return t.Calls[j].Ref()
			}
		}
	}
	n := len(s.Turns)
	if n == 0 {
		return stream.NoRef
	}
	last := s.Turns[n-1]
	if k := len(last.Calls); k > 0 {
		return last.Calls[k-1].Ref()
	}
	return last.Ref()
}

// Draw writes row y of the pane into the field.
func (l *List) Draw(p *screen.Pen, y int, focused bool) {
	if y == 0 {
		p.Title(display.Lit("TURNS AND CALLS"), display.Text{}, focused)
		return
	}
	defer p.Fill(screen.Bare)
	row := l.Top + y - titleRow
	if row >= l.Rows {
		return
	}
	v := l.scene.View
	ref := l.RefAt(v.Session(), row)
	t, c := v.Find(ref)
	g := screen.Bare
	sign := display.Lit(" ")
	if row == l.At {
		g, sign = screen.Linked, p.Glyph.Mark
		if focused {
			g = screen.Selected
		}
	}
	if slices.Contains(l.scene.Marks, ref) {
		sign = display.Lit("=")
	}
	p.Put(screen.Accent, g, sign)
	if c != nil {
		l.drawCall(p, c, g)
	} else if t != nil {
		l.drawTurn(p, t, g)
	}
	p.Fill(g)
}

// drawCall writes a call: glyph, name, and flush right what fits of word, bytes and time.
func (l *List) drawCall(p *screen.Pen, c *stream.Call, g screen.Ground) {
	st := c.Status()
	p.Put(screen.Plain, g, display.Lit(" "))
	l.drawAlarm(p, g, c.Ref(), c.Findings)
	look := screen.CallRole(c)
	p.Put(look, g, p.Glyph.Status[st].Between("", " "))
	name := p.Name(c.Name)
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	right := p.Clean(st.String()).Between(" ", "")
	for _, part := range []display.Text{sizeOf(c), screen.Time(screen.CallTime(c))} {
		if !part.Empty() && right.Width()+3+part.Width()+min(name.Width(), LongName) <= p.Left {
			right = display.Join(right, display.Lit("  "), part)
		}
	}
	right = display.Join(right, display.Lit(" "))
	room := p.Left - right.Width()
	p.Put(screen.Plain, g, p.Truncate(name, max(room, 1)))
	p.Tail(look, g, right)
}

// drawAlarm writes a sign where findings are above info.
func (l *List) drawAlarm(p *screen.Pen, g screen.Ground, owner stream.Ref, list []stream.Finding) {
	sign, r := display.Lit(" "), screen.Plain
	if severity, above := l.scene.Alarms.Of(owner, list); above {
		sign, r = display.Lit("!"), screen.SeverityRoles[severity]
	}
	p.Put(r, g, sign)
}

const LongName = 24 // cells that a call's name has before its size or time is shown

const longTitle = 12 // cells that a turn's title has before its time is shown beside its cost

func sizeOf(c *stream.Call) display.Text {
	if c.Size() == 0 {
		return display.Text{}
	}
	return screen.Bytes(c.Size())
}

// drawTurn writes a turn: number, glyph, where it came from, its word, time and cost.
func (l *List) drawTurn(p *screen.Pen, t *stream.Turn, g screen.Ground) {
	st, look, word := screen.TurnLook(t)
	p.Put(screen.Muted, g, p.Format("%d", t.Number+1))
	l.drawAlarm(p, g, t.Ref(), t.Findings)
	p.Put(look, g, p.Glyph.Status[st].Between("", " "))
	right := p.Clean(word).Between(" ", "")
	if p.Left > 34 {
		paid, cost := display.Text{}, l.scene.Bill.Of(t)
		if cost.Known() {
			paid = p.Clean(cost.String()).Between("  ", "")
		} else if t.Closed() {
			paid = p.Glyph.None.Between("  ", "")
		}
		if d := screen.Time(screen.Since(t.OpenedAt, t.ClosedAt)); !d.Empty() && p.Left > display.Join(right, display.Lit("  "), d, paid).Width()+longTitle {
			right = display.Join(right, display.Lit("  "), d)
		}
		right = display.Join(right, paid)
	}
	right = display.Join(right, display.Lit(" "))
	room := p.Left - right.Width()
	p.Put(screen.Accent, g, p.Truncate(p.Name(TurnTitle(l.scene.View.Exchange(t.Exchange), t)), max(room, 1)))
	p.Tail(look, g, right)
}

// TurnTitle is a turn in a few words: its request, or its file, or its model.
func TurnTitle(x *providers.Exchange, t *stream.Turn) string {
	switch {
	case t.Parent != "":
		return "inside " + t.Parent
	case x != nil && x.Head.Method != "" && x.Head.URL != "":
		return screen.Short(x.Head.Method) + " " + screen.Short(shortURL(x.Head.URL))
	case t.Model != "":
		return t.Model
	case x != nil && x.Head.File != "":
		return path.Base(x.Head.File)
	}
	return t.Dialect
}

// shortURL is a URL without scheme and host.
func shortURL(u string) string {
	if _, rest, ok := strings.Cut(u, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
	}
	return u
}
