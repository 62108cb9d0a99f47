package providers

import (
	"errors"
	"hash/maphash"
	"slices"

	"toolscope/stream"
)

// Keep says how much is kept of exchanges that have ended. When they hold more, the one that ended
// first, or was last had again first, is let go of: dropped, or if it can be read again, cold. What
// is open is always kept. The zero Keep keeps everything.
type Keep struct {
	Bytes int64 // of those that cannot be read again; 0 for as many as come
	Again int64 // of those that can
	Rows  int   // how many turns stay in the session, if dropped ones come first; 0 for all

	// ReadOnce has the bytes of responses go once they are read. What they came to stays, and when
	// that is let go of it is not had again.
	ReadOnce bool
}

// keeper keeps what Keep says.
type keeper struct {
	Keep
	once, again line
	pins        map[int]int   // by exchange: how often it is pinned
	turnPins    map[int32]int // by turn
	dropped     int
	seed        maphash.Seed // of the hashes of what was let go of
}

// A lot is what is let go of at once: an exchange that has ended, or some of one.
type lot struct {
	x    *Exchange
	part *part // nil for all of it
}

// line is lots that are kept whole, in the order they are let go of, and the bytes they hold. A
// pinned one that would be let go of steps aside, and comes last again when it is unpinned: so
// nobody looks at it again before.
type line struct {
	lots  []lot
	bytes int64 // with those aside
}

// Keep says how much is kept from now on.
func (in *Inspector) Keep(k Keep) {
	in.kept.Keep = k
	if k.ReadOnce {
		in.log.close()
	}
	in.MakeRoom()
}

// Dropped is how many turns were let go of and cannot be had again.
func (in *Inspector) Dropped() int { return in.kept.dropped }

// retire counts an exchange that has ended, or is there again, among those that may be let go of; of
// one that is in parts the last one.
func (in *Inspector) retire(x *Exchange) {
	if x.parts.turns > 0 {
		x.addPart(len(x.turns), x.Response.Size())
		return
	}
	in.kept.put(lot{x, nil})
}

// put counts a lot among those that may be let go of.
func (k *keeper) put(of lot) {
	n := of.holds()
	if *n = of.x.bytes(); of.part != nil {
		*n = of.part.size()
	}
	l := k.line(of)
	l.bytes += *n
	l.lots = append(l.lots, of)
}

// holds is how many bytes the lot holds.
func (of lot) holds() *int64 {
	if of.part != nil {
		return &of.part.bytes
	}
	return &of.x.holds
}

// line is the one that a lot is in.
func (k *keeper) line(of lot) *line {
	again := of.x.Rereadable()
	if of.part != nil {
		again = of.part.source != nil
	}
	if again && !k.ReadOnce {
		return &k.again
	}
	return &k.once
}

// weigh counts bytes that an exchange in a line holds more.
func (k *keeper) weigh(x *Exchange, bytes int) {
	if x == nil || x.holds == 0 || bytes == 0 {
		return
	}
	x.holds += int64(bytes)
	k.line(lot{x, nil}).bytes += int64(bytes)
}

// MakeRoom lets go of exchanges until those that are left hold no more than they may. Turns and
// calls that were got before must be got again.
func (in *Inspector) MakeRoom() {
	k := &in.kept
	k.shorten(&k.once, k.Bytes, lot.drop)
	k.shorten(&k.again, k.Again, lot.cool)
}

// shorten lets go of lots until the line holds no more than most bytes.
func (k *keeper) shorten(l *line, most int64, letGo func(lot)) {
	for most > 0 && l.bytes > most && len(l.lots) > 0 {
		of := l.lots[0]
		l.lots[0] = lot{}
		l.lots = l.lots[1:]
		if k.isPinned(of) {
			of.stepAside()
			continue
		}
		n := of.holds()
		l.bytes -= *n
		*n = 0
		of.x.in.log.close()
		letGo(of)
	}
}

func (of lot) stepAside() {
	if of.part == nil {
		of.x.aside = true
		return
	}
	of.part.aside = true
	of.x.parts.aside++
}

func (of lot) drop() {
	if of.part != nil {
		of.part.drop()
		return
	}
	of.x.drop()
}

func (of lot) cool() {
	if of.part != nil {
		of.part.cool()
		return
	}
	of.x.cool()
}

// bytes is about how many bytes of memory the exchange holds.
func (x *Exchange) bytes() int64 {
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

// cool lets go of what can be read again.
func (x *Exchange) cool() {
	if x.in.kept.seed == (maphash.Seed{}) {
		x.in.kept.seed = maphash.MakeSeed()
	}
	x.sum, x.cold = x.hash(x.in.kept.seed), true
	for _, number := range x.turns {
		x.in.letGo(number)
		x.in.Timeline.Evict(number)
	}
	x.freeBytes()
}

// drop lets go of all but the rows of the turns, and of the first rows if there are too many.
func (x *Exchange) drop() {
	x.in.dropTurns(x.turns)
	x.freeAll()
	x.in.trim()
}

// dropTurns lets go of all but the rows of turns.
func (in *Inspector) dropTurns(turns []int32) {
	for _, number := range turns {
		in.letGo(number)
		if f := in.recall.fileOf(number); f != nil {
			f.again = in.rereader(f)
		}
		in.Timeline.Drop(number)
	}
	in.kept.dropped += len(turns)
}

// trim lets go of the first rows, if there are too many, and of exchanges that have none any more.
func (in *Inspector) trim() {
	if in.kept.Rows == 0 {
		return
	}
	in.Timeline.TrimRows(in.kept.Rows)
	for len(in.exchanges) > 0 && in.exchanges[0].gone() {
		delete(in.byNumber, in.exchanges[0].Number)
		in.exchanges[0] = nil
		in.exchanges = in.exchanges[1:]
	}
}

// gone reports whether the exchange was dropped and no row of it is left.
func (x *Exchange) gone() bool {
	return x.dropped && !slices.ContainsFunc(x.turns, func(number int32) bool { return x.in.Session().Turn(number) != nil })
}

// letGoOfRead lets go of bytes of the response that were read. Those of an error are kept: its words
// may be looked for when it has ended.
func (x *Exchange) letGoOfRead() {
	if x.in.kept.ReadOnce && x.framer != nil && x.Head.Status < 400 {
		x.Response.EvictAll()
		x.Sent.EvictAll()
	}
}

// hash is a hash of all bytes of the exchange.
func (x *Exchange) hash(seed maphash.Seed) uint64 {
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

// Cold reports whether the bytes of the exchange were let go of, and can be read again.
func (x *Exchange) Cold() bool { return x.cold }

// errChanged is why an exchange cannot be read again.
var errChanged = errors.New("what stands there now is not what was read at first")

// Warm has a cold turn read again, with what was let go of together with it. It returns what reads
// that, which may run beside everything else, and returns what puts it in its place. That reports why
// it cannot be had; then it is dropped, and its turns have a finding that says so. Warm is nil where
// the turn is not cold.
func (in *Inspector) Warm(turn int32) (read func() (put func() error)) {
	t := in.Session().Turn(turn)
	if t == nil || in.byNumber[t.Exchange] == nil {
		return nil
	}
	x := in.byNumber[t.Exchange]
	if p := x.partOf(turn); p != nil && p.cold {
		return p.warm()
	}
	if !x.cold {
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
	if !x.cold {
		return nil // somebody was faster
	}
	x.cold = false
	again := fresh.byNumber[x.Number]
	if err == nil && (again == nil || again.hash(in.kept.seed) != x.sum || len(again.turns) != len(x.turns)) {
		err = errChanged
	}
	if err = in.putTurnsBack(x.turns, fresh, err); err != nil {
		x.drop()
		in.tellLost(x.turns, err)
		return err
	}
	x.mind()
	x.Request, x.Response, x.Sent = again.Request, again.Response, again.Sent
	x.AskHeader, x.check.set = again.AskHeader, again.check.set
	in.retire(x)
	return nil
}

// putTurnsBack puts turns that were read again in their places, unless err says that they are not
// the same.
func (in *Inspector) putTurnsBack(turns []int32, fresh *Inspector, err error) error {
	for i, turn := range turns {
		if err == nil && !in.Timeline.Reload(turn, &fresh.Timeline, int32(i)) {
			err = errChanged
		}
	}
	return err
}

// tellLost says of turns that they cannot be had again.
func (in *Inspector) tellLost(turns []int32, err error) {
	for _, turn := range turns {
		in.Timeline.Append(stampless(diagnose(turn, sourceChanged, "its bytes were let go of, and cannot be read again: %s", err)))
	}
}
