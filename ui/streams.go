package ui

import (
	"cmp"
	"net/url"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/providers/mcp"
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

// openWait is an open stream from a provider, and the time since its last byte.
type openWait struct {
	turn *stream.Turn // nil before the first byte
	idle time.Duration
}

// showsWaiting reports whether the second row shows the parties that are being waited for. It does so while a
// proxy or a hub is live. Other sources don't show when a stream ends.
func (fd *frameDrawer) showsWaiting() bool {
	return fd.m.showsIdle() && (fd.m.opt.Setup != nil || fd.m.opt.Machines != nil)
}

// waitSummary describes the open streams at a moment.
type waitSummary struct {
	count   int
	unbegun int        // streams without a byte from the provider
	clients int        // conversations whose client has calls to run
	longest []openWait // the two streams that have been silent for longest
}

// waitsKey has the values that the summary of open streams depends on. Searching thousands of streams takes
// longer than drawing a frame, so they are searched again only after new events, or ten times a second.
type waitsKey struct {
	view         *providers.View
	events, open int
	tenths       time.Duration
}

// openWaits returns a summary of the open streams at the shown moment.
func (fd *frameDrawer) openWaits() waitSummary {
	now := fd.m.shownNow()
	key := waitsKey{fd.m.view, fd.m.in.Timeline.Len(), len(fd.m.streams.open), now / (100 * time.Millisecond)}
	if fd.m.moment.isPaused() {
		key.events = fd.m.moment.eventCount()
	}
	if key != fd.waitsKey {
		fd.waitsKey, fd.lastWaits = key, fd.findWaits(now)
	}
	return fd.lastWaits
}

func (fd *frameDrawer) findWaits(now time.Duration) (w waitSummary) {
	v := fd.m.view
	add := func(x *providers.Exchange, t *stream.Turn) {
		if w.count++; t == nil {
			w.unbegun++
		}
		w.longest = append(w.longest, openWait{t, panes.IdleTime(x, t, now)})
		slices.SortStableFunc(w.longest, func(a, b openWait) int { return cmp.Compare(b.idle, a.idle) })
		w.longest = w.longest[:min(2, len(w.longest))]
	}
	if fd.m.moment.isPaused() {
		for _, t := range v.Session().Turns {
			if !t.Closed() {
				add(v.Exchange(t.Exchange), t)
			}
		}
	} else {
		for _, x := range fd.m.streams.open {
			if t := v.LatestOf(x.Number); t == nil || !t.Closed() {
				add(x, t)
			}
		}
		// don't count a client that may have just continued with a new request, or one whose tool is running
		w.clients = max(0, waitingClients(v.Session().Turns, now)-w.unbegun-fd.runningTools())
	}
	return w
}

// maxClientPause is the time after which a client that has not sent the results of calls may have left.
const maxClientPause = 5 * time.Minute

// maxRecentTurns is the maximum number of turns that are searched for clients with calls to run.
const maxRecentTurns = 2000

// waitingClients returns the number of conversations whose latest response has calls for the client, without a later
// request.
func waitingClients(turns []*stream.Turn, now time.Duration) (n int) {
	seen := map[int32]bool{}
	for _, t := range slices.Backward(turns[max(0, len(turns)-maxRecentTurns):]) {
		if t.Request == nil || t.Request.Background || t.Request.Conversation == 0 || seen[t.Request.Conversation] {
			continue
		}
		seen[t.Request.Conversation] = true
		if t.Closed() && t.Phase() != stream.TurnAborted && now-t.ClosedAt < maxClientPause && slices.ContainsFunc(t.Calls, isUnanswered) {
			n++
		}
	}
	return n
}

// isUnanswered reports whether a call is for the client, and no later request contains it.
func isUnanswered(c *stream.Call) bool { return !c.RunByProvider && len(c.SentBack) == 0 }

// runningTools returns the number of tool runs that have no result yet. While the screen is paused, it
// returns 0.
func (fd *frameDrawer) runningTools() (n int) {
	if fd.m.moment.isPaused() {
		return 0
	}
	for _, r := range fd.m.in.Executed().Unanswered() {
		if r.IsCall() && r.State == mcp.Open {
			n++
		}
	}
	return n
}

// drawWaiting draws the parties that are being waited for, and the longest silences.
func (fd *frameDrawer) drawWaiting(p *screen.Pen) {
	waits, tools := fd.openWaits(), fd.runningTools()
	p.Spaces(screen.Bare, 1)
	switch {
	case waits.count == 0 && tools == 0 && waits.clients == 0:
		p.Text(screen.Muted, display.Lit("No stream is open."))
		return
	case waits.count == 1 && tools == 0 && waits.clients == 0:
		fd.drawOneWait(p, waits.longest[0])
		return
	}
	p.Text(screen.Muted, display.Lit("Waiting on"))
	for _, of := range []struct {
		name display.Text
		n    int
	}{{display.Lit("  providers "), waits.count}, {display.Lit("  tools "), tools}, {display.Lit("  clients "), waits.clients}} {
		if of.n > 0 {
			p.Text(screen.Muted, of.name)
			p.Text(screen.Plain, screen.Count(of.n))
		}
	}
	label := display.Lit("   longest silence ")
	switch {
	case fd.m.w >= twoColumns:
		label = display.Lit("     longest silence ")
	case fd.m.w < 80:
		label = display.Lit("   longest ")
	}
	for i, w := range waits.longest {
		if w.idle < time.Second {
			break
		}
		text := screen.WholeSeconds(w.idle)
		where := display.Text{}
		if w.turn != nil {
			where = p.Format("  turn %d", w.turn.Number+1)
		}
		if label.Width()+text.Width()+where.Width() > p.Left {
			break
		}
		p.Text(screen.Muted, label)
		p.Text(screen.Plain, text)
		if i > 0 {
			p.Text(screen.Muted, where)
			break
		}
		p.Text(screen.Plain, where) // the slowest stream
		label = display.Lit("   next ")
	}
}

// drawOneWait draws the only open stream: how long it has been silent, and what it sent last.
func (fd *frameDrawer) drawOneWait(p *screen.Pen, w openWait) {
	p.Text(screen.Muted, display.Lit("Waiting on the provider"))
	if w.idle >= time.Second {
		p.Text(screen.Muted, display.Lit(" for "))
		p.Text(screen.Plain, screen.WholeSeconds(w.idle))
	}
	switch t := w.turn; {
	case t == nil:
		p.Text(screen.Muted, display.Lit(": no byte yet."))
	case len(t.Calls) == 0 && len(t.Text) == 0 && len(t.Thinking) > 0:
		p.Text(screen.Muted, display.Lit(": thinking."))
	case w.idle < time.Second:
		p.Text(screen.Muted, display.Lit(": streaming."))
	default:
		p.Text(screen.Muted, display.Lit("."))
	}
}
