package providers

import (
	"errors"
	"hash/maphash"
	"slices"

	"toolscope/stream"
)

// Retention says how much is kept of exchanges that have ended. When they hold more, the one that ended
// first, or was last had again first, is let go of: dropped, or if it can be read again, cold. What
// is open is always kept. The zero Keep keeps everything.
type Retention struct {
	Bytes      int64 // of those that cannot be read again; 0 for as many as come
	Rereadable int64 // of those that can
	Rows       int   // how many turns stay in the session, if dropped ones come first; 0 for all

	// ReadOnce has the bytes of responses go once they are read. What they came to stays, and when
	// that is let go of it is not had again.
	ReadOnce bool
}

// evictor keeps what Keep says.
type evictor struct {
	Retention
	once, rereadable evictionQueue
	pins             map[int]int   // by exchange: how often it is pinned
	turnPins         map[int32]int // by turn
	dropped          int
	seed             maphash.Seed // of the hashes of what was let go of
}

// A evictable is what is let go of at once: an exchange that has ended, or some of one.
type evictable struct {
	x    *Exchange
	part *exchangePart // nil for all of it
}

// evictionQueue is lots that are kept whole, in the order they are let go of, and the bytes they hold. A
// pinned one that would be let go of steps aside, and comes last again when it is unpinned: so
// nobody looks at it again before.
type evictionQueue struct {
	lots  []evictable
	bytes int64 // with those aside
}

// Keep says how much is kept from now on.
func (in *Inspector) Keep(k Retention) {
	in.kept.Retention = k
	if k.ReadOnce {
		in.log.endRun()
	}
	in.MakeRoom()
}

// Dropped is how many turns were let go of and cannot be had again.
func (in *Inspector) Dropped() int { return in.kept.dropped }

// addEvictable counts an exchange that has ended, or is there again, among those that may be let go of; of
// one that is in parts the last one.
func (in *Inspector) addEvictable(x *Exchange) {
	if x.parts.turns > 0 {
		x.addPart(len(x.turns), x.Response.Size())
		return
	}
	in.kept.add(evictable{x, nil})
}

// add counts a lot among those that may be let go of.
func (k *evictor) add(of evictable) {
	n := of.byteCount()
	if *n = of.x.memorySize(); of.part != nil {
		*n = of.part.memorySize()
	}
	l := k.queueOf(of)
	l.bytes += *n
	l.lots = append(l.lots, of)
}

// byteCount is how many bytes the lot holds.
func (of evictable) byteCount() *int64 {
	if of.part != nil {
		return &of.part.bytes
	}
	return &of.x.byteCount
}

// queueOf is the one that a lot is in.
func (k *evictor) queueOf(of evictable) *evictionQueue {
	again := of.x.Rereadable()
	if of.part != nil {
		again = of.part.source != nil
	}
	if again && !k.ReadOnce {
		return &k.rereadable
	}
	return &k.once
}

// addBytes counts bytes that an exchange in a line holds more.
func (k *evictor) addBytes(x *Exchange, bytes int) {
	if x == nil || x.byteCount == 0 || bytes == 0 {
		return
	}
	x.byteCount += int64(bytes)
	k.queueOf(evictable{x, nil}).bytes += int64(bytes)
}

// MakeRoom lets go of exchanges until those that are left hold no more than they may. Turns and
// calls that were got before must be got again.
func (in *Inspector) MakeRoom() {
	k := &in.kept
	k.evictTo(&k.once, k.Bytes, evictable.drop)
	k.evictTo(&k.rereadable, k.Rereadable, evictable.evict)
}

// evictTo lets go of lots until the line holds no more than most bytes.
func (k *evictor) evictTo(l *evictionQueue, most int64, letGo func(evictable)) {
	for most > 0 && l.bytes > most && len(l.lots) > 0 {
		of := l.lots[0]
		l.lots[0] = evictable{}
		l.lots = l.lots[1:]
		if k.isPinned(of) {
			of.stepAside()
			continue
		}
		n := of.byteCount()
		l.bytes -= *n
		*n = 0
		of.x.in.log.endRun()
		letGo(of)
	}
}

func (of evictable) stepAside() {
	if of.part == nil {
		of.x.aside = true
		return
	}
	of.part.aside = true
	of.x.parts.aside++
}

func (of evictable) drop() {
	if of.part != nil {
		of.part.drop()
		return
	}
	of.x.drop()
}

func (of evictable) evict() {
	if of.part != nil {
		of.part.evict()
		return
	}
	of.x.evict()
}

// memorySize is about how many bytes of memory the exchange holds.
func (x *Exchange) memorySize() int64 {
	n := int64(1 << 10)
	for _, w := range []*stream.Wire{&x.Request, &x.Response, &x.Sent} {
		n += w.Memory()
	}
	for _, number := range x.turns {
		if t := x.in.Session().Turn(number); t != nil {
			n += int64(t.Memory())
		}
	}
	return n
}

// evict lets go of what can be read again.
func (x *Exchange) evict() {
	if x.in.kept.seed == (maphash.Seed{}) {
		x.in.kept.seed = maphash.MakeSeed()
	}
	x.sum, x.evicted = x.hashBytes(x.in.kept.seed), true
	for _, number := range x.turns {
		x.in.summariseTurn(number)
		x.in.Timeline.Evict(number)
	}
	x.freeBytes()
}

// drop lets go of all but the rows of the turns, and of the first rows if there are too many.
func (x *Exchange) drop() {
	x.in.dropTurns(x.turns)
	x.freeAll()
	x.in.trimRows()
}

// dropTurns lets go of all but the rows of turns.
func (in *Inspector) dropTurns(turns []int32) {
	for _, number := range turns {
		in.summariseTurn(number)
		if f := in.recall.entryOf(number); f != nil {
			f.reload = in.turnReloader(f)
		}
		in.Timeline.Drop(number)
	}
	in.kept.dropped += len(turns)
}

// trimRows lets go of the first rows, if there are too many, and of exchanges that have none any more.
func (in *Inspector) trimRows() {
	if in.kept.Rows == 0 {
		return
	}
	in.Timeline.TrimRows(in.kept.Rows)
	for len(in.exchanges) > 0 && in.exchanges[0].isFullyDropped() {
		delete(in.byNumber, in.exchanges[0].Number)
		in.exchanges[0] = nil
		in.exchanges = in.exchanges[1:]
	}
}

// isFullyDropped reports whether the exchange was dropped and no row of it is left.
func (x *Exchange) isFullyDropped() bool {
	return x.dropped && !slices.ContainsFunc(x.turns, func(number int32) bool { return x.in.Session().Turn(number) != nil })
}

// dropReadBytes lets go of bytes of the response that were read. Those of an error are kept: its words
// may be looked for when it has ended.
func (x *Exchange) dropReadBytes() {
	if x.in.kept.ReadOnce && x.framer != nil && x.Head.Status < 400 {
		x.Response.EvictAll()
		x.Sent.EvictAll()
	}
}

// hashBytes is a hash of all bytes of the exchange.
func (x *Exchange) hashBytes(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, w := range []*stream.Wire{&x.Request, &x.Response, &x.Sent} {
		for n := range w.Records() {
			p, _ := w.Record(n)
			_, _ = h.Write(p)
		}
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// Evicted reports whether the bytes of the exchange were let go of, and can be read again.
func (x *Exchange) Evicted() bool { return x.evicted }

// errSourceChanged is why an exchange cannot be read again.
var errSourceChanged = errors.New("what stands there now is not what was read at first")

// Reload has a cold turn read again, with what was let go of together with it. It returns what reads
// that, which may run beside everything else, and returns what puts it in its place. That reports why
// it cannot be had; then it is dropped, and its turns have a finding that says so. Warm is nil where
// the turn is not cold.
func (in *Inspector) Reload(turn int32) (read func() (put func() error)) {
	t := in.Session().Turn(turn)
	if t == nil || in.byNumber[t.Exchange] == nil {
		return nil
	}
	x := in.byNumber[t.Exchange]
	if p := x.partOf(turn); p != nil && p.evicted {
		return p.reload()
	}
	if !x.evicted {
		return nil
	}
	forced := in.readsAs(x)
	return func() func() error {
		fresh, err := readAgain(x.from, x.Number, in.Request, forced)
		return func() error { return in.putBack(x, fresh, err) }
	}
}

// putBack puts an exchange that was read again in its place.
func (in *Inspector) putBack(x *Exchange, fresh *Inspector, err error) error {
	if !x.evicted {
		return nil // somebody was faster
	}
	x.evicted = false
	again := fresh.byNumber[x.Number]
	if err == nil && (again == nil || again.hashBytes(in.kept.seed) != x.sum || len(again.turns) != len(x.turns)) {
		err = errSourceChanged
	}
	if err = in.putTurnsBack(x.turns, fresh, err); err != nil {
		x.drop()
		in.reportLost(x.turns, err)
		return err
	}
	x.ensureContent()
	x.Request, x.Response, x.Sent = again.Request, again.Response, again.Sent
	x.RequestHeader, x.check.set = again.RequestHeader, again.check.set
	in.addEvictable(x)
	return nil
}

// putTurnsBack puts turns that were read again in their places, unless err says that they are not
// the same.
func (in *Inspector) putTurnsBack(turns []int32, fresh *Inspector, err error) error {
	for i, turn := range turns {
		if err == nil && !in.Timeline.Reload(turn, &fresh.Timeline, int32(i)) {
			err = errSourceChanged
		}
	}
	return err
}

// reportLost says of turns that they cannot be had again.
func (in *Inspector) reportLost(turns []int32, err error) {
	for _, turn := range turns {
		in.Timeline.Append(withoutTime(findingEvent(turn, sourceChanged, "its bytes were let go of, and cannot be read again: %s", err)))
	}
}
