package capture

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestSteps checks that unpacking restores the packed steps, and that repeating steps need little memory.
func TestSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var raw []byte
		round := make([]lineStep, 1+rng.IntN(5))
		for i := range round {
			round[i] = lineStep{bits: rng.Uint64N(1 << 8), gap: rng.Int64N(3) * rng.Int64N(1000), later: rng.Int64N(2) * 13000}
		}
		n := rng.IntN(200)
		for i := range n {
			s := round[i%len(round)]
			switch rng.IntN(12) {
			case 0:
				s.gap = -rng.Int64N(1 << 40)
			case 1:
				s.bits = rng.Uint64()
			case 2:
				s.later = -rng.Int64N(1 << 50)
			}
			if s.bits&stepNoTime != 0 {
				s.later = 0
			}
			raw = s.appendTo(raw)
		}
		if got := unpackSteps(packSteps(raw, int32(n)), int32(n)); !bytes.Equal(got, raw) {
			t.Fatalf("%d steps: %x, not %x", n, got, raw)
		}
	}
	var raw []byte
	for i := range int64(3000) { // one step in three is unpredictable
		raw = (&lineStep{bits: 17, later: []int64{10_000 + rng.Int64N(5000), 0, 0}[i%3]}).appendTo(raw)
	}
	if n := len(packSteps(raw, 3000)); n > 1.4*3000 {
		t.Errorf("3000 steps take %d bytes, before that %d", n, len(raw))
	}
}
