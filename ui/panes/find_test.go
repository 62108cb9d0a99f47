package panes

import (
	"bytes"
	"slices"
	"testing"
)

func TestFindAll(t *testing.T) {
	for _, c := range []struct {
		text, query string
		want        []int
	}{
		{"", "a", nil}, {"abc", "", nil}, {"abcabc", "bc", []int{1, 4}}, {"aaaa", "aa", []int{0, 2}}, {"Oslo oslo OSLO", "oslo", []int{0, 5, 10}},
		{"Oslo oslo OSLO", "Oslo", []int{0}}, {"É é", "é", []int{3}}, {"ÉA", "a", []int{2}}, {"\xffa\xff", "a", []int{1}}, {"abc", "abcd", nil},
		{"Ⱥa", "a", []int{2}}, {"日本", "本", []int{3}}, {"a", "aa", nil}, {"aaaaa", "aa", []int{0, 2}},
	} {
		if got := FindAll([]byte(c.text), c.query); !slices.Equal(got, c.want) {
			t.Errorf("%q in %q: %v, want %v", c.query, c.text, got, c.want)
		}
	}
}

// TestFindLong checks that a match is found anywhere in a long text.
func TestFindLong(t *testing.T) {
	const long = 16 << 10
	for _, at := range []int{0, 1, long - 3, long - 1, long, 3*long - 2, 4*long - 4} {
		text := bytes.Repeat([]byte("x"), 4*long)
		copy(text[at:], "OsLo")
		if got := FindAll(text, "oslo"); !slices.Equal(got, []int{at}) {
			t.Errorf("at %d: %v", at, got)
		}
		if got := FindAll(text, "OsLo"); !slices.Equal(got, []int{at}) {
			t.Errorf("at %d: %v", at, got)
		}
		if got := FindAll(text, "OSlo"); got != nil {
			t.Errorf("at %d: %v", at, got)
		}
	}
}

// TestFindMany checks that a search finds many matches, one after another.
func TestFindMany(t *testing.T) {
	const long = 16 << 10
	got := FindAll(bytes.Repeat([]byte("aB"), long), "bab")
	for i, at := range got {
		if at != 1+4*i {
			t.Fatalf("hit %d is at %d", i, at)
		}
	}
	if want := 2 * long / 4; len(got) != want {
		t.Errorf("%d hits, want %d", len(got), want)
	}
}
