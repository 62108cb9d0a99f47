// Package filter is the language in which one says which turns are meant: what a list shows, and
// what a proxy stops at.
//
//	state:bad model:sonnet cost>0.01 "two words" -tool:notify
//
// Words have blanks between them, and all must fit. A word is a [Field] with what it must be, or
// something that the row of a turn or of a call says (a tool, an id, a state, a model, a code, the words
// of the user), or that the arguments of a call or the text of a turn hold. A quoted word is never a field. Case does not count.
//
// Invariants:
//   - A turn is meant if one of its calls, or itself, is all that is said, and neither it nor any of
//     its calls is anything that is said with a minus before it. Of a call, the words about a turn
//     are about its turn.
//   - What is not known is nothing: a turn whose cost nobody knows costs neither more nor less than
//     any sum.
//   - Any text is some filter. What is wrong in it is said, and takes no part.
package filter

import (
	"time"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// Filter is what was asked for. The zero Filter means every turn.
type Filter struct {
	text  string
	terms []term
	since time.Duration // the shortest time ago that is asked for, 0 for none
}

// term is a word, understood.
type term struct {
	not   bool
	calls bool // calls are asked for, not only their turn
	texts bool // and what they and it hold
	fits  func(*matchTarget) bool
}

// Source is where turns come from, and what is known of them elsewhere.
type Source struct {
	View *providers.View
	Cost func(*stream.Turn) price.Figure
	Now  time.Duration // of the source, for what is said to be so long ago

	Progress SearchProgress // nil where nothing is judged twice
}

// matchTarget is what a word may fit: a call, or with nil its turn.
type matchTarget struct {
	*Source
	turn     *stream.Turn
	call     *stream.Call
	exchange *providers.Exchange // may be nil
	texts    []containment       // by number of term: whether the texts of the turn hold it
}

// String is what was asked for, as it was written.
func (f *Filter) String() string { return f.text }

// Empty reports whether every turn is meant.
func (f *Filter) Empty() bool { return len(f.terms) == 0 }

// Since is how short a time ago is asked for, 0 where none is: then what is meant changes with time
// alone.
func (f *Filter) Since() time.Duration { return f.since }

// MatchesTurn reports whether a turn is meant.
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

// MatchesCall reports whether a call is what is said, and nothing of what is said with a minus.
func (f *Filter) MatchesCall(from *Source, t *stream.Turn, c *stream.Call) bool {
	s := from.newTarget(t)
	s.call = c
	return f.matchesAll(&s) && !f.matchesExcluded(&s)
}

// Undecidable reports whether too little is left of a turn to tell whether it is meant: its calls were
// let go of, or their arguments.
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

// matchesAll reports whether a subject fits every word that is said without a minus.
func (f *Filter) matchesAll(s *matchTarget) bool {
	for i := range f.terms {
		if of := &f.terms[i]; !of.not && !of.fits(s) {
			return false
		}
	}
	return true
}

// matchesExcluded reports whether a subject fits a word that is said with a minus.
func (f *Filter) matchesExcluded(s *matchTarget) bool {
	for i := range f.terms {
		if of := &f.terms[i]; of.not && of.fits(s) {
			return true
		}
	}
	return false
}
