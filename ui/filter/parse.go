package filter

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/themes"
)

// Error is an invalid word of a filter, and the reason.
type Error struct{ Word, Why string }

func (f Error) Error() string { return f.Word + ": " + f.Why }

// Parse parses a filter. Invalid words are not part of the result.
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

// word is a part of a filter: "tool:x", "-cost>1" or "two words" without its quotes.
type word struct {
	not       bool
	field, op string // "" for a plain word
	value     string
	start     int // byte at which it begins, its minus included
}

// errorWord returns the part of an invalid word that an error quotes.
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

// fieldAt returns the field name and the operator at the start of a text. Both are empty if the text begins
// otherwise.
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

// valueAt returns the value up to the next unquoted blank, without quotes, and its length in the text. A quote
// that is not closed extends to the end.
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

// parseTerm returns the term of a word, or why the word is invalid. For an empty word both are empty.
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
