package stream

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// sampleWire appends records of very different sizes, and returns their bytes.
func sampleWire(w *Wire) (all []byte, starts []int) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i, size := range []int{1, 0, 300, wireBlock - 301, 1, wireBlock, 7, 3*wireBlock + 5, 0, 12} {
		record := make([]byte, size)
		for j := range record {
			record[j] = byte(rng.Uint32())
		}
		w.Append(record, time.Duration(i)*time.Second)
		starts = append(starts, len(all))
		all = append(all, record...)
	}
	return all, starts
}

func TestWireBytes(t *testing.T) {
	var w Wire
	all, _ := sampleWire(&w)
	if w.Size() != int64(len(all)) || w.Records() != 10 {
		t.Fatalf("%d bytes in %d records", w.Size(), w.Records())
	}
	var edges []int
	for edge := 0; edge < len(all); edge += wireBlock {
		edges = append(edges, max(edge-1, 0), edge, edge+1)
	}
	edges = append(edges, len(all)-1, len(all))
	for _, start := range edges {
		for _, end := range edges {
			want := all[min(start, end):end]
			if got := w.Bytes(int64(start), int64(end)); !bytes.Equal(got, want) {
				t.Errorf("Bytes(%d, %d): %d bytes, want %d, or not the same", start, end, len(got), len(want))
			}
		}
	}
}

func TestWireBytesStay(t *testing.T) {
	var w Wire
	w.Append([]byte("first"), 0)
	held := w.Bytes(0, 5)
	for range 100 {
		w.Append([]byte("more and more"), 0)
	}
	if string(held) != "first" {
		t.Errorf("bytes handed out became %q", held)
	}
}

func TestWireRecordAt(t *testing.T) {
	var w Wire
	if n, at := w.RecordAt(0); n != 0 || at != NoTime {
		t.Errorf("nothing received: record %d at %v", n, at)
	}
	all, starts := sampleWire(&w)
	for i, start := range starts {
		end := len(all)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		for _, off := range []int{start, end - 1} {
			if start == end {
				continue // an empty record brings no byte
			}
			if n, at := w.RecordAt(int64(off)); n != i || at != time.Duration(i)*time.Second {
				t.Errorf("byte %d: record %d at %v, want %d", off, n, at, i)
			}
		}
	}
}

func TestWireFrames(t *testing.T) {
	var w Wire
	for i, end := range []int64{5, 9, 300_000} {
		if n := w.EndFrame(end); int(n) != i {
			t.Errorf("frame %d is number %d", i, n)
		}
	}
	for n, want := range [][2]int64{{0, 5}, {5, 9}, {9, 300_000}} {
		if start, end := w.FrameSpan(int32(n)); [2]int64{start, end} != want {
			t.Errorf("frame %d is [%d, %d)", n, start, end)
		}
	}
	if w.Frames() != 3 {
		t.Errorf("%d frames", w.Frames())
	}
}

func TestArena(t *testing.T) {
	var a Arena
	var held, want []string
	p := []byte(strings.Repeat("abcdefghij", 2*largestBlock/10))
	for i := range 3000 {
		n := i * 7 % 90
		if i%1000 == 999 {
			n = len(p) // more than a block
		}
		copy(p, []byte{byte(i), byte(i >> 8)})
		held, want = append(held, a.Hold(p[:n])), append(want, string(p[:n]))
	}
	for i := range held {
		if held[i] != want[i] {
			t.Fatalf("string %d changed: %.40q, want %.40q", i, held[i], want[i])
		}
	}
}

func TestArenaAllocates(t *testing.T) {
	var a Arena
	p := []byte("0123456789abcdef")
	perBlock := testing.AllocsPerRun(10, func() {
		for range largestBlock / len(p) {
			a.Hold(p)
		}
	})
	if perBlock > 3 || a.b.Cap() > largestBlock {
		t.Errorf("%.0f allocations for %d strings, the block holds %d", perBlock, largestBlock/len(p), a.b.Cap())
	}
}
