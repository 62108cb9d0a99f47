package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/bubbles/key"

	"toolscope/stream"
	"toolscope/ui/display"
)

// TestArrange: whatever the size, columns and rules fill the width, the panes
// of a column its height, and the focused pane is among them.
func TestArrange(t *testing.T) {
	for w := range 301 {
		for h := range 101 {
			for focus := listPane; focus <= findingsPane; focus++ {
				for i := range 4 {
					lower := wirePane + paneID(i%2)
					if focus >= wirePane {
						lower = focus
					}
					checkArrangement(t, arrange(w, h, focus, lower, i > 1), w, h, focus)
				}
			}
		}
	}
}

func checkArrangement(t *testing.T, columns []column, w, h int, focus paneID) {
	t.Helper()
	width, seen := len(columns)-1, map[paneID]bool{}
	for _, c := range columns {
		width += c.width
		height := 0
		for _, s := range c.panes {
			if height += s.height; seen[s.pane] {
				t.Fatalf("%dx%d: pane %d twice", w, h, s.pane)
			}
			seen[s.pane] = true
			if pw, ph, shown := place(columns, s.pane); !shown || pw != c.width || ph != s.height {
				t.Fatalf("%dx%d: pane %d is said to be %dx%d", w, h, s.pane, pw, ph)
			}
		}
		if height != h || c.width < 20 && w >= 20 {
			t.Fatalf("%dx%d: a column of %dx%d", w, h, c.width, height)
		}
	}
	if width != w || !seen[focus] {
		t.Fatalf("%dx%d: the columns take %d; pane %d is shown: %t", w, h, width, focus, seen[focus])
	}
}

func TestArrangements(t *testing.T) {
	for _, c := range []struct {
		w, h         int
		focus, lower paneID
		zoom         bool
		want         string
	}{
		{71, 30, docPane, wirePane, false, "71: 2x30"},
		{72, 30, docPane, wirePane, false, "32: 1x30 | 39: 2x21 3x9"},
		{72, 13, docPane, wirePane, false, "32: 1x13 | 39: 2x13"},
		{72, 13, findingsPane, findingsPane, false, "32: 1x13 | 39: 4x13"},
		{140, 38, listPane, findingsPane, false, "42: 1x38 | 97: 2x27 4x11"},
		{160, 43, listPane, wirePane, false, "48: 1x43 | 61: 2x43 | 49: 3x31 4x12"},
		{250, 78, wirePane, wirePane, true, "250: 3x78"},
	} {
		var got []string
		for _, col := range arrange(c.w, c.h, c.focus, c.lower, c.zoom) {
			text := fmt.Sprintf("%d:", col.width)
			for _, s := range col.panes {
				text += fmt.Sprintf(" %dx%d", int(s.pane)+1, s.height)
			}
			got = append(got, text)
		}
		if got := strings.Join(got, " | "); got != c.want {
			t.Errorf("%dx%d: %s, want %s", c.w, c.h, got, c.want)
		}
	}
}

// TestWindow: wherever it is told to go, the cursor is on a row and in view.
func TestWindow(t *testing.T) {
	do := map[string]func(w *window, n int){
		"moveTo": func(w *window, n int) { w.moveTo(n) }, "center": func(w *window, n int) { w.center(n) },
		"scroll": func(w *window, n int) { w.scroll(n) }, "end": func(w *window, n int) { w.end() },
	}
	for rows := range 12 {
		for height := range 8 {
			for name, act := range do {
				for n := -3; n < 15; n++ {
					w := window{at: n, top: 2 * n}
					w.resize(rows, height)
					act(&w, n)
					if w.at < 0 || rows > 0 && w.at >= rows || w.at < w.top || w.at >= w.top+w.height || w.top > max(0, rows-w.height) {
						t.Fatalf("%s(%d): %+v", name, n, w)
					}
					if name == "moveTo" && w.at != max(0, min(n, rows-1)) {
						t.Fatalf("moved to %d: %+v", n, w)
					}
					w.resize(rows+5, height)
					if name == "end" && w.at != rows+4 || name != "end" && w.stick {
						t.Fatalf("%s, then more rows: %+v", name, w)
					}
				}
			}
		}
	}
}

func TestWindowMoves(t *testing.T) {
	km := newKeyMap()
	w := window{rows: 100, height: 10, top: 40, at: 45}
	for _, c := range []struct {
		key  key.Binding
		want int
	}{{km.Up, 44}, {km.Down, 46}, {km.PageUp, 36}, {km.PageDown, 54}, {km.Top, 0}, {km.Bottom, 99}} {
		for _, k := range c.key.Keys() {
			if row, ok := km.move(keyNamed(k), w); !ok || row != c.want {
				t.Errorf("%s moves to %d, %t, want %d", k, row, ok, c.want)
			}
		}
	}
	if _, ok := km.move(keyNamed("x"), w); ok {
		t.Error("x moves")
	}
	w.center(70)
	if w.top != 65 || w.at != 70 {
		t.Errorf("centred: %+v", w)
	}
}

func TestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		stream.NoTime: "", 0: "0 ms", 999 * time.Microsecond: "0 ms", 999999 * time.Microsecond: "999 ms", time.Second: "1.00 s",
		9999 * time.Millisecond: "9.99 s", 10 * time.Second: "10.0 s", 59999 * time.Millisecond: "59.9 s", time.Minute: "1:00 m",
		90 * time.Second: "1:30 m", 3599 * time.Second: "59:59 m", 100 * time.Minute: "100:00 m",
	} {
		if got := timeText(d).String(); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int]string{
		0: "0 B", 999: "999 B", 1000: "1,000 B", 99_999: "99,999 B", 100_000: "100 kB", 9_999_999: "9999 kB", 10_000_000: "10 MB", 1 << 40: "1099511 MB",
	} {
		if got := bytesText(n).String(); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 12: "12", 123: "123", 1234: "1,234", 123456: "123,456", 1234567: "1,234,567"} {
		if got := commas(n).String(); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for _, c := range [][3]time.Duration{{1, 3, 2}, {0, 0, 0}, {3, 1, stream.NoTime}, {stream.NoTime, 3, stream.NoTime}, {1, stream.NoTime, stream.NoTime}} {
		if got := since(c[0], c[1]); got != c[2] {
			t.Errorf("from %d to %d is %d", c[0], c[1], got)
		}
	}
	if plural(1, "turn").String() != "1 turn" || plural(0, "turn").String() != "0 turns" || plural(1200, "turn").String() != "1,200 turns" {
		t.Error(plural(1, "turn"), plural(0, "turn"), plural(1200, "turn"))
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
		if got := shortID(display.Clean(c.id), c.cells); got.String() != c.want || got.Width() > c.cells {
			t.Errorf("%q in %d cells: %q, want %q", c.id, c.cells, got, c.want)
		}
	}
}

func TestShortURL(t *testing.T) {
	for url, want := range map[string]string{
		"": "", "http://h/v1/x?y=1": "/v1/x?y=1", "http://h": "http://h", "/v1": "/v1", "://": "://", "x://h/": "/",
	} {
		if got := shortURL(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
}

// TestKeys: every binding is in the help exactly once, and while browsing no
// key does two things.
func TestKeys(t *testing.T) {
	km := newKeyMap()
	listed, bound := map[string]int{}, map[string]string{}
	for _, g := range km.groups() {
		for _, b := range g.keys {
			if listed[b.Help().Desc]++; b.Help().Key == "" || b.Help().Desc == "" || len(b.Keys()) == 0 {
				t.Errorf("%+v has no help or keys", b)
			}
			for _, k := range b.Keys() {
				if bound[k] != "" {
					t.Errorf("%s does %s and %s", k, bound[k], b.Help().Desc)
				}
				bound[k] = b.Help().Desc
			}
		}
	}
	for _, b := range bindings(km) {
		if listed[b.Help().Desc] != 1 {
			t.Errorf("%q is %d times in the help", b.Help().Desc, listed[b.Help().Desc])
		}
	}
	if table := Keys(); len(table) != len(bindings(km)) || !slices.Contains(table, Key{"Look", "/", "find in the pane"}) {
		t.Errorf("%d keys in the table, %d are bound: %v", len(table), len(bindings(km)), table)
	}
}
