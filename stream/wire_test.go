package stream

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toolscope/stream/list"
)

// sampleWire appends records of very different sizes. It returns their bytes, and the offsets where they begin.
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
				continue // an empty record has no byte
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
	p := []byte(strings.Repeat("abcdefghij", 2*maxBlock/10))
	for i := range 3000 {
		n := i * 7 % 90
		if i%1000 == 999 {
			n = len(p) // more than a block
		}
		copy(p, []byte{byte(i), byte(i >> 8)})
		held, want = append(held, a.StringOf(p[:n])), append(want, string(p[:n]))
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
		for range maxBlock / len(p) {
			a.StringOf(p)
		}
	})
	if perBlock > 3 || a.b.Cap() > maxBlock {
		t.Errorf("%.0f allocations for %d strings, the block holds %d", perBlock, maxBlock/len(p), a.b.Cap())
	}
}

// TestWireGiven checks that owned bytes keep their order among appended bytes, and that later bytes are not
// written to their memory.
func TestWireGiven(t *testing.T) {
	var w Wire
	var all []byte
	rng := rand.New(rand.NewPCG(5, 6))
	whole := make([]byte, 25*minOwnedBytes)
	for i := range whole {
		whole[i] = byte(rng.Uint32())
	}
	rest := whole
	for _, size := range []int{10, minOwnedBytes - 1, minOwnedBytes, minOwnedBytes + 1, 5, 3 * minOwnedBytes, 0, wireBlock, 7} {
		record := rest[:min(size, len(rest))]
		rest = rest[len(record):]
		w.AppendOwned(record, NoTime)
		all = append(all, record...)
		w.Append([]byte("x"), NoTime)
		all = append(all, 'x')
	}
	original := bytes.Clone(whole)
	for start := 0; start < len(all); start += 9973 {
		for end := start; end <= len(all); end += 19997 {
			if !bytes.Equal(w.Bytes(int64(start), int64(end)), all[start:end]) {
				t.Fatalf("Bytes(%d, %d) are others", start, end)
			}
		}
	}
	if got := w.Bytes(0, w.Size()); !bytes.Equal(got, all) || !bytes.Equal(whole, original) {
		t.Error("the bytes are others")
	}
}

// TestWireTimes checks that times are kept in whole microseconds, in any order and at any distance.
func TestWireTimes(t *testing.T) {
	var w Wire
	var want []time.Duration
	for i, at := range []time.Duration{
		NoTime, 0, 1, 999, 1000, 3*time.Hour + 1500, time.Hour, NoTime, 5 * time.Microsecond, 40 * 365 * 24 * time.Hour, math.MaxInt64, NoTime, 7,
	} {
		for range 3 * list.BlockSize / 2 {
			w.Append([]byte{byte(i)}, at)
			if at > 0 {
				at = at.Truncate(time.Microsecond)
			}
			want = append(want, at)
		}
	}
	for n, at := range want {
		if _, got := w.Record(n); got != at {
			t.Fatalf("record %d came at %v, want %v", n, got, at)
		}
		if i, got := w.RecordAt(int64(n)); i != n || got != at {
			t.Fatalf("byte %d: record %d at %v, want %d at %v", n, i, got, n, at)
		}
	}
	if n := len(w.boundaries.times.bases); n > 11 {
		t.Errorf("%d bases: one for each change that is too great is enough", n)
	}
}

// TestWireFarFrames checks that the ends of frames are right beyond four gigabytes.
func TestWireFarFrames(t *testing.T) {
	var w Wire
	const step = 1<<32/1000 + 1
	for i := range int64(3000) {
		w.EndFrame(i * step)
	}
	for i := range int64(2999) {
		if start, end := w.FrameSpan(int32(i + 1)); start != i*step || end != (i+1)*step {
			t.Fatalf("frame %d is [%d, %d)", i+1, start, end)
		}
	}
}

// TestWireEvicted checks that the bounds of frames stay known after their bytes are evicted, and that later bytes are
// kept as usual.
func TestWireEvicted(t *testing.T) {
	var w Wire
	w.Append([]byte("ab"), time.Second)
	w.EndFrame(2)
	w.EvictAll()
	w.AppendOwned(bytes.Repeat([]byte("c"), minOwnedBytes), 2*time.Second)
	w.EvictAll()
	w.Append([]byte("def"), 3*time.Second)
	w.EndFrame(5 + minOwnedBytes)
	start, end := w.FrameSpan(1)
	data, at := w.Record(0)
	if string(data) != "def" || at != 3*time.Second || start != 2 || end != 5+minOwnedBytes || w.Size() != 5+minOwnedBytes || w.Records() != 1 {
		t.Errorf("%q at %s, a frame from %d to %d of %d", data, at, start, end, w.Size())
	}
	if n, at := w.RecordAt(1); w.Bytes(0, 2) != nil || w.Bytes(1, end) != nil || n != 0 || at != NoTime {
		t.Errorf("%q is still there, of record %d", w.Bytes(0, 2), n)
	}
	if held := w.Memory(); held != 3+8+2*4 {
		t.Errorf("it holds %d bytes", held)
	}
	for range 2*list.BlockSize + 1 {
		w.Append([]byte("g"), 4*time.Second)
	}
	if n := testing.AllocsPerRun(100, func() { w.EvictAll(); w.Append([]byte("g"), time.Second) }); n > 0 || w.Records() != 1 {
		t.Errorf("%v allocations to let go of a record and take another", n)
	}
}

// TestWireUpto checks that a prefix of a wire equals the wire when it had that size, and doesn't change while the
// wire grows.
func TestWireUpto(t *testing.T) {
	var w, then Wire
	all, starts := sampleWire(&w)
	for i := 0; i < len(all); i += len(all) / 9 {
		w.EndFrame(int64(i))
	}
	for _, size := range append(starts, 1, wireBlock, wireBlock+1, len(all)-1) {
		then = w.Prefix(int64(size))
		w.Append([]byte("and more"), time.Hour)
		if got := then.Bytes(0, then.Size()); then.Size() != int64(size) || !bytes.Equal(got, all[:size]) {
			t.Errorf("Upto(%d) has %d bytes, or others", size, len(got))
		}
		for n := range then.Records() {
			data, at := then.Record(n)
			if want, when := w.Record(n); !bytes.HasPrefix(want, data) || at != when {
				t.Errorf("record %d of Upto(%d) is another", n, size)
			}
		}
		for n := range then.Frames() {
			if _, end := then.FrameSpan(int32(n)); end > int64(size) {
				t.Errorf("frame %d of Upto(%d) ends at %d", n, size, end)
			}
		}
		if n := then.Frames(); n < w.Frames() {
			if _, end := w.FrameSpan(int32(n)); end <= int64(size) {
				t.Errorf("Upto(%d) lacks the frame that ends at %d", size, end)
			}
		}
	}
}
