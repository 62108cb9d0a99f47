package providers

import (
	"slices"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// callIndex finds the earlier turns that a request may have brought back without looking at all there
// were: turns are filed by the clues they give, and a request is asked for its own. What a turn
// costs is the same however many there are, and so is what a request costs, by its length.
//
// It remembers so many calls, and nothing of older ones. Files and mentions are numbered in the
// order they were made; the numbers may overflow.
type callIndex struct {
	entries  []indexedTurn              // of turns, the oldest first
	first    uint32                     // number of files[0]
	postings []posting                  // of clues
	from     uint32                     // number of mentions[0]
	latest   map[replay.MatchKey]uint32 // number of the latest mention of each clue
	byTurn   map[int32]uint32           // number of each turn's file
	sorts    []indexProgress
	calls    int    // of all files
	search   uint32 // number of the last one
	reported bool   // that calls were forgotten
	all      bool   // for tests: every turn is looked at
}

// maxRecalled is how many calls are remembered.
const maxRecalled = 1 << 16

// indexedTurn is what is known of a turn.
type indexedTurn struct {
	turn     int32
	calls    int32
	exchange int
	position replay.Position
	summary  *replay.TurnSummary // of a turn whose content was let go
	reload   func() *stream.Turn // of one whose exchange may be gone: reads it again
	search   uint32              // the last one that found it
	void     bool                // the turn has a later file
}

// posting says that a turn gives a clue.
type posting struct {
	key   replay.MatchKey
	entry uint32
	back  uint32 // how many mentions before this one the last of the same clue is, 0 for none
}

// indexProgress is how far turns are filed by a sort of clues.
type indexProgress struct {
	kind replay.KeyKind
	next uint32 // number of the first file that is not
}

// addTurn files a turn, in place of the file that it may have. It reports whether an older one had to
// be forgotten.
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

// dropOldest drops the oldest file, and the mentions before the first of a file that is still there.
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

// isDropped reports whether a file was forgotten.
func (r *callIndex) isDropped(number uint32) bool { return number-r.first >= uint32(len(r.entries)) }

// entryOf is the file of a turn, nil when it has none.
func (r *callIndex) entryOf(turn int32) *indexedTurn {
	number, ok := r.byTurn[turn]
	if !ok {
		return nil
	}
	return &r.entries[number-r.first]
}

// addKey notes that a file gives a clue.
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

// addCallID notes that a call of a turn may be found under an id by who asks for its author.
func (r *callIndex) addCallID(turn int32, id string) {
	if number, ok := r.byTurn[turn]; ok && id != "" {
		r.addKey(replay.SentIDKey(id), number)
	}
}

// addResponseID notes that a request may go on from a turn under an id.
func (r *callIndex) addResponseID(turn int32, id string) {
	if id != "" {
		r.addKey(replay.ResponseKey(id), r.byTurn[turn])
	}
}

// find calls do with the files that give a clue, the latest first, until it is false.
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

// nextUnindexed is where the number of the first file stands that a sort of clues was not read of.
func (r *callIndex) nextUnindexed(s replay.KeyKind) *uint32 {
	i := slices.IndexFunc(r.sorts, func(of indexProgress) bool { return of.kind == s })
	if i < 0 {
		i = len(r.sorts)
		r.sorts = append(r.sorts, indexProgress{s, r.first})
	}
	next := &r.sorts[i].next
	if int32(*next-r.first) < 0 {
		*next = r.first // those before it are forgotten
	}
	return next
}
