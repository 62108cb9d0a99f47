package providers

import (
	"fmt"
	"slices"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// remember files a turn that has ended: what it made cannot change any more.
func (in *Inspector) remember(t *stream.Turn) {
	if t == nil || len(t.Calls) == 0 {
		return
	}
	if f := in.recall.fileOf(t.Number); f != nil && f.left != nil {
		return // and there is nothing to read it from again
	}
	var asked replay.Asked
	if x := in.Exchange(t.Exchange); x != nil {
		asked = x.past.asked
	}
	if in.recall.add(t, asked) && !in.recall.told {
		in.recall.told = true
		in.note(fmt.Sprintf("there were more than %d calls: what later requests make of the oldest ones is not told", mostRecalled))
	}
}

// rememberOpen files the turns of an exchange that never end. No request is held against them: they
// tell who wrote arguments, and nothing else.
func (x *Exchange) rememberOpen() {
	for _, n := range x.openTurns() {
		t := x.in.Session().Turn(x.turns[n])
		x.in.remember(t)
		for _, c := range t.Calls {
			x.in.recall.alias(t.Number, c.ID)
		}
	}
}

// letGo is called before the content of a turn is freed. What a request makes of its calls can then
// be told from hashes alone.
func (in *Inspector) letGo(t *stream.Turn) {
	if f := in.recall.fileOf(t.Number); f != nil && f.left == nil {
		f.left = in.observer.Remains(t)
	}
}

// candidate is the turn of a file; ok is false if there is nothing left of it.
func (in *Inspector) candidate(f *file) (c replay.Candidate, ok bool) {
	c = replay.Candidate{Asked: f.asked, Left: f.left}
	if f.left != nil {
		return c, true
	}
	if c.Turn = in.Session().Turn(f.turn); c.Turn == nil {
		return c, false
	}
	c.From = TargetOf(c.Turn.Dialect)
	return c, true
}

// fileBy files all turns by a sort of clues.
func (in *Inspector) fileBy(s replay.Sort) {
	r := &in.recall
	next := r.unfiled(s)
	for ; *next-r.first < uint32(len(r.files)); *next++ {
		if c, ok := in.candidate(&r.files[*next-r.first]); ok && c.Ended() {
			for clue := range c.Clues(s) {
				r.mention(clue, *next)
			}
		}
	}
}

// lookup collects the turns that a request may have brought back.
type lookup struct {
	in       *Inspector
	exchange int // whose turns do not count
	turns    []int32
}

// By implements replay.Files.
func (l *lookup) By(s replay.Sort) { l.in.fileBy(s) }

// Find implements replay.Files.
func (l *lookup) Find(c replay.Clue, most int) (found int) {
	search := l.in.recall.search
	l.in.recall.find(c, func(f *file) bool {
		if f.exchange == l.exchange {
			return true
		}
		if f.search != search {
			f.search = search
			l.turns = append(l.turns, f.turn)
		}
		found++
		return found < most
	})
	return found
}

// all collects every turn that counts.
func (l *lookup) all() {
	for i := range l.in.recall.files {
		f := &l.in.recall.files[i]
		if c, ok := l.in.candidate(f); ok && c.Ended() && !f.void && f.exchange != l.exchange {
			l.turns = append(l.turns, f.turn)
		}
	}
}

// earlier are the turns of other exchanges that have ended and have calls, of which the request may
// have something.
func (x *Exchange) earlier(history *replay.Past) (turns []replay.Candidate) {
	in := x.in
	in.recall.search++
	l := lookup{in: in, exchange: x.Number}
	if in.recall.all {
		l.all()
	} else {
		history.Search(&l)
	}
	slices.Sort(l.turns)
	for _, n := range l.turns {
		if c, ok := in.candidate(in.recall.fileOf(n)); ok {
			turns = append(turns, c)
		}
	}
	return turns
}
