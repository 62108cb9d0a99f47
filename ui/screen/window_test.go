package screen

import "testing"

// TestWindow: wherever it is told to go, the cursor is on a row and in view.
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
