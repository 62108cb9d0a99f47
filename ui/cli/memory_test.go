package cli

import "testing"

// TestPercentFor: a small heap may grow by a fixed amount, another by half, a big one by a fixed
// amount again, a huge one by a part of it.
func TestPercentFor(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 16 << 20: 100, 40 << 20: 50, 48 << 20: 50, 96 << 20: 25, 240 << 20: 16, 10 << 30: 16} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes: %d percent, want %d", live, got, want)
		}
	}
}
