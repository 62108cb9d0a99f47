package capture

import "sync"

// aheadBytes is about how much is read ahead: what records hold, and what they take themselves.
const (
	aheadBytes  = 1 << 20
	recordBytes = 320
)

// ReadAhead is a source that is read by a goroutine of its own, some records ahead of who wants them. A
// record waits for no other one. A panic of the source is one of who reads it.
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

// readAhead is what has been read and not been taken, and what came behind it.
type readAhead struct {
	mu       sync.Mutex
	turn     sync.Cond // something changed
	recs     []Record
	bytes    int
	ended    bool // nothing more comes
	left     bool // nobody wants more
	err      error
	panicked any
}

// readSource reads the source.
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

// enqueue adds a record when there is room. It reports whether somebody wants more.
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

// takeAll waits for records, and returns all that there are, in exchange for room for more. It reports
// whether more may come.
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

// stop says that nobody wants more.
func (a *readAhead) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = true
	a.turn.Broadcast()
}
