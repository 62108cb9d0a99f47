// Package filter parses and applies filters. A filter selects turns and calls: those that a list shows, or
// those at which a proxy holds a response.
//
//	state:bad model:sonnet cost>0.01 "two words" -tool:notify
//
// A filter is a list of words with blanks between them, and all words must match. A word is a [Field] with
// its value, or a plain text. A plain text is searched in the row of a turn or call (a tool, an id, a state,
// a model, a code, the words of the user), in the arguments of calls and in the text of turns. A quoted word
// is never a field. Case is ignored.
//
// Invariants:
//   - A turn matches if the turn itself or one of its calls matches all words without a minus, and
//     neither the turn nor any of its calls matches a word with a minus. Fields of turns are compared
//     with the turn of a call.
//   - An unknown value matches nothing: the unknown cost of a turn is neither more nor less than a sum.
//   - Every text is a filter. Invalid words are reported and ignored.
package filter

import (
	"time"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// Filter is a parsed filter. The zero Filter matches every turn.
type Filter struct {
	text  string
	terms []term
	since time.Duration // shortest duration of a since word; 0 for none
}

// term is a parsed word.
type term struct {
	not   bool
	calls bool // it depends on calls, not only on their turn
	texts bool // it depends on arguments and texts
	fits  func(*matchTarget) bool
}

// Source is the source of turns, with facts about them from elsewhere.
type Source struct {
	View *providers.View
	Cost func(*stream.Turn) price.Figure
	Now  time.Duration // current time of the source, for since

	Progress SearchProgress // nil if each turn is matched only once
}

// matchTarget is the target of a word: a call, or the turn if call is nil.
type matchTarget struct {
	*Source
	turn     *stream.Turn
	call     *stream.Call
	exchange *providers.Exchange // may be nil
	texts    []containment       // by number of term: whether the texts of the turn contain it
}

// String returns the text of the filter, as written.
func (f *Filter) String() string { return f.text }

// Empty reports whether the filter matches every turn.
func (f *Filter) Empty() bool { return len(f.terms) == 0 }

// Since returns the shortest duration of a since word, or 0 without one. With a duration, the matching turns
// also change as time passes.
func (f *Filter) Since() time.Duration { return f.since }

// MatchesTurn reports whether a turn matches.
func (f *Filter) MatchesTurn(from *Source, t *stream.Turn) bool {
	s := from.newTarget(t)
	meant := f.matchesAll(&s)
	if f.matchesExcluded(&s) {
		return false
	}
	for _, c := range t.Calls {
		s.call = c
		meant = meant || f.matchesAll(&s)
		if f.matchesExcluded(&s) {
			return false
		}
	}
	return meant
}

// MatchesCall reports whether a call matches all words without a minus and none with a minus.
func (f *Filter) MatchesCall(from *Source, t *stream.Turn, c *stream.Call) bool {
	s := from.newTarget(t)
	s.call = c
	return f.matchesAll(&s) && !f.matchesExcluded(&s)
}

// Undecidable reports whether a turn can't be matched any more, because its calls were dropped, or their
// arguments evicted.
func (f *Filter) Undecidable(t *stream.Turn) bool {
	for _, of := range f.terms {
		if of.calls && t.Retention == stream.Dropped || of.texts && t.Retention != stream.InMemory {
			return true
		}
	}
	return false
}

func (from *Source) newTarget(t *stream.Turn) matchTarget {
	return matchTarget{Source: from, turn: t, exchange: from.View.Exchange(t.Exchange)}
}

// matchesAll reports whether a target matches every word without a minus.
func (f *Filter) matchesAll(s *matchTarget) bool {
	for i := range f.terms {
		if of := &f.terms[i]; !of.not && !of.fits(s) {
			return false
		}
	}
	return true
}

// matchesExcluded reports whether a target matches a word with a minus.
func (f *Filter) matchesExcluded(s *matchTarget) bool {
	for i := range f.terms {
		if of := &f.terms[i]; of.not && of.fits(s) {
			return true
		}
	}
	return false
}
