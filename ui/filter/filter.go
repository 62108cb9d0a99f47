// Package filter parses and applies filters. A filter selects turns and calls: the ones that a list shows, or
// the ones at which a proxy holds a response.
//
//	state:bad model:sonnet cost>0.01 "two words" -tool:notify
//
// A filter is a list of words with blanks between them, and all words must match. A word is a [Field] with
// its value, or plain text. toolscope searches for plain text in the row of a turn or call (a tool, an
// id, a state, a model, a code, the user's prompt), in the arguments of calls and in the text of turns. A
// quoted word is never a field. Matching ignores case.
//
// Invariants:
//   - A turn matches if the turn itself or one of its calls matches all words without a minus, and
//     neither the turn nor any of its calls matches a word with a minus. For a call, the fields of
//     turns are compared with its turn.
//   - An unknown value matches nothing: the unknown cost of a turn is neither more nor less than any amount.
//   - Every string is a filter. Invalid words are reported and ignored.
package filter

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/themes"
)

// Filter is a parsed filter. The zero Filter matches every turn.
type Filter struct {
	text  string
	terms []term
	since time.Duration // shortest duration in a since word; 0 if there is none
}

// term is a parsed word.
type term struct {
	not   bool
	calls bool // depends on calls, not only on the turn
	texts bool // depends on arguments and texts
	fits  func(*matchTarget) bool
}

// Source is the source of turns, with facts about them that are not in the turns.
type Source struct {
	View *providers.View
	Cost func(*stream.Turn) price.Figure
	Now  time.Duration // the source's current time, for the field since

	Progress SearchProgress // nil if each turn is matched only once
}

// matchTarget is the target of a match: a call, or the turn if call is nil.
type matchTarget struct {
	*Source
	turn     *stream.Turn
	call     *stream.Call
	exchange *providers.Exchange // may be nil
	texts    []containment       // by term number: whether the texts of the turn contain the term
}

// String returns the text of the filter, as the user wrote it.
func (f *Filter) String() string { return f.text }

// Empty reports whether the filter matches every turn.
func (f *Filter) Empty() bool { return len(f.terms) == 0 }

// Since returns the shortest duration in a since word, or 0 if there is none. If it is not 0, the set of
// matching turns also changes as time passes.
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

// MatchesCall reports whether a call matches all words without a minus and no word with a minus.
func (f *Filter) MatchesCall(from *Source, t *stream.Turn, c *stream.Call) bool {
	s := from.newTarget(t)
	s.call = c
	return f.matchesAll(&s) && !f.matchesExcluded(&s)
}

// Undecidable reports whether a turn can no longer be matched, because its calls were dropped or the arguments of its
// calls were evicted.
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

// Error is an invalid word in a filter, and the reason.
type Error struct{ Word, Why string }

func (f Error) Error() string { return f.Word + ": " + f.Why }

// Parse parses a filter. Invalid words are left out of the result.
func Parse(text string) (*Filter, []Error) {
	f := &Filter{text: strings.TrimLeft(text, blanks)}
	var faults []Error
	for _, w := range splitWords(text) {
		t, err := w.parseTerm(f)
		switch {
		case err != "":
			faults = append(faults, Error{w.errorWord(), err})
		case t.fits != nil:
			t.not = w.not
			f.terms = append(f.terms, t)
		}
	}
	return f, faults
}

// word is a part of a filter: "tool:x", "-cost>1", or "two words" without its quotation marks.
type word struct {
	not       bool
	field, op string // "" for a plain word
	value     string
	start     int // byte at which the word begins, including its minus
}

// errorWord returns the part of an invalid word that is quoted in an error.
func (w word) errorWord() string {
	if w.op == "" {
		return w.value
	}
	if len(w.value) > 0 && fieldOf(w.field) != nil {
		return w.field + w.op + w.value
	}
	return w.field
}

// ops are the operators between a field and its value. Longer operators come before their prefixes.
var ops = []string{":", ">=", "<=", ">", "<", "="}

// splitWords splits a text into words.
func splitWords(text string) (words []word) {
	for at := 0; at < len(text); {
		if isBlank(text[at]) {
			at++
			continue
		}
		w := word{start: at}
		if text[at] == '-' && at+1 < len(text) && !isBlank(text[at+1]) {
			w.not = true
			at++
		}
		if name, op := fieldAt(text[at:]); op != "" {
			w.field, w.op = strings.ToLower(name), op
			at += len(name) + len(op)
		}
		n := 0
		w.value, n = valueAt(text[at:])
		at += n
		words = append(words, w)
	}
	return words
}

// blanks are the characters between words.
const blanks = " \t\r\n"

func isBlank(c byte) bool { return strings.IndexByte(blanks, c) >= 0 }

// fieldAt returns the field name and the operator at the start of a text. Both are empty if the text does not
// begin with a field.
func fieldAt(text string) (name, op string) {
	n := 0
	for n < len(text) && ('a' <= text[n]|0x20 && text[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 {
		return "", ""
	}
	for _, op := range ops {
		if strings.HasPrefix(text[n:], op) {
			return text[:n], op
		}
	}
	return "", ""
}

// valueAt returns the value up to the next unquoted blank, without quotation marks, and its length in the
// text. A quotation without a closing mark extends to the end.
func valueAt(text string) (value string, n int) {
	var b strings.Builder
	quoted := false
	for ; n < len(text) && (quoted || !isBlank(text[n])); n++ {
		if text[n] == '"' {
			quoted = !quoted
			continue
		}
		b.WriteByte(text[n])
	}
	return b.String(), n
}

// parseTerm returns the term for a word, or the reason why the word is invalid. For an empty word, both are
// empty.
func (w word) parseTerm(f *Filter) (t term, why string) {
	if w.op == "" {
		if w.value == "" {
			return t, ""
		}
		return plainTerm(w.value, len(f.terms)), ""
	}
	field := fieldOf(w.field)
	if field == nil {
		if near := themes.Near(w.field, FieldNames()); len(near) > 0 {
			return t, "unknown field; " + near[0] + "?"
		}
		return t, `unknown field; to search for text, quote it: "` + w.field + w.op + w.value + `"`
	}
	if w.value == "" {
		return t, "no value; e.g. " + field.usageText()
	}
	if !slices.Contains(field.ops, w.op) {
		return t, "use " + field.usageText()
	}
	t, why = field.read(w.op, w.value, f)
	if why != "" {
		why = fmt.Sprintf("%s; e.g. %s", why, field.usageText())
	}
	t.calls = t.calls || field.calls
	return t, why
}

// Complete completes the last word of text. The result all contains the possible words. The result longer is text,
// extended by the characters with which all these words begin. The function seen returns known values of a field
// without fixed values. It may be nil.
func Complete(text string, seen func(field string) []string) (longer string, all []string) {
	start, last := len(text), word{}
	if words := splitWords(text); len(words) > 0 && !isBlank(text[len(text)-1]) {
		last = words[len(words)-1]
		start = last.start
	}
	from := start
	if last.not {
		from++
	}
	begun := text[from:]
	for _, may := range last.completions(seen) {
		if len(may) >= len(begun) && strings.EqualFold(may[:len(begun)], begun) {
			all = append(all, may)
		}
	}
	if len(all) == 0 {
		return text, nil
	}
	longer = all[0]
	for _, may := range all[1:] {
		n := 0
		for n < min(len(longer), len(may)) && strings.EqualFold(longer[n:n+1], may[n:n+1]) {
			n++
		}
		longer = longer[:n]
	}
	return text[:from] + longer, all
}

// completions returns all words that w can become, in filter syntax.
func (w word) completions(seen func(field string) []string) (all []string) {
	if w.op == "" {
		for _, f := range Fields() {
			all = append(all, f.Name+f.ops[0])
		}
		return all
	}
	f := fieldOf(w.field)
	if f == nil {
		return nil
	}
	var values []string
	if f.values != nil {
		values = f.values()
	} else if seen != nil {
		values = seen(f.Name)
	}
	for _, v := range values {
		if strings.ContainsAny(v, " \t") {
			v = `"` + strings.ReplaceAll(v, `"`, "") + `"`
		}
		if v = w.field + w.op + v; !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}
