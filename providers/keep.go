package providers

import (
	"errors"
	"hash/maphash"
	"slices"

	"toolscope/stream"
)

// Retention limits the memory of exchanges that have ended. Above the limit, the exchange that ended or
// was reloaded first is evicted if it can be read again, else dropped. Open exchanges are always kept.
// The zero Retention keeps everything.
type Retention struct {
	Bytes      int64 // of exchanges that can't be read again; 0 for no limit
	Rereadable int64 // of exchanges that can; 0 for no limit
	Rows       int   // how many turns stay in the session, if the first ones are dropped; 0 for all

	// ReadOnce frees the bytes of responses once they are read. Their turns stay, but can't be reloaded
	// after they are dropped.
	ReadOnce bool
}

// evictor applies a Retention.
type evictor struct {
	Retention
	once, rereadable evictionQueue
	pins             map[int]int   // by exchange: how often it is pinned
	turnPins         map[int32]int // by turn
	dropped          int
	seed             maphash.Seed // of the hashes of evicted bytes
}

// evictable is the unit of eviction: an ended exchange, or part of one.
type evictable struct {
	x    *Exchange
	part *exchangePart // nil for all of it
}

// evictionQueue holds units in the order of their eviction, and their bytes. A pinned unit leaves the
// queue when it is due, and joins its end when it is unpinned, so it is not checked again before.
type evictionQueue struct {
	lots  []evictable
	bytes int64 // including units that left the queue because of a pin
}

// Keep sets the retention from now on.
func (in *Inspector) Keep(k Retention) {
	in.kept.Retention = k
	if k.ReadOnce {
		in.log.endRun()
	}
	in.MakeRoom()
}

// Dropped returns how many turns were dropped for good.
func (in *Inspector) Dropped() int { return in.kept.dropped }

// addEvictable queues an exchange that has ended or was reloaded. If the exchange is in parts, it queues the
// last part.
func (in *Inspector) addEvictable(x *Exchange) {
	if x.parts.turns > 0 {
		x.parts.addPart(len(x.turns), x.Response.Size())
		return
	}
	in.kept.add(evictable{x, nil})
}

// add queues a unit.
func (k *evictor) add(of evictable) {
	n := of.byteCount()
	if *n = of.x.memorySize(); of.part != nil {
		*n = of.part.memorySize()
	}
	l := k.queueOf(of)
	l.bytes += *n
	l.lots = append(l.lots, of)
}

// byteCount returns the byte count of the unit.
func (of evictable) byteCount() *int64 {
	if of.part != nil {
		return &of.part.bytes
	}
	return &of.x.byteCount
}

// queueOf returns the queue of a unit.
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

// addBytes adds bytes to the count of a queued exchange.
func (k *evictor) addBytes(x *Exchange, bytes int) {
	if x == nil || x.byteCount == 0 || bytes == 0 {
		return
	}
	x.byteCount += int64(bytes)
	k.queueOf(evictable{x, nil}).bytes += int64(bytes)
}

// MakeRoom evicts and drops exchanges until the rest is within the limits. Turns and calls that a caller
// holds must be fetched again.
func (in *Inspector) MakeRoom() {
	k := &in.kept
	k.evictTo(&k.once, k.Bytes, evictable.drop)
	k.evictTo(&k.rereadable, k.Rereadable, evictable.evict)
}

// evictTo removes units until the queue holds at most most bytes.
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

// memorySize returns roughly how many bytes of memory the exchange uses.
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

// evict frees the content of the exchange, which can be read again.
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

// drop frees everything but the rows of the turns, and the first rows if there are too many.
func (x *Exchange) drop() {
	x.in.dropTurns(x.turns)
	x.freeAll()
	x.in.trimRows()
}

// dropTurns frees everything of turns but their rows.
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

// trimRows frees the first rows, if there are too many, and exchanges without rows.
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

// isFullyDropped reports whether the exchange was dropped and has no rows left.
func (x *Exchange) isFullyDropped() bool {
	return x.dropped && !slices.ContainsFunc(x.turns, func(number int32) bool { return x.in.Session().Turn(number) != nil })
}

// dropReadBytes frees bytes of the response that were read. It keeps those of an error, whose message may be
// needed at the end.
func (x *Exchange) dropReadBytes() {
	if x.in.kept.ReadOnce && x.framer != nil && x.Head.Status < 400 {
		x.Response.EvictAll()
		x.Sent.EvictAll()
	}
}

// hashBytes returns a hash of all bytes of the exchange.
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

// Evicted reports whether the bytes of the exchange were evicted and can be read again.
func (x *Exchange) Evicted() bool { return x.evicted }

// errSourceChanged is the error for a source that differs from the first read.
var errSourceChanged = errors.New("the file has changed since it was read")

// Reload reads an evicted turn again, with everything that was evicted with it. It returns a function that
// reads, which may run concurrently, and which returns a function that puts the result in place. On an
// error, the unit is dropped, and its turns get a finding. Reload returns nil if the turn is not evicted.
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
		return nil // another reload was faster
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

// putTurnsBack puts reloaded turns in their places, unless err is set.
func (in *Inspector) putTurnsBack(turns []int32, fresh *Inspector, err error) error {
	for i, turn := range turns {
		if err == nil && !in.Timeline.Reload(turn, &fresh.Timeline, int32(i)) {
			err = errSourceChanged
		}
	}
	return err
}

// reportLost reports turns that can't be reloaded.
func (in *Inspector) reportLost(turns []int32, err error) {
	for _, turn := range turns {
		in.Timeline.Append(withoutTime(findingEvent(turn, sourceChanged, "its bytes were evicted and can't be read again: %s", err)))
	}
}
