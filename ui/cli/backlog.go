package cli

import (
	"fmt"
	"sync"

	"toolscope/capture"
)

const (
	backlogLimit = 64 << 20 // bytes that may wait
	recordCost   = 256      // what a record is counted as beyond its data
)

// A backlog is records on their way to the screen or the printer. Who puts them
// in never waits: when what is printed is not read, their bytes are left out, and
// a note says so.
type backlog struct {
	mu    sync.Mutex
	more  sync.Cond
	queue []capture.Record
	bytes int
	limit int
	lost  int64 // bytes left out that no note has told of
	over  bool  // no more are put in
}

func newBacklog(limit int) *backlog {
	b := &backlog{limit: limit}
	b.more.L = &b.mu
	return b
}

func (b *backlog) put(r capture.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	if len(r.Data) > 0 && b.bytes+len(r.Data)+recordCost > b.limit {
		b.lost += int64(len(r.Data))
		r.Data = nil
		if r.Head == nil && r.End == "" && r.Note == "" {
			return
		}
	}
	if b.lost > 0 && len(r.Data) > 0 {
		b.add(capture.Record{Exchange: r.Exchange, At: r.At, Note: b.told()})
	}
	b.add(r)
}

func (b *backlog) add(r capture.Record) {
	b.queue = append(b.queue, r)
	b.bytes += len(r.Data) + recordCost
	b.more.Signal()
}

func (b *backlog) told() string {
	n := b.lost
	b.lost = 0
	return fmt.Sprintf("gap: %d bytes are not shown: what is printed was not read", n)
}

// end says that no more come.
func (b *backlog) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	b.more.Signal()
}

// source is the records in the order they came, to the end.
func (b *backlog) source(yield func(capture.Record, error) bool) {
	for {
		batch := b.take()
		for _, r := range batch {
			if !yield(r, nil) {
				return
			}
		}
		if len(batch) == 0 {
			return
		}
	}
}

// take waits for records and removes all there are: none at the end.
func (b *backlog) take() []capture.Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) == 0 && !b.over {
		b.more.Wait()
	}
	batch := b.queue
	b.queue, b.bytes = nil, 0
	return batch
}
