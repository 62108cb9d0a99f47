package screen

import (
	"strings"
	"testing"
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
)

func TestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		stream.NoTime: "", 0: "0 ms", 999 * time.Microsecond: "0 ms", 999999 * time.Microsecond: "999 ms", time.Second: "1.00 s",
		9999 * time.Millisecond: "9.99 s", 10 * time.Second: "10.0 s", 59999 * time.Millisecond: "59.9 s", time.Minute: "1m00s",
		125 * time.Second: "2m05s", 3599 * time.Second: "59m59s", 100 * time.Minute: "1h40m",
	} {
		if got := Time(d).String(); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int]string{
		0: "0 B", 999: "999 B", 1000: "1,000 B", 9_999: "9,999 B", 12_499: "12.4 kB", 99_999: "99.9 kB", 100_000: "100 kB", 999_999: "999 kB",
		1_000_000: "1.0 MB", 9_999_999: "9.9 MB", 10_000_000: "10.0 MB", 1 << 40: "1.0 TB",
	} {
		if got := Bytes(n).String(); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 12: "12", 123: "123", 1234: "1,234", 123456: "123,456", 1234567: "1,234,567"} {
		if got := Count(n).String(); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for _, c := range [][3]time.Duration{{1, 3, 2}, {0, 0, 0}, {3, 1, stream.NoTime}, {stream.NoTime, 3, stream.NoTime}, {1, stream.NoTime, stream.NoTime}} {
		if got := Elapsed(c[0], c[1]); got != c[2] {
			t.Errorf("from %d to %d is %d", c[0], c[1], got)
		}
	}
	if Plural(1, "turn").String() != "1 turn" || Plural(0, "turn").String() != "0 turns" || Plural(1200, "turn").String() != "1,200 turns" {
		t.Error(Plural(1, "turn"), Plural(0, "turn"), Plural(1200, "turn"))
	}
}

func TestShortID(t *testing.T) {
	for _, c := range []struct {
		id    string
		cells int
		want  string
	}{
		{"", 20, ""}, {"toolu_01", 8, "toolu_01"}, {"toolu_01", 7, ""}, {"toolu_01Hx7Zq9Q", 12, "toolu_..Zq9Q"}, {"toolu_01Hx7Zq9Q", 8, "to..Zq9Q"},
		{"⟨U+202E⟩⟨U+202E⟩", 10, "⟨U+202E⟩⟨…"}, {"日本語日本語", 8, "日本語…"},
	} {
		if got := ShortID(display.Clean(c.id), c.cells); got.String() != c.want || got.Width() > c.cells {
			t.Errorf("%q in %d cells: %q, want %q", c.id, c.cells, got, c.want)
		}
	}
}

// TestBlockFace checks that the font has every letter that is used in a verdict, that strokes are two pixels
// wide, and that the sizes are correct.
func TestBlockFace(t *testing.T) {
	if n := len(blockFace); n != 47 {
		t.Errorf("%d letters", n)
	}
	for letter, size := range map[string]int{"I": 2, "J": 6, "M": 8, "W": 8, "N": 7, "A": 6, "MALFORMED": 74} {
		if w := BlockWidth(letter, 1); w != size {
			t.Errorf("%s is %d cells wide, not %d", letter, w, size)
		}
		if w := BlockWidth(letter, 3); w != 3*size {
			t.Errorf("%s is %d cells wide at scale 3, not %d", letter, w, 3*size)
		}
	}
	for st := range stream.Status(stream.NumStatus) {
		for _, r := range strings.ToUpper(st.String()) {
			if blockWidth(r) == 0 {
				t.Errorf("%s: the face has no %q", st, r)
			}
		}
	}
	if BlockWidth("é", 1) != 0 || BlockRows(1) != 5 || BlockRows(3) != 15 {
		t.Error("sizes")
	}
}
