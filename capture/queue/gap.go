package queue

// openExchange is an exchange that has begun and not ended.
type openExchange struct {
	out  bool    // it was not admitted
	gaps [2]*gap // of its response and its request: the last item waiting of that side, if it is a gap
}

// gap is a place where bytes of a stream are missing. A waiting item without bytes reports it.
type gap struct {
	at     int64 // the number of that item, among all that ever waited
	stream Stream
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

// exchangeOf returns the exchange of an item, which may be its first or its last.
func (b *Queue[T]) exchangeOf(v T, part Part) *openExchange {
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

// enqueue adds an item to the queue. The gap before it in its stream grows no more.
func (b *Queue[T]) enqueue(x *openExchange, part Part, v T) {
	*x.gapSlot(part.Stream) = nil
	b.add(v)
}

func (x *openExchange) gapSlot(s Stream) **gap {
	if s.Request {
		return &x.gaps[1]
	}
	return &x.gaps[0]
}

// omitBytes leaves out the bytes of an item: they form a gap, or extend the one directly before the item.
func (b *Queue[T]) omitBytes(x *openExchange, part Part, v T) {
	b.state.Lost += part.Bytes
	kept, worth := b.rules.WithoutBytes(v)
	h := x.gapSlot(part.Stream)
	switch {
	case *h == nil: // the item without its bytes reports the gap, even if it is otherwise empty
		b.state.Gaps++
		*h = &gap{at: b.taken + int64(b.waitingCount()), stream: part.Stream, lost: part.Bytes}
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
			*x.gapSlot(h.stream) = nil // it is taken, and grows no more
		}
		at := &b.queue[b.first+int(h.at-b.taken)]
		*at = b.rules.Gap(h.lost, *at)
	}
}
