package ui

import (
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

// An Inbox is the program's queue of records. The program takes records in order, at most one batch per
// frame. If records were left out because the program was too slow or the screen was stopped, a record
// reports them as Lost.
type Inbox interface {
	// Take returns waiting records of about the given number of bytes, and whether there are more. It
	// never blocks. The batch is valid until the next Take.
	Take(bytes int) (batch []stream.Record, more bool)
	Waiting() int                 // number of waiting records
	Done() (over bool, why error) // over: no records wait, and no more will arrive
	Wakeups() <-chan struct{}     // signals that there may be records, or only a frame to draw
	Wake()
}

// A batch is read in parts between keys and frames, while there is time. Both limits are needed: a large file
// always has more records, and a busy computer reads more slowly.
const (
	batchBytes = 1 << 20
	batchTime  = 4 * time.Millisecond
	takeBytes  = 1 << 15
)

// inboxReady is the message that an inbox has new records. The field in may be nil, which means the source's
// inbox.
type inboxReady struct{ in Inbox }

// frameTime is the time for which records collect after each batch.
const frameTime = time.Second / 60

// waitForInbox sleeps for the given pause, then waits for a signal from an inbox. The pause follows a batch,
// so the first record is shown at once, and bursts collect during the pause.
func waitForInbox(to Inbox, pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		time.Sleep(pause)
		<-to.Wakeups()
		return inboxReady{to}
	}
}

// readBatch reads one batch into the inspector, and reports whether more records wait.
func (m *Model) readBatch(inbox Inbox) (more bool) {
	var batch []stream.Record
	start, size := m.opt.Now(), 0
	for more = true; more && size < batchBytes && m.opt.Now().Sub(start) < batchTime; {
		batch, more = inbox.Take(takeBytes)
		for _, r := range batch {
			m.in.Write(r)
			m.lastAt = max(m.lastAt, r.At)
			size += len(r.Data)
			if r.End {
				delete(m.outbox.flying, r.Exchange)
				m.redraw.budget.ends++
			}
		}
	}
	m.arrivedAt = m.opt.Now()
	if !m.opt.Calm {
		m.rate.add(size, m.arrivedAt)
	}
	return more
}

// handleInbox reads one batch from an inbox, or from the source's inbox if the parameter is nil.
func (m *Model) handleInbox(inbox Inbox) tea.Cmd {
	if inbox == nil {
		inbox = m.opt.Inbox
	}
	more := m.readBatch(inbox)
	ended, why := inbox.Done()
	opens := false
	if inbox == m.opt.Answers {
		m.outbox.followSentTurn()
	} else if ended {
		opens = m.opt.Static && !m.ended && m.follow
		m.endSource(why)
	}
	if m.follow && !m.modeStack.isCovered() && !m.moment.isPaused() {
		m.selected = m.newestShown()
	}
	m.pinned.makeRoom()
	m.tour.findScenes()
	m.quitWhenIdle()
	m.noteNews()
	m.refreshPanes()
	if opens {
		m.openAtWorst()
	}
	if ended {
		return nil
	}
	if more {
		inbox.Wake()
		return waitForInbox(inbox, 0)
	}
	if m.opt.Calm {
		return waitForInbox(inbox, frameTime)
	}
	return tea.Batch(waitForInbox(inbox, frameTime), m.rate.scheduleTick())
}

// missedTurns counts the turns that arrived while the panes did not follow the source. Hidden turns don't count.
type missedTurns struct{ known, n int }

// countMissed counts new turns. If the filter changes, the count restarts at zero.
func (m *Model) countMissed() {
	s := m.in.Session()
	total := s.TrimmedTurns() + len(s.Turns)
	if m.follow || !m.isLive() || m.context.Sieve.Changed || m.missed.known > total {
		m.missed.n = 0
	} else {
		for _, t := range s.Turns[min(max(0, m.missed.known-s.TrimmedTurns()), len(s.Turns)):] {
			if m.turnFilter.Shows(t) {
				m.missed.n++
			}
		}
	}
	m.missed.known = total
}

// openStreams lists the exchanges that have not ended, so that ended exchanges aren't searched again.
type openStreams struct {
	open  []*providers.Exchange
	known *providers.Exchange // the last exchange that update saw
}

// update adds new exchanges and removes ended ones.
func (o *openStreams) update(all []*providers.Exchange) {
	from := len(all)
	for from > 0 && all[from-1] != o.known {
		from--
	}
	o.open = append(o.open, all[from:]...)
	if len(all) > 0 {
		o.known = all[len(all)-1]
	}
	o.open = slices.DeleteFunc(o.open, func(x *providers.Exchange) bool { return x.Ended })
}

// showsIdle reports whether the list shows how long open streams are idle.
func (m *Model) showsIdle() bool {
	return m.isLive() && m.opt.Playback == nil && m.lastAt >= 0 && !m.tour.isTourShown()
}

// shownNow returns the source time that the screen shows. While the screen is paused, this is the time of the
// last event. If the list shows no idle times, it is NoTime. Before the first event, it is 0.
func (m *Model) shownNow() time.Duration {
	switch n := m.view.Events(); {
	case !m.showsIdle():
		return stream.NoTime
	case !m.moment.isPaused():
		return m.sourceNow()
	case n > 0:
		return m.view.EventPrefix(n-1, 0).At
	}
	return 0
}

// sourceNow returns the current source time: the time of the latest record plus the time since it arrived.
func (m *Model) sourceNow() time.Duration {
	if m.lastAt < 0 || m.arrivedAt.IsZero() {
		return m.lastAt
	}
	return m.lastAt + m.opt.Now().Sub(m.arrivedAt)
}

// openExchanges returns the exchanges that have not ended.
func (m *Model) openExchanges() (open []*providers.Exchange) {
	for _, x := range m.in.Exchanges() {
		if !x.Ended {
			open = append(open, x)
		}
	}
	return open
}

// refusedExchanges returns the refused exchanges, the latest last.
func (m *Model) refusedExchanges() (refused []*providers.Exchange) {
	for _, x := range m.in.Exchanges() {
		if x.Refused() != "" {
			refused = append(refused, x)
		}
	}
	return refused
}

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
}

const (
	lingers        = 3 * time.Second // time for which a closed stream is shown
	silence        = 3 * time.Second // minimum silence of an open stream that is shown
	maxRefusalRows = 5               // maximum number of refusals shown

	streamsAt   = time.Second      // time between two updates
	streamsCalm = 10 * time.Second // the same with reduced motion
)

func (s *openStreamsPage) Keys() []screen.Binding {
	return append([]screen.Binding{
		screen.Key("enter", "go there", "go to its turn", s.goToSelected),
		screen.Key("f", "filter", "filter streams", s.m.openFilter),
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
	for i, j := 0, len(s.rows)-1; i < j; i, j = i+1, j-1 {
		s.rows[i], s.rows[j] = s.rows[j], s.rows[i]
	}
	s.refused = s.m.refusedExchanges()
	s.Fit(len(s.rows), 1, h-min(len(s.refused), maxRefusalRows))
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
	return s.m.turnFilter.Active() && (t == nil || !s.m.turnFilter.Shows(t))
}

func (s *openStreamsPage) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		s.drawTitle(p)
		return
	}
	switch row := s.Top + y - 1; {
	case y <= s.Height && row < len(s.rows):
		s.drawRow(p, row)
	case y <= s.Height && len(s.rows) == 0 && y == 1:
		p.Text(screen.Muted, display.Lit(" no open streams"))
	case y > s.Height:
		if n := len(s.refused) - maxRefusalRows + y - s.Height - 1 + max(0, maxRefusalRows-len(s.refused)); n < len(s.refused) {
			s.m.drawRefusal(p, s.refused[n])
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
	if s.m.turnFilter.Active() {
		p.Text(screen.Caution, p.Format("  %s hidden", screen.Count(s.filteredOut)))
		p.Text(screen.Muted, p.Name(s.m.turnFilter.Text()).Between("  f ", ""))
	}
	if s.Rows > 0 {
		p.Right(screen.Muted, screen.Bare, p.ScrollInfo(s.Visible()).Between("", " "))
	}
}

// drawRow draws a stream: its start, its agent, its latest data, its size, and its silence.
func (s *openStreamsPage) drawRow(p *screen.Pen, row int) {
	x, g, mark := s.rows[row], screen.Bare, display.Lit("  ")
	if row == s.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	t := s.m.in.View().LatestOf(x.Number)
	quiet := s.m.sourceNow() - x.LastRecordAt()
	silent := !x.Ended && quiet > silence
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(screen.Muted, g, p.Format("%4d ", x.Number))
	alarm := display.Lit("  ")
	if silent {
		alarm = display.Lit("! ")
	}
	p.TextOn(screen.Caution, g, alarm)
	role, glyph, doing := doingOf(p, x, t)
	p.TextOn(role, g, glyph.Between("", " "))
	right := screen.Bytes(int(x.Response.Size())).Between("  ", "  ")
	took, late, cells := screen.Time(quiet), screen.Muted, 7
	if silent {
		late = screen.Caution
	}
	if p.Left >= 50 { // without a role, only the sign shows the silence
		if cells = 13; silent {
			took = took.Between("silent ", "")
		}
	}
	right = display.Join(right, padLeft(p, took, cells), display.Lit(" "))
	keep := right.Width()
	p.Left -= keep
	if p.Left >= 40 {
		p.TextOn(screen.Muted, g, p.Format("%-8s ", s.m.openedAt(x, t)))
		who, model := 7, 10
		if p.Left >= 90 {
			who, model = 12, 18
		}
		p.TextOn(screen.Plain, g, p.Pad(p.Name(whoOf(x, t)), who).Between("", " "))
		p.TextOn(screen.Muted, g, p.Pad(p.Name(present.ShortModel(modelOf(t))), model).Between("", " "))
	}
	p.TextOn(screen.Plain, g, p.Truncate(doing, p.Left))
	p.Fill(g)
	p.Left = keep
	p.TextOn(late, g, right)
	p.Fill(g)
}

// padLeft pads a text to the given width with blanks on its left.
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
		return screen.Muted, p.Glyph.Status[stream.Complete], p.Format("%s", t.Phase())
	case len(t.Text) > 0:
		text := t.Text[max(0, len(t.Text)-60):]
		return screen.Live, p.Glyph.Status[stream.Streaming], p.Format("text %q", text)
	}
	return screen.Live, p.Glyph.Status[stream.Streaming], display.Lit("begun")
}

// openedAt formats the time at which a stream's turn began, or the time of the stream's last record if it has
// no turn.
func (m *Model) openedAt(x *providers.Exchange, t *stream.Turn) display.Text {
	if t == nil {
		return m.timeText(x, x.LastRecordAt())
	}
	return m.timeText(x, t.OpenedAt)
}

// timeText formats a time in an exchange, as clock time if that is known.
func (m *Model) timeText(x *providers.Exchange, at time.Duration) display.Text {
	if clock, ok := m.view.WallClock(x.Number, at); ok {
		return m.draw.Clean(clock.Format(time.TimeOnly))
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
func (m *Model) drawRefusal(p *screen.Pen, x *providers.Exchange) {
	p.Text(screen.Caution, display.Lit("!  "))
	p.Text(screen.Muted, m.timeText(x, x.LastRecordAt()).Between("", "  "))
	p.Text(screen.Plain, p.Format("%s %s  ", p.Name(x.Head.Method), p.Name(pathOnly(x.Head.URL))))
	p.Text(screen.Caution, p.Format("%d  ", x.Head.Status))
	p.Untrusted(screen.Plain, screen.Bare, x.Refused())
}

// meter measures the byte rate: the number of bytes in the last full second.
type meter struct {
	second   int64 // unix time of the second being counted
	count    int
	last     int // bytes in the previous second
	watching bool
	waits    bool // streams are open, and the list shows how long they are idle
}

// rateTick is a timer message. It makes the rate fall to zero when no more bytes arrive.
type rateTick time.Time

func (r *meter) add(n int, now time.Time) {
	r.advanceTo(now)
	r.count += n
}

func (r *meter) advanceTo(now time.Time) {
	switch s := now.Unix(); {
	case s == r.second+1:
		r.second, r.last, r.count = s, r.count, 0
	case s != r.second:
		r.second, r.last, r.count = s, 0, 0
	}
}

// scheduleTick schedules one tick, unless one is scheduled already.
func (r *meter) scheduleTick() tea.Cmd {
	if r.watching {
		return nil
	}
	r.watching = true
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return rateTick(t) })
}

// handleTick updates the rate, and schedules another tick unless the rate is zero and no stream waits.
func (r *meter) handleTick(now time.Time) tea.Cmd {
	r.watching = false
	if r.advanceTo(now); r.last == 0 && r.count == 0 && !r.waits {
		return nil
	}
	return r.scheduleTick()
}

// writeBudget limits the bytes that are written to the terminal, which may be remote. While the budget is
// exceeded, the current frame stays. The user's actions are drawn at once.
type writeBudget struct {
	room    int64 // bytes left; if negative, most frames wait
	written int64 // total at the last check
	at      time.Time
	ends    int // exchanges that ended
	seen    int // number of turns and ends at the last check
}

// The write budget for a terminal. Output may exceed the rate by the saved budget. A frame that shows the
// start or end of a stream may also exceed it. Frames are never delayed for longer than it takes to pay off
// the maximum debt.
const (
	budgetPerSecond = 64 << 10 // bytes per second
	maxBudgetSaved  = 8 << 10
	beginEndDebt    = 16 << 10
	maxBudgetDebt   = 32 << 10
)

// budgetDelay returns the time until the next frame may be drawn. It also updates the write budget.
func (m *Model) budgetDelay(msg tea.Msg) time.Duration {
	t := &m.redraw.budget
	t.updateRoom(m.opt.Now(), m.opt.Written())
	least, urgent := int64(0), !m.isLive() && !m.moment.playing
	if seen := m.pinned.turnCount() + t.ends; seen != t.seen {
		t.seen, least = seen, -beginEndDebt
	}
	switch msg.(type) {
	case inboxReady, rateTick, redrawTick:
	case workDone: // the next step of playback, or a result that the user asked for
		urgent = urgent || !m.moment.playing
	default:
		urgent = true
	}
	if urgent || t.room >= least {
		return 0
	}
	return max(frameTime, time.Duration(-t.room)*time.Second/budgetPerSecond)
}

// updateRoom subtracts the written bytes, and adds budget for the elapsed time.
func (t *writeBudget) updateRoom(now time.Time, written int64) {
	if !t.at.IsZero() {
		t.room += int64(min(now.Sub(t.at), time.Second)) * budgetPerSecond / int64(time.Second)
	}
	t.room = max(min(t.room, maxBudgetSaved)-(written-t.written), -maxBudgetDebt)
	t.at, t.written = now, written
}

// machinesTick updates the states of machines, even without traffic.
type machinesTick struct{}

// machinesInterval is the time between two updates of the states of machines.
const machinesInterval = time.Second

func tickMachines() tea.Cmd {
	return tea.Tick(machinesInterval, func(time.Time) tea.Msg { return machinesTick{} })
}

// updateMachines reads the states of machines, and schedules the next update unless the source has ended.
func (m *Model) updateMachines() tea.Cmd {
	if m.opt.Machines == nil {
		return nil
	}
	m.context.Machines = m.opt.Machines()
	m.refreshPanes()
	if m.ended {
		return nil
	}
	return tickMachines()
}
