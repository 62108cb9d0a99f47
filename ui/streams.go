package ui

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// openStreams opens the list of streams, if the source is a proxy.
func (m *Model) openStreams() {
	if m.opt.Setup == nil {
		m.showNotice(display.Lit("only a proxy has open streams"))
		return
	}
	m.modeStack.pushMode(&openStreamsPage{m: m})
}

// openStreamsPage is the mode that lists open and recently closed streams.
type openStreamsPage struct {
	screen.Window
	m           *Model
	rows        []*providers.Exchange
	open        int
	filteredOut int // open streams that the filter hides
	refused     []*providers.Exchange
	ticking     bool
	heads       int // rows with column heads: 1, or 0 on a low screen
}

const (
	lingers        = 3 * time.Second // time for which a closed stream is shown
	maxRefusalRows = 5               // maximum number of refusals shown
	headlessRows   = 10              // maximum height without column heads

	streamsAt   = time.Second      // interval between two updates
	streamsCalm = 10 * time.Second // interval between two updates with reduced motion
)

func (s *openStreamsPage) Keys() []screen.Binding {
	return append([]screen.Binding{
		screen.Key("enter", "go there", "go to its turn", s.goToSelected),
		screen.Key("f", "filter", "filter streams", s.m.filtering.openFilter),
		screen.Key("esc q L", "back", "close", s.m.modeStack.closeTop),
	}, s.CursorKeys("", s.MoveTo)...)
}

// goToSelected goes to the selected stream's turn.
func (s *openStreamsPage) goToSelected() {
	if s.At >= len(s.rows) {
		return
	}
	t := s.m.in.View().LatestOf(s.rows[s.At].Number)
	if t == nil {
		s.m.showNotice(display.Lit("nothing has arrived yet"))
		return
	}
	s.m.modeStack.closeTop()
	modeHost{s.m}.Choose(t.Ref())
}

// Extend updates the list of streams. While the mode is open, it schedules regular updates.
func (s *openStreamsPage) Extend(_ *providers.View, _, h int) {
	var selected *providers.Exchange
	if s.At < len(s.rows) {
		selected = s.rows[s.At]
	}
	s.rows, s.open, s.filteredOut = s.rows[:0], 0, 0
	now := s.m.sourceNow()
	for _, x := range s.m.in.Exchanges() {
		switch {
		case !x.Ended && s.isFilteredOut(x):
			s.open++
			s.filteredOut++
		case !x.Ended:
			s.open++
			s.rows = append(s.rows, x)
		case x.Refused() == "" && now-x.LastRecordAt() < lingers && !s.isFilteredOut(x):
			s.rows = append(s.rows, x)
		}
	}
	// The streams that have been idle for longest come first.
	slices.SortFunc(s.rows, func(a, b *providers.Exchange) int {
		idle := func(x *providers.Exchange) time.Duration {
			return panes.LongIdle(idleOf(x, s.m.in.View().LatestOf(x.Number), now))
		}
		return cmp.Or(cmp.Compare(idle(b), idle(a)), cmp.Compare(b.Number, a.Number))
	})
	s.refused, s.heads = s.m.refusedExchanges(), 0
	if len(s.rows) > 0 && h > headlessRows {
		s.heads = 1
	}
	s.Fit(len(s.rows), 1+s.heads, h-min(len(s.refused), maxRefusalRows))
	if i := slices.Index(s.rows, selected); i >= 0 && i != s.At {
		s.MoveTo(i)
	}
	if !s.ticking && s.m.isLive() {
		s.ticking = true
		id := s.m.modeStack.callingMode().id
		wait := streamsAt
		if s.m.opt.Calm {
			wait = streamsCalm
		}
		s.m.modeStack.queueCmd(tea.Tick(wait, func(time.Time) tea.Msg { return workDone{id, func() { s.ticking = false }} }))
	}
}

// isFilteredOut reports whether the filter hides a stream. An active filter also hides streams without a
// turn.
func (s *openStreamsPage) isFilteredOut(x *providers.Exchange) bool {
	t := s.m.view.LatestOf(x.Number)
	return s.m.filtering.turns.Active() && (t == nil || !s.m.filtering.turns.Shows(t))
}

func (s *openStreamsPage) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		open := p.Format("%s open of %s", screen.Count(s.open), screen.Count(len(s.m.in.Exchanges())))
		add := func(text display.Text) { open = display.Join(open, p.Glyph.Dot.Between(" ", " "), text) }
		if n := len(s.refused); n > 0 {
			add(p.Format("%s refused", screen.Count(n)))
		}
		if s.m.filtering.turns.Active() {
			add(p.Format("%s hidden", screen.Count(s.filteredOut)))
			add(p.Name(s.m.filtering.turns.Text()).Between("filter ", ""))
		}
		if s.m.rate.last > 0 {
			add(screen.Bytes(s.m.rate.last).Between("", "/s"))
		}
		p.HeavyTitle(display.Lit("Streams"), open, p.ScrollInfo(s.Visible()))
		return
	}
	end := s.Height + s.heads
	switch row := s.Top + y - 1 - s.heads; {
	case s.heads == 1 && y == 1:
		s.drawHeads(p)
	case y <= end && row < len(s.rows):
		s.drawRow(p, row)
	case len(s.rows) == 0 && y == 1:
		p.Text(screen.Muted, display.Lit(" no open streams"))
	case y > end:
		if n := len(s.refused) - maxRefusalRows + y - end - 1 + max(0, maxRefusalRows-len(s.refused)); n < len(s.refused) {
			s.m.frame.drawRefusal(p, s.refused[n])
		}
	}
}

// streamColumns are the widths of the columns, which are those of the list of calls. A width of 0 means that the column
// isn't drawn.
type streamColumns struct{ turn, sign, words, tool, from, opened, latest, size, idle int }

// columnsOf returns the columns for the given width.
func (s *openStreamsPage) columnsOf(width int) streamColumns {
	last := screen.Count(s.m.pinned.turnCount())
	c := streamColumns{turn: max(4, last.Width()) + 2, sign: 3, words: present.VerdictCells + 1, size: 8, idle: 7}
	if width < 60 {
		c.turn, c.sign, c.words, c.size = c.turn-1, 2, 12, 0
	}
	left := width - 1 - c.turn - c.sign - c.words - c.size - c.idle
	c.tool = min(left, 18)
	if left -= c.tool; left >= 14 {
		c.from = min(left, 30)
		left -= c.from
	}
	if left >= 30 {
		c.opened, c.latest = 12, left-12
	} else {
		c.tool += left
	}
	return c
}

func (s *openStreamsPage) drawHeads(p *screen.Pen) {
	c := s.columnsOf(p.Left)
	turn := display.Lit("TURN  ")
	if c.turn < 6 {
		turn = display.Lit("NO  ")
	}
	p.Text(screen.Muted, padLeft(p, turn, 1+c.turn))
	p.Text(screen.Muted, p.Pad(display.Lit("VERDICT"), c.sign+c.words))
	p.Text(screen.Muted, p.Pad(display.Lit("TOOL"), c.tool))
	p.Text(screen.Muted, p.Pad(p.Truncate(display.Lit("AGENT MODEL"), c.from), c.from))
	p.Text(screen.Muted, padLeft(p, p.Truncate(display.Lit("SIZE"), c.size), c.size))
	p.Text(screen.Muted, padLeft(p, display.Join(display.Lit("IDLE"), p.Glyph.Unfold), c.idle))
	p.Text(screen.Muted, p.Pad(p.Truncate(display.Lit("  OPENED"), c.opened), c.opened))
	p.Text(screen.Muted, p.Pad(p.Truncate(display.Lit("LATEST DATA"), c.latest), c.latest))
}

// drawRow draws a stream: its verdict, its latest call, its agent and model, and how long it has been idle.
func (s *openStreamsPage) drawRow(p *screen.Pen, row int) {
	x, g, mark := s.rows[row], screen.Bare, display.Lit(" ")
	if row == s.At {
		g, mark = screen.Selected, p.Glyph.Mark
	}
	c, t := s.columnsOf(p.Left), s.m.in.View().LatestOf(x.Number)
	of := subjectOf(p, x, t)
	number := display.Text{}
	if t != nil {
		number = screen.Count(int(t.Number) + 1)
	}
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(screen.Muted, g, padLeft(p, number.Between("", "  "), c.turn))
	p.TextOn(of.verdict.Role, g, p.Pad(panes.VerdictSign(p, of.verdict), c.sign))
	p.TextOn(of.verdict.Role, g, p.Pad(p.Truncate(p.Clean(of.verdict.Words), c.words-1), c.words))
	p.TextOn(screen.Plain, g, p.Pad(p.Truncate(of.tool, c.tool-1), c.tool))
	if c.from > 0 {
		who, model := clientOf(x), ""
		if t != nil {
			model = t.Model
		}
		if t != nil && t.Request != nil && t.Request.Agent != "" {
			who = cmp.Or(t.Request.Title, t.Request.Agent)
		}
		from := display.Join(p.Name(who), p.Name(present.ShortModel(model)).Between(" ", ""))
		p.TextOn(screen.Muted, g, p.Pad(p.ElideMiddle(from, c.from-1), c.from))
	}
	if c.size > 0 {
		p.TextOn(screen.Muted, g, padLeft(p, of.size, c.size))
	}
	idle := display.Text{}
	if quiet := idleOf(x, t, s.m.sourceNow()); quiet >= time.Second {
		idle = screen.WholeSeconds(quiet)
	}
	p.TextOn(panes.IdleRole(of.verdict), g, padLeft(p, idle, c.idle))
	if c.latest > 0 {
		opened := x.LastRecordAt()
		if t != nil {
			opened = t.OpenedAt
		}
		p.TextOn(screen.Muted, g, p.Pad(s.m.frame.timeText(x, opened).Between("  ", ""), c.opened))
		p.TextOn(screen.Plain, g, p.Truncate(of.latest, c.latest-1))
	}
	p.Fill(g)
}

// idleOf returns how long an open stream has been idle. It returns 0 for a stream that ended.
func idleOf(x *providers.Exchange, t *stream.Turn, now time.Duration) time.Duration {
	if x.Ended {
		return 0
	}
	return max(0, panes.IdleTime(x, t, now))
}

// padLeft pads text to the given width with blanks on its left.
func padLeft(p *screen.Pen, t display.Text, cells int) display.Text {
	return p.Format("%*s%s", max(0, cells-t.Width()), "", t)
}

// streamSubject is the part of a stream that a row shows: its open call, or else its last call, or else its turn.
type streamSubject struct {
	verdict            present.Verdict
	tool, latest, size display.Text
}

// subjectOf returns the part of a stream that its row shows. The turn t is nil before the first event.
func subjectOf(p *screen.Pen, x *providers.Exchange, t *stream.Turn) (of streamSubject) {
	of.size = p.Glyph.None
	switch {
	case t == nil && x.Ended:
		of.verdict, of.tool = present.Verdict{State: stream.Aborted, Words: "no data", Role: screen.Muted}, display.Lit("(no call)")
	case t == nil:
		of.verdict, of.tool = present.Verdict{State: stream.Waiting, Words: "no data yet", Role: screen.Muted}, display.Lit("(no call)")
	case len(t.Calls) > 0:
		c := t.Calls[len(t.Calls)-1]
		if i := slices.IndexFunc(t.Calls, (*stream.Call).MayGrow); i >= 0 {
			c = t.Calls[i]
		}
		of.verdict, of.tool = present.VerdictOfCall(c), p.Name(c.Name)
		if n := c.ArgsLen(); n > 0 {
			of.size = screen.Bytes(n)
		}
		if c.MayGrow() {
			of.latest = p.Name(panes.TailPath(c))
		}
	default:
		of.verdict, of.tool = present.VerdictOfTurn(x, t), display.Lit("(no call)")
		switch text, thinking := t.TextLens(); {
		case text > 0:
			of.tool, of.latest = display.Lit("(text)"), p.Format("%q", t.Text[max(0, len(t.Text)-60):])
		case thinking > 0:
			of.tool = display.Lit("(thinking)")
		}
	}
	return of
}

// timeText formats a time in an exchange, as clock time if that is known.
func (fd *frameDrawer) timeText(x *providers.Exchange, at time.Duration) display.Text {
	if clock, ok := fd.m.view.WallClock(x.Number, at); ok {
		return fd.m.draw.Clean(clock.Format(time.TimeOnly))
	}
	return screen.Time(at).Between("+", "")
}

// clientOf returns the display name of an exchange's client.
func clientOf(x *providers.Exchange) string {
	if c, err := client.Find(x.Client); err == nil {
		return c.Title
	}
	return "unknown"
}

// drawRefusal draws a refused request and the reason.
func (fd *frameDrawer) drawRefusal(p *screen.Pen, x *providers.Exchange) {
	p.Text(screen.Caution, display.Lit("!  "))
	p.Text(screen.Muted, fd.timeText(x, x.LastRecordAt()).Between("", "  "))
	path := x.Head.URL
	if u, err := url.Parse(path); err == nil {
		path = u.Path
	}
	p.Text(screen.Plain, p.Format("%s %s  ", p.Name(x.Head.Method), p.Name(path)))
	p.Text(screen.Caution, p.Format("%d  ", x.Head.Status))
	p.Untrusted(screen.Plain, screen.Bare, x.Refused())
}
