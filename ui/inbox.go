package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
)

// An Inbox is the queue of records for the program. The program takes them in order, at most one batch per
// frame. If records were left out because the program was too slow or the screen was stopped, a record
// reports them as Lost.
type Inbox interface {
	// Take returns waiting records of about the given number of bytes, and whether there are more. It
	// never blocks. The batch is valid until the next Take.
	Take(bytes int) (batch []stream.Record, more bool)
	Waiting() int                 // records
	Done() (over bool, why error) // there are no waiting records, and no more will arrive
	Wakeups() <-chan struct{}     // signals that there may be records, or only a frame to draw
	Wake()
}

// A batch is read between keys and frames, in parts while there is time. A large file always has more
// records, and a busy computer reads more slowly.
const (
	batchBytes = 1 << 20
	batchTime  = 4 * time.Millisecond
	takeBytes  = 1 << 15
)

// inboxReady is the message that an inbox has signalled news; nil means the inbox of the source.
type inboxReady struct{ in Inbox }

// frameTime is how long records collect after each batch.
const frameTime = time.Second / 60

// waitForInbox sleeps for pause, then waits for a signal of an inbox. The pause follows a batch, so the
// first record is shown at once, and bursts collect during the pause.
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
