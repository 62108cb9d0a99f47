package dialect

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// TestLeak: a marker is found wherever the text is cut, and told once.
func TestLeak(t *testing.T) {
	for _, m := range leakMarkers {
		if len(m) > longestMarker {
			t.Errorf("%s is %d bytes long", m, len(m))
		}
		text := strings.Repeat("words ", 20) + string(m) + "and " + string(m)
		for cut := range len(text) {
			told := 0
			var l Leak
			for _, part := range []string{text[:cut], text[cut:]} {
				l.Look([]byte(part), 3, func(e stream.Event) {
					if told++; e.Turn != 3 || e.More.Finding.Code != "TEXT_TOOLCALL" {
						t.Errorf("%v", e)
					}
				})
			}
			if told != 1 {
				t.Fatalf("%q, cut at %d: told %d times", text, cut, told)
			}
		}
	}
	new(Leak).Look([]byte("<tool_cal"), 0, func(e stream.Event) { t.Errorf("%v", e) })
}
