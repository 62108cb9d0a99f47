// Package queue is the one queue between those who have something and those who want it at their
// own pace.
//
//	who has it ─▶ Put ─▶ Box ─▶ Take ─▶ who wants it
//	                      └─▶ Bell: there is something
//
// Words. What waits in a box belongs to a stream: one side of one exchange. A hole is what a box
// leaves out of a stream because it is full. An exchange is let in when the first thing of it is
// put into the box.
//
// What always holds:
//   - The order is kept.
//   - A box has a limit. Where the rules know no gaps, Put waits for room: nothing is lost. Where
//     they do, Put never waits, and what does not fit is left out.
//   - What is left out of an exchange that was let in is told: at its place in its stream, to the
//     byte, once for all that is missing there. What has no bytes (a head, an end) is kept beyond
//     the limit, as far as there is a reserve for it; the last thing of an exchange is kept always.
//   - An exchange for whose beginning there is not even a reserve leaves no trace, and is counted.
//   - So a box holds its limit and half of it more at most, and what was let in ends, whoever fills
//     the box and however slowly it is emptied.
package queue

import "sync"

// Rules are what a box knows of what it holds. Limit and Cost are required; the others say how gaps
// are made, and are there together or not at all.
type Rules[T any] struct {
	Limit int         // how much may wait
	Cost  func(T) int // how much one is: the memory that it takes, about; always the same for the same

	PartOf       func(T) Part               // what it is a part of
	WithoutBytes func(T) (T, bool)          // it without its bytes; false when what is left is not worth keeping
	Gap          func(lost int64, near T) T // near, which has no bytes, telling how many are missing there
}

// Part says where something belongs.
type Part struct {
	Stream
	Bytes        int64 // that it brings, and that are missing without it
	EndsExchange bool  // nothing of the exchange follows
}

// Stream is one side of an exchange.
type Stream struct {
	Exchange int
	Request  bool
}

// State is how a box is doing.
type State struct {
	Waiting int   // how many wait
	Cost    int   // what they cost
	Lost    int64 // bytes that were left out
	Gaps    int64 // places where they are missing
	Dropped int64 // things that were left out, and that no gap tells of
	Full    bool  // bytes are being left out just now
}

// A Queue holds what waits. Any number of goroutines may put things in; one takes them out.
type Queue[T any] struct {
	rules Rules[T]
	bell  chan struct{} // one slot: a doorbell, not a queue

	mu     sync.Mutex
	room   sync.Cond // for Puts that wait
	queue  []T
	first  int   // in queue: what is before it was taken
	taken  int64 // how many were taken, ever
	lately int   // how many waited when somebody took some, the most of the latest times
	batch  []T   // of the latest Take
	closed bool
	err    error

	state    State                 // but for what waits
	begun    map[int]*openExchange // that have not ended
	reserved int                   // room kept for the ends of those
	full     bool                  // something with bytes did not fit
	gaps     []*gap                // that wait, in order
}

// New makes a box.
func New[T any](rules Rules[T]) *Queue[T] {
	b := &Queue[T]{rules: rules, bell: make(chan struct{}, 1), begun: map[int]*openExchange{}}
	b.room.L = &b.mu
	return b
}

// Put puts something in. It reports false when nobody wants any more.
func (b *Queue[T]) Put(v T) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
	case b.rules.Gap != nil:
		b.addOrGap(v)
	default:
		for cost := b.rules.Cost(v); b.waitingCount() > 0 && b.state.Cost+cost > b.rules.Limit && !b.closed; {
			b.room.Wait()
		}
		if !b.closed {
			b.add(v)
		}
	}
	b.Wake()
	return !b.closed
}

func (b *Queue[T]) add(v T) {
	b.queue = append(b.queue, v)
	b.state.Cost += b.rules.Cost(v)
}

func (b *Queue[T]) waitingCount() int { return len(b.queue) - b.first }

// Take takes things out until they cost most, or one thing if there is one, and says whether there
// is more. It never waits. The batch is valid until the next Take.
func (b *Queue[T]) Take(most int) (batch []T, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, cost := 0, 0
	for waiting := b.queue[b.first:]; n < len(waiting) && (n == 0 || cost < most); n++ {
		cost += b.rules.Cost(waiting[n])
	}
	b.reportGaps(n)
	b.lately = max(b.waitingCount(), b.lately-b.lately/8-1)
	if clear(b.batch); cap(b.batch) > b.slotCount() { // what was taken before can be forgotten
		b.batch = nil
	}
	b.batch = append(b.batch[:0], b.queue[b.first:b.first+n]...)
	b.state.Cost -= cost
	b.removeFirst(n)
	b.room.Broadcast()
	return b.batch, b.waitingCount() > 0
}

// So many slots are kept for what comes next. While a flood lasts those are more, as making them anew
// for each batch costs more than all else; they do not stay when it is over.
const (
	idleSlots  = 1 << 10
	floodSlots = 1 << 14
)

// slotCount is how many are kept now. What grows doubles, so up to twice of what waited is there.
func (b *Queue[T]) slotCount() int { return max(idleSlots, min(2*b.lately, floodSlots)) }

// removeFirst forgets the first n that wait.
func (b *Queue[T]) removeFirst(n int) {
	clear(b.queue[b.first : b.first+n])
	b.first += n
	b.taken += int64(n)
	if b.first <= len(b.queue)/2 {
		return
	}
	left := copy(b.queue, b.queue[b.first:])
	clear(b.queue[left:])
	b.queue, b.first = b.queue[:left], 0
	if left == 0 && cap(b.queue) > b.slotCount() {
		b.queue = nil
	}
}

// All yields everything, one thing after the other, until the box is closed and empty. It waits.
func (b *Queue[T]) All(yield func(T) bool) {
	for {
		batch, _ := b.Take(1)
		for _, v := range batch {
			if !yield(v) {
				return
			}
		}
		if len(batch) == 0 {
			if ended, _ := b.Done(); ended {
				return
			}
			<-b.bell
		}
	}
}

// Close refuses everything from now on, because of err if that is not nil. What waits can still be
// taken. The first Close counts.
func (b *Queue[T]) Close(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed, b.err = true, err
	}
	b.room.Broadcast()
	b.Wake()
}

// Done reports whether nothing waits and nothing will come, and why.
func (b *Queue[T]) Done() (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed && b.waitingCount() == 0, b.err
}

// Wakeups rings when there may be news: something that waits, or the end.
func (b *Queue[T]) Wakeups() <-chan struct{} { return b.bell }

// Wake rings the bell.
func (b *Queue[T]) Wake() {
	select {
	case b.bell <- struct{}{}:
	default: // it is ringing already
	}
}

// Waiting is how many wait.
func (b *Queue[T]) Waiting() int { return b.State().Waiting }

// State is how the box is doing.
func (b *Queue[T]) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	s.Waiting = b.waitingCount()
	s.Full = b.full && s.Cost > b.refillLevel()
	return s
}
