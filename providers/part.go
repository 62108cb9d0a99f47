package providers

import (
	"hash/maphash"
	"slices"

	"toolscope/stream"
)

// exchangePart is a range of ended turns of a long exchange, with their bytes of the response. It is evicted on
// its own: the exchange need not have ended.
//
// A part begins with the frame that opens its first turn, while no other turn is open. So it can be read
// without the bytes before it.
type exchangePart struct {
	x          *Exchange
	from, to   int                   // range of the exchange's turns
	start, end int64                 // range of its response's bytes
	source     stream.VerbatimSource // nil if it can't be read again
	bytes      int64                 // memory in use
	aside      bool                  // a turn of it is pinned, and it is not in its queue
	evicted    bool                  // its content can be reloaded
	dropped    bool
	sum        uint64 // hash of its bytes, while it is evicted
}

// minPartBytes is the minimum size of a part, in bytes of the response.
const minPartBytes = 256 << 10

// beginPart is called before a turn opens. If all turns before it have ended, and have enough bytes, it
// makes a part of them.
func (p *exchangeParts) beginPart(turn int) {
	if turn == 0 || p.x.framer == nil || p.x.glued {
		return
	}
	if start, _ := p.x.Response.FrameSpan(p.x.frame); start-p.bytes >= minPartBytes && p.allShut(turn) {
		p.addPart(turn, start)
	}
}

// allShut reports whether all turns before one have ended.
func (p *exchangeParts) allShut(turn int) bool {
	for ; p.x.closedTurns < turn; p.x.closedTurns++ {
		if t := p.x.in.Session().Turn(p.x.turns[p.x.closedTurns]); t != nil && !t.Closed() {
			return false
		}
	}
	return true
}

// addPart adds a part that begins after the last one and ends before a turn and a byte.
func (p *exchangeParts) addPart(turn int, end int64) {
	part := &exchangePart{x: p.x, from: p.turns, to: turn, start: p.bytes, end: end}
	if p.x.Framing == "SSE" || p.x.Framing == "NDJSON" {
		part.source = p.verbatimSource()
	}
	p.turns, p.bytes = turn, end
	p.of = append(p.of, part)
	p.x.in.kept.add(evictable{p.x, part})
}

// exchangeParts are the parts of an exchange, without the first ones that were dropped.
type exchangeParts struct {
	x     *Exchange
	of    []*exchangePart
	aside int   // how many of them are out of their queue
	turns int   // turns of the exchange that are in parts, including dropped ones
	bytes int64 // of its response that are in parts
}

// verbatimSource returns the source that contains the bytes of the response unchanged, or nil.
func (p *exchangeParts) verbatimSource() stream.VerbatimSource {
	if p.x.chain != nil || p.x.gap.missed > 0 || p.x.Sent.Size() > 0 {
		return nil
	}
	s, _ := p.x.location().Source.(stream.VerbatimSource)
	return s
}

// partOf returns the part of a turn, nil if it has none.
func (x *Exchange) partOf(turn int32) *exchangePart {
	n := x.indexOf(turn)
	for _, p := range x.parts.of {
		if p.from <= n && n < p.to {
			return p
		}
	}
	return nil
}

// indexOf returns the index of a turn in the exchange, -1 if it is not there.
func (x *Exchange) indexOf(turn int32) int {
	if n, found := slices.BinarySearch(x.turns, turn); found {
		return n
	}
	return -1
}

func (p *exchangePart) turnNumbers() []int32 { return p.x.turns[p.from:p.to] }

// memorySize returns roughly how many bytes of memory the part uses.
func (p *exchangePart) memorySize() (n int64) {
	if !p.x.in.kept.ReadOnce {
		n = p.end - p.start
	}
	for _, number := range p.turnNumbers() {
		if t := p.x.in.Session().Turn(number); t != nil {
			n += int64(t.Memory())
		}
	}
	return n
}

// evict frees the content of the part, which can be read again.
func (p *exchangePart) evict() {
	p.sum, p.evicted = p.x.in.kept.hashBytes(p.x.Response.Bytes(p.start, p.end)), true
	for _, number := range p.turnNumbers() {
		p.x.in.summariseTurn(number)
		p.x.in.Timeline.Evict(number)
	}
	p.x.Response.Evict(p.start, p.end)
}

// drop frees everything but the rows of the turns.
func (p *exchangePart) drop() {
	in, x := p.x.in, p.x
	p.evicted, p.dropped = false, true
	in.dropTurns(p.turnNumbers())
	if !in.kept.ReadOnce {
		x.Response.Evict(p.start, p.end)
	}
	for len(x.parts.of) > 0 && x.parts.of[0].dropped {
		if first := in.Session().Turn(x.turnAt(x.parts.of[0].to)); in.kept.ReadOnce && first != nil {
			x.Response.EvictFrames(first.FirstFrame)
		}
		x.parts.of[0] = nil
		x.parts.of = x.parts.of[1:]
	}
	if x.Ended && len(x.parts.of) == 0 {
		x.freeAll()
	}
	in.trimRows()
}

// turnAt returns the number of turn n of the exchange, stream.NoTurn if there are fewer turns.
func (x *Exchange) turnAt(n int) int32 {
	if n < len(x.turns) {
		return x.turns[n]
	}
	return stream.NoTurn
}

// reload reads the part again, as Inspector.Reload does.
func (p *exchangePart) reload() (read func() (put func() error)) {
	x := p.x
	first, start, end := x.from.Start, p.start, p.end
	fresh := &Inspector{Request: x.in.Request, forced: x.Protocol, alone: true}
	head := stream.Record{Exchange: x.Number, At: stream.NoTime, Head: &stream.Head{File: x.Head.File, URL: x.Head.URL}}
	return func() func() error {
		data, err := p.source.Bytes(first+start, first+end)
		head.Data = data
		fresh.Write(head)
		fresh.Close()
		return func() error { return p.putBack(fresh, data, err) }
	}
}

// putBack puts the reloaded part in place.
func (p *exchangePart) putBack(fresh *Inspector, data []byte, err error) error {
	if !p.evicted {
		return nil // another reload was faster
	}
	in := p.x.in
	again := fresh.byNumber[p.x.Number]
	if err == nil && (again == nil || in.kept.hashBytes(data) != p.sum || len(again.turns) != len(p.turnNumbers())) {
		err = errSourceChanged
	}
	if err = in.putTurnsBack(p.turnNumbers(), fresh, err); err != nil {
		turns := slices.Clone(p.turnNumbers())
		p.drop()
		in.reportLost(turns, err)
		return err
	}
	p.evicted = false
	p.x.Response.Restore(p.start, data)
	in.kept.add(evictable{p.x, p})
	return nil
}

// hashBytes returns a hash of bytes, which stays the same while the program runs.
func (k *evictor) hashBytes(p []byte) uint64 {
	if k.seed == (maphash.Seed{}) {
		k.seed = maphash.MakeSeed()
	}
	return maphash.Bytes(k.seed, p)
}
