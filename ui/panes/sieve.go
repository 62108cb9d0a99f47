package panes

import (
	"time"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/filter"
)

// TurnFilter decides which turns are shown: those that match the filter, or all. A turn is evaluated when
// it has new events, not when it is drawn.
type TurnFilter struct {
	Changed   bool // other turns than those in Changes became shown or hidden
	Undecided int  // turns with too little data left to evaluate

	filter   *filter.Filter // nil for none
	other    bool           // the filter changed since the last evaluation
	from     filter.Source
	matching map[int32]bool // true by number of turn
	top      int32          // all later turns don't match
	looked   filter.SearchProgress
	pinned   int32         // a turn that no longer matches, but stays shown while selected
	judged   time.Duration // source time of the last full evaluation
}

// Set sets the filter; an empty one matches all turns.
func (s *TurnFilter) Set(f *filter.Filter) {
	if f != nil && f.Empty() {
		f = nil
	}
	s.other = s.other || f != nil || s.filter != nil
	s.filter = f
}

// Active reports whether there is a filter.
func (s *TurnFilter) Active() bool { return s != nil && s.filter != nil }

// Text returns the filter as it was written.
func (s *TurnFilter) Text() string { return s.filter.String() }

// Count returns the number of matching turns.
func (s *TurnFilter) Count() int { return len(s.matching) }

// Shows reports whether a turn is shown.
func (s *TurnFilter) Shows(t *stream.Turn) bool {
	return !s.Active() || s.matching[t.Number] || s.pinned == t.Number
}

// Extend evaluates new and changed turns. chosen is the selection.
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
	if s.other || news.All || s.hasExpired() {
		s.evaluateAll(v.Session().Turns, chosen)
		return
	}
	for _, number := range news.Turns {
		if t := v.Session().Turn(number); t != nil {
			s.evaluateTurn(t, chosen)
		}
	}
}

// hasExpired reports whether enough time has passed that turns may no longer match.
func (s *TurnFilter) hasExpired() bool {
	since := s.filter.Since()
	return since > 0 && s.from.Now-s.judged >= max(since/100, time.Second)
}

func (s *TurnFilter) evaluateAll(turns []*stream.Turn, chosen stream.Ref) {
	anew := s.other || s.matching == nil
	if anew {
		s.matching, s.top = map[int32]bool{}, -1
		chosen = stream.NoRef // a new filter pins nothing
	}
	s.other, s.Changed, s.Undecided, s.judged = false, true, 0, s.from.Now
	s.looked = filter.SearchProgress{}
	s.from.Progress = s.looked
	for _, t := range turns {
		if s.evaluateTurn(t, chosen); s.filter.Undecidable(t) && !s.matching[t.Number] {
			s.Undecided++
		}
	}
}

// evaluateTurn evaluates a turn. An evicted turn keeps its result.
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
