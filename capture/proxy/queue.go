package proxy

import (
	"fmt"
	"slices"
	"sync"

	"toolscope/capture"
)

// recordCost is about what a record takes in memory besides its bytes.
const recordCost = 256

// queue holds records until they are taken, so that whoever puts one in never waits. There is a bound to what it holds.
// Beyond that, bytes are counted instead of kept; beyond a quarter more, heads and ends too.
type queue struct {
	record func(capture.Record)
	ended  chan struct{}

	mu     sync.Mutex
	more   sync.Cond
	items  []capture.Record
	bytes  int // of items, and of what is just being taken
	limit  int
	closed bool

	gaps  map[int]*gap // by exchange: not yet told
	order []int        // of gaps, as they began
	count int64        // gaps that began
	lost  int64        // bytes
}

// gap is what an exchange's records lack.
type gap struct {
	bytes int64
	more  bool           // a head, an end or a note is missing too
	first capture.Record // the first that is missing: its side and time
}

func newQueue(limit int, record func(capture.Record)) *queue {
	q := &queue{record: record, limit: limit, ended: make(chan struct{}), gaps: map[int]*gap{}}
	q.more.L = &q.mu
	go q.run()
	return q
}

func cost(r capture.Record) int {
	n := recordCost + len(r.Data)
	if r.Head != nil {
		n += len(r.Head.URL)
		for name, values := range r.Head.Header {
			n += len(name)
			for _, v := range values {
				n += len(v) + 16
			}
		}
	}
	return n
}

func (q *queue) put(r capture.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	limit := q.limit
	if r.Head != nil || r.End != "" || r.Note != "" {
		limit += q.limit / 4
		if len(r.Data) > 0 && q.bytes+cost(r) > q.limit {
			q.lose(capture.Record{Exchange: r.Exchange, Side: r.Side, At: r.At, Data: r.Data})
			r.Data = nil
		}
	}
	if q.bytes+cost(r) > limit {
		q.lose(r)
		return
	}
	if q.gaps[r.Exchange] != nil {
		q.add(q.told(r.Exchange))
	}
	q.add(r)
}

func (q *queue) add(r capture.Record) {
	q.items = append(q.items, r)
	q.bytes += cost(r)
	q.more.Signal()
}

func (q *queue) lose(r capture.Record) {
	g := q.gaps[r.Exchange]
	if g == nil {
		g = &gap{first: r}
		q.gaps[r.Exchange] = g
		q.order = append(q.order, r.Exchange)
		q.count++
	}
	g.bytes += int64(len(r.Data))
	g.more = g.more || r.Head != nil || r.End != "" || r.Note != ""
	q.lost += int64(len(r.Data))
}

// told is the note that tells an exchange's gap, which is forgotten with it.
func (q *queue) told(exchange int) capture.Record {
	g := q.gaps[exchange]
	delete(q.gaps, exchange)
	q.order = slices.DeleteFunc(q.order, func(x int) bool { return x == exchange })
	what := fmt.Sprintf("%d bytes", g.bytes)
	if g.more {
		what += " and a head or an end"
	}
	text := fmt.Sprintf("gap: %s of exchange %d were not recorded: the queue is full", what, exchange)
	return capture.Record{Exchange: exchange, Side: g.first.Side, At: g.first.At, Note: text}
}

// run hands the records over until the queue is closed and empty.
func (q *queue) run() {
	defer close(q.ended)
	var batch []capture.Record
	for {
		if batch = q.take(batch[:0]); len(batch) == 0 {
			return
		}
		for i, r := range batch {
			batch[i] = capture.Record{}
			n := cost(r)
			q.record(r)
			q.mu.Lock()
			q.bytes -= n
			q.mu.Unlock()
		}
	}
}

// take waits for records and returns all there are, and gives the queue room to put the next ones into. Of gaps that no
// later record made known it tells when there is nothing else. It returns none when the queue is closed.
func (q *queue) take(room []capture.Record) []capture.Record {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 {
		for len(q.order) > 0 {
			q.add(q.told(q.order[0]))
		}
		if len(q.items) > 0 {
			break
		}
		if q.closed {
			return nil
		}
		q.more.Wait()
	}
	batch := q.items
	q.items = room
	return batch
}

// close waits until all has been taken.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.more.Signal()
	q.mu.Unlock()
	<-q.ended
}

func (q *queue) stats() (queued, gaps, lost int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int64(q.bytes), q.count, q.lost
}
