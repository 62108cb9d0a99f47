package filter

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/themes"
)

// Error is a word that is not understood, and what would be.
type Error struct{ Word, Why string }

func (f Error) Error() string { return f.Word + ": " + f.Why }

// Parse reads a filter. The words that are at fault take no part in it.
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

// errorWord is what is said of a word that is at fault.
func (w word) errorWord() string {
	if w.op == "" {
		return w.value
	}
	if len(w.value) > 0 && fieldOf(w.field) != nil {
		return w.field + w.op + w.value
	}
	return w.field
}

// ops are what stands between a field and what it must be, the longer before their beginnings.
var ops = []string{":", ">=", "<=", ">", "<", "="}

// splitWords cuts a text into its words.
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

// blanks stand between words.
const blanks = " \t\r\n"

func isBlank(c byte) bool { return strings.IndexByte(blanks, c) >= 0 }

// fieldAt is the name of a field and what stands behind it, at the start of a text; none, if it
// begins with no name.
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

// valueAt is what is said up to the next blank that is not quoted, and how many bytes that is. A
// quote that nobody closes goes on to the end.
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

// parseTerm is what a word asks for; why says what is wrong with it. Without either it asks for nothing.
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
			return t, "no such field; " + near[0] + "?"
		}
		return t, `no such field; "` + w.field + w.op + w.value + `" in quotes is looked for as words`
	}
	if w.value == "" {
		return t, "is what? " + field.usageText()
	}
	if !slices.Contains(field.ops, w.op) {
		return t, "say " + field.usageText()
	}
	t, why = field.read(w.op, w.value, f)
	if why != "" {
		why = fmt.Sprintf("%s; %s", why, field.usageText())
	}
	t.calls = t.calls || field.calls
	return t, why
}
