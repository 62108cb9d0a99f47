package panes

import (
	"testing"

	"toolscope/providers/replay"
)

// TestFates: each fate looks like an outcome.
func TestFates(t *testing.T) {
	for fate, o := range fateOutcomes {
		if fate == "" || o >= replay.NumOutcomes {
			t.Errorf("%s is %d", fate, o)
		}
	}
}
