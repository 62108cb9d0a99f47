package ui

import (
	"time"

	"toolscope/ui/panes"

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
	Waiting() int                  // records
	Ended() (over bool, why error) // no record waits, and none will come
	Bell() <-chan struct{}         // rings when there may be news, also if that is only another frame to draw
	Ring()
}

// batchBytes is how much one batch may hold: what the inspector reads in a few milliseconds, so
// that keys are answered while a big file loads.
const batchBytes = 1 << 18

// arrived says that the bell of an inbox rang; of the source's, if it names none.
type arrived struct{ in Inbox }

// frameTime is how long the program lets records gather after it took some.
const frameTime = time.Second / 60

// listen waits for the bell. It reacts first and sleeps after: the first record is shown at once,
// and bursts gather during the pause.
func listen(to Inbox, pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		time.Sleep(pause)
		<-to.Bell()
		return arrived{to}
	}
}

// take reads one batch from an inbox.
func (m *Model) take(inbox Inbox) tea.Cmd {
	if inbox == nil {
		inbox = m.opt.Inbox
	}
	if m.paused {
		return listen(inbox, frameTime) // the status line counts what waits
	}
	batch, more := inbox.Take(batchBytes)
	size := 0
	for _, r := range batch {
		m.in.Write(r)
		size += len(r.Data)
	}
	m.rate.add(size, m.opt.Now())
	ended, why := inbox.Ended()
	if inbox == m.opt.Answers {
		m.landed(batch)
	} else if ended {
		m.endSource(why)
	}
	if m.follow && !m.covered() {
		m.chosen = panes.Newest(m.in.Session())
	}
	m.in.MakeRoom()
	m.refresh()
	if ended {
		return nil
	}
	if more {
		inbox.Ring()
		return listen(inbox, 0)
	}
	return tea.Batch(listen(inbox, frameTime), m.rate.watch())
}
