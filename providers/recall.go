package providers

import (
	"slices"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// callIndex finds the earlier turns that a request may send back without a search through all turns. Turns
// are indexed by their match keys, and a request is looked up by its own keys. The cost of a turn is
// constant, and the cost of a request depends only on its length.
//
// It keeps a limited number of calls, and nothing of older ones. Entries and postings are numbered in
// order; the numbers may overflow.
type callIndex struct {
	entries  []indexedTurn              // of turns, the oldest first
	first    uint32                     // number of entries[0]
	postings []posting                  // of keys
	from     uint32                     // number of postings[0]
	latest   map[replay.MatchKey]uint32 // number of the latest posting of each key
	byTurn   map[int32]uint32           // number of each turn's entry
	sorts    []indexProgress
	calls    int    // of all entries
	search   uint32 // number of the last search
	reported bool   // it was reported that calls were dropped
	all      bool   // for tests: search every turn
}

// maxRecalled is how many calls are kept.
const maxRecalled = 1 << 16

// indexedTurn is the index entry of a turn.
type indexedTurn struct {
	turn     int32
	calls    int32
	exchange int
	position replay.Position
	summary  *replay.TurnSummary // of an evicted or dropped turn
	reload   func() *stream.Turn // rereads a turn whose exchange may be gone
	search   uint32              // the last search that found it
	void     bool                // the turn has a later entry
}

// posting says that a turn has a key.
type posting struct {
	key   replay.MatchKey
	entry uint32
	back  uint32 // distance to the previous posting of the same key, 0 for none
}

// indexProgress is how far turns are indexed by a kind of keys.
type indexProgress struct {
	kind replay.KeyKind
	next uint32 // number of the first entry that is not
}

// addTurn adds a turn, and replaces its earlier entry. It reports whether an older entry was dropped.
func (r *callIndex) addTurn(t *stream.Turn, asked replay.Position) (forgot bool) {
	if r.latest == nil {
		r.latest, r.byTurn = map[replay.MatchKey]uint32{}, map[int32]uint32{}
	}
	if old := r.entryOf(t.Number); old != nil {
		old.void = true
	}
	r.byTurn[t.Number] = r.first + uint32(len(r.entries))
	r.entries = append(r.entries, indexedTurn{
		turn: t.Number, calls: int32(len(t.Calls)), exchange: t.Exchange, position: asked,
	})
	r.calls += len(t.Calls)
	for r.calls > maxRecalled && len(r.entries) > 1 {
		r.dropOldest()
		forgot = true
	}
	return forgot
}

// dropOldest drops the oldest entry, and the postings before the first of an existing entry.
func (r *callIndex) dropOldest() {
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
}

// isDropped reports whether an entry was dropped.
func (r *callIndex) isDropped(number uint32) bool { return number-r.first >= uint32(len(r.entries)) }

// entryOf returns the entry of a turn, nil if it has none.
func (r *callIndex) entryOf(turn int32) *indexedTurn {
	number, ok := r.byTurn[turn]
	if !ok {
		return nil
	}
	return &r.entries[number-r.first]
}

// addKey adds a key of an entry.
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

// addCallID adds an id under which the author of a turn's call is looked up.
func (r *callIndex) addCallID(turn int32, id string) {
	if number, ok := r.byTurn[turn]; ok && id != "" {
		r.addKey(replay.SentIDKey(id), number)
	}
}

// addResponseID adds an id under which a request may continue a turn.
func (r *callIndex) addResponseID(turn int32, id string) {
	if id != "" {
		r.addKey(replay.ResponseKey(id), r.byTurn[turn])
	}
}

// find calls do with the entries that have a key, the latest first, until do returns false.
func (r *callIndex) find(c replay.MatchKey, do func(f *indexedTurn) bool) {
	at, ok := r.latest[c]
	for ok {
		m := r.postings[at-r.from]
		if r.isDropped(m.entry) {
			return // and so are those before it
		}
		if f := &r.entries[m.entry-r.first]; !f.void && !do(f) {
			return
		}
		at -= m.back
		ok = m.back > 0 && at-r.from < uint32(len(r.postings))
	}
}

// nextUnindexed returns the number of the first entry that is not indexed by a kind of keys, for update.
func (r *callIndex) nextUnindexed(s replay.KeyKind) *uint32 {
	i := slices.IndexFunc(r.sorts, func(of indexProgress) bool { return of.kind == s })
	if i < 0 {
		i = len(r.sorts)
		r.sorts = append(r.sorts, indexProgress{s, r.first})
	}
	next := &r.sorts[i].next
	if int32(*next-r.first) < 0 {
		*next = r.first // the entries before it were dropped
	}
	return next
}
