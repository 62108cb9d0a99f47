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

// Lookup returns the theme of that name: one of ours, or that of the chroma style of that name. ""
// and "auto" stand for [Default]. The error for any other name is an [*UnknownError].
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

// UnknownError says that there is no theme of a name.
type UnknownError struct {
	Name string
	Near []string // names that were perhaps meant, the nearest first; at most three
}

func (e *UnknownError) Error() string {
	meant := ""
	if len(e.Near) > 0 {
		meant = ": did you mean " + strings.Join(e.Near, ", ") + "?"
	}
	return fmt.Sprintf("no theme %q%s (auto is ours; all names: toolscope help themes)", e.Name, meant)
}

// Near are those of the names that could be a slip for name: the nearest, and those as near as that;
// at most three. Case counts.
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

// editDistance is the number of bytes to insert, delete or replace, or of neighbours to swap, to make a
// of b.
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
