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

// TestFindLong: it is found wherever it is in a long text.
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

// TestFindMany: what is everywhere is found one behind the other.
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

// FuzzFind finds what lowering both and looking at each place finds.
func FuzzFind(f *testing.F) {
	f.Add([]byte("Oslo oslo OSLO"), "oslo")
	f.Add([]byte("aAaAa"), "aa")
	f.Add([]byte{0xff, 'K', 0xe2, 0x84, 0xaa}, "k")
	f.Fuzz(func(t *testing.T, text []byte, query string) {
		low := func(b []byte) []byte {
			out := bytes.Clone(b)
			for i, c := range out {
				if 'A' <= c && c <= 'Z' {
					out[i] += 'a' - 'A'
				}
			}
			return out
		}
		in, q := text, []byte(query)
		if bytes.Equal(q, bytes.ToLower(q)) {
			in = low(text)
		}
		var want []int
		for at := 0; len(q) > 0 && at+len(q) <= len(in); {
			if i := bytes.Index(in[at:], q); i < 0 {
				break
			} else {
				want = append(want, at+i)
				at += i + len(q)
			}
		}
		if got := FindAll(text, query); !slices.Equal(got, want) {
			t.Errorf("%q in %q: %v, want %v", query, text, got, want)
		}
	})
}
