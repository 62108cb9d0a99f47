package stream

import (
	"bytes"
	"runtime"
	"testing"
)

// TestPieces checks that all added bytes are returned in one buffer, whatever their number and the size of the
// chunks. This also holds when bytes are added after a read.
func TestPieces(t *testing.T) {
	for _, size := range []int{0, 1, maxSmallBytes - 1, maxSmallBytes, maxSmallBytes + 1, maxSmallBytes + chunkBlock, maxSmallBytes + 3*chunkBlock + 7} {
		for _, step := range []int{1, 999, chunkBlock, chunkBlock + 1, 1 << 24} {
			var p chunkBuffer
			var want []byte
			for len(want) < size {
				n := min(step, size-len(want))
				piece := bytes.Repeat([]byte{byte(len(want) / 1000)}, n)
				if n == 1 {
					p.appendByte(piece[0])
				} else {
					p.add(piece)
				}
				want = append(want, piece...)
			}
			if p.isEmpty() != (size == 0) || !bytes.Equal(p.joinBytes(), want) {
				t.Fatalf("%d bytes in steps of %d are not what they were", size, step)
			}
			p.appendByte('x')
			p.add([]byte("yz"))
			if !bytes.Equal(p.joinBytes(), append(want, "xyz"...)) {
				t.Fatalf("%d bytes in steps of %d, and three more, are not what they were", size, step)
			}
			if p.reset(); !p.isEmpty() || len(p.joinBytes()) > 0 || cap(p.small) > maxSmallBytes {
				t.Fatalf("%d bytes in steps of %d: %d are left, with room for %d", size, step, len(p.joinBytes()), cap(p.small))
			}
		}
	}
}

// TestLongFrames checks that a framer allocates at most about twice the size of a long frame: once while the
// frame arrives, and once when it is joined.
func TestLongFrames(t *testing.T) {
	const size = 32 << 20
	chunk := bytes.Repeat([]byte("x"), 32<<10)
	for name, f := range map[string]struct {
		Framer
		begin, end string
	}{
		"SSE": {new(SSESplitter), "data: ", "\n\n"}, "lines": {new(Lines), `"`, "\n"},
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
		if made := after.TotalAlloc - before.TotalAlloc; got < size || made > 2*size+8*maxSmallBytes {
			t.Errorf("%s: %d bytes allocated for a frame of %d", name, made, got)
		}
	}
}
