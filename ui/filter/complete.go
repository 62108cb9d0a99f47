package filter

import (
	"slices"
	"strings"
)

// Complete completes the last word of a text. all are the possible words, and longer is the text with the
// beginning that they share. seen returns known values of a field without fixed values; it may be nil.
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
		longer = longer[:commonPrefixLen(longer, may)]
	}
	return text[:from] + longer, all
}

// completions returns all words that w may become, in the syntax of filters.
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

// commonPrefixLen returns the length of the common prefix of two words. Case is ignored.
func commonPrefixLen(a, b string) (n int) {
	for n < min(len(a), len(b)) && strings.EqualFold(a[n:n+1], b[n:n+1]) {
		n++
	}
	return n
}
