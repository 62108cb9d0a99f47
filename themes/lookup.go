package themes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Names returns the names that [Lookup] knows, sorted, ours first.
func Names() []string {
	return slices.Concat(ours, slices.Sorted(maps.Keys(styles())))
}

// Lookup returns the theme with a name: one of ours, or one made of the chroma style with that name. "" and
// "auto" return [Default]. The error for any other name is an [*UnknownError].
func Lookup(name string, dark bool) (Theme, error) {
	key := strings.ToLower(name)
	if t, ok := ownTheme(key, dark); ok {
		return t, nil
	}
	if s := styleOf(key); s != nil {
		return fromStyle(s), nil
	}
	return Theme{}, &UnknownError{Name: name, Near: Near(key, Names())}
}

// UnknownError is the error for an unknown name of a theme.
type UnknownError struct {
	Name string
	Near []string // similar names, at most three
}

func (e *UnknownError) Error() string {
	meant := ""
	if len(e.Near) > 0 {
		meant = ": did you mean " + strings.Join(e.Near, ", ") + "?"
	}
	return fmt.Sprintf("unknown theme %q%s (default: auto; all names: toolscope help themes)", e.Name, meant)
}

// Near returns the names that name may be a misspelling of: the nearest one, and others at the same
// distance, at most three. Case matters.
func Near(name string, names []string) []string {
	type guess struct {
		name string
		off  int
	}
	var guesses []guess
	for _, n := range names {
		off := editDistance(name, n)
		if len(name) >= 3 && strings.Contains(n, name) {
			off = 1
		}
		if off <= max(1, len(name)/3) {
			guesses = append(guesses, guess{n, off})
		}
	}
	slices.SortStableFunc(guesses, func(a, b guess) int { return cmp.Compare(a.off, b.off) })
	var out []string
	for _, g := range guesses[:min(3, len(guesses))] {
		if g.off == guesses[0].off {
			out = append(out, g.name)
		}
	}
	return out
}

// editDistance returns the number of edits that turn b into a. An edit inserts, deletes or replaces a byte,
// or swaps two neighbours.
func editDistance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			replace := row[j]
			if a[i] != b[j] {
				replace++
			}
			next[j+1] = min(replace, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
