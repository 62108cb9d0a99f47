package panes

import (
	"slices"
	"sort"
	"time"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/filter"
)

// turnRows counts the rows of each turn in a session, to find the turn's position in the list. A turn has a row
// for each call. A turn also has its own row, after those rows, if it has no calls, or if it is bad and its calls
// are not. The turns of a sub-agent are below the call that started it.
type turnRows struct {
	rows    prefixSums // by turn: the rows of the turn and of the turns below it; 0 for a turn that is below another turn
	groups  []group    // by turn
	bad     int        // number of bad rows
	base    int        // number of turns that were dropped before the first turn in rows
	dropped int        // number of turns at the start of groups that were dropped; they have no rows
	rowSettings
	under func(*stream.Turn) (i int, call int32)
}

// rowSettings are the settings that the rows of all machines share.
type rowSettings struct {
	quiet    bool        // background requests have no rows
	only     *TurnFilter // turns that the filter hides have no rows
	verdicts *Verdicts
}

// group is a turn and the turns below it.
type group struct {
	own      int         // number of the turn's own rows
	all      int         // number of rows of the turn and of the turns below it
	bad      int         // number of bad rows among the turn's own rows
	up       int         // the turn above it; -1 if there is none
	children []childTurn // sorted by call, then by start
}

// childTurn is a turn below a call of another turn.
type childTurn struct {
	call int32
	at   int
}

// countTurns counts new turns, or all turns. It returns how many turns were counted before. The parameter
// gone is the number of earlier turns that were dropped. If all is set, or if more than twice as many turns
// were dropped as are left, it counts all turns again.
func (r *turnRows) countTurns(turns []*stream.Turn, gone int, all bool) (known int) {
	went := gone - r.base
	if left := r.rows.len() - went; all || went < r.dropped || left < 0 || left > len(turns) || went > 2*len(turns) {
		*r, went = turnRows{base: gone, rowSettings: r.rowSettings, under: r.under}, 0
	}
	for ; r.dropped < went; r.dropped++ {
		r.setCounts(r.dropped, 0, 0)
	}
	known = r.rows.len() - r.dropped
	for _, t := range turns[known:] {
		at, up, call := len(r.groups), -1, int32(0)
		if r.under != nil {
			if i, of := r.under(t); i >= 0 && r.dropped+i < at {
				up, call = r.dropped+i, of
			}
		}
		r.groups = append(r.groups, group{up: up})
		r.rows.push(0)
		if up >= 0 {
			g := &r.groups[up]
			i := sort.Search(len(g.children), func(i int) bool { return g.children[i].call > call })
			g.children = append(g.children, childTurn{})
			copy(g.children[i+1:], g.children[i:])
			g.children[i] = childTurn{call, at}
		}
		own, bad := r.ownOf(t)
		r.setCounts(at, own, bad)
	}
	return known
}

// ownOf returns the number of a turn's own rows, and how many of those are bad.
func (r *turnRows) ownOf(t *stream.Turn) (own, bad int) {
	if r.isHidden(t) {
		return 0, 0
	}
	for _, h := range r.verdicts.RowsOf(t) {
		if h.IsBad() {
			bad++
		}
	}
	return r.rowsOf(t), bad
}

// rowsOf returns the number of rows of a turn that is shown.
func (r *rowSettings) rowsOf(t *stream.Turn) int {
	if n := len(r.verdicts.RowsOf(t)); n > 0 {
		return n
	}
	return max(1, len(t.Calls))
}

// isHidden reports whether a turn has no rows.
func (r *rowSettings) isHidden(t *stream.Turn) bool {
	return r.quiet && isBackground(t) || !r.only.Shows(t)
}

// setCounts sets the number of a turn's own rows and of its bad rows. It reports whether the number of its
// own rows changed.
func (r *turnRows) setCounts(at, own, bad int) (changed bool) {
	g := &r.groups[at]
	more := own - g.own
	r.bad, g.bad = r.bad+bad-g.bad, bad
	if more == 0 {
		return false
	}
	g.own = own
	for ; g.up >= 0; at, g = g.up, &r.groups[g.up] {
		g.all += more
	}
	g.all += more
	r.rows.set(at, g.all)
	return true
}

// recountTurn counts turn i again, and reports whether its number of rows changed.
func (r *turnRows) recountTurn(i int, t *stream.Turn) (changed bool) {
	own, bad := r.ownOf(t)
	return r.setCounts(r.dropped+i, own, bad)
}

// len returns the number of counted turns.
func (r *turnRows) len() int { return len(r.groups) - r.dropped }

// totalRows returns the number of rows.
func (r *turnRows) totalRows() int { return r.rows.sumBefore(r.rows.len()) }

// rowOf returns the list row of the turn's own row n, for turn i.
func (r *turnRows) rowOf(i int, n int) int { return r.groupRow(r.dropped+i, n) }

// groupRow returns the list row of a turn's own row n.
func (r *turnRows) groupRow(at, n int) int {
	g, under := &r.groups[at], 0
	for _, k := range g.children {
		if int(k.call) <= n {
			under += r.groups[k.at].all
		}
	}
	if n += under; g.up < 0 {
		return r.rows.sumBefore(at) + n
	}
	up := &r.groups[g.up]
	for _, k := range up.children {
		if k.at == at {
			return r.groupRow(g.up, 0) + min(up.own, int(k.call)) + n
		}
		n += r.groups[k.at].all
	}
	return n
}

// turnAt returns the turn in a row, and the index of the row within the turn.
func (r *turnRows) turnAt(row int) (turn, n int) {
	turn, n = r.rows.elementAt(row)
	for turn < len(r.groups) {
		under, rest, own := r.resolveRow(turn, n)
		if own {
			return turn - r.dropped, rest
		}
		turn, n = under, rest
	}
	return turn - r.dropped, n
}

// resolveRow identifies row n of a group: one of the turn's own rows, or a row of a turn below it.
func (r *turnRows) resolveRow(at, n int) (under, rest int, own bool) {
	g, passed := &r.groups[at], 0
	for _, k := range g.children {
		before := min(g.own, int(k.call)) - passed
		if n < before {
			break
		}
		n, passed = n-before, passed+before
		if n < r.groups[k.at].all {
			return k.at, n, false
		}
		n -= r.groups[k.at].all
	}
	return at, passed + n, true
}

// isBackground reports whether a turn's request is a background request.
func isBackground(t *stream.Turn) bool { return t.Request != nil && t.Request.Background }

// TurnFilter decides which turns are shown: all turns or, if a filter is set, those that match it. A turn is
// evaluated when new events arrive, not when it is drawn.
type TurnFilter struct {
	Changed   bool // turns that are not in Changes became shown or hidden
	Undecided int  // number of turns with too little data left to evaluate

	filter   *filter.Filter // nil if there is no filter
	other    bool           // the filter changed since the last evaluation
	from     filter.Source
	matching map[int32]bool // the matching turns, by turn number
	top      int32          // no turn after this one matches
	looked   filter.SearchProgress
	pinned   int32         // a turn that no longer matches but stays visible while it is selected
	judged   time.Duration // source time of the last full evaluation
}

// Set sets the filter. An empty filter matches all turns.
func (s *TurnFilter) Set(f *filter.Filter) {
	if f != nil && f.Empty() {
		f = nil
	}
	s.other = s.other || f != nil || s.filter != nil
	s.filter = f
}

// Active reports whether there is a filter.
func (s *TurnFilter) Active() bool { return s != nil && s.filter != nil }

// Text returns the filter as the user wrote it.
func (s *TurnFilter) Text() string { return s.filter.String() }

// Count returns the number of matching turns.
func (s *TurnFilter) Count() int { return len(s.matching) }

// Shows reports whether a turn is shown.
func (s *TurnFilter) Shows(t *stream.Turn) bool {
	return !s.Active() || s.matching[t.Number] || s.pinned == t.Number
}

// Extend evaluates new and changed turns. The parameter chosen is the selection.
func (s *TurnFilter) Extend(v *providers.View, news *Changes, cost func(*stream.Turn) price.Figure, now time.Duration, chosen stream.Ref) {
	s.Changed = s.other
	if s.filter == nil {
		s.other, s.matching, s.Undecided, s.pinned = false, nil, 0, stream.NoTurn
		return
	}
	s.from = filter.Source{View: v, Cost: cost, Now: now, Progress: s.looked}
	if s.pinned != stream.NoTurn && (s.pinned != chosen.Turn || s.other) {
		s.pinned, s.Changed = stream.NoTurn, true
	}
	since := s.filter.Since() // turns might no longer match because time has passed
	if !s.other && !news.All && (since <= 0 || s.from.Now-s.judged < max(since/100, time.Second)) {
		for _, number := range news.Turns {
			if t := v.Session().Turn(number); t != nil {
				s.evaluateTurn(t, chosen)
			}
		}
		return
	}
	if s.other || s.matching == nil {
		s.matching, s.top = map[int32]bool{}, -1
		chosen = stream.NoRef // with a new filter, the selected turn is shown only if it matches
	}
	s.other, s.Changed, s.Undecided, s.judged = false, true, 0, s.from.Now
	s.looked = filter.SearchProgress{}
	s.from.Progress = s.looked
	for _, t := range v.Session().Turns {
		if s.evaluateTurn(t, chosen); s.filter.Undecidable(t) && !s.matching[t.Number] {
			s.Undecided++
		}
	}
}

// evaluateTurn evaluates a turn. A matching turn still matches if too little of its data is left to evaluate
// it.
func (s *TurnFilter) evaluateTurn(t *stream.Turn, chosen stream.Ref) {
	was := s.matching[t.Number]
	switch is := s.filter.MatchesTurn(&s.from, t); {
	case is == was || was && s.filter.Undecidable(t):
	case is:
		s.matching[t.Number] = true
		s.top = max(s.top, t.Number)
	default:
		if delete(s.matching, t.Number); t.Number == chosen.Turn {
			s.pinned = t.Number
		}
	}
}

// newestShown returns the latest matching turn, or nil.
func (s *TurnFilter) newestShown(of *stream.Session) *stream.Turn {
	for ; s.top >= 0 && len(s.matching) > 0; s.top-- {
		if s.matching[s.top] {
			return of.Turn(s.top)
		}
	}
	return nil
}

// Changes lists the turns with new events in the last batch. Caches update only these turns, because a
// session may have very many turns.
type Changes struct {
	Turns []int32 // numbers of the turns, ascending
	All   bool    // there is a new session, so all caches are invalid

	session *stream.Session
	events  int
	named   map[int32]bool // the turns in Turns
}

// Advance collects the changes since the previous Advance.
func (n *Changes) Advance(v *providers.View) {
	s := v.Session()
	n.All = s != n.session || v.Events() < n.events
	n.Turns, n.session = n.Turns[:0], s
	if n.All {
		n.events, n.named = v.Events(), map[int32]bool{}
		return
	}
	clear(n.named)
	for last := stream.NoTurn; n.events < v.Events(); n.events++ {
		_, of := v.Subject(n.events)
		if of.Turn == last || of.Turn == stream.NoTurn {
			continue
		}
		if last = of.Turn; !n.named[last] {
			n.named[last] = true
			n.Turns = append(n.Turns, last)
		}
	}
	slices.Sort(n.Turns)
}

// Newest returns the turn or call to follow. Without a filter, this is the newest growing call in the last
// maxOpenTurns turns, or else the last call of the latest turn, or else that turn. Background requests are
// followed only if there is nothing else among the last maxTurnsScanned turns. With a filter, it is the last
// call of the latest matching turn, or else that turn.
func Newest(s *stream.Session, sieve *TurnFilter) stream.Ref {
	if sieve.Active() {
		return newestOf(sieve.newestShown(s))
	}
	return newestRef(s.Turns)
}

func newestRef(turns []*stream.Turn) stream.Ref {
	var last *stream.Turn
	for i := len(turns) - 1; i >= 0 && (last == nil || i >= len(turns)-maxOpenTurns); i-- {
		t := turns[i]
		if isBackground(t) {
			if len(turns)-i < maxTurnsScanned {
				continue
			}
		}
		if last == nil {
			last = t
		}
		for j := len(t.Calls) - 1; j >= 0 && j >= len(t.Calls)-64; j-- {
			if t.Calls[j].MayGrow() {
				return t.Calls[j].Ref()
			}
		}
	}
	switch n := len(turns); {
	case n == 0:
		return stream.NoRef
	case last == nil:
		last = turns[n-1]
	}
	return newestOf(last)
}

// newestOf returns the latest call of a turn, or else the turn.
func newestOf(t *stream.Turn) stream.Ref {
	switch {
	case t == nil:
		return stream.NoRef
	case len(t.Calls) > 0:
		return t.Calls[len(t.Calls)-1].Ref()
	}
	return t.Ref()
}

// Limits for how many of the latest turns are checked.
const (
	maxOpenTurns    = 8
	maxTurnsScanned = 256
)
