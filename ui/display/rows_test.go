package display

import (
	"math/rand/v2"
	"strings"
	"testing"
)

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
