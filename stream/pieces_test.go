package stream

import (
	"bytes"
	"runtime"
	"testing"
)

// TestPieces: what was added comes back as one, whatever its size and however it came, also when
// more is added to what was wanted before.
func TestPieces(t *testing.T) {
	for _, size := range []int{0, 1, smallSize - 1, smallSize, smallSize + 1, smallSize + pieceBlock, smallSize + 3*pieceBlock + 7} {
		for _, step := range []int{1, 999, pieceBlock, pieceBlock + 1, 1 << 24} {
			var p pieces
			var want []byte
			for len(want) < size {
				n := min(step, size-len(want))
				piece := bytes.Repeat([]byte{byte(len(want) / 1000)}, n)
				if n == 1 {
					p.push(piece[0])
				} else {
					p.add(piece)
				}
				want = append(want, piece...)
			}
			if p.empty() != (size == 0) || !bytes.Equal(p.whole(), want) {
				t.Fatalf("%d bytes in steps of %d are not what they were", size, step)
			}
			p.push('x')
			p.add([]byte("yz"))
			if !bytes.Equal(p.whole(), append(want, "xyz"...)) {
				t.Fatalf("%d bytes in steps of %d, and three more, are not what they were", size, step)
			}
			if p.clear(); !p.empty() || len(p.whole()) > 0 || cap(p.small) > smallSize {
				t.Fatalf("%d bytes in steps of %d: %d are left, with room for %d", size, step, len(p.whole()), cap(p.small))
			}
		}
	}
}

// TestLongFrames: a framer allocates no more than its part of a frame that is long, twice: as it
// comes and as it is wanted.
func TestLongFrames(t *testing.T) {
	const size = 32 << 20
	chunk := bytes.Repeat([]byte("x"), 32<<10)
	for name, f := range map[string]struct {
		Framer
		begin, end string
	}{
		"SSE": {new(SSE), "data: ", "\n\n"}, "lines": {new(Lines), `"`, "\n"},
		"values": {new(Values), `{"`, `"}`}, "array": {new(Array), `[{"`, `"}]`},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := 0
		emit := func(frame Frame) { got += len(frame.Data) }
		f.Write([]byte(f.begin), emit)
		for range size / len(chunk) {
			f.Write(chunk, emit)
		}
		f.Write([]byte(f.end), emit)
		f.Close(emit)
		runtime.ReadMemStats(&after)
		if made := after.TotalAlloc - before.TotalAlloc; got < size || made > 2*size+8*smallSize {
			t.Errorf("%s: %d bytes allocated for a frame of %d", name, made, got)
		}
	}
}
