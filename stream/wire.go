package stream

import (
	"math"
	"slices"
	"sort"
	"time"
)

// Wire keeps what one exchange received: the bytes, which record brought them, and where the frames
// end. Everything else is derived from it. The zero value is ready.
type Wire struct {
	blocks []block
	size   int64
	gone   int64 // bytes that were let go of, with all before them
	holes  []hole
	marks  *marks
}

// marks are where records and frames begin and end: nil of a wire that has neither, as are most of
// those that are kept.
type marks struct {
	begins shorts // of the records
	times  shorts // when they came, in microseconds
	ends   shorts // of the frames
	sides  []side // of records, in their order; none has most
}

// side is what stood around a record's bytes in the line that they were found in.
type side struct {
	record        int
	before, after []byte
}

// block is a part of the bytes. Those that were given away are blocks of their own.
type block struct {
	start int64
	data  []byte // nil where all of it is in holes
	holed int    // bytes of it that are in holes
	given bool
}

const (
	wireBlock = 256 << 10 // bytes of a block that is filled by many records
	smallData = 16 << 10  // what is smaller is copied, for it may hold more memory than it is long
	sideBytes = 1 << 10   // that are kept of what stands on each side of a record
)

// Append adds a copy of the bytes of one record. Its time is kept in whole microseconds.
func (w *Wire) Append(p []byte, at time.Duration) {
	w.record(at)
	for len(p) > 0 {
		last := w.room()
		k := min(len(p), wireBlock-len(last.data))
		last.data = append(last.data, p[:k]...)
		w.size += int64(k)
		p = p[k:]
	}
}

// Give is Append of bytes that nobody changes from now on: many are not copied.
func (w *Wire) Give(p []byte, at time.Duration) {
	if len(p) < smallData {
		w.Append(p, at)
		return
	}
	w.record(at)
	w.blocks = append(w.blocks, block{start: w.size, data: p[:len(p):len(p)], given: true})
	w.size += int64(len(p))
}

// Beside says what stood around the last record's bytes, in the line that they were found in. Of much
// only what is next to them is kept.
func (w *Wire) Beside(before, after []byte) {
	before, after = before[max(0, len(before)-sideBytes):], after[:min(len(after), sideBytes)]
	if n := w.Records(); n > 0 && len(before)+len(after) > 0 {
		both := append(append(make([]byte, 0, len(before)+len(after)), before...), after...)
		w.marks.sides = append(w.marks.sides, side{n - 1, both[:len(before):len(before)], both[len(before):]})
	}
}

// Sides are what stood around the bytes of record n; none where they were found as they are.
func (w *Wire) Sides(n int) (before, after []byte) {
	if w.marks == nil {
		return nil, nil
	}
	sides := w.marks.sides
	i := sort.Search(len(sides), func(i int) bool { return sides[i].record >= n })
	if i == len(sides) || sides[i].record != n {
		return nil, nil
	}
	return sides[i].before, sides[i].after
}

func (w *Wire) record(at time.Duration) {
	m := w.mark()
	m.begins.add(w.size)
	if at >= 0 {
		at /= time.Microsecond
	}
	m.times.add(int64(max(at, NoTime)))
}

// mark is the wire's marks, to be added to.
func (w *Wire) mark() *marks {
	if w.marks == nil {
		w.marks = new(marks)
	}
	return w.marks
}

// room is a block that is not full.
func (w *Wire) room() *block {
	n := len(w.blocks)
	if n > 0 && !w.blocks[n-1].given && len(w.blocks[n-1].data) < wireBlock {
		return &w.blocks[n-1]
	}
	var data []byte // it grows: most responses are small
	if n > 0 && !w.blocks[n-1].given {
		data = make([]byte, 0, wireBlock)
	}
	w.blocks = append(w.blocks, block{start: w.size, data: data})
	return &w.blocks[n]
}

// LetGo lets go of the bytes that have come, and of their records. Where frames begin and end stays
// known.
func (w *Wire) LetGo() {
	w.gone = w.size
	if w.marks != nil {
		w.marks.begins.clear()
		w.marks.times.clear()
		w.marks.sides = nil
	}
	var spare []byte // room for what comes
	for _, b := range w.blocks {
		if !b.given {
			spare = b.data[:0]
		}
	}
	clear(w.blocks) // those that were given away are not held behind its end
	w.blocks = w.blocks[:0]
	if spare != nil {
		w.blocks = append(w.blocks, block{start: w.size, data: spare})
	}
}

// EndFrame says that a frame ends at offset end, and returns its number.
func (w *Wire) EndFrame(end int64) int32 { return int32(w.mark().ends.add(end)) }

// Upto is the wire as it was when it had so many bytes, with the frames that had ended by then. It
// shares what it holds with w, which may go on.
func (w *Wire) Upto(size int64) Wire {
	size = min(size, w.size)
	then := Wire{size: size, gone: min(w.gone, size), holes: slices.Clone(w.holes)}
	k := sort.Search(len(w.blocks), func(i int) bool { return w.blocks[i].start >= size })
	if then.blocks = slices.Clone(w.blocks[:k]); k > 0 {
		last := &then.blocks[k-1]
		n := min(int64(len(last.data)), size-last.start)
		last.data, last.given = last.data[:n:n], true
	}
	if w.marks != nil {
		m := *w.marks
		m.begins.low.n = sort.Search(m.begins.low.n, func(i int) bool { return m.begins.at(i) >= size })
		m.times.low.n = m.begins.low.n
		m.ends.low.n = sort.Search(m.ends.low.n, func(i int) bool { return m.ends.holds(i) && m.ends.at(i) > size })
		then.marks = &m
	}
	return then
}

// Size is the number of bytes received.
func (w *Wire) Size() int64 { return w.size }

// Memory is about how many bytes the wire holds.
func (w *Wire) Memory() int64 {
	n := w.size - w.gone + int64(8*w.Records()+4*w.Frames())
	for _, h := range w.holes {
		n -= h.end - h.start - int64(len(h.data))
	}
	if w.marks != nil {
		for _, s := range w.marks.sides {
			n += int64(len(s.before) + len(s.after))
		}
	}
	return n
}

// Frames is the number of frames.
func (w *Wire) Frames() int {
	if w.marks == nil {
		return 0
	}
	return w.marks.ends.low.n
}

// Records is the number of records that were not let go of.
func (w *Wire) Records() int {
	if w.marks == nil {
		return 0
	}
	return w.marks.begins.low.n
}

// Record returns the bytes of record n of those that were not let go of, and when they came. The
// caller must not change them.
func (w *Wire) Record(n int) (data []byte, at time.Duration) {
	end := w.size
	if n+1 < w.Records() {
		end = w.marks.begins.at(n + 1)
	}
	return w.Bytes(w.marks.begins.at(n), end), w.time(n)
}

// RecordStart is where record n begins; that of the one behind the last is the size.
func (w *Wire) RecordStart(n int) int64 {
	if n >= w.Records() {
		return w.size
	}
	return w.marks.begins.at(n)
}

// time is when record n came.
func (w *Wire) time(n int) time.Duration {
	if at := time.Duration(w.marks.times.at(n)); at >= 0 {
		return at * time.Microsecond
	}
	return NoTime
}

// FrameSpan is where frame n begins and ends; nowhere, if that was let go of.
func (w *Wire) FrameSpan(n int32) (start, end int64) {
	if !w.marks.ends.holds(max(int(n)-1, 0)) {
		return 0, 0
	}
	if n > 0 {
		start = w.marks.ends.at(int(n) - 1)
	}
	return start, w.marks.ends.at(int(n))
}

// Bytes returns the bytes [start, end), which the caller must not change; nil where some of them
// were let go of.
func (w *Wire) Bytes(start, end int64) []byte {
	if start >= end || start < w.gone {
		return nil
	}
	if h := w.holeIn(start, end); h != nil {
		return h.bytes(start, end)
	}
	n := sort.Search(len(w.blocks), func(i int) bool { return w.blocks[i].start > start }) - 1
	first := w.blocks[n].from(start)
	if size := end - start; size <= int64(len(first)) {
		return first[:size:size]
	}
	out := append(make([]byte, 0, end-start), first...)
	for n++; int64(len(out)) < end-start; n++ {
		rest := w.blocks[n].data
		out = append(out, rest[:min(int64(len(rest)), end-start-int64(len(out)))]...)
	}
	return out
}

// from is what the block holds from an offset of the wire on.
func (b *block) from(start int64) []byte { return b.data[start-b.start:] }

// RecordAt is the number of the record that brought the byte at off, and when.
func (w *Wire) RecordAt(off int64) (n int, at time.Duration) {
	n = sort.Search(w.Records(), func(i int) bool { return w.marks.begins.at(i) > off }) - 1
	if n < 0 {
		return 0, NoTime
	}
	return n, w.time(n)
}

// shorts is a long list of numbers in four bytes each. A number is kept as what it is more than a
// base; where that does not fit another base begins. The zero value is ready.
type shorts struct {
	low   list[uint32]
	bases []base
}

// base is what the numbers from an index on are counted from.
type base struct {
	from  int
	value int64
}

// clear empties the list, and keeps its room.
func (s *shorts) clear() {
	s.low.clear()
	s.bases = s.bases[:0]
}

// add adds a number and returns its index.
func (s *shorts) add(v int64) (n int) {
	n = s.low.n
	last := len(s.bases) - 1
	if last < 0 || v < s.bases[last].value || v-s.bases[last].value > math.MaxUint32 {
		s.bases = append(s.bases, base{n, v})
		last++
	}
	s.low.add(uint32(v - s.bases[last].value))
	return n
}

func (s *shorts) at(n int) int64 {
	i := len(s.bases) - 1
	if s.bases[i].from > n {
		i = sort.Search(i, func(i int) bool { return s.bases[i].from > n }) - 1
	}
	return s.bases[i].value + int64(*s.low.at(n))
}
