package cli

import "testing"

// TestPercentFor checks that a small heap may grow by a fixed amount, and a large heap by a fraction of its size.
func TestPercentFor(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 16 << 20: 100, 40 << 20: 40, 128 << 20: 12, 160 << 20: 12, 256 << 20: 25, 640 << 20: 40, 10 << 30: 49} {
		if got := percentFor(live, false); got != want {
			t.Errorf("%d bytes: %d percent, want %d", live, got, want)
		}
	}
	proxy := map[uint64]int{0: 400, 16 << 20: 100, 40 << 20: 100, 128 << 20: 50, 256 << 20: 25, 640 << 20: 40}
	for live, want := range proxy {
		if got := percentFor(live, true); got != want {
			t.Errorf("with a proxy, %d bytes: %d percent, want %d", live, got, want)
		}
	}
}
