package layout

import (
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
