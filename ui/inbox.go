package ui

import (
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
)

// Inbox hands records from the goroutine that reads a source to the program,
// at most one batch a frame. It keeps the order and loses nothing.
type Inbox struct {
	limit int // bytes that may wait before Put does; 0 is none

	mu     sync.Mutex
	room   *sync.Cond
	queue  []stream.Record
	bytes  int
	closed bool
	err    error

	bell chan struct{} // one slot: a doorbell, not a queue
}

// NewInbox makes an inbox. With a limit, Put waits while more than so many
// bytes are queued: right for files, wrong for live traffic, which must never
// wait for a screen.
func NewInbox(limit int) *Inbox {
	b := &Inbox{limit: limit, bell: make(chan struct{}, 1)}
	b.room = sync.NewCond(&b.mu)
	return b
}

// Put adds a record. It reports false when the program no longer wants any.
func (b *Inbox) Put(r stream.Record) bool {
	b.mu.Lock()
	for b.limit > 0 && b.bytes > b.limit && !b.closed {
		b.room.Wait()
	}
	open := !b.closed
	if open {
		b.queue = append(b.queue, r)
		b.bytes += len(r.Data)
	}
	b.mu.Unlock()
	b.ring()
	return open
}

// End says that no more records come, because of err if that is not nil.
func (b *Inbox) End(err error) {
	b.mu.Lock()
	b.closed, b.err = true, err
	b.room.Broadcast()
	b.mu.Unlock()
	b.ring()
}

// Ring has the program draw another frame although no record has come: what its
// Options' Status says has changed.
func (b *Inbox) Ring() { b.ring() }

func (b *Inbox) ring() {
	select {
	case b.bell <- struct{}{}:
	default: // it is ringing already
	}
}

// batchBytes is how much one batch may hold: what the inspector reads in a few
// milliseconds, so that keys are answered while a big file loads.
const batchBytes = 1 << 20

// take removes a batch. more says that records are left; ended that none are
// and none will come.
func (b *Inbox) take() (batch []stream.Record, more, ended bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	size, n := 0, 0
	for n < len(b.queue) && size < batchBytes {
		size += len(b.queue[n].Data)
		n++
	}
	batch = b.queue[:n:n]
	b.queue = b.queue[n:]
	b.bytes -= size
	b.room.Broadcast()
	more = len(b.queue) > 0
	return batch, more, b.closed && !more, b.err
}

// waiting is the number of records in the inbox.
func (b *Inbox) waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue)
}

// arrived says that the bell of an inbox rang; of the source's, if it names none.
type arrived struct{ in *Inbox }

// frameTime is how long the program lets records gather after it took some.
const frameTime = time.Second / 60

// listen waits for the bell. It reacts first and sleeps after: the first
// record is shown at once, and bursts gather during the pause.
func (b *Inbox) listen(pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		time.Sleep(pause)
		<-b.bell
		return arrived{b}
	}
}

// take reads one batch from an inbox.
func (m *Model) take(inbox *Inbox) tea.Cmd {
	if inbox == nil {
		inbox = m.opt.Inbox
	}
	if m.paused {
		return inbox.listen(frameTime) // the status line counts what waits
	}
	batch, more, ended, err := inbox.take()
	size := 0
	for _, r := range batch {
		m.in.Write(r)
		size += len(r.Data)
	}
	m.rate.add(size, m.opt.Now())
	if inbox == m.post.inbox {
		m.landed(batch)
	} else if ended {
		m.endSource(err)
	}
	if m.follow {
		m.chosen = newest(m.in.Session())
	}
	m.refresh()
	if ended {
		return nil
	}
	if more {
		inbox.ring()
		return inbox.listen(0)
	}
	return tea.Batch(inbox.listen(frameTime), m.rate.watch())
}
