package providers

import (
	"fmt"
	"slices"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// callIndex finds the earlier turns that a request may send back, without a search through all turns. Turns are
// indexed by their match keys, and a request is looked up by its own keys. Adding a turn takes constant time. The time
// to look up a request depends only on the request's length.
//
// The index keeps a limited number of calls, and drops the oldest. Entries and postings are numbered in order; the numbers
// may overflow.
type callIndex struct {
	entries  []indexedTurn              // entries of turns, the oldest first
	first    uint32                     // number of entries[0]
	postings []posting                  // postings of keys
	from     uint32                     // number of postings[0]
	latest   map[replay.MatchKey]uint32 // number of the latest posting of each key
	byTurn   map[int32]uint32           // number of each turn's entry
	sorts    []indexProgress
	calls    int                 // number of calls in all entries
	search   uint32              // number of the latest search
	reported bool                // it was reported that calls were dropped
	addTurns func(*candidateSet) // for tests: replaces the search by keys
}

// maxRecalled is the maximum number of calls in the index.
const maxRecalled = 1 << 16

// indexedTurn is the index entry of a turn.
type indexedTurn struct {
	turn     int32
	calls    int32
	exchange int
	position replay.Position
	summary  *replay.TurnSummary // summary of an evicted or dropped turn
	reload   func() *stream.Turn // rereads a turn whose exchange may have been dropped
	search   uint32              // the latest search that found this entry
	void     bool                // the turn has a later entry
	shown    bool                // the turn is an agent's report of its own work, which no request sends back
}

// posting records that a turn has a key.
type posting struct {
	key   replay.MatchKey
	entry uint32
	back  uint32 // distance to the previous posting with the same key; 0 for none
}

// indexProgress is the progress of indexing by one kind of key.
type indexProgress struct {
	kind replay.KeyKind
	next uint32 // number of the first entry that is not yet indexed
}

// addTurn adds a turn and replaces its earlier entry. The result forgot reports whether an older entry was
// dropped.
func (r *callIndex) addTurn(t *stream.Turn, asked replay.Position) (forgot bool) {
	if r.latest == nil {
		r.latest, r.byTurn = map[replay.MatchKey]uint32{}, map[int32]uint32{}
	}
	if old := r.entryOf(t.Number); old != nil {
		old.void = true
	}
	r.byTurn[t.Number] = r.first + uint32(len(r.entries))
	r.entries = append(r.entries, indexedTurn{
		turn: t.Number, calls: int32(len(t.Calls)), exchange: t.Exchange, position: asked, shown: t.Shown,
	})
	r.calls += len(t.Calls)
	for r.calls > maxRecalled && len(r.entries) > 1 {
		// Drop the oldest entry, and the postings before the first posting of a remaining entry.
		f := r.entries[0]
		if r.calls -= int(f.calls); !f.void {
			delete(r.byTurn, f.turn)
		}
		r.entries[0] = indexedTurn{}
		r.entries = r.entries[1:]
		r.first++
		for len(r.postings) > 0 && r.isDropped(r.postings[0].entry) {
			if clue := r.postings[0].key; r.latest[clue] == r.from {
				delete(r.latest, clue)
			}
			r.postings = r.postings[1:]
			r.from++
		}
		forgot = true
	}
	return forgot
}

// isDropped reports whether an entry was dropped.
func (r *callIndex) isDropped(number uint32) bool { return number-r.first >= uint32(len(r.entries)) }

// entryOf returns the entry of a turn, or nil if it has none.
func (r *callIndex) entryOf(turn int32) *indexedTurn {
	number, ok := r.byTurn[turn]
	if !ok {
		return nil
	}
	return &r.entries[number-r.first]
}

// addKey adds a key to an entry.
func (r *callIndex) addKey(c replay.MatchKey, number uint32) {
	m := posting{key: c, entry: number}
	at := r.from + uint32(len(r.postings))
	if before, ok := r.latest[c]; ok {
		if r.postings[before-r.from].entry == number {
			return
		}
		m.back = at - before
	}
	r.postings = append(r.postings, m)
	r.latest[c] = at
}

// addCallID adds an id by which the author of a turn's call is looked up.
func (r *callIndex) addCallID(turn int32, id string) {
	if number, ok := r.byTurn[turn]; ok && id != "" {
		r.addKey(replay.SentIDKey(id), number)
	}
}

// addResponseID adds an id with which a request may continue a turn.
func (r *callIndex) addResponseID(turn int32, id string) {
	if id != "" {
		r.addKey(replay.ResponseKey(id), r.byTurn[turn])
	}
}

// find calls the function do for each entry that has a key, beginning with the latest, until do returns false.
func (r *callIndex) find(c replay.MatchKey, do func(f *indexedTurn) bool) {
	at, ok := r.latest[c]
	for ok {
		m := r.postings[at-r.from]
		if r.isDropped(m.entry) {
			return // earlier entries were also dropped
		}
		if f := &r.entries[m.entry-r.first]; !f.void && !do(f) {
			return
		}
		at -= m.back
		ok = m.back > 0 && at-r.from < uint32(len(r.postings))
	}
}

// nextUnindexed returns a pointer to the number of the first entry that is not yet indexed by a kind of keys.
func (r *callIndex) nextUnindexed(s replay.KeyKind) *uint32 {
	i := slices.IndexFunc(r.sorts, func(of indexProgress) bool { return of.kind == s })
	if i < 0 {
		i = len(r.sorts)
		r.sorts = append(r.sorts, indexProgress{s, r.first})
	}
	next := &r.sorts[i].next
	if int32(*next-r.first) < 0 {
		*next = r.first // the entries before first were dropped
	}
	return next
}

// indexTurn adds a turn to the index, if it has calls and is in memory. It is called when the calls can't
// change any more.
func (in *Inspector) indexTurn(t *stream.Turn) {
	if t == nil || len(t.Calls) == 0 {
		return
	}
	if t.Retention != stream.InMemory {
		return // the entry stays in the index unchanged
	}
	var asked replay.Position
	var on historyLink
	if x := in.Exchange(t.Exchange); x != nil {
		asked, on = x.position, x.past.on
	}
	forgot := in.recall.addTurn(t, asked)
	if d := historyTargetOf(t.Protocol); d != nil && d.HasPreviousID {
		in.recall.addResponseID(t.Number, t.ID)
		in.recall.addResponseID(t.Number, on.conversation)
	}
	if forgot && !in.recall.reported {
		in.recall.reported = true
		in.noteSource(fmt.Sprintf("more than %d calls: toolscope doesn't report how later requests send the oldest calls back", maxRecalled))
	}
}

// indexOpenTurns adds the turns that are still open at the end of an exchange to the index. Requests are not compared
// with these turns. The turns only show who wrote arguments.
func (in *Inspector) indexOpenTurns(x *Exchange) {
	for _, n := range x.openTurns() {
		t := in.Session().Turn(x.turns[n])
		in.indexTurn(t)
		for _, c := range t.Calls {
			in.recall.addCallID(t.Number, c.ID)
		}
	}
}

// summariseTurn keeps a summary of a turn, so that later requests can be compared with the turn. It is called
// before the turn is evicted or dropped.
func (in *Inspector) summariseTurn(turn int32) {
	f, t := in.recall.entryOf(turn), in.Session().Turn(turn)
	if f == nil || t == nil || t.Retention != stream.InMemory {
		return
	}
	f.summary = in.observer.Summarise(t)
}

// CallName returns the name and the id of a call in an evicted or dropped turn. The result ok is false if
// toolscope no longer has them.
func (in *Inspector) CallName(r stream.Ref) (name, id string, ok bool) {
	f := in.recall.entryOf(r.Turn)
	if f == nil || f.summary == nil {
		return "", "", false
	}
	return f.summary.CallName(r.Call)
}

// turnReloader returns a function that reads an indexed turn again. It returns nil if the turn can't be read again,
// or if more than 8 MiB would have to be read.
func (in *Inspector) turnReloader(f *indexedTurn) func() *stream.Turn {
	const most = 8 << 20
	x := in.Exchange(f.exchange)
	if x == nil {
		return nil
	}
	n := x.turns.indexOf(f.turn)
	if from := x.location(); n < 0 || !x.Rereadable() || from.End-from.Start > most {
		return nil
	}
	from, number, request, as := x.location(), x.Number, x.in.Request, x.in.readsAs(x)
	return func() *stream.Turn {
		fresh, err := readAgain(from, number, request, as)
		if err != nil {
			return nil
		}
		return fresh.Session().Turn(int32(n))
	}
}

// entryAfter returns the index entry of the turn whose response has the given id, or nil.
func (in *Inspector) entryAfter(id string) (found *indexedTurn) {
	if id != "" {
		in.recall.find(replay.ResponseKey(id), func(f *indexedTurn) bool { found = f; return false })
	}
	return found
}

// entryBefore returns the index entry of the turn that a request continues, or nil. This is the last turn of the
// earlier exchange.
func (in *Inspector) entryBefore(x *Exchange) *indexedTurn {
	before := in.Exchange(x.past.before)
	if !x.Head.Incremental || before == nil || len(before.turns) == 0 {
		return nil
	}
	return in.recall.entryOf(before.turns[len(before.turns)-1])
}

// candidateOf returns the turn for an index entry. The result ok is false if there is neither a summary nor a
// turn with calls.
func (in *Inspector) candidateOf(f *indexedTurn) (c replay.Candidate, ok bool) {
	c = replay.Candidate{Turn: in.Session().Turn(f.turn), Position: f.position}
	if c.Turn != nil {
		c.Target = TargetOf(c.Turn.Protocol)
	}
	if c.Turn == nil || c.Turn.Retention != stream.InMemory {
		if c.Summary = f.summary; c.Summary != nil {
			if c.Reload = f.reload; c.Reload == nil {
				c.Reload = in.turnReloader(f)
			}
		}
	}
	return c, c.Summary != nil || c.Turn != nil && len(c.Turn.Calls) > 0
}

// indexByKind indexes the ended turns that are not yet indexed by this kind of key.
func (in *Inspector) indexByKind(s replay.KeyKind) {
	r := &in.recall
	next := r.nextUnindexed(s)
	for ; *next-r.first < uint32(len(r.entries)); *next++ {
		if c, ok := in.candidateOf(&r.entries[*next-r.first]); ok && c.Ended() {
			for clue := range c.Keys(s) {
				r.addKey(clue, *next)
			}
		}
	}
}

// candidateSet collects the turns whose calls a request may send back.
type candidateSet struct {
	in       *Inspector
	exchange int  // the exchange whose own turns don't count
	own      bool // the exchange's own turns also count, because it is a WebSocket with earlier requests
	turns    []int32
}

// IndexBy implements replay.TurnIndex.
func (l *candidateSet) IndexBy(s replay.KeyKind) { l.in.indexByKind(s) }

// Find implements replay.TurnIndex.
func (l *candidateSet) Find(c replay.MatchKey, most int) (found int) {
	search := l.in.recall.search
	l.in.recall.find(c, func(f *indexedTurn) bool {
		if f.shown || f.exchange == l.exchange && !l.own {
			return true
		}
		l.addCandidate(f, search)
		found++
		return found < most
	})
	return found
}

// addCandidate adds a turn, but only once.
func (l *candidateSet) addCandidate(f *indexedTurn, search uint32) {
	if f.search != search {
		f.search = search
		l.turns = append(l.turns, f.turn)
	}
}

// earlierTurns returns the turns that have ended and whose calls the request may send back.
func (h *history) earlierTurns(history *replay.History) (turns []replay.Candidate) {
	in := h.x.in
	in.recall.search++
	l := candidateSet{in: in, exchange: h.x.Number, own: isWebSocket(h.x.Head)}
	next := int32(stream.NoTurn)
	if f := in.entryAfter(history.PreviousResponse); f != nil {
		next = f.turn
		l.addCandidate(f, in.recall.search)
	}
	if f := in.entryBefore(h.x); f != nil {
		next = f.turn
		l.addCandidate(f, in.recall.search)
	}
	if in.recall.addTurns != nil {
		in.recall.addTurns(&l)
	} else {
		history.Find(&l)
	}
	slices.Sort(l.turns)
	for _, n := range l.turns {
		if c, ok := in.candidateOf(in.recall.entryOf(n)); ok {
			c.Continues = n == next
			turns = append(turns, c)
		}
	}
	return turns
}
