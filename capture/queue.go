package capture

import (
	"sync"
)

// A Queue is a bounded queue between producers and a consumer that takes items at its own pace.
//
//	producer ─▶ Put ─▶ Queue ─▶ Take ─▶ consumer
//	                     └─▶ Wakeups: there is something
//
// Terms. A waiting item belongs to a stream: one side of one exchange. A gap is where a full queue left
// bytes of a stream out. An exchange is admitted when its first item is put into the queue.
//
// Invariants:
//   - The order is kept.
//   - A queue has a limit. Without rules for gaps, Put waits for room and nothing is lost. With them, Put
//     never waits, and items that don't fit are left out.
//   - Bytes left out of an admitted exchange are reported: in their place in the stream, exactly, and
//     once for each gap. Items without bytes (a head, an end) are kept beyond the limit, as far as a
//     reserve allows; the last item of an exchange is always kept.
//   - An exchange that doesn't fit even into the reserve at its first item leaves no trace. Its items are counted.
//   - So a queue holds at most one and a half times its limit, and admitted exchanges end, however fast the
//     queue is filled and however slowly it is emptied.

// QueueRules define the items of a queue. Limit and Cost are required. The others define gaps and are set all
// together or not at all.
type QueueRules[T any] struct {
	Limit int         // the maximum cost of the waiting items
	Cost  func(T) int // the cost of an item, which doesn't change: roughly its memory

	PartOf       func(T) QueuePart          // the place of an item
	WithoutBytes func(T) (T, bool)          // the item without its bytes; false if the remaining item is not worth keeping
	Gap          func(lost int64, near T) T // returns the item near, which has no bytes, with a report of the number of bytes missing there
}

// QueuePart is the place of an item.
type QueuePart struct {
	QueueStream
	Bytes        int64 // number of bytes that are missing if the item is left out
	EndsExchange bool  // no item of the exchange follows
}

// QueueStream is one side of an exchange.
type QueueStream struct {
	Exchange int
	Request  bool
}

// QueueState is the state of a queue.
type QueueState struct {
	Waiting int   // number of waiting items
	Cost    int   // their cost
	Lost    int64 // number of bytes that were left out
	Gaps    int64 // number of places where bytes are missing
	Dropped int64 // number of items that were left out and that no gap reports
	Full    bool  // bytes are being left out now
}

// Queue holds waiting items. Any number of goroutines may put items in; one takes them out.
type Queue[T any] struct {
	rules QueueRules[T]
	bell  chan struct{} // see Wakeups; it has one slot

	mu     sync.Mutex
	room   sync.Cond // wakes waiting Puts
	queue  []T
	first  int   // index in queue: the items before it were taken
	taken  int64 // number of items that were ever taken
	lately int   // decaying maximum of the number of items that wait at a Take
	batch  []T   // the batch of the latest Take
	closed bool
	err    error

	state    QueueState            // the state, except for the number of waiting items
	begun    map[int]*openExchange // exchanges that have not ended
	reserved int                   // room reserved for the ends of these exchanges
	full     bool                  // an item with bytes did not fit
	gaps     []*gap                // waiting gaps, in order
}

// NewQueue returns an empty queue.
func NewQueue[T any](rules QueueRules[T]) *Queue[T] {
	b := &Queue[T]{rules: rules, bell: make(chan struct{}, 1), begun: map[int]*openExchange{}}
	b.room.L = &b.mu
	return b
}

// Put adds an item. It returns false if the queue is closed.
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

// Take removes items until their total cost reaches the value of the parameter most, and returns them. If there are
// items, it returns at least one. The result more reports whether any are left. Take never waits. The batch is valid
// until the next Take.
func (b *Queue[T]) Take(most int) (batch []T, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, cost := 0, 0
	for waiting := b.queue[b.first:]; n < len(waiting) && (n == 0 || cost < most); n++ {
		cost += b.rules.Cost(waiting[n])
	}
	b.reportGaps(n)
	b.lately = max(b.waitingCount(), b.lately-b.lately/8-1)
	if clear(b.batch); cap(b.batch) > b.slotCount() { // drop the previous batch
		b.batch = nil
	}
	b.batch = append(b.batch[:0], b.queue[b.first:b.first+n]...)
	b.state.Cost -= cost
	b.removeFirst(n)
	b.room.Broadcast()
	return b.batch, b.waitingCount() > 0
}

// The minimum and maximum number of slots kept for the next items. During a flood more are kept, because
// allocating them for each batch is expensive; they are dropped when the flood is over.
const (
	idleSlots  = 1 << 10
	floodSlots = 1 << 14
)

// slotCount returns the number of slots that are kept now. Slices grow by doubling, so there may be room for
// twice the waiting items.
func (b *Queue[T]) slotCount() int { return max(idleSlots, min(2*b.lately, floodSlots)) }

// removeFirst removes the first n waiting items.
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

// All yields all items until the queue is closed and empty. It waits for items.
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

// Close ends the queue for Put. The parameter err is the reason; it may be nil. Waiting items can still be taken.
// Only the first Close counts.
func (b *Queue[T]) Close(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed, b.err = true, err
	}
	b.room.Broadcast()
	b.Wake()
}

// Done reports whether the queue is closed and empty, and the error of Close.
func (b *Queue[T]) Done() (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed && b.waitingCount() == 0, b.err
}

// Wakeups returns a channel that receives a value when there may be items, or when the queue has ended.
func (b *Queue[T]) Wakeups() <-chan struct{} { return b.bell }

// Wake sends on the channel of Wakeups.
func (b *Queue[T]) Wake() {
	select {
	case b.bell <- struct{}{}:
	default: // a value is already waiting
	}
}

// Waiting returns the number of waiting items.
func (b *Queue[T]) Waiting() int { return b.State().Waiting }

// State returns the state of the queue.
func (b *Queue[T]) State() QueueState {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	s.Waiting = b.waitingCount()
	s.Full = b.full && s.Cost > b.refillLevel()
	return s
}

// openExchange is an exchange that has begun and not ended.
type openExchange struct {
	out  bool    // the exchange was not admitted
	gaps [2]*gap // for its response and its request: the last waiting item of that side, if that item is a gap
}

// gap is a place where bytes of a stream are missing. A waiting item without bytes reports it.
type gap struct {
	at     int64 // the number of that item, among all that ever waited
	stream QueueStream
	lost   int64
}

// endRoom is reserved for each admitted exchange, so that it can end: for a gap on each side, and for its
// last item.
const endRoom = 1 << 10

// addOrGap adds an item, with or without its bytes, or counts it as dropped.
func (b *Queue[T]) addOrGap(v T) {
	part := b.rules.PartOf(v)
	x := b.exchangeOf(v, part)
	switch cost := b.rules.Cost(v); {
	case x.out:
		b.state.Lost += part.Bytes
		b.state.Dropped++
	case part.Bytes > 0 && b.hasRoom(cost), part.Bytes == 0 && (part.EndsExchange || b.hasReserve(cost)):
		b.enqueue(x, part, v)
	case part.Bytes == 0:
		b.state.Dropped++
	default:
		b.omitBytes(x, part, v)
	}
}

// exchangeOf returns the exchange of an item. It begins the exchange at its first item, and ends it at its last.
func (b *Queue[T]) exchangeOf(v T, part QueuePart) *openExchange {
	x := b.begun[part.Exchange]
	if x == nil {
		if part.Bytes > 0 {
			v, _ = b.rules.WithoutBytes(v)
		}
		x = &openExchange{out: b.reserved+endRoom > b.rules.Limit/4 || !b.hasReserve(b.rules.Cost(v))}
		b.begun[part.Exchange] = x
		if !x.out {
			b.reserved += endRoom
		}
	}
	if part.EndsExchange {
		delete(b.begun, part.Exchange)
		if !x.out {
			b.reserved -= endRoom
		}
	}
	return x
}

// hasRoom reports whether there is room for bytes. A queue that was full has no room until a quarter of
// it is free: otherwise there would be a gap before each chunk that finds room.
func (b *Queue[T]) hasRoom(cost int) bool {
	limit := b.rules.Limit
	if b.full {
		limit = b.refillLevel()
	}
	b.full = b.state.Cost+cost > limit
	return !b.full
}

// refillLevel is the cost below which a queue that was full takes bytes again.
func (b *Queue[T]) refillLevel() int { return b.rules.Limit / 4 * 3 }

// hasReserve reports whether the reserve has room for an item without bytes.
func (b *Queue[T]) hasReserve(cost int) bool {
	return b.state.Cost+cost <= b.rules.Limit+b.rules.Limit/4
}

// enqueue adds an item to the queue. After that, the gap before it in its stream can't grow.
func (b *Queue[T]) enqueue(x *openExchange, part QueuePart, v T) {
	*x.gapSlot(part.QueueStream) = nil
	b.add(v)
}

func (x *openExchange) gapSlot(s QueueStream) **gap {
	if s.Request {
		return &x.gaps[1]
	}
	return &x.gaps[0]
}

// omitBytes leaves out the bytes of an item. They form a gap, or extend the gap directly before the item.
func (b *Queue[T]) omitBytes(x *openExchange, part QueuePart, v T) {
	b.state.Lost += part.Bytes
	kept, worth := b.rules.WithoutBytes(v)
	h := x.gapSlot(part.QueueStream)
	switch {
	case *h == nil: // the item without its bytes reports the gap, even if it is otherwise empty
		b.state.Gaps++
		*h = &gap{at: b.taken + int64(b.waitingCount()), stream: part.QueueStream, lost: part.Bytes}
		b.gaps = append(b.gaps, *h)
		b.add(kept)
		return
	case worth && !part.EndsExchange && !b.hasReserve(b.rules.Cost(kept)):
		b.state.Dropped++
		worth = false
	}
	(*h).lost += part.Bytes
	if worth {
		b.enqueue(x, part, kept)
	}
}

// reportGaps completes the gaps among the first n waiting items with the number of missing bytes.
func (b *Queue[T]) reportGaps(n int) {
	for len(b.gaps) > 0 && b.gaps[0].at < b.taken+int64(n) {
		h := b.gaps[0]
		b.gaps[0], b.gaps = nil, b.gaps[1:]
		if x := b.begun[h.stream.Exchange]; x != nil && *x.gapSlot(h.stream) == h {
			*x.gapSlot(h.stream) = nil // the gap was taken and can't grow
		}
		at := &b.queue[b.first+int(h.at-b.taken)]
		*at = b.rules.Gap(h.lost, *at)
	}
}
