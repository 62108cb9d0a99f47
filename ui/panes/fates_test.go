package panes

import (
	"testing"

	"toolscope/providers/replay"
	"toolscope/ui/screen"
)

// TestFates: each fate has a side, and the one that is intact alone is the same.
func TestFates(t *testing.T) {
	for fate, o := range sentBackSides {
		if fate == "" || o >= screen.NumSides || (o == screen.Same) != (fate == replay.Intact) {
			t.Errorf("%s is %d", fate, o)
		}
	}
}
