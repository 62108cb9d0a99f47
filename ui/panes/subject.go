package panes

import (
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Subject is the pane of what is chosen: the arguments of a call, under lines about the call; or
// else what is known of a turn.
type Subject struct {
	Document
	Summary Summary
	host    Host
	open    func(Literal)
	scene   *Scene
	height  int
}

// NewSubject makes the pane; open shows a string of the arguments on its own.
func NewSubject(h Host, open func(Literal)) *Subject { return &Subject{host: h, open: open} }

// Extend takes what is new.
func (s *Subject) Extend(scene *Scene, w, h int) {
	s.scene, s.height = scene, h
	c, t := s.now().Call, s.now().Turn
	s.Raw, s.When = scene.Raw, func(event int32) display.Text { return EventTime(scene.View, event) }
	w = max(1, w-Margin)
	s.Show(c, w, scene.Pen.Drawer)
	s.Document.Extend(max(1, h-s.headRows()))
	if t != nil && c == nil {
		facts := TurnFacts(scene.View, scene.Bill, t, scene.Pen.Glyph)
		s.Summary.Extend(facts, t, w, max(1, h-s.headRows()), scene.Pen)
	}
}

// now is what is chosen, as it is now.
func (s *Subject) now() Choice { return s.scene.Of() }

// headRows is how many rows are about the call or turn.
func (s *Subject) headRows() int {
	switch {
	case s.scene.Bare:
		return 0
	case s.height < 10:
		return 1
	case s.now().Call == nil:
		return 2
	}
	return 3
}

// Keys are those that move in the arguments, by row and by token, or scroll what is known of a
// turn.
func (s *Subject) Keys() []screen.Binding {
	if s.now().Call == nil {
		scrolls := moves(s.host, s.Summary.Scrolls(display.Lit("j k scroll")), s.toEnd)
		return append([]screen.Binding{helpHint, scrolls[1], tabHint, zoomHint, back(s.host), scrolls[0]}, scrolls[2:]...)
	}
	left, right := back(s.host), func() { s.host.Follow(false); s.MoveToken(1) }
	left.Hint, left.Does = display.Lit("h l token"), display.Lit("token before; back to the list")
	left.Do = func() {
		if s.host.Follow(false); !s.MoveToken(-1) {
			s.host.Focus(Left)
		}
	}
	return append([]screen.Binding{
		helpHint,
		{Keys: []string{"enter"}, Hint: display.Lit("enter open string"), Does: display.Lit("open what is selected"), Do: s.enter},
		replayHint,
		{Keys: []string{"r"}, Hint: display.Lit("r raw")},
		findHint, left, tabHint,
		{Keys: []string{"a"}, Hint: display.Lit("a result")},
		{Keys: []string{"right", "l"}, Does: display.Lit("token after"), Do: right},
	}, moves(s.host, s.Steps(display.Text{}, s.MoveRow), s.toEnd)...)
}

// enter opens the selected string.
func (s *Subject) enter() {
	of, ok := s.Literal()
	if !ok {
		s.host.Say(display.Lit("no string here: enter opens string values"))
		return
	}
	s.open(of)
}

// toEnd goes to the end and, where more may come, follows from there.
func (s *Subject) toEnd() {
	s.End()
	s.Summary.Scroll(s.Summary.Rows)
	if s.host.Moving() {
		s.host.Follow(true)
	}
}

// Find remembers where query is in the arguments.
func (s *Subject) Find(query string) (offsets []int, cursor int) {
	return s.Document.Find(query), s.Offset()
}

// Draw writes row y: about the call, then its arguments; or about the turn, then what is known of
// it.
func (s *Subject) Draw(p *screen.Pen, y int, focused bool) {
	defer p.Fill(screen.Bare)
	head := s.headRows()
	switch c, t := s.now().Call, s.now().Turn; {
	case c != nil && y >= head:
		p.Spaces(screen.Bare, 1)
		s.Document.Draw(p, s.Top+y-head, focused)
	case c != nil && y == 0:
		drawCallHead(p, c, focused)
	case c != nil && y == 1:
		p.Put(screen.Muted, screen.Bare, s.callFacts(p))
	case c != nil:
		s.drawTabs(p, focused)
	case t != nil && y >= head:
		s.Summary.Draw(p, y-head)
	case t != nil && y == 0:
		s.drawTurnHead(p, focused)
	}
}

// headRole is the colour of a head.
func headRole(focused bool) screen.Role {
	if focused {
		return screen.Accent
	}
	return screen.Plain
}

func drawCallHead(p *screen.Pen, c *stream.Call, focused bool) {
	name := p.Name(c.Name)
	if c.Name == "" {
		name = display.Lit("(no name)")
	}
	space := display.Lit(" ")
	status := display.Join(p.Glyph.Status[c.Status()], space, p.Clean(c.Status().String()))
	right := display.Join(space, status, display.Lit("   "), p.Clean(c.Phase().String()), space, p.Glyph.Dot, space,
		p.Clean(c.Syntax().String()), space)
	if right.Width() > p.Left/2 {
		right = status.Between(" ", " ")
	}
	p.Spaces(screen.Bare, 1)
	room := p.Left - right.Width()
	p.Put(headRole(focused), screen.Bare, p.Truncate(name, max(room, 4)))
	if id := screen.ShortID(p.Name(screen.Ends(c.ID)), p.Left-right.Width()-4); !id.Empty() {
		p.Put(screen.Muted, screen.Bare, id.Between("  ", ""))
	}
	p.Tail(screen.CallRole(c), screen.Bare, right)
}

// callFacts are the sizes and durations of the call, as many as fit.
func (s *Subject) callFacts(p *screen.Pen) (line display.Text) {
	c, start := s.now().Call, s.now().Turn.OpenedAt
	took := "took "
	if c.Arriving() {
		took = "so far "
	}
	facts := []display.Text{screen.Bytes(c.Size()), screen.Plural(c.Deltas(), "delta")}
	if s.now().Turn.Kept == stream.Cold {
		facts[1] = display.Lit("read again from the file …")
	}
	timed := func(word string, d time.Duration) {
		if t := screen.Time(d); !t.Empty() {
			facts = append(facts, display.Join(p.Clean(word), t))
		}
	}
	timed(took, screen.CallTime(c))
	if size, ok := s.scene.Typed(c.Ref()); ok {
		facts = append(facts, screen.Bytes(size).Between("your result ", ""))
	}
	for _, f := range AboutCall(c) {
		facts = append(facts, p.Name(f))
	}
	timed("named +", screen.Since(start, c.OpenedAt))
	timed("first byte +", screen.Since(start, c.FirstArgAt))
	sep := display.Lit(" ")
	for _, f := range facts {
		if line.Width()+sep.Width()+f.Width() >= p.Left {
			break
		}
		line = display.Join(line, sep, f)
		sep = p.Glyph.Dot.Between(" ", " ")
	}
	return line
}

// findingsNote is what is kept free for how many findings there are.
const findingsNote = 16

// drawTabs writes what the pane shows, what the tool wants of it, and what there is to see
// elsewhere.
func (s *Subject) drawTabs(p *screen.Pen, focused bool) {
	r, word := screen.Muted, display.Lit(" ARGUMENTS")
	if focused {
		r = screen.Accent
	}
	if s.Text != nil {
		word = display.Lit(" RAW TEXT")
	}
	p.Say(r, word)
	c, t := s.now().Call, s.now().Turn
	if path := s.Path(); focused && path != "" {
		p.Put(screen.Muted, screen.Bare, p.Truncate(p.Name(path).Between("  ", ""), p.Left/2))
	} else if x := s.scene.View.Exchange(t.Exchange); x != nil {
		if wants := x.Wanted(c); wants != "" {
			p.Put(screen.Muted, screen.Bare, p.Truncate(p.Name(wants).Between("  schema: ", ""), p.Left-findingsNote))
		}
	}
	if n := len(c.Findings) + len(t.Findings) + len(s.scene.View.Session().Findings); n > 0 {
		r := screen.Muted
		_, ofCall := s.scene.Alarms.Of(c.Ref(), c.Findings)
		if _, ofTurn := s.scene.Alarms.Of(t.Ref(), t.Findings); ofCall || ofTurn {
			r = screen.Caution
		}
		p.Tail(r, screen.Bare, p.Format(" %s ", screen.Plural(n, "finding")))
	}
}

// LongName is how many cells a name has before what is known beside it is shown.
const LongName = 24

func (s *Subject) drawTurnHead(p *screen.Pen, focused bool) {
	t := s.now().Turn
	st, look, word := screen.TurnLook(t)
	right := display.Join(display.Lit(" "), p.Glyph.Status[st], display.Lit(" "), p.Clean(word), display.Lit(" "))
	cost := p.Clean(s.scene.Bill.Of(t).String())
	if !cost.Empty() && p.Left > LongName+display.Join(cost, right).Width() {
		right = display.Join(display.Lit(" "), cost, display.Lit(" "), right)
	}
	p.Say(headRole(focused), p.Format(" turn %d  ", t.Number+1))
	p.Put(screen.Plain, screen.Bare, p.Truncate(p.Name(TurnTitle(s.scene.View.Exchange(t.Exchange), t)), max(1, p.Left-right.Width())))
	p.Tail(look, screen.Bare, right)
}
