package providers

import (
	"errors"
	"hash/maphash"
	"slices"

	"toolscope/stream"
)

// Retention limits the memory for exchanges that have ended. Above the limit, the exchange that ended or was reloaded
// earliest is evicted if it can be read again, and otherwise dropped. Open exchanges are kept, except their parts
// that have ended. The zero Retention keeps everything.
type Retention struct {
	Bytes      int64 // maximum number of bytes in memory of exchanges that can't be read again; 0 for no limit
	Rereadable int64 // maximum number of bytes in memory of exchanges that can be read again; 0 for no limit
	Rows       int   // maximum number of turns in the session, above which the oldest dropped turns are removed; 0 for no limit

	// ReadOnce frees the bytes of responses once they are decoded. The turns stay, but can't be reloaded
	// after they are dropped.
	ReadOnce bool
}

// evictor applies a Retention.
type evictor struct {
	Retention
	once, rereadable evictionQueue
	pins             map[int]int   // number of pins per exchange
	turnPins         map[int32]int // number of pins per turn
	dropped          int
	seed             maphash.Seed // seed of the hashes of evicted bytes
}

// evictable is the unit of eviction: an ended exchange, or part of one.
type evictable struct {
	x    *Exchange
	part *exchangePart // nil if the unit is the complete exchange
}

// evictionQueue contains units in the order of their eviction, and the number of their bytes. A pinned unit leaves
// the queue when its eviction is due, so that it is checked only once. When it is unpinned, it rejoins the queue at
// the end.
type evictionQueue struct {
	lots  []evictable
	bytes int64 // number of bytes in memory, including the units that left the queue because of a pin
}

// Keep sets the retention for the rest of the input.
func (in *Inspector) Keep(k Retention) {
	in.kept.Retention = k
	if k.ReadOnce {
		in.log.endRun()
	}
	in.MakeRoom()
}

// Dropped returns the number of turns that were dropped.
func (in *Inspector) Dropped() int { return in.kept.dropped }

// addEvictable queues an exchange that has ended or was reloaded. If the exchange consists of parts,
// addEvictable queues its last part.
func (in *Inspector) addEvictable(x *Exchange) {
	if x.parts.turns > 0 {
		x.parts.addPart(len(x.turns), x.Response.Size())
		return
	}
	in.kept.add(evictable{x, nil})
}

// add measures a unit and appends it to its queue.
func (k *evictor) add(of evictable) {
	n := of.byteCount()
	if *n = of.x.memorySize(); of.part != nil {
		*n = of.part.memorySize()
	}
	l := k.queueOf(of)
	l.bytes += *n
	l.lots = append(l.lots, of)
}

// byteCount returns a pointer to the byte count of the unit.
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

// addBytes adds bytes to the byte count of a queued exchange.
func (k *evictor) addBytes(x *Exchange, bytes int) {
	if x == nil || x.byteCount == 0 || bytes == 0 {
		return
	}
	x.byteCount += int64(bytes)
	k.queueOf(evictable{x, nil}).bytes += int64(bytes)
}

// MakeRoom evicts and drops exchanges until the remaining ones are within the limits. Callers must fetch
// turns and calls again after MakeRoom.
func (in *Inspector) MakeRoom() {
	k := &in.kept
	k.evictTo(&k.once, k.Bytes, evictable.drop)
	k.evictTo(&k.rereadable, k.Rereadable, evictable.evict)
}

// evictTo removes units until the bytes in the queue don't exceed the limit most. If the limit is 0, it removes none.
// Pinned units leave the queue but stay in memory.
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

// exchangeBytes is the approximate memory of an exchange and its state, without its bytes and turns.
const exchangeBytes = 6 << 10

// memorySize returns the approximate number of bytes of memory that the exchange uses.
func (x *Exchange) memorySize() int64 {
	n := int64(exchangeBytes)
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

// evict frees the content of the exchange. The content can be read again.
func (x *Exchange) evict() {
	if x.in.kept.seed == (maphash.Seed{}) {
		x.in.kept.seed = maphash.MakeSeed()
	}
	x.sum, x.Evicted = x.hashBytes(x.in.kept.seed), true
	for _, number := range x.turns {
		x.in.summariseTurn(number)
		x.in.Timeline.Evict(number)
	}
	x.freeBytes()
}

// drop frees everything except the rows of the turns. It also frees the oldest rows if there are too many.
func (x *Exchange) drop() {
	x.in.dropTurns(x.turns)
	x.freeAll()
	x.in.trimRows()
}

// dropTurns frees everything in the turns except their rows.
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

// trimRows frees the oldest rows if there are too many, and exchanges without rows.
func (in *Inspector) trimRows() {
	if in.kept.Rows == 0 {
		return
	}
	in.Timeline.TrimRows(in.kept.Rows)
	hasRow := func(number int32) bool { return in.Session().Turn(number) != nil }
	for len(in.exchanges) > 0 && in.exchanges[0].dropped && !slices.ContainsFunc(in.exchanges[0].turns, hasRow) {
		delete(in.byNumber, in.exchanges[0].Number)
		in.exchanges[0] = nil
		in.exchanges = in.exchanges[1:]
	}
}

// hashBytes returns a hash of all bytes of the exchange.
func (x *exchangeContent) hashBytes(seed maphash.Seed) uint64 {
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

// errSourceChanged is the error for a source that has changed since the first read.
var errSourceChanged = errors.New("the file has changed since it was read")

// Reload reads an evicted turn again, with the rest of its unit of eviction. It returns a function read,
// which may run concurrently. The function read returns a function put, which stores the result. On an error,
// the unit is dropped, and its turns get a finding. Reload returns nil if the turn is not evicted.
func (in *Inspector) Reload(turn int32) (read func() (put func() error)) {
	t := in.Session().Turn(turn)
	if t == nil || in.byNumber[t.Exchange] == nil {
		return nil
	}
	x := in.byNumber[t.Exchange]
	if p := x.partOf(turn); p != nil && p.evicted {
		return p.reload()
	}
	if !x.Evicted {
		return nil
	}
	forced := in.readsAs(x)
	return func() func() error {
		fresh, err := readAgain(x.from, x.Number, in.Request, forced)
		return func() error { return in.putBack(x, fresh, err) }
	}
}

// putBack stores the result for an exchange that was read again.
func (in *Inspector) putBack(x *Exchange, fresh *Inspector, err error) error {
	if !x.Evicted {
		return nil // another reload was faster
	}
	x.Evicted = false
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

// putTurnsBack stores reloaded turns, unless err is set.
func (in *Inspector) putTurnsBack(turns []int32, fresh *Inspector, err error) error {
	for i, turn := range turns {
		if err == nil && !in.Timeline.Reload(turn, &fresh.Timeline, int32(i)) {
			err = errSourceChanged
		}
	}
	return err
}

// reportLost reports that turns can't be reloaded.
func (in *Inspector) reportLost(turns []int32, err error) {
	for _, turn := range turns {
		in.Timeline.Append(withoutTime(findingEvent(turn, sourceChanged, "toolscope evicted the bytes of this turn and can't read them again: %s", err)))
	}
}

// exchangePart is a range of ended turns in a long exchange, with their bytes in the response. A part is evicted
// separately, even before the exchange has ended.
//
// A part begins with the frame that opens its first turn, at a moment when no other turn is open. So the part
// can be read without the bytes before it.
type exchangePart struct {
	x          *Exchange
	from, to   int                   // range of turns in the exchange
	start, end int64                 // range of bytes in the exchange's response
	source     stream.VerbatimSource // nil if the part can't be read again
	bytes      int64                 // number of bytes in memory
	aside      bool                  // one of the part's turns is pinned, and the part is not in its queue
	evicted    bool                  // its content can be reloaded
	dropped    bool
	sum        uint64 // hash of its bytes, while it is evicted
}

// minPartBytes is the minimum number of response bytes in a part.
const minPartBytes = 256 << 10

// beginPart makes a part of the earlier turns that don't belong to a part, if they have all ended and have enough
// bytes. It must be called before a turn opens.
func (p *exchangeParts) beginPart(turn int) {
	if turn == 0 || p.x.framer == nil || p.x.glued {
		return
	}
	if start, _ := p.x.Response.FrameSpan(p.x.frame); start-p.bytes >= minPartBytes && p.allShut(turn) {
		p.addPart(turn, start)
	}
}

// allShut reports whether all turns before the given turn have ended.
func (p *exchangeParts) allShut(turn int) bool {
	for ; p.x.closedTurns < turn; p.x.closedTurns++ {
		if t := p.x.in.Session().Turn(p.x.turns[p.x.closedTurns]); t != nil && !t.Closed() {
			return false
		}
	}
	return true
}

// addPart adds a part. It begins after the last part, and ends before the given turn and byte.
func (p *exchangeParts) addPart(turn int, end int64) {
	part := &exchangePart{x: p.x, from: p.turns, to: turn, start: p.bytes, end: end}
	if p.x.Framing == "SSE" || p.x.Framing == "NDJSON" {
		if p.x.chain == nil && p.x.gap.missed == 0 && p.x.Sent.Size() == 0 { // the source has the same bytes
			part.source, _ = p.x.location().Source.(stream.VerbatimSource)
		}
	}
	p.turns, p.bytes = turn, end
	p.of = append(p.of, part)
	p.x.in.kept.add(evictable{p.x, part})
}

// exchangeParts contains the parts of an exchange, except the first parts that were dropped.
type exchangeParts struct {
	x     *Exchange
	of    []*exchangePart
	aside int   // number of parts that are not in their queue
	turns int   // number of the exchange's turns in parts, including dropped parts
	bytes int64 // number of the response's bytes in parts
}

// partOf returns the part that contains a turn, or nil.
func (x *Exchange) partOf(turn int32) *exchangePart {
	n := x.turns.indexOf(turn)
	for _, p := range x.parts.of {
		if p.from <= n && n < p.to {
			return p
		}
	}
	return nil
}

// turnList lists the numbers of an exchange's turns in ascending order.
type turnList []int32

// indexOf returns the index of a turn in the exchange, or -1.
func (l turnList) indexOf(turn int32) int {
	if n, found := slices.BinarySearch(l, turn); found {
		return n
	}
	return -1
}

func (p *exchangePart) turnNumbers() []int32 { return p.x.turns[p.from:p.to] }

// memorySize returns the approximate number of bytes of memory that the part uses.
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

// evict frees the content of the part. The content can be read again.
func (p *exchangePart) evict() {
	p.sum, p.evicted = p.x.in.kept.hashBytes(p.x.Response.Bytes(p.start, p.end)), true
	for _, number := range p.turnNumbers() {
		p.x.in.summariseTurn(number)
		p.x.in.Timeline.Evict(number)
	}
	p.x.Response.Evict(p.start, p.end)
}

// drop frees everything except the rows of the turns.
func (p *exchangePart) drop() {
	in, x := p.x.in, p.x
	p.evicted, p.dropped = false, true
	in.dropTurns(p.turnNumbers())
	if !in.kept.ReadOnce {
		x.Response.Evict(p.start, p.end)
	}
	for len(x.parts.of) > 0 && x.parts.of[0].dropped {
		if first := in.Session().Turn(x.turns.numberAt(x.parts.of[0].to)); in.kept.ReadOnce && first != nil {
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

// numberAt returns the number of turn n in the exchange, or stream.NoTurn if there are fewer turns.
func (l turnList) numberAt(n int) int32 {
	if n < len(l) {
		return l[n]
	}
	return stream.NoTurn
}

// reload reads the part again, in the same way as Inspector.Reload.
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

// putBack stores the result of reload.
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

// hashBytes returns a hash of bytes. The hash is valid only while the program runs.
func (k *evictor) hashBytes(p []byte) uint64 {
	if k.seed == (maphash.Seed{}) {
		k.seed = maphash.MakeSeed()
	}
	return maphash.Bytes(k.seed, p)
}

// isPinned reports whether a unit must not be evicted.
func (k *evictor) isPinned(of evictable) bool {
	switch {
	case k.pins[of.x.Number] > 0:
		return true
	case of.part == nil:
		return of.x.pinned > 0
	}
	return of.x.pinned > 0 && slices.ContainsFunc(of.part.turnNumbers(), func(turn int32) bool { return k.turnPins[turn] > 0 })
}

// Pin protects an exchange from eviction until it is unpinned as often as it was pinned.
func (in *Inspector) Pin(exchange int) {
	if in.kept.pins == nil {
		in.kept.pins = map[int]int{}
	}
	in.kept.pins[exchange]++
}

// Unpin removes one pin from an exchange.
func (in *Inspector) Unpin(exchange int) {
	k := &in.kept
	if k.pins[exchange]--; k.pins[exchange] > 0 {
		return
	}
	delete(k.pins, exchange)
	if x := in.byNumber[exchange]; x != nil {
		k.requeue(x)
	}
}

// PinTurn protects a turn from eviction until it is unpinned as often as it was pinned.
func (in *Inspector) PinTurn(number int32) {
	t := in.Session().Turn(number)
	if t == nil {
		return
	}
	if in.kept.turnPins == nil {
		in.kept.turnPins = map[int32]int{}
	}
	if x := in.byNumber[t.Exchange]; x != nil {
		in.kept.turnPins[number]++
		x.pinned++
	}
}

// UnpinTurn removes one pin from a turn.
func (in *Inspector) UnpinTurn(number int32) {
	k, t := &in.kept, in.Session().Turn(number)
	if k.turnPins[number] == 0 || t == nil {
		return
	}
	if k.turnPins[number]--; k.turnPins[number] == 0 {
		delete(k.turnPins, number)
	}
	x := in.byNumber[t.Exchange]
	x.pinned--
	k.requeue(x)
}

// requeue puts units of an exchange back into their queue if they are no longer pinned.
func (k *evictor) requeue(x *Exchange) {
	back := func(of evictable, aside *bool) {
		if *aside && !k.isPinned(of) {
			*aside = false
			l := k.queueOf(of)
			l.lots = append(l.lots, of)
		}
	}
	back(evictable{x, nil}, &x.aside)
	if x.parts.aside == 0 {
		return
	}
	for _, p := range x.parts.of {
		if was := p.aside; was {
			if back(evictable{x, p}, &p.aside); !p.aside {
				x.parts.aside--
			}
		}
	}
}
