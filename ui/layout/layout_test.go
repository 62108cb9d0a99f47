package layout

import (
	"math/rand/v2"
	"strings"
	"testing"

	"toolscope/ui/display"
)

func TestTextRows(t *testing.T) {
	for _, c := range []struct {
		name   string
		width  int
		deltas []string
		want   string
	}{
		{"nothing", 10, nil, ``},
		{"one delta", 10, []string{"text"}, "text"},
		{"a sign where a delta begins", 10, []string{"te", "xt"}, "te|xt"},
		{"a line end is shown and ends the row", 10, []string{"a\nb\n"}, "a␊\nb␊\n"},
		{"an empty line", 10, []string{"a\n\nb"}, "a␊\n␊\nb"},
		{"carriage returns are only shown", 10, []string{"a\r\nb"}, "a␍␊\nb"},
		{"wrapped", 14, []string{"abcdefghijklmnopq"}, "abcdefghijklmn\n  opq"},
		{"on a narrow screen without indentation", 4, []string{"abcdefgh"}, "abcd\nefgh"},
		{"the sign stays with what it stands before", 4, []string{"abc", "def"}, "abc\n|def"},
		{"even before wide characters", 5, []string{"abc", "日"}, "abc\n|日"},
		{"a delta that is a line end", 10, []string{"a", "\n", "b"}, "a|␊\n|b"},
		{"empty deltas have no place of their own", 10, []string{"a", "", "", "b"}, "a|b"},
		{"a delta boundary inside a character", 20, []string{"x\xe6\x97", "\xa5y"}, `x\xe6\x97|\xa5y`},
		{"a delta boundary inside an emoji", 30, []string{"👩\u200d", "👧"}, `👩⟨U+200D⟩|👧`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := textBed(c.width, display.Drawer{}).feed(t, c.deltas...)
			if b.plain.Extend(b.text, true); b.show() != c.want {
				t.Errorf("got\n%s\nwant\n%s", b.show(), c.want)
			}
		})
	}
}

// TestASCIILineEnd checks that a line end uses two cells in ASCII.
func TestASCIILineEnd(t *testing.T) {
	b := textBed(4, display.Drawer{ASCII: true}).feed(t, "abc\nx")
	if want := "abc\n\\n\nx"; b.show() != want {
		t.Errorf("got\n%s\nwant\n%s", b.show(), want)
	}
}

func TestMarks(t *testing.T) {
	text := NewText(40, display.Drawer{})
	for _, off := range []int{0, 2, 2, 5} {
		text.Mark(off)
	}
	for off, want := range map[int]bool{0: false, 1: false, 2: true, 4: false, 5: true, 6: false} {
		if text.Marked(off) != want {
			t.Errorf("a mark at %d: %t", off, !want)
		}
	}
	for _, c := range [][3]int{{0, 9, 2}, {1, 9, 2}, {2, 9, 5}, {5, 9, 9}, {0, 1, 1}} {
		if got := text.NextMark(c[0], c[1]); got != c[2] {
			t.Errorf("the mark after %d below %d is said to be at %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

// TestEndlessUnit checks that a unit that grows byte by byte is laid out completely. The test would be very slow if
// each byte took time in proportion to the length of the unit.
func TestEndlessUnit(t *testing.T) {
	b := textBed(40, display.Drawer{})
	text := []byte("a" + strings.Repeat("\u0301", 50_000))
	for n := 1; n <= len(text); n++ {
		b.plain.Extend(text[:n], false)
	}
	if b.text = text; b.len() != len(text) {
		t.Errorf("%d of %d bytes are laid out", b.len(), len(text))
	}
}

// TestView checks that each row that is not hidden is shown once, in order, followed by its inserted rows.
func TestView(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		var v FoldedRows
		rows := 1 + random.IntN(30)
		var cuts []RowEdit
		for row := range rows {
			if random.IntN(4) == 0 {
				cuts = append(cuts, RowEdit{Row: row, Add: random.IntN(3), Hide: random.IntN(min(4, rows-row))})
			}
		}
		v.Set(cuts)
		place := 0
		for row, c := 0, 0; row < rows; row++ {
			if v.Place(row) != place || v.Hidden(row) != -1 {
				t.Fatalf("%v: row %d is at %d, want %d", cuts, row, v.Place(row), place)
			}
			for c < len(cuts) && cuts[c].Row < row {
				c++
			}
			cut := RowEdit{Row: row}
			if c < len(cuts) && cuts[c].Row == row {
				cut = cuts[c]
			}
			for behind := 0; behind <= cut.Add; behind++ {
				if r, b := v.At(place); r != row || b != behind {
					t.Fatalf("%v: at %d is row %d and %d, want %d and %d", cuts, place, r, b, row, behind)
				}
				place++
			}
			for range cut.Hide {
				row++
				if v.Place(row) != v.Place(cut.Row) || v.Hidden(row) != cut.Row {
					t.Fatalf("%v: row %d is not hidden by %d", cuts, row, cut.Row)
				}
			}
		}
		if v.Len(rows) != place {
			t.Fatalf("%v: %d of %d rows are shown, want %d", cuts, v.Len(rows), rows, place)
		}
	}
}
