package ui

import (
	"fmt"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
)

// An Inbox is the program's queue of records. The program takes records in order, at most one batch per
// frame. If records were left out because the program was too slow or the screen was stopped, a record
// reports them as Lost.
type Inbox interface {
	// Take returns waiting records of about the given number of bytes, and whether there are more. It
	// never blocks. The batch is valid until the next Take.
	Take(bytes int) (batch []stream.Record, more bool)
	Waiting() int                 // number of waiting records
	Done() (over bool, why error) // over means that no records are waiting and no more will arrive
	Wakeups() <-chan struct{}     // signals that there may be records, or that a frame must be drawn
	Wake()
}

// Limits for reading a batch in parts between keys and frames. A large file always has more records, so the size is
// limited. A busy computer reads more slowly, so the time is limited too.
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
		m.rate.advanceTo(m.arrivedAt)
		m.rate.count += size
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
		m.selected = m.filtering.newestShown()
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

// countMissed counts the new turns that the filter shows while the list doesn't follow new traffic. If the
// filter changes, the count restarts at zero.
func (m *Model) countMissed() {
	s := m.in.Session()
	total := s.TrimmedTurns() + len(s.Turns)
	if m.follow || !m.isLive() || m.context.Sieve.Changed || m.missed.known > total {
		m.missed.n = 0
	} else {
		for _, t := range s.Turns[min(max(0, m.missed.known-s.TrimmedTurns()), len(s.Turns)):] {
			if m.filtering.turns.Shows(t) {
				m.missed.n++
			}
		}
	}
	m.missed.known = total
}

// openStreams lists the exchanges that have not ended, so that ended exchanges aren't searched again.
type openStreams struct {
	open  []*providers.Exchange
	known *providers.Exchange // the last exchange that update checked
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

// shownNow returns the source time that the screen shows, or NoTime if the list shows no idle times. While the screen
// is paused, this is the time of the last event, or 0 before the first event.
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

// meter measures the byte rate: the number of bytes in the last full second.
type meter struct {
	second   int64 // unix time of the second being counted
	count    int
	last     int // bytes in the previous second
	watching bool
	waits    bool // streams are open, and the list shows their idle times
}

// rateTick is a timer message. It makes the rate fall to zero when no more bytes arrive.
type rateTick time.Time

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
	// Subtract the written bytes, and add budget for the elapsed time.
	t, now, written := &m.redraw.budget, m.opt.Now(), m.opt.Written()
	if !t.at.IsZero() {
		t.room += int64(min(now.Sub(t.at), time.Second)) * budgetPerSecond / int64(time.Second)
	}
	t.room = max(min(t.room, maxBudgetSaved)-(written-t.written), -maxBudgetDebt)
	t.at, t.written = now, written
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

// machinesTick updates the states of machines, even without traffic.
type machinesTick struct{}

// machinesInterval is the time between two updates of the states of machines.
const machinesInterval = time.Second

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
	return tea.Tick(machinesInterval, func(time.Time) tea.Msg { return machinesTick{} })
}

// Memory limits: the maximum bytes of turns that can be reloaded, not counting turns in use, and the maximum
// number of rows for dropped turns.
const (
	maxReloadableBytes = 8 << 20
	maxDroppedRows     = 100_000
)

// turnsInUse yields the turns in use: the selected one, the one whose request carries the shown result, and
// the marked ones.
func (ps *pinSet) turnsInUse(yield func(*stream.Turn) bool) {
	if t := ps.m.selectedTurn(); t != nil && !yield(t) {
		return
	}
	if c := ps.m.selectedCall(); c != nil && c.LatestResult() != nil && ps.m.focus == ps.m.result {
		if t := ps.m.view.TurnAfter(c.LatestResult()); t != nil && !yield(t) {
			return
		}
	}
	for _, r := range ps.m.marks {
		if t, _ := ps.m.view.Find(r); t != nil && !yield(t) {
			return
		}
	}
}

// makeRoom evicts and drops turns beyond the limits, except turns that are in use or are still arriving.
func (ps *pinSet) makeRoom() {
	before := ps.m.pinned
	*ps = pinSet{m: ps.m, exchanges: slices.Collect(maps.Keys(ps.m.outbox.flying))}
	for t := range ps.turnsInUse {
		ps.turns = append(ps.turns, t.Number)
	}
	for _, exchange := range ps.exchanges {
		ps.m.in.Pin(exchange)
	}
	for _, turn := range ps.turns {
		ps.m.in.PinTurn(turn)
	}
	for _, exchange := range before.exchanges {
		ps.m.in.Unpin(exchange)
	}
	for _, turn := range before.turns {
		ps.m.in.UnpinTurn(turn)
	}
	ps.m.in.MakeRoom()
}

// pinSet has the exchanges and turns that makeRoom last pinned.
type pinSet struct {
	m         *Model
	exchanges []int
	turns     []int32
}

// reloadShown reloads evicted turns that are in use, one after another.
func (ps *pinSet) reloadShown() {
	if ps.m.reloading {
		return
	}
	for t := range ps.turnsInUse {
		if t.Retention != stream.Evicted {
			continue
		}
		if read := ps.m.in.Reload(t.Number); read != nil {
			ps.m.reloading = true
			ps.m.modeStack.queueCmd(func() tea.Msg {
				put := read()
				return workDone{then: func() { ps.onReloaded(put()) }}
			})
			return
		}
	}
}

// onReloaded refreshes the panes after a reload. If the reload failed, it shows the reason.
func (ps *pinSet) onReloaded(err error) {
	if ps.m.reloading = false; err != nil {
		ps.m.showNotice(ps.m.draw.Clean(err.Error()))
	}
	ps.m.refreshPanes()
}

// asFlag formats a number of bytes as a value for --memory.
func asFlag(n int64) string {
	if n%1_000_000_000 == 0 {
		return fmt.Sprintf("%dGB", n/1_000_000_000)
	}
	return fmt.Sprintf("%dMB", n/1_000_000)
}

// turnCount returns the number of turns, including dropped ones.
func (ps *pinSet) turnCount() int {
	s := ps.m.view.Session()
	return s.TrimmedTurns() + len(s.Turns)
}
