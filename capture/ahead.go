package capture

// aheadBytes is about how much is read ahead: what records hold, and what they take themselves.
const (
	aheadBytes  = 1 << 20
	recordBytes = 320
)

// Ahead is a source that is read by a goroutine of its own, some records ahead of who wants them. A
// record that somebody waits for waits for no other. A panic of the source is one of who reads it.
func Ahead(src Source) Source {
	return func(yield func(Record, error) bool) {
		a := ahead{full: make(chan batch), empty: make(chan []Record, 2), done: make(chan struct{})}
		defer close(a.done)
		go a.fill(src)
		for b := range a.full {
			for i := range b.recs {
				if !yield(b.recs[i], nil) {
					return
				}
			}
			switch {
			case b.panicked != nil:
				panic(b.panicked)
			case b.err != nil:
				yield(Record{}, b.err)
				return
			}
			clear(b.recs)
			select {
			case a.empty <- b.recs[:0]:
			default:
			}
		}
	}
}

// ahead is what passes between the two.
type ahead struct {
	full  chan batch
	empty chan []Record // to be filled again
	done  chan struct{}
}

// batch is records in a row, and what came behind them.
type batch struct {
	recs     []Record
	err      error
	panicked any
}

func (a *ahead) fill(src Source) {
	var now batch
	defer func() {
		now.panicked = recover()
		a.send(now)
		close(a.full)
	}()
	bytes := 0
	for r, err := range src {
		if now.err = err; err != nil {
			return
		}
		now.recs = append(now.recs, r)
		bytes += recordBytes + len(r.Data)
		sent, more := a.offer(now, bytes >= aheadBytes)
		if !more {
			now = batch{}
			return
		}
		if sent {
			now, bytes = batch{recs: a.room()}, 0
		}
	}
}

// offer hands a batch over if somebody waits for it, or waits itself if it must. It reports whether
// it was taken, and whether somebody wants more.
func (a *ahead) offer(b batch, must bool) (sent, more bool) {
	if must {
		more = a.send(b)
		return more, more
	}
	select {
	case a.full <- b:
		return true, true
	case <-a.done:
		return false, false
	default:
		return false, true
	}
}

// send waits until a batch is taken, or nobody wants it.
func (a *ahead) send(b batch) bool {
	select {
	case a.full <- b:
		return true
	case <-a.done:
		return false
	}
}

// room is a batch that was emptied, or a new one.
func (a *ahead) room() []Record {
	select {
	case recs := <-a.empty:
		return recs
	default:
		return nil
	}
}
