package display

import (
	"errors"
	"math/rand/v2"
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

// rowsOf breaks pieces into rows, without blanks at the ends of rows.
func rowsOf(cells, indent int, pieces ...Text) (rows []string) {
	row := ""
	r := Rows[int]{Cells: cells, Indent: indent}
	r.Write = func(_ int, t Text) { row += t.String() }
	r.Break = func() { rows, row = append(rows, row), "" }
	for i, t := range pieces {
		r.Add(i, t)
	}
	r.End()
	return append(rows, row)
}

func TestRows(t *testing.T) {
	for _, c := range []struct {
		cells, indent int
		pieces        string // separated by |
		want          string // rows, separated by |
	}{
		{0, 2, "one |two  three", "one two  three"},
		{10, 2, "one two three four", "one two|  three|  four"},
		{10, 2, "one t|w|o thr|ee", "one two|  three"},
		{10, 2, "  one two three", "  one two|  three"},
		{6, 2, "abcdefghij", "abcd|  efgh|  ij"},
		{6, 2, "ab cdefghij", "ab|  cdef|  ghij"},
		{10, 0, "", ""},
		{10, 0, "   ", ""},
		{6, 2, "日本語日本語", "日本|  語日|  本語"},
	} {
		var pieces []Text
		for piece := range strings.SplitSeq(c.pieces, "|") {
			pieces = append(pieces, Clean(piece))
		}
		if got := strings.Join(rowsOf(c.cells, c.indent, pieces...), "|"); got != c.want {
			t.Errorf("%q in %d cells is %q, want %q", c.pieces, c.cells, got, c.want)
		}
	}
}

// TestRowsKeepText checks that rows contain all of a text except blanks, however the text is divided into
// pieces, and that no row is too wide.
func TestRowsKeepText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	units := []string{"a", "bc", " ", "  ", "é", "e\u0301", " \u0301", "日", "👩‍🚀", "\x1b[31m", "\xff", "🇩🇪", "x\u0301\u0302"}
	for range 2000 {
		text := ""
		for range random.IntN(60) {
			text += units[random.IntN(len(units))]
		}
		var pieces []Text
		for rest := []byte(text); len(rest) > 0; {
			var piece Text
			piece, rest = CleanStart(rest, 1+random.IntN(len(rest)))
			pieces = append(pieces, piece)
		}
		if joined := Join(pieces...).String(); joined != Clean(text).String() {
			t.Fatalf("%q is %q in pieces, want %q", text, joined, Clean(text))
		}
		cells := 8 + random.IntN(40)
		rows := rowsOf(cells, random.IntN(cells/2), pieces...)
		for _, row := range rows {
			if wide := cellWidth(strings.TrimLeft(row, " ")); wide > cells {
				t.Errorf("%q in %d cells has a row of %d: %q", text, cells, wide, row)
			}
		}
		withoutBlanks := strings.NewReplacer(" \u0301", " \u0301", " ", "")
		if got, want := withoutBlanks.Replace(strings.Join(rows, "")), withoutBlanks.Replace(Clean(text).String()); got != want {
			t.Errorf("%q in %d cells is %q, want %q", text, cells, got, want)
		}
	}
}
