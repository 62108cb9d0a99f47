package protocol

import (
	"strings"
	"testing"

	"toolscope/stream"
	"toolscope/stream/json"
)

// TestLeak: a marker is found wherever the text is cut, and told once.
func TestLeak(t *testing.T) {
	for _, m := range leakMarkers {
		if len(m) > longestMarker {
			t.Errorf("%s is %d bytes long", m, len(m))
		}
		text := strings.Repeat("words ", 20) + string(m) + "and " + string(m)
		for cut := range len(text) {
			if got := leaks(text[:cut], text[cut:]); got != 1 {
				t.Fatalf("%q, cut at %d: told %d times", text, cut, got)
			}
		}
	}
	if leaks("<tool_cal") > 0 {
		t.Error("half a marker is told")
	}
}

// leaks is how often a turn that is made of these texts is said to hold a call.
func leaks(texts ...string) (n int) {
	turn := NewOut(func(e stream.Event) {
		if e.Kind == stream.Found && stream.PayloadOf[stream.Finding](e).Diagnosis == TextToolCall {
			n++
		}
	}).Open(stream.Opening{})
	turn.WatchText()
	for _, text := range texts {
		turn.AppendText(json.AppendQuoted(nil, []byte(text)))
	}
	return n
}
