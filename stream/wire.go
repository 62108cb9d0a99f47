package stream

import (
	"sort"
	"time"
)

// Wire keeps what one exchange received: the bytes, which record brought them, and where the frames
// end. Everything else is derived from it. The zero value is ready.
type Wire struct {
	blocks  [][]byte // wireBlock bytes each, the last one filling up
	size    int64
	records list[mark]
	frames  list[int64] // end offset of each frame
}

const wireBlock = 256 << 10

// mark is where a record begins and when it came.
type mark struct {
	off int64
	at  time.Duration
}

// Append adds the bytes of one record.
func (w *Wire) Append(p []byte, at time.Duration) {
	w.records.add(mark{w.size, at})
	w.size += int64(len(p))
	for len(p) > 0 {
		n := len(w.blocks)
		if n == 0 || len(w.blocks[n-1]) == wireBlock {
			var block []byte // the first grows: most responses are small
			if n > 0 {
				block = make([]byte, 0, wireBlock)
			}
			w.blocks = append(w.blocks, block)
			n++
		}
		last := &w.blocks[n-1]
		k := min(len(p), wireBlock-len(*last))
		*last = append(*last, p[:k]...)
		p = p[k:]
	}
}

// EndFrame says that a frame ends at offset end, and returns its number.
func (w *Wire) EndFrame(end int64) int32 {
	w.frames.add(end)
	return int32(w.frames.n - 1)
}

// Size is the number of bytes received.
func (w *Wire) Size() int64 { return w.size }

// Frames is the number of frames.
func (w *Wire) Frames() int { return w.frames.n }

// Records is the number of records.
func (w *Wire) Records() int { return w.records.n }

// Record returns the bytes of record n, which the caller must not change, and when they came.
func (w *Wire) Record(n int) (data []byte, at time.Duration) {
	end := w.size
	if n+1 < w.records.n {
		end = w.records.at(n + 1).off
	}
	r := w.records.at(n)
	return w.Bytes(r.off, end), r.at
}

// FrameSpan is where frame n begins and ends.
func (w *Wire) FrameSpan(n int32) (start, end int64) {
	if n > 0 {
		start = *w.frames.at(int(n) - 1)
	}
	return start, *w.frames.at(int(n))
}

// Bytes returns the bytes [start, end), which the caller must not change.
func (w *Wire) Bytes(start, end int64) []byte {
	if start >= end {
		return nil
	}
	b := start / wireBlock
	if (end-1)/wireBlock == b {
		return w.blocks[b][start%wireBlock : end-b*wireBlock]
	}
	out := make([]byte, 0, end-start)
	for ; start < end; start = (start/wireBlock + 1) * wireBlock {
		block := w.blocks[start/wireBlock]
		out = append(out, block[start%wireBlock:min(wireBlock, end-start+start%wireBlock)]...)
	}
	return out
}

// RecordAt is the number of the record that brought the byte at off, and when.
func (w *Wire) RecordAt(off int64) (n int, at time.Duration) {
	n = sort.Search(w.records.n, func(i int) bool { return w.records.at(i).off > off }) - 1
	if n < 0 {
		return 0, NoTime
	}
	return n, w.records.at(n).at
}
