package stream

import (
	"slices"
	"sort"
)

// evictedRange is an evicted range of a wire's bytes. data is not nil once it is restored.
type evictedRange struct {
	start, end int64
	data       []byte
}

// restoredBytes returns bytes of a restored range; nil if it is not restored or doesn't contain the span.
func (h *evictedRange) restoredBytes(start, end int64) []byte {
	if h.data == nil || start < h.start || end > h.end {
		return nil
	}
	return h.data[start-h.start : end-h.start : end-h.start]
}

// evictedIn returns the first evicted range that overlaps the span, nil if there is none.
func (w *Wire) evictedIn(start, end int64) *evictedRange {
	n := sort.Search(len(w.evicted), func(i int) bool { return w.evicted[i].end > start })
	if n == len(w.evicted) || w.evicted[n].start >= end {
		return nil
	}
	return &w.evicted[n]
}

// Evict frees the bytes [start, end): a span that was never evicted, or a range that was restored since.
// The bounds of records and frames stay known.
func (w *Wire) Evict(start, end int64) {
	if h := w.evictedIn(start, end); h != nil {
		h.data = nil
		return
	}
	at := sort.Search(len(w.evicted), func(i int) bool { return w.evicted[i].start >= end })
	w.evicted = slices.Insert(w.evicted, at, evictedRange{start: start, end: end})
	first := max(0, sort.Search(len(w.blocks), func(i int) bool { return w.blocks[i].start > start })-1)
	for i := first; i < len(w.blocks) && w.blocks[i].start < end; i++ {
		b := &w.blocks[i]
		size := int64(len(b.data))
		b.evictedBytes += int(min(end, b.start+size) - max(start, b.start))
		if int64(b.evictedBytes) == size && (b.given || i+1 < len(w.blocks)) { // the last one may still grow
			b.data = nil
		}
	}
}

// Restore puts the bytes of an evicted range back. It returns false if data is not exactly one range.
func (w *Wire) Restore(start int64, data []byte) bool {
	h := w.evictedIn(start, start+1)
	if h == nil || h.start != start || h.end != start+int64(len(data)) {
		return false
	}
	h.data = data
	return true
}

// EvictFrames forgets the bounds of frames before frame n, or some of them.
func (w *Wire) EvictFrames(n int32) {
	if w.boundaries != nil {
		w.boundaries.ends.low.freeBefore(int(n) - 1)
	}
}

// freeBefore frees the blocks whose elements are all before element n.
func (l *blockList[T]) freeBefore(n int) {
	for b := min(n/listBlock, len(l.blocks)) - 1; b >= 0 && l.blocks[b] != nil; b-- {
		l.blocks[b] = nil
	}
}

// has reports whether element i was not evicted.
func (s *packedInts) has(i int) bool { return s.low.blocks[i/listBlock] != nil }
