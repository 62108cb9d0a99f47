package providers

import (
	"hash/maphash"
	"slices"

	"toolscope/stream"
)

// A exchangePart is some turns of an exchange that goes on for long, each of which has ended, and the bytes
// of the response that they came in. It is let go of for itself: the exchange need not have ended.
//
// A part begins with the frame that opens its first turn, when no other turn was open. So it can be
// read without what came before.
type exchangePart struct {
	x          *Exchange
	from, to   int                   // which of the exchange's turns
	start, end int64                 // which bytes of its response
	source     stream.VerbatimSource // nil where it cannot be read again
	bytes      int64                 // that it holds
	aside      bool                  // a turn of it is pinned, and the line goes on without it
	evicted    bool                  // it was let go of, and can be had again
	dropped    bool
	sum        uint64 // while it is cold: of its bytes
}

// minPartBytes is how many bytes of a response a part has at least.
const minPartBytes = 256 << 10

// beginPart is called when a turn is about to open. If all before it have ended, and have much, they
// are a part.
func (x *Exchange) beginPart(turn int) {
	if turn == 0 || x.framer == nil || x.glued {
		return
	}
	if start, _ := x.Response.FrameSpan(x.frame); start-x.parts.bytes >= minPartBytes && x.allShut(turn) {
		x.addPart(turn, start)
	}
}

// allShut reports whether the turns before one have ended.
func (x *Exchange) allShut(turn int) bool {
	for ; x.closedTurns < turn; x.closedTurns++ {
		if t := x.in.Session().Turn(x.turns[x.closedTurns]); t != nil && !t.Closed() {
			return false
		}
	}
	return true
}

// addPart makes a part of what came since the last one, up to a turn and a byte.
func (x *Exchange) addPart(turn int, end int64) {
	p := &exchangePart{x: x, from: x.parts.turns, to: turn, start: x.parts.bytes, end: end}
	if x.Framing == "SSE" || x.Framing == "NDJSON" {
		p.source = x.verbatimSource()
	}
	x.parts.turns, x.parts.bytes = turn, end
	x.parts.of = append(x.parts.of, p)
	x.in.kept.add(evictable{x, p})
}

// exchangeParts are those of an exchange, without the first ones that were dropped.
type exchangeParts struct {
	of    []*exchangePart
	aside int   // how many of them stepped aside
	turns int   // of the exchange that are in parts, those that were dropped included
	bytes int64 // of its response
}

// verbatimSource is what has the bytes of the response as they stand there, nil where nothing does.
func (x *Exchange) verbatimSource() stream.VerbatimSource {
	if x.chain != nil || x.gap.missed > 0 || x.Sent.Size() > 0 {
		return nil
	}
	s, _ := x.location().Source.(stream.VerbatimSource)
	return s
}

// partOf is the part that a turn is in, nil if it is in none.
func (x *Exchange) partOf(turn int32) *exchangePart {
	n := x.indexOf(turn)
	for _, p := range x.parts.of {
		if p.from <= n && n < p.to {
			return p
		}
	}
	return nil
}

// indexOf is which of the exchange's turns that one is, -1 if it is none.
func (x *Exchange) indexOf(turn int32) int {
	if n, found := slices.BinarySearch(x.turns, turn); found {
		return n
	}
	return -1
}

func (p *exchangePart) turnNumbers() []int32 { return p.x.turns[p.from:p.to] }

// memorySize is about how many bytes of memory the part holds.
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

// evict lets go of what can be read again.
func (p *exchangePart) evict() {
	p.sum, p.evicted = p.x.in.kept.hashBytes(p.x.Response.Bytes(p.start, p.end)), true
	for _, number := range p.turnNumbers() {
		p.x.in.summariseTurn(number)
		p.x.in.Timeline.Evict(number)
	}
	p.x.Response.Evict(p.start, p.end)
}

// drop lets go of all but the rows of the turns.
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

// turnAt is the number of one of the exchange's turns, stream.NoTurn where there are not so many.
func (x *Exchange) turnAt(n int) int32 {
	if n < len(x.turns) {
		return x.turns[n]
	}
	return stream.NoTurn
}

// reload reads the part once more, as Inspector.Warm does.
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

// putBack puts what was read again in its place.
func (p *exchangePart) putBack(fresh *Inspector, data []byte, err error) error {
	if !p.evicted {
		return nil // somebody was faster
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

// hashBytes is a hash of bytes, the same as long as the program runs.
func (k *evictor) hashBytes(p []byte) uint64 {
	if k.seed == (maphash.Seed{}) {
		k.seed = maphash.MakeSeed()
	}
	return maphash.Bytes(k.seed, p)
}
