package mailbox

// exchange is one that has begun and has not ended.
type exchange struct {
	out   bool     // it was not let in
	holes [2]*hole // of its response and its request: the latest, while nothing of that side waits behind it
}

// hole is where bytes of a stream are missing. Something that waits, and has no bytes, tells of it.
type hole struct {
	at     int64 // the number of what tells of it, among all that ever waited
	stream Stream
	lost   int64
}

// endRoom is kept free for each exchange that was let in, so that it can end: for a hole on each
// side, and for its last thing.
const endRoom = 1 << 10

// offer takes something in, as it is or without its bytes, or counts it.
func (b *Box[T]) offer(v T) {
	part := b.rules.Of(v)
	x := b.exchange(v, part)
	switch cost := b.rules.Cost(v); {
	case x.out:
		b.state.Lost += part.Bytes
		b.state.Left++
	case part.Bytes > 0 && b.fits(cost), part.Bytes == 0 && (part.Last || b.spares(cost)):
		b.stand(x, part, v)
	case part.Bytes == 0:
		b.state.Left++
	default:
		b.leave(x, part, v)
	}
}

// exchange is the exchange of something, which may be the first thing of it, or the last.
func (b *Box[T]) exchange(v T, part Part) *exchange {
	x := b.begun[part.Exchange]
	if x == nil {
		if part.Bytes > 0 {
			v, _ = b.rules.Spare(v)
		}
		x = &exchange{out: b.reserved+endRoom > b.rules.Limit/4 || !b.spares(b.rules.Cost(v))}
		b.begun[part.Exchange] = x
		if !x.out {
			b.reserved += endRoom
		}
	}
	if part.Last {
		delete(b.begun, part.Exchange)
		if !x.out {
			b.reserved -= endRoom
		}
	}
	return x
}

// fits reports whether there is room for bytes. What was full has none until a quarter of it is
// free: otherwise there would be a hole before each piece that finds room.
func (b *Box[T]) fits(cost int) bool {
	limit := b.rules.Limit
	if b.full {
		limit = b.again()
	}
	b.full = b.state.Cost+cost > limit
	return !b.full
}

// again is the cost at which a box that was full takes bytes again.
func (b *Box[T]) again() int { return b.rules.Limit / 4 * 3 }

// spares reports whether the reserve has room for what has no bytes.
func (b *Box[T]) spares(cost int) bool { return b.state.Cost+cost <= b.rules.Limit+b.rules.Limit/4 }

// stand puts something in the queue. A hole before it in its stream grows no more.
func (b *Box[T]) stand(x *exchange, part Part, v T) {
	*x.hole(part.Stream) = nil
	b.add(v)
}

func (x *exchange) hole(s Stream) **hole {
	if s.Request {
		return &x.holes[1]
	}
	return &x.holes[0]
}

// leave leaves the bytes of something out: they make a hole, or add to the one that it would stand
// behind.
func (b *Box[T]) leave(x *exchange, part Part, v T) {
	b.state.Lost += part.Bytes
	kept, worth := b.rules.Spare(v)
	h := x.hole(part.Stream)
	switch {
	case *h == nil: // what is left of it tells of the hole, even if it says nothing else
		b.state.Gaps++
		*h = &hole{at: b.taken + int64(b.waiting()), stream: part.Stream, lost: part.Bytes}
		b.holes = append(b.holes, *h)
		b.add(kept)
		return
	case worth && !part.Last && !b.spares(b.rules.Cost(kept)):
		b.state.Left++
		worth = false
	}
	(*h).lost += part.Bytes
	if worth {
		b.stand(x, part, kept)
	}
}

// tell has the holes among the first n that wait say what is missing.
func (b *Box[T]) tell(n int) {
	for len(b.holes) > 0 && b.holes[0].at < b.taken+int64(n) {
		h := b.holes[0]
		b.holes[0], b.holes = nil, b.holes[1:]
		if x := b.begun[h.stream.Exchange]; x != nil && *x.hole(h.stream) == h {
			*x.hole(h.stream) = nil // it is taken, and grows no more
		}
		at := &b.queue[b.first+int(h.at-b.taken)]
		*at = b.rules.Gap(h.lost, *at)
	}
}
