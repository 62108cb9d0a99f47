package providers

import (
	"slices"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// recall finds the earlier turns that a request may have brought back without looking at all there
// were: turns are filed by the clues they give, and a request is asked for its own. What a turn
// costs is the same however many there are, and so is what a request costs, by its length.
//
// It remembers so many calls, and nothing of older ones. Files and mentions are numbered in the
// order they were made; the numbers may overflow.
type recall struct {
	files    []file                 // of turns, the oldest first
	first    uint32                 // number of files[0]
	mentions []mention              // of clues
	from     uint32                 // number of mentions[0]
	latest   map[replay.Clue]uint32 // number of the latest mention of each clue
	byTurn   map[int32]uint32       // number of each turn's file
	sorts    []sorting
	calls    int    // of all files
	search   uint32 // number of the last one
	told     bool   // that calls were forgotten
	all      bool   // for tests: every turn is looked at
}

// mostRecalled is how many calls are remembered.
const mostRecalled = 1 << 16

// file is what is known of a turn.
type file struct {
	turn     int32
	calls    int32
	exchange int
	asked    replay.Asked
	left     *replay.Remains     // of a turn whose content was let go
	again    func() *stream.Turn // of one whose exchange may be gone: reads it again
	search   uint32              // the last one that found it
	void     bool                // the turn has a later file
}

// mention says that a turn gives a clue.
type mention struct {
	clue replay.Clue
	file uint32
	back uint32 // how many mentions before this one the last of the same clue is, 0 for none
}

// sorting is how far turns are filed by a sort of clues.
type sorting struct {
	sort replay.Sort
	next uint32 // number of the first file that is not
}

// add files a turn, in place of the file that it may have. It reports whether an older one had to
// be forgotten.
func (r *recall) add(t *stream.Turn, asked replay.Asked) (forgot bool) {
	if r.latest == nil {
		r.latest, r.byTurn = map[replay.Clue]uint32{}, map[int32]uint32{}
	}
	if old := r.fileOf(t.Number); old != nil {
		old.void = true
	}
	r.byTurn[t.Number] = r.first + uint32(len(r.files))
	r.files = append(r.files, file{
		turn: t.Number, calls: int32(len(t.Calls)), exchange: t.Exchange, asked: asked,
	})
	r.calls += len(t.Calls)
	for r.calls > mostRecalled && len(r.files) > 1 {
		r.forget()
		forgot = true
	}
	return forgot
}

// forget drops the oldest file, and the mentions before the first of a file that is still there.
func (r *recall) forget() {
	f := r.files[0]
	if r.calls -= int(f.calls); !f.void {
		delete(r.byTurn, f.turn)
	}
	r.files[0] = file{}
	r.files = r.files[1:]
	r.first++
	for len(r.mentions) > 0 && r.isGone(r.mentions[0].file) {
		if clue := r.mentions[0].clue; r.latest[clue] == r.from {
			delete(r.latest, clue)
		}
		r.mentions = r.mentions[1:]
		r.from++
	}
}

// isGone reports whether a file was forgotten.
func (r *recall) isGone(number uint32) bool { return number-r.first >= uint32(len(r.files)) }

// fileOf is the file of a turn, nil when it has none.
func (r *recall) fileOf(turn int32) *file {
	number, ok := r.byTurn[turn]
	if !ok {
		return nil
	}
	return &r.files[number-r.first]
}

// mention notes that a file gives a clue.
func (r *recall) mention(c replay.Clue, number uint32) {
	m := mention{clue: c, file: number}
	at := r.from + uint32(len(r.mentions))
	if before, ok := r.latest[c]; ok {
		if r.mentions[before-r.from].file == number {
			return
		}
		m.back = at - before
	}
	r.mentions = append(r.mentions, m)
	r.latest[c] = at
}

// alias notes that a call of a turn may be found under an id by who asks for its author.
func (r *recall) alias(turn int32, id string) {
	if number, ok := r.byTurn[turn]; ok && id != "" {
		r.mention(replay.SentIDClue(id), number)
	}
}

// named notes that a request may go on from a turn under an id.
func (r *recall) named(turn int32, id string) {
	if id != "" {
		r.mention(replay.AnswerClue(id), r.byTurn[turn])
	}
}

// find calls do with the files that give a clue, the latest first, until it is false.
func (r *recall) find(c replay.Clue, do func(f *file) bool) {
	at, ok := r.latest[c]
	for ok {
		m := r.mentions[at-r.from]
		if r.isGone(m.file) {
			return // and so are those before it
		}
		if f := &r.files[m.file-r.first]; !f.void && !do(f) {
			return
		}
		at -= m.back
		ok = m.back > 0 && at-r.from < uint32(len(r.mentions))
	}
}

// unfiled is where the number of the first file stands that a sort of clues was not read of.
func (r *recall) unfiled(s replay.Sort) *uint32 {
	i := slices.IndexFunc(r.sorts, func(of sorting) bool { return of.sort == s })
	if i < 0 {
		i = len(r.sorts)
		r.sorts = append(r.sorts, sorting{s, r.first})
	}
	next := &r.sorts[i].next
	if int32(*next-r.first) < 0 {
		*next = r.first // those before it are forgotten
	}
	return next
}
