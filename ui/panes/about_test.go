package panes

import (
	"testing"

	"toolscope/providers/replay"
	"toolscope/ui/screen"
)

// TestFates checks that each outcome has a comparison sign, and that only an intact call has the sign for "same".
func TestFates(t *testing.T) {
	for fate, o := range sentBackSides {
		if fate == "" || o >= screen.NumSides || (o == screen.Same) != (fate == replay.Intact) {
			t.Errorf("%s is %d", fate, o)
		}
	}
}
