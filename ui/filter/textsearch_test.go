package filter

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzTextQuery compares the matches with a search at each offset.
func FuzzTextQuery(f *testing.F) {
	f.Add("aXaxa", "ax", false)
	f.Add("...zzZz", "zz", true)
	f.Add("x", "", true)
	f.Add("", "x", false)
	f.Add("\xffK\u212a", "k", false)
	f.Add("A\xff", "a\xff", false)
	f.Add("\u00c9A", "\u00c9a", false)
	f.Fuzz(func(t *testing.T, text, query string, fold bool) {
		n := NewTextQuery(query)
		if fold {
			n = FoldTextQuery(query)
		}
		var want []int
		for i := 0; i+len(query) <= len(text) && query != ""; {
			part := []byte(text[i : i+len(query)])
			if n.fold {
				part = []byte(lowerBytes(string(part)))
			}
			if bytes.Equal(part, n.query) {
				want, i = append(want, i), i+len(query)
			} else {
				i++
			}
		}
		if got := slices.Collect(n.All([]byte(text))); !slices.Equal(got, want) {
			t.Errorf("%q in %q: %v, want %v", query, text, got, want)
		}
		if n.In([]byte(text)) != (len(want) > 0) {
			t.Error("In says something else")
		}
	})
}
