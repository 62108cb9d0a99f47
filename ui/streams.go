package ui

import (
	"cmp"
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
	silence        = 3 * time.Second // minimum silence of an open stream that is shown
	maxRefusalRows = 5               // maximum number of refusals shown
	headlessRows   = 10              // maximum height without column heads

	streamsAt   = time.Second      // interval between two updates
	streamsCalm = 10 * time.Second // that interval with reduced motion
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
	// The streams that have been silent for longest come first. The order of the others doesn't depend on time,
	// so that rows don't move all the time.
	slices.SortFunc(s.rows, func(a, b *providers.Exchange) int {
		return cmp.Or(cmp.Compare(silenceOf(b, now), silenceOf(a, now)), cmp.Compare(b.Number, a.Number))
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
		s.drawTitle(p)
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

func (s *openStreamsPage) drawTitle(p *screen.Pen) {
	p.Text(screen.Accent, display.Lit(" Streams "))
	p.Text(screen.Plain, p.Format("%s open of %s", screen.Count(s.open), screen.Count(len(s.m.in.Exchanges()))))
	if s.m.rate.last > 0 {
		p.Text(screen.Muted, screen.Bytes(s.m.rate.last).Between("  ", "/s"))
	}
	if n := len(s.refused); n > 0 {
		p.Text(screen.Caution, p.Format("  %s refused", screen.Count(n)))
	}
	if s.m.filtering.turns.Active() {
		p.Text(screen.Caution, p.Format("  %s hidden", screen.Count(s.filteredOut)))
		p.Text(screen.Muted, p.Name(s.m.filtering.turns.Text()).Between("  f ", ""))
	}
	if s.Rows > 0 {
		p.Right(screen.Muted, screen.Bare, p.ScrollInfo(s.Visible()).Between("", " "))
	}
}

// streamCells are the widths of the columns. A width of 0 means that the column isn't drawn.
type streamCells struct{ opened, agent, model, doing, size, silence int }

func streamCellsOf(width int) streamCells {
	c := streamCells{size: 9, silence: 9}
	if width < 50 {
		c.size, c.silence = 7, 8
	}
	left := width - streamSignCells - c.size - c.silence - 1
	switch {
	case left >= 90:
		c.opened, c.agent, c.model = 9, 13, 19
	case left >= 40:
		c.opened, c.agent, c.model = 9, 8, 11
	}
	c.doing = max(0, left-c.opened-c.agent-c.model)
	return c
}

const streamSignCells = 11 // cells before the first column: the cursor, the number, the alarm, and the state's sign

func (s *openStreamsPage) drawHeads(p *screen.Pen) {
	c := streamCellsOf(p.Left)
	p.Text(screen.Muted, p.Pad(display.Lit("    NO"), streamSignCells))
	if c.opened > 0 {
		p.Text(screen.Muted, p.Pad(display.Lit("OPENED"), c.opened))
		p.Text(screen.Muted, p.Pad(display.Lit("AGENT"), c.agent))
		p.Text(screen.Muted, p.Pad(display.Lit("MODEL"), c.model))
	}
	p.Text(screen.Muted, p.Pad(display.Lit("LATEST DATA"), c.doing))
	p.Text(screen.Muted, padLeft(p, display.Lit("SIZE"), c.size))
	p.Text(screen.Muted, padLeft(p, display.Lit("SILENCE"), c.silence))
}

// drawRow draws a stream: its start, its agent, its latest data, its size, and its silence.
func (s *openStreamsPage) drawRow(p *screen.Pen, row int) {
	x, g, mark := s.rows[row], screen.Bare, display.Lit("  ")
	if row == s.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	c, t, now := streamCellsOf(p.Left), s.m.in.View().LatestOf(x.Number), s.m.sourceNow()
	alarm, late := display.Lit("  "), screen.Muted
	if silenceOf(x, now) > 0 {
		alarm, late = display.Lit("! "), screen.Caution
	}
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(screen.Muted, g, p.Format("%4d ", x.Number))
	p.TextOn(screen.Caution, g, alarm)
	role, glyph, doing := doingOf(p, x, t)
	p.TextOn(role, g, glyph.Between("", " "))
	if c.opened > 0 {
		p.TextOn(screen.Muted, g, p.Pad(s.m.frame.openedAt(x, t), c.opened))
		p.TextOn(screen.Plain, g, p.Pad(p.Name(whoOf(x, t)), c.agent-1).Between("", " "))
		p.TextOn(screen.Muted, g, p.Pad(p.Name(present.ShortModel(modelOf(t))), c.model-1).Between("", " "))
	}
	p.TextOn(screen.Plain, g, p.Pad(doing, c.doing))
	p.TextOn(screen.Muted, g, padLeft(p, screen.Bytes(int(x.Response.Size())), c.size))
	p.TextOn(late, g, padLeft(p, screen.Time(now-x.LastRecordAt()), c.silence))
	p.Fill(g)
}

// silenceOf returns how long an open stream has been silent, or 0 if it ended or the silence is short.
func silenceOf(x *providers.Exchange, now time.Duration) time.Duration {
	if quiet := now - x.LastRecordAt(); !x.Ended && quiet > silence {
		return quiet
	}
	return 0
}

// padLeft pads text to the given width with blanks on its left.
func padLeft(p *screen.Pen, t display.Text, cells int) display.Text {
	return p.Format("%*s%s", max(0, cells-t.Width()), "", t)
}

// doingOf describes the latest data of a stream.
func doingOf(p *screen.Pen, x *providers.Exchange, t *stream.Turn) (r screen.Role, glyph, doing display.Text) {
	switch {
	case t == nil && x.Ended:
		return screen.Muted, p.Glyph.Status[stream.Aborted], display.Lit("ended without data")
	case t == nil:
		return screen.Muted, p.Glyph.Status[stream.Waiting], display.Lit("no data yet")
	case len(t.Calls) > 0:
		c := t.Calls[len(t.Calls)-1]
		st := c.Status()
		switch {
		case st == stream.LooksDone && c.MayGrow():
			return screen.StatusRoles[st], p.Glyph.Status[st], p.Name(c.Name).Between("", ", not final")
		case st == stream.Streaming:
			return screen.StatusRoles[st], p.Glyph.Status[st], p.Format("%s %s", p.Name(c.Name), p.Name(panes.TailPath(c)))
		}
		return screen.StatusRoles[st], p.Glyph.Status[st], p.Format("%s, %s", p.Name(c.Name), st)
	case t.Closed():
		st, role, _ := screen.TurnLook(t)
		return role, p.Glyph.Status[st], p.Format("%s", t.Phase())
	case len(t.Text) > 0:
		text := t.Text[max(0, len(t.Text)-60):]
		return screen.Live, p.Glyph.Status[stream.Streaming], p.Format("text %q", text)
	}
	return screen.Live, p.Glyph.Status[stream.Streaming], display.Lit("begun")
}

// openedAt formats the time at which a stream's turn began, or the time of the stream's last record if it has
// no turn.
func (fd *frameDrawer) openedAt(x *providers.Exchange, t *stream.Turn) display.Text {
	if t == nil {
		return fd.timeText(x, x.LastRecordAt())
	}
	return fd.timeText(x, t.OpenedAt)
}

// timeText formats a time in an exchange, as clock time if that is known.
func (fd *frameDrawer) timeText(x *providers.Exchange, at time.Duration) display.Text {
	if clock, ok := fd.m.view.WallClock(x.Number, at); ok {
		return fd.m.draw.Clean(clock.Format(time.TimeOnly))
	}
	return screen.Time(at).Between("+", "")
}

// whoOf returns a stream's agent, or else its client.
func whoOf(x *providers.Exchange, t *stream.Turn) string {
	if t != nil && t.Request != nil && t.Request.Agent != "" {
		if t.Request.Title != "" {
			return t.Request.Title
		}
		return t.Request.Agent
	}
	return clientOf(x)
}

func modelOf(t *stream.Turn) string {
	if t == nil {
		return ""
	}
	return t.Model
}

// clientOf returns the display name of an exchange's client.
func clientOf(x *providers.Exchange) string {
	if c, err := client.Find(x.Client()); err == nil {
		return c.Title
	}
	return "unknown"
}

// drawRefusal draws a refused request and the reason.
func (fd *frameDrawer) drawRefusal(p *screen.Pen, x *providers.Exchange) {
	p.Text(screen.Caution, display.Lit("!  "))
	p.Text(screen.Muted, fd.timeText(x, x.LastRecordAt()).Between("", "  "))
	p.Text(screen.Plain, p.Format("%s %s  ", p.Name(x.Head.Method), p.Name(pathOnly(x.Head.URL))))
	p.Text(screen.Caution, p.Format("%d  ", x.Head.Status))
	p.Untrusted(screen.Plain, screen.Bare, x.Refused())
}
