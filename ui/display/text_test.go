package display

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// hidden is a Stringer that returns text chosen by a provider.
type hidden string

func (h hidden) String() string { return string(h) }

func TestFormat(t *testing.T) {
	bad := "\x1b[31mé\u202e"
	for _, c := range []struct {
		f           literal
		args        []any
		want, ascii string
	}{
		{"%s", []any{bad}, "␛[31mé⟨U+202E⟩", `\x1b[31m\u00e9\u202e`},
		{"a%va", []any{[]byte("\xff")}, `a\xffa`, `a\xffa`},
		{"%v", []any{errors.New("no\n")}, "no␊", `no\n`},
		{"%s|%d", []any{hidden("\u200b"), 3}, "⟨U+200B⟩|3", `\u200b|3`},
		{"%v %v", []any{1.5, true}, "1.5 true", "1.5 true"},
		{"%c", []any{rune(0x1b)}, "␛", `\x1b`},
		{"%v", []any{[]string{"\a"}}, "[␇]", `[\x07]`},
		{"%s %s", []any{Clean(bad), time.Second}, "␛[31mé⟨U+202E⟩ 1s", ""},
		{"e%s", []any{"\u0301"}, "e◌\u0301", `e\u0301`}, // the accent does not become a mark on our letter
		{"%-4s|%5s", []any{Lit("ab"), "c"}, "ab  |    c", "ab  |    c"},
		{"%s%s%s%s%s%s%s%s%s", []any{1: "\a", 8: "\a", 0: "", 2: "", 3: "", 4: "", 5: "", 6: "", 7: ""}, "␇␇", `\x07\x07`},
	} {
		got := Drawer{}.Format(c.f, c.args...)
		if got.String() != c.want || got.Width() != ansi.StringWidth(c.want) {
			t.Errorf("%s %q: %q of %d cells, want %q", c.f, c.args, got, got.Width(), c.want)
		}
		if got := (Drawer{ASCII: true}).Format(c.f, c.args...); c.ascii != "" && got.String() != c.ascii {
			t.Errorf("%s %q in ASCII: %q, want %q", c.f, c.args, got, c.ascii)
		}
	}
	args := []any{bad}
	if _ = Format("%s", args...); args[0] != bad {
		t.Error("the arguments are changed")
	}
}

// TestJoin checks the width of joined texts, including texts whose characters combine.
func TestJoin(t *testing.T) {
	parts := []Text{{}, Lit("a"), Lit("日本"), Clean("🇳"), Clean("🇴"), Clean("\u0301"), Clean("ᄀ"), Clean("ᅡ"), Clean("क\u094d"), Clean("त"), Clean("👩"), Clean("\u200d")}
	for _, a := range parts {
		for _, b := range parts {
			got := Join(a, b)
			if got.String() != a.String()+b.String() || got.Width() != ansi.StringWidth(got.String()) {
				t.Errorf("%q and %q: %q of %d cells", a, b, got, got.Width())
			}
		}
		if got := a.Between("<", " > "); got.String() != "<"+a.String()+" > " || got.Width() != a.Width()+4 {
			t.Errorf("%q: %q of %d cells", a, got, got.Width())
		}
		if got := Repeat(a, 3); got.String() != strings.Repeat(a.String(), 3) || got.Width() != ansi.StringWidth(got.String()) {
			t.Errorf("%q three times: %q of %d cells", a, got, got.Width())
		}
	}
	if !Join().Empty() || !Repeat(Lit("x"), -1).Empty() || Lit(" ").Empty() {
		t.Error("what is empty")
	}
}

func TestSkip(t *testing.T) {
	for _, c := range []struct {
		in    literal
		cells int
		want  literal
	}{
		{"hello", -1, "hello"}, {"hello", 0, "hello"}, {"hello", 2, "llo"}, {"hello", 5, ""}, {"hello", 9, ""},
		{"日本語", 2, "本語"}, {"日本語", 3, "語"}, {"ae\u0301b", 2, "b"},
	} {
		if got := Skip(Lit(c.in), c.cells); got != Lit(c.want) {
			t.Errorf("%q without %d cells is %q of %d, want %q", c.in, c.cells, got, got.Width(), c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in    literal
		cells int
		want  string
	}{
		{"", 5, ""}, {"one two three", 7, "one two|three"}, {"toolong a", 4, "tool|ong|a"}, {"日本語日本語", 5, "日本|語日|本語"},
	} {
		var got []string
		for _, line := range Wrap(Lit(c.in), c.cells) {
			if got = append(got, line.String()); line.Width() > c.cells || line.Width() != ansi.StringWidth(line.String()) {
				t.Errorf("%q: %q has %d cells of %d", c.in, line, line.Width(), c.cells)
			}
		}
		if got := strings.Join(got, "|"); got != c.want {
			t.Errorf("%q in %d cells: %q, want %q", c.in, c.cells, got, c.want)
		}
	}
}
