package stream

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"toolscope/stream/list"
)

// TestEvict checks that evicted bytes are freed, that all other bytes stay the same, and that restored bytes are
// available again. A block is freed once all its bytes are evicted.
func TestEvict(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var w Wire
		var all []byte
		for range 40 {
			p := make([]byte, rng.IntN(3*minOwnedBytes))
			for i := range p {
				p[i] = byte(rng.Uint32())
			}
			all = append(all, p...)
			if w.AppendOwned(p, NoTime); rng.IntN(2) == 0 {
				w.EndFrame(w.Size())
			}
		}
		var cuts []int64
		for at := int64(0); at < w.Size(); at += 1 + rng.Int64N(60<<10) {
			cuts = append(cuts, at)
		}
		cuts = append(cuts, w.Size())
		gone := make([]bool, len(cuts)-1)
		for range 3 * len(gone) {
			i := rng.IntN(len(gone))
			start, end := cuts[i], cuts[i+1]
			if gone[i] {
				if w.Restore(start, all[start:end-1]) || !w.Restore(start, bytes.Clone(all[start:end])) {
					t.Fatal("what is had again is not what was let go of")
				}
			} else {
				w.Evict(start, end)
			}
			gone[i] = !gone[i]
			for k := range gone {
				got := w.Bytes(cuts[k], cuts[k+1])
				if gone[k] != (got == nil) || !gone[k] && !bytes.Equal(got, all[cuts[k]:cuts[k+1]]) {
					t.Fatalf("span %d, gone %v: %d bytes", k, gone[k], len(got))
				}
			}
		}
		for k := range gone {
			if !gone[k] {
				w.Evict(cuts[k], cuts[k+1])
			}
		}
		for i, b := range w.blocks[:len(w.blocks)-1] {
			if len(b.data) > 0 {
				t.Errorf("block %d of %d has %d bytes", i, len(w.blocks), len(b.data))
			}
		}
		if w.AppendOwned([]byte("more"), NoTime); string(w.Bytes(w.Size()-4, w.Size())) != "more" {
			t.Error("what comes after that is not there")
		}
	}
}

// TestEvictFrames checks that when earlier frames are evicted, the later frames keep their bounds.
func TestEvictFrames(t *testing.T) {
	var w Wire
	for n := range 5 * list.BlockSize {
		w.Append([]byte("ab"), NoTime)
		w.EndFrame(int64(2 * (n + 1)))
	}
	const from = 3*list.BlockSize + 7
	w.EvictFrames(from)
	for n := range int32(w.Frames()) {
		start, end := w.FrameSpan(n)
		if n >= from && (start != int64(2*n) || end != start+2) || n < 2*list.BlockSize && end != 0 {
			t.Fatalf("frame %d: %d to %d", n, start, end)
		}
	}
}
