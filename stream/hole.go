package stream

import (
	"slices"
	"sort"
)

// hole is a part of a wire's bytes that was let go of, and may be there again.
type hole struct {
	start, end int64
	data       []byte
}

// bytes are those of the hole, if they are there again and the span lies in it.
func (h *hole) bytes(start, end int64) []byte {
	if h.data == nil || start < h.start || end > h.end {
		return nil
	}
	return h.data[start-h.start : end-h.start : end-h.start]
}

// holeIn is the first hole that has bytes of the span, nil if there is none.
func (w *Wire) holeIn(start, end int64) *hole {
	n := sort.Search(len(w.holes), func(i int) bool { return w.holes[i].end > start })
	if n == len(w.holes) || w.holes[n].start >= end {
		return nil
	}
	return &w.holes[n]
}

// LetGoOf lets go of the bytes [start, end), a span that was not let go of before, or all that was
// had again since. Where records and frames begin and end stays known.
func (w *Wire) LetGoOf(start, end int64) {
	if h := w.holeIn(start, end); h != nil {
		h.data = nil
		return
	}
	at := sort.Search(len(w.holes), func(i int) bool { return w.holes[i].start >= end })
	w.holes = slices.Insert(w.holes, at, hole{start: start, end: end})
	first := max(0, sort.Search(len(w.blocks), func(i int) bool { return w.blocks[i].start > start })-1)
	for i := first; i < len(w.blocks) && w.blocks[i].start < end; i++ {
		b := &w.blocks[i]
		size := int64(len(b.data))
		b.holed += int(min(end, b.start+size) - max(start, b.start))
		if int64(b.holed) == size && (b.given || i+1 < len(w.blocks)) { // the last one may get more
			b.data = nil
		}
	}
}

// Have has bytes again that were let go of: all of a span.
func (w *Wire) Have(start int64, data []byte) bool {
	h := w.holeIn(start, start+1)
	if h == nil || h.start != start || h.end != start+int64(len(data)) {
		return false
	}
	h.data = data
	return true
}

// LetGoOfFrames forgets where frames before frame n begin and end, or some of them.
func (w *Wire) LetGoOfFrames(n int32) {
	if w.marks != nil {
		w.marks.ends.low.letGo(int(n) - 1)
	}
}

// letGo frees the blocks whose elements all stand before element n.
func (l *list[T]) letGo(n int) {
	for b := min(n/listBlock, len(l.blocks)) - 1; b >= 0 && l.blocks[b] != nil; b-- {
		l.blocks[b] = nil
	}
}

// holds reports whether element i was not let go of.
func (s *shorts) holds(i int) bool { return s.low.blocks[i/listBlock] != nil }
