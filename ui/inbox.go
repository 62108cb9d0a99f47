package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
)

// An Inbox is where records wait for the program, which takes them in their order, at most one
// batch a frame. What was left out because the program was too slow, or the user had stopped the
// screen, a record says as Lost.
type Inbox interface {
	// Take returns what waits, of about so many bytes, and whether there is more. It never waits.
	// The batch is good until the next Take.
	Take(bytes int) (batch []stream.Record, more bool)
	Waiting() int                 // records
	Done() (over bool, why error) // no record waits, and none will come
	Wakeups() <-chan struct{}     // rings when there may be news, also if that is only another frame to draw
	Wake()
}

// A batch is what is read before keys are answered and a frame is drawn: a piece, and as many more
// as there is time for. With a big file there is always more, and a busy machine reads slower.
const (
	batchBytes = 1 << 20
	batchTime  = 4 * time.Millisecond
	takeBytes  = 1 << 15
)

// inboxReady says that the bell of an inbox rang; of the source's, if it names none.
type inboxReady struct{ in Inbox }

// frameTime is how long the program lets records gather after it took some.
const frameTime = time.Second / 60

// waitForInbox waits for the bell. It reacts first and sleeps after: the first record is shown at once,
// and bursts gather during the pause.
func waitForInbox(to Inbox, pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		time.Sleep(pause)
		<-to.Wakeups()
		return inboxReady{to}
	}
}

// readBatch has the inspector read one batch, and reports whether more waits.
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

// handleInbox reads one batch from an inbox.
func (m *Model) handleInbox(inbox Inbox) tea.Cmd {
	if inbox == nil {
		inbox = m.opt.Inbox
	}
	more := m.readBatch(inbox)
	ended, why := inbox.Done()
	if inbox == m.opt.Answers {
		m.followSentTurn()
	} else if ended {
		m.endSource(why)
	}
	if m.follow && !m.isCovered() && !m.isPaused() {
		m.selected = m.newestShown()
	}
	m.makeRoom()
	m.findScenes()
	m.quitWhenIdle()
	m.noteNews()
	m.refreshPanes()
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
