package capture

import "sync"

// aheadBytes is about how many bytes are read ahead: the data of the records and recordBytes for each.
const (
	aheadBytes  = 1 << 20
	recordBytes = 320
)

// ReadAhead reads src in its own goroutine, some records ahead of the consumer. No record waits for a
// later one. A panic of src is raised in the consumer.
func ReadAhead(src Source) Source {
	return func(yield func(Record, error) bool) {
		a := &readAhead{}
		a.turn.L = &a.mu
		defer a.stop()
		go a.readSource(src)
		var recs []Record
		for {
			clear(recs)
			var more bool
			recs, more = a.takeAll(recs[:0])
			for i := range recs {
				if !yield(recs[i], nil) {
					return
				}
			}
			if !more {
				break
			}
		}
		switch {
		case a.panicked != nil:
			panic(a.panicked)
		case a.err != nil:
			yield(Record{}, a.err)
		}
	}
}

// readAhead holds the records that were read but not yet taken, and how the source ended.
type readAhead struct {
	mu       sync.Mutex
	turn     sync.Cond // signals any change
	recs     []Record
	bytes    int
	ended    bool // the source ended
	left     bool // the consumer stopped
	err      error
	panicked any
}

func (a *readAhead) readSource(src Source) {
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.ended, a.panicked = true, recover()
		a.turn.Broadcast()
	}()
	for r, err := range src {
		if err != nil {
			a.err = err
			return
		}
		if !a.enqueue(r) {
			return
		}
	}
}

// enqueue adds a record when there is room. It reports whether the consumer wants more.
func (a *readAhead) enqueue(r Record) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.bytes >= aheadBytes && !a.left {
		a.turn.Wait()
	}
	a.recs = append(a.recs, r)
	a.bytes += recordBytes + len(r.Data)
	if len(a.recs) == 1 {
		a.turn.Broadcast()
	}
	return !a.left
}

// takeAll waits for records and returns all of them; room becomes the next buffer. It reports whether
// more may come.
func (a *readAhead) takeAll(room []Record) (recs []Record, more bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.recs) == 0 && !a.ended {
		a.turn.Wait()
	}
	recs, a.recs = a.recs, room
	if a.bytes >= aheadBytes {
		a.turn.Broadcast()
	}
	a.bytes = 0
	return recs, !a.ended
}

// stop records that the consumer stopped.
func (a *readAhead) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = true
	a.turn.Broadcast()
}
