package screen

import (
	"strings"
	"testing"
)

// TestWindow checks that the cursor is on a row and in view after each movement.
func TestWindow(t *testing.T) {
	do := map[string]func(w *Window, n int){
		"moveTo": func(w *Window, n int) { w.MoveTo(n) }, "center": func(w *Window, n int) { w.Center(n) },
		"scroll": func(w *Window, n int) { w.Scroll(n) }, "end": func(w *Window, n int) { w.End() },
	}
	for rows := range 12 {
		for height := range 8 {
			for name, act := range do {
				for n := -3; n < 15; n++ {
					w := Window{At: n, Top: 2 * n}
					w.Resize(rows, height)
					act(&w, n)
					if w.At < 0 || rows > 0 && w.At >= rows || w.At < w.Top || w.At >= w.Top+w.Height || w.Top > max(0, rows-w.Height) {
						t.Fatalf("%s(%d): %+v", name, n, w)
					}
					if name == "moveTo" && w.At != max(0, min(n, rows-1)) {
						t.Fatalf("moved to %d: %+v", n, w)
					}
					w.Resize(rows+5, height)
					if name == "end" && w.At != rows+4 || name != "end" && w.Stick {
						t.Fatalf("%s, then more rows: %+v", name, w)
					}
				}
			}
		}
	}
}

// TestMoves checks where each key moves the cursor, or the view in a list without a cursor.
func TestMoves(t *testing.T) {
	was := Window{Rows: 100, Height: 10, Top: 40, At: 45}
	for _, c := range []struct {
		keys    string
		at, top int
	}{
		{"up k", 44, 39}, {"down j", 46, 41}, {"pgup ctrl+u ctrl+b", 36, 31}, {"pgdown ctrl+d ctrl+f", 54, 49},
		{"g home", 0, 0}, {"G end", 99, 90},
	} {
		for _, key := range strings.Fields(c.keys) {
			w := was
			FindBinding(w.CursorKeys("", w.MoveTo), key).Do()
			if w.At != c.at {
				t.Errorf("%s moves to %d, want %d", key, w.At, c.at)
			}
			w = was
			FindBinding(w.ScrollKeys(""), key).Do()
			if w.Top != c.top {
				t.Errorf("%s scrolls to %d, want %d", key, w.Top, c.top)
			}
		}
	}
	if w := was; FindBinding(w.ScrollKeys(""), "x") != nil {
		t.Error("x moves")
	}
	w := was
	if w.Center(70); w.Top != 65 || w.At != 70 {
		t.Errorf("centred: %+v", w)
	}
}
