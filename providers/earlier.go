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
	if t.Retention != stream.InMemory {
		return // it is filed as it was
	}
	var asked replay.Asked
	var on continuation
	if x := in.Exchange(t.Exchange); x != nil {
		asked, on = x.stood, x.past.on
	}
	forgot := in.recall.add(t, asked)
	if d := readerOf(t.Dialect); d != nil && d.Answers {
		in.recall.named(t.Number, t.ID)
		in.recall.named(t.Number, on.talk)
	}
	if forgot && !in.recall.told {
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

// letGo is called before the content of a turn is let go of. What a request makes of its calls is
// then told from what is kept here.
func (in *Inspector) letGo(turn int32) {
	f, t := in.recall.fileOf(turn), in.Session().Turn(turn)
	if f == nil || t == nil || t.Retention != stream.InMemory {
		return
	}
	f.left = in.observer.Remains(t)
}

// Called is the name and the id of a call of a turn that was let go of; ok is false where neither is
// known any more.
func (in *Inspector) Called(r stream.Ref) (name, id string, ok bool) {
	f := in.recall.fileOf(r.Turn)
	if f == nil || f.left == nil {
		return "", "", false
	}
	return f.left.Called(r.Call)
}

// rereader reads the turn of a file once more. It is nil where that cannot be done, or would take
// long.
func (in *Inspector) rereader(f *file) func() *stream.Turn {
	const most = 8 << 20
	x := in.Exchange(f.exchange)
	if x == nil {
		return nil
	}
	n := x.indexOf(f.turn)
	if from := x.place(); n < 0 || !x.Rereadable() || from.End-from.Start > most {
		return nil
	}
	from, number, request, as := x.place(), x.Number, x.in.Request, x.in.readsAs(x)
	return func() *stream.Turn {
		fresh, err := readAgain(from, number, request, as)
		if err != nil {
			return nil
		}
		return fresh.Session().Turn(int32(n))
	}
}

// fileAfter is the file of the turn whose response has that id, nil if there is none.
func (in *Inspector) fileAfter(id string) (found *file) {
	if id != "" {
		in.recall.find(replay.AnswerClue(id), func(f *file) bool { found = f; return false })
	}
	return found
}

// fileBefore is the file of the last turn of the exchange that a request adds to, nil if it has none.
func (in *Inspector) fileBefore(x *Exchange) *file {
	before := in.Exchange(x.past.before)
	if !x.Head.Incremental || before == nil || len(before.turns) == 0 {
		return nil
	}
	return in.recall.fileOf(before.turns[len(before.turns)-1])
}

// candidate is the turn of a file; ok is false if there is nothing left of it.
func (in *Inspector) candidate(f *file) (c replay.Candidate, ok bool) {
	c = replay.Candidate{Turn: in.Session().Turn(f.turn), Asked: f.asked}
	if c.Turn != nil {
		c.From = TargetOf(c.Turn.Dialect)
	}
	if c.Turn == nil || c.Turn.Retention != stream.InMemory {
		if c.Left = f.left; c.Left != nil {
			if c.Again = f.again; c.Again == nil {
				c.Again = in.rereader(f)
			}
		}
	}
	return c, c.Left != nil || c.Turn != nil && len(c.Turn.Calls) > 0
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
	exchange int  // whose turns do not count
	own      bool // they do: it has had requests before
	turns    []int32
}

// By implements replay.Files.
func (l *lookup) By(s replay.Sort) { l.in.fileBy(s) }

// Find implements replay.Files.
func (l *lookup) Find(c replay.Clue, most int) (found int) {
	search := l.in.recall.search
	l.in.recall.find(c, func(f *file) bool {
		if f.exchange == l.exchange && !l.own {
			return true
		}
		l.take(f, search)
		found++
		return found < most
	})
	return found
}

// take collects a turn, once.
func (l *lookup) take(f *file, search uint32) {
	if f.search != search {
		f.search = search
		l.turns = append(l.turns, f.turn)
	}
}

// all collects every turn that counts.
func (l *lookup) all() {
	for i := range l.in.recall.files {
		f := &l.in.recall.files[i]
		if c, ok := l.in.candidate(f); ok && c.Ended() && !f.void && (l.own || f.exchange != l.exchange) {
			l.turns = append(l.turns, f.turn)
		}
	}
}

// earlier are the turns that have ended and have calls, of which the request may have something.
func (x *Exchange) earlier(history *replay.Past) (turns []replay.Candidate) {
	in := x.in
	in.recall.search++
	l := lookup{in: in, exchange: x.Number, own: isWebSocket(x.Head)}
	next := int32(stream.NoTurn)
	if f := in.fileAfter(history.After); f != nil {
		next = f.turn
		l.take(f, in.recall.search)
	}
	if f := in.fileBefore(x); f != nil {
		next = f.turn
		l.take(f, in.recall.search)
	}
	if in.recall.all {
		l.all()
	} else {
		history.Search(&l)
	}
	slices.Sort(l.turns)
	for _, n := range l.turns {
		if c, ok := in.candidate(in.recall.fileOf(n)); ok {
			c.Next = n == next
			turns = append(turns, c)
		}
	}
	return turns
}
