package providers

import (
	"fmt"
	"slices"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// indexTurn adds a turn that has ended to the index: its calls can't change any more.
func (in *Inspector) indexTurn(t *stream.Turn) {
	if t == nil || len(t.Calls) == 0 {
		return
	}
	if t.Retention != stream.InMemory {
		return // it stays in the index unchanged
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
		in.noteSource(fmt.Sprintf("more than %d calls: toolscope doesn't report how later requests send the oldest ones back", maxRecalled))
	}
}

// indexOpenTurns adds the turns of an exchange that never end to the index. Requests are not compared with
// them: they only show who wrote arguments.
func (in *Inspector) indexOpenTurns(x *Exchange) {
	for _, n := range x.openTurns() {
		t := in.Session().Turn(x.turns[n])
		in.indexTurn(t)
		for _, c := range t.Calls {
			in.recall.addCallID(t.Number, c.ID)
		}
	}
}

// summariseTurn is called before a turn is evicted or dropped. It keeps a summary, which later requests are
// compared with.
func (in *Inspector) summariseTurn(turn int32) {
	f, t := in.recall.entryOf(turn), in.Session().Turn(turn)
	if f == nil || t == nil || t.Retention != stream.InMemory {
		return
	}
	f.summary = in.observer.Summarise(t)
}

// CallName returns the name and the id of a call of an evicted or dropped turn. ok is false if they are not
// known any more.
func (in *Inspector) CallName(r stream.Ref) (name, id string, ok bool) {
	f := in.recall.entryOf(r.Turn)
	if f == nil || f.summary == nil {
		return "", "", false
	}
	return f.summary.CallName(r.Call)
}

// turnReloader returns a function that reads an indexed turn again. It is nil if that is impossible or
// would take long.
func (in *Inspector) turnReloader(f *indexedTurn) func() *stream.Turn {
	const most = 8 << 20
	x := in.Exchange(f.exchange)
	if x == nil {
		return nil
	}
	n := x.indexOf(f.turn)
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

// entryAfter returns the index entry of the turn whose response has that id, nil if there is none.
func (in *Inspector) entryAfter(id string) (found *indexedTurn) {
	if id != "" {
		in.recall.find(replay.ResponseKey(id), func(f *indexedTurn) bool { found = f; return false })
	}
	return found
}

// entryBefore returns the index entry of the last turn of the exchange that a request adds to, or nil.
func (in *Inspector) entryBefore(x *Exchange) *indexedTurn {
	before := in.Exchange(x.past.before)
	if !x.Head.Incremental || before == nil || len(before.turns) == 0 {
		return nil
	}
	return in.recall.entryOf(before.turns[len(before.turns)-1])
}

// candidateOf returns the turn of an index entry. ok is false if nothing is left of it.
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

// indexByKind indexes all turns by a kind of keys.
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
	exchange int  // the one whose turns don't count
	own      bool // they do count: it has had requests before
	turns    []int32
}

// IndexBy implements replay.TurnIndex.
func (l *candidateSet) IndexBy(s replay.KeyKind) { l.in.indexByKind(s) }

// Find implements replay.TurnIndex.
func (l *candidateSet) Find(c replay.MatchKey, most int) (found int) {
	search := l.in.recall.search
	l.in.recall.find(c, func(f *indexedTurn) bool {
		if f.exchange == l.exchange && !l.own {
			return true
		}
		l.addCandidate(f, search)
		found++
		return found < most
	})
	return found
}

// addCandidate adds a turn, once.
func (l *candidateSet) addCandidate(f *indexedTurn, search uint32) {
	if f.search != search {
		f.search = search
		l.turns = append(l.turns, f.turn)
	}
}

// addAll adds every turn that counts.
func (l *candidateSet) addAll() {
	for i := range l.in.recall.entries {
		f := &l.in.recall.entries[i]
		if c, ok := l.in.candidateOf(f); ok && c.Ended() && !f.void && (l.own || f.exchange != l.exchange) {
			l.turns = append(l.turns, f.turn)
		}
	}
}

// earlierTurns returns the ended turns with calls that the request may send back.
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
	if in.recall.all {
		l.addAll()
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
