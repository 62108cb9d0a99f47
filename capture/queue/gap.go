package queue

// openExchange is one that has begun and has not ended.
type openExchange struct {
	out  bool    // it was not let in
	gaps [2]*gap // of its response and its request: the latest, while nothing of that side waits behind it
}

// gap is where bytes of a stream are missing. Something that waits, and has no bytes, tells of it.
type gap struct {
	at     int64 // the number of what tells of it, among all that ever waited
	stream Stream
	lost   int64
}

// endRoom is kept free for each exchange that was let in, so that it can end: for a hole on each
// side, and for its last thing.
const endRoom = 1 << 10

// addOrGap takes something in, as it is or without its bytes, or counts it.
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

// exchangeOf is the exchange of something, which may be the first thing of it, or the last.
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

// hasRoom reports whether there is room for bytes. What was full has none until a quarter of it is
// free: otherwise there would be a hole before each piece that finds room.
func (b *Queue[T]) hasRoom(cost int) bool {
	limit := b.rules.Limit
	if b.full {
		limit = b.refillLevel()
	}
	b.full = b.state.Cost+cost > limit
	return !b.full
}

// refillLevel is the cost at which a box that was full takes bytes again.
func (b *Queue[T]) refillLevel() int { return b.rules.Limit / 4 * 3 }

// hasReserve reports whether the reserve has room for what has no bytes.
func (b *Queue[T]) hasReserve(cost int) bool {
	return b.state.Cost+cost <= b.rules.Limit+b.rules.Limit/4
}

// enqueue puts something in the queue. A hole before it in its stream grows no more.
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

// omitBytes leaves the bytes of something out: they make a hole, or add to the one that it would stand
// behind.
func (b *Queue[T]) omitBytes(x *openExchange, part Part, v T) {
	b.state.Lost += part.Bytes
	kept, worth := b.rules.WithoutBytes(v)
	h := x.gapSlot(part.Stream)
	switch {
	case *h == nil: // what is left of it tells of the hole, even if it says nothing else
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

// reportGaps has the holes among the first n that wait say what is missing.
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
