package panes

import (
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
		{"Ⱥa", "a", []int{2}}, {"日本", "本", []int{3}},
	} {
		if got := FindAll([]byte(c.text), c.query); !slices.Equal(got, c.want) {
			t.Errorf("%q in %q: %v, want %v", c.query, c.text, got, c.want)
		}
	}
}
