package stream

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"toolscope/stream/list"
)

// Wire keeps the data that one exchange received: the bytes, the records that contained them, and where the frames
// end. Everything else is derived from these. The zero value is ready to use.
type Wire struct {
	blocks     []byteBlock
	size       int64
	evictedEnd int64 // all bytes before this offset are evicted
	evicted    []evictedRange
	boundaries *boundaries
}

// boundaries contains the offsets at which records begin and frames end. A wire without records and frames has
// no boundaries.
type boundaries struct {
	begins    packedInts // offsets at which records begin
	times     packedInts // times when the records arrived, in microseconds since the source began; negative if unknown
	ends      packedInts // offsets at which frames end
	surrounds []surround // text around records, in the order of the records; most records have none
}

// surround is the text around a record's bytes, in the line that contained the bytes.
type surround struct {
	record        int
	before, after []byte
}

// byteBlock is a range of a wire's bytes. Bytes that the wire owns without copying have a block of their own.
type byteBlock struct {
	start        int64
	data         []byte // nil if all of it is evicted
	evictedBytes int    // number of evicted bytes
	given        bool
}

const (
	wireBlock        = 256 << 10 // size of a block that many records fill, in bytes
	minOwnedBytes    = 16 << 10  // shorter byte slices are copied, because each may keep a much larger buffer in memory
	maxSurroundBytes = 1 << 10   // maximum number of bytes kept on each side of a record
)

// Append adds a copy of the bytes of one record. Its time is kept in whole microseconds.
func (w *Wire) Append(p []byte, at time.Duration) {
	w.addRecord(at)
	for len(p) > 0 {
		last := w.openBlock()
		k := min(len(p), wireBlock-len(last.data))
		last.data = append(last.data, p[:k]...)
		w.size += int64(k)
		p = p[k:]
	}
}

// AppendOwned does the same as Append, but without a copy, for bytes that will not change. Only slices shorter than
// minOwnedBytes are copied.
func (w *Wire) AppendOwned(p []byte, at time.Duration) {
	if len(p) < minOwnedBytes {
		w.Append(p, at)
		return
	}
	w.addRecord(at)
	w.blocks = append(w.blocks, byteBlock{start: w.size, data: p[:len(p):len(p)], given: true})
	w.size += int64(len(p))
}

// SetSurround sets the text around the last record's bytes, in the line that contained them. If the text is
// long, only the bytes next to the record are kept.
func (w *Wire) SetSurround(before, after []byte) {
	before, after = before[max(0, len(before)-maxSurroundBytes):], after[:min(len(after), maxSurroundBytes)]
	if n := w.Records(); n > 0 && len(before)+len(after) > 0 {
		both := append(append(make([]byte, 0, len(before)+len(after)), before...), after...)
		w.boundaries.surrounds = append(w.boundaries.surrounds, surround{n - 1, both[:len(before):len(before)], both[len(before):]})
	}
}

// Surround returns the text around the bytes of record n. It returns nil if SetSurround kept none.
func (w *Wire) Surround(n int) (before, after []byte) {
	if w.boundaries == nil {
		return nil, nil
	}
	sides := w.boundaries.surrounds
	i := sort.Search(len(sides), func(i int) bool { return sides[i].record >= n })
	if i == len(sides) || sides[i].record != n {
		return nil, nil
	}
	return sides[i].before, sides[i].after
}

func (w *Wire) addRecord(at time.Duration) {
	m := w.ensureBoundaries()
	m.begins.add(w.size)
	if at >= 0 {
		at /= time.Microsecond
	}
	m.times.add(int64(max(at, NoTime)))
}

// ensureBoundaries returns the wire's boundaries. It creates them if needed.
func (w *Wire) ensureBoundaries() *boundaries {
	if w.boundaries == nil {
		w.boundaries = new(boundaries)
	}
	return w.boundaries
}

// openBlock returns a block that is not full: the last one or a new one.
func (w *Wire) openBlock() *byteBlock {
	n := len(w.blocks)
	if n > 0 && !w.blocks[n-1].given && len(w.blocks[n-1].data) < wireBlock {
		return &w.blocks[n-1]
	}
	var data []byte // the first block starts small, because most responses are small
	if n > 0 && !w.blocks[n-1].given {
		data = make([]byte, 0, wireBlock)
	}
	w.blocks = append(w.blocks, byteBlock{start: w.size, data: data})
	return &w.blocks[n]
}

// EvictAll frees the bytes so far and forgets their records. The bounds of frames stay known.
func (w *Wire) EvictAll() {
	w.evictedEnd = w.size
	if w.boundaries != nil {
		w.boundaries.begins.reset()
		w.boundaries.times.reset()
		w.boundaries.surrounds = nil
	}
	var spare []byte // room for later bytes
	for _, b := range w.blocks {
		if !b.given {
			spare = b.data[:0]
		}
	}
	clear(w.blocks) // don't hold owned bytes past the end of the slice
	w.blocks = w.blocks[:0]
	if spare != nil {
		w.blocks = append(w.blocks, byteBlock{start: w.size, data: spare})
	}
}

// Skip counts the next n bytes without keeping them, as if they were appended and then freed by EvictAll. It returns
// false, and does nothing, unless all bytes so far were freed by EvictAll.
func (w *Wire) Skip(n int) bool {
	if w.evictedEnd == 0 || w.HoldsBytes() {
		return false
	}
	w.size += int64(n)
	w.evictedEnd = w.size
	return true
}

// HoldsBytes reports whether any bytes have not been freed by EvictAll.
func (w *Wire) HoldsBytes() bool { return w.evictedEnd < w.size }

// HoldsOwned reports whether any bytes that AppendOwned did not copy have not been freed.
func (w *Wire) HoldsOwned() bool {
	return slices.ContainsFunc(w.blocks, func(b byteBlock) bool { return b.given && b.data != nil })
}

// EndFrame records that a frame ends at offset end, and returns the frame's number.
func (w *Wire) EndFrame(end int64) int32 { return int32(w.ensureBoundaries().ends.add(end)) }

// Prefix returns the wire as it was when it had size bytes, with the frames that had ended by then. It shares
// its content with w, and w may grow.
func (w *Wire) Prefix(size int64) Wire {
	size = min(size, w.size)
	then := Wire{size: size, evictedEnd: min(w.evictedEnd, size), evicted: slices.Clone(w.evicted)}
	k := sort.Search(len(w.blocks), func(i int) bool { return w.blocks[i].start >= size })
	if then.blocks = slices.Clone(w.blocks[:k]); k > 0 {
		last := &then.blocks[k-1]
		n := min(int64(len(last.data)), size-last.start)
		last.data, last.given = last.data[:n:n], true
	}
	if w.boundaries != nil {
		m := *w.boundaries
		m.begins.low = m.begins.low.Before(sort.Search(m.begins.low.Len(), func(i int) bool { return m.begins.at(i) >= size }))
		m.times.low = m.times.low.Before(m.begins.low.Len())
		m.ends.low = m.ends.low.Before(sort.Search(m.ends.low.Len(), func(i int) bool { return m.ends.has(i) && m.ends.at(i) > size }))
		then.boundaries = &m
	}
	return then
}

// Size returns the number of bytes received.
func (w *Wire) Size() int64 { return w.size }

// Memory returns roughly the number of bytes of memory that the wire uses.
func (w *Wire) Memory() int64 {
	n := w.size - w.evictedEnd + int64(8*w.Records()+4*w.Frames())
	for _, h := range w.evicted {
		n -= h.end - h.start - int64(len(h.data))
	}
	if w.boundaries != nil {
		for _, s := range w.boundaries.surrounds {
			n += int64(len(s.before) + len(s.after))
		}
	}
	return n
}

// Frames returns the number of frames, including those whose bounds were evicted.
func (w *Wire) Frames() int {
	if w.boundaries == nil {
		return 0
	}
	return w.boundaries.ends.low.Len()
}

// Records returns the number of records that were not evicted.
func (w *Wire) Records() int {
	if w.boundaries == nil {
		return 0
	}
	return w.boundaries.begins.low.Len()
}

// Record returns the bytes of record n and their time of arrival. It counts only records that were not evicted.
// The caller must not change the bytes.
func (w *Wire) Record(n int) (data []byte, at time.Duration) {
	end := w.size
	if n+1 < w.Records() {
		end = w.boundaries.begins.at(n + 1)
	}
	return w.Bytes(w.boundaries.begins.at(n), end), w.recordTime(n)
}

// RecordStart returns the offset where record n begins. For the number after the last record, it returns the
// size.
func (w *Wire) RecordStart(n int) int64 {
	if n >= w.Records() {
		return w.size
	}
	return w.boundaries.begins.at(n)
}

// recordTime returns the time when record n arrived.
func (w *Wire) recordTime(n int) time.Duration {
	if at := time.Duration(w.boundaries.times.at(n)); at >= 0 {
		return at * time.Microsecond
	}
	return NoTime
}

// FrameSpan returns the offsets where frame n begins and ends, or 0 and 0 if its bounds were evicted.
func (w *Wire) FrameSpan(n int32) (start, end int64) {
	if !w.boundaries.ends.has(max(int(n)-1, 0)) {
		return 0, 0
	}
	if n > 0 {
		start = w.boundaries.ends.at(int(n) - 1)
	}
	return start, w.boundaries.ends.at(int(n))
}

// Bytes returns the bytes [start, end), or nil if some of them are evicted or the range is empty. The caller
// must not change the bytes.
func (w *Wire) Bytes(start, end int64) []byte {
	if start >= end || start < w.evictedEnd {
		return nil
	}
	if h := w.evictedIn(start, end); h != nil {
		if h.data == nil || start < h.start || end > h.end { // not all of it was restored
			return nil
		}
		return h.data[start-h.start : end-h.start : end-h.start]
	}
	n := sort.Search(len(w.blocks), func(i int) bool { return w.blocks[i].start > start }) - 1
	first := w.blocks[n].data[start-w.blocks[n].start:]
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

// RecordAt returns the number of the record that contains the byte at off, and the record's time of arrival.
// It returns 0 and NoTime if that record was evicted.
func (w *Wire) RecordAt(off int64) (n int, at time.Duration) {
	n = sort.Search(w.Records(), func(i int) bool { return w.boundaries.begins.at(i) > off }) - 1
	if n < 0 {
		return 0, NoTime
	}
	return n, w.recordTime(n)
}

// packedInts is a long list of numbers in four bytes each. A number is stored as the difference from a
// base; if the difference doesn't fit, a new base begins. The zero value is ready to use.
type packedInts struct {
	low   list.Blocks[uint32]
	bases []intBase
}

// intBase is the base of the numbers that begin at an index.
type intBase struct {
	from  int
	value int64
}

// reset empties the list and keeps some of its memory.
func (s *packedInts) reset() {
	s.low.Reset()
	s.bases = s.bases[:0]
}

// add appends a number and returns its index.
func (s *packedInts) add(v int64) (n int) {
	n = s.low.Len()
	last := len(s.bases) - 1
	if last < 0 || v < s.bases[last].value || v-s.bases[last].value > math.MaxUint32 {
		s.bases = append(s.bases, intBase{n, v})
		last++
	}
	s.low.Add(uint32(v - s.bases[last].value))
	return n
}

func (s *packedInts) at(n int) int64 {
	i := len(s.bases) - 1
	if s.bases[i].from > n {
		i = sort.Search(i, func(i int) bool { return s.bases[i].from > n }) - 1
	}
	return s.bases[i].value + int64(*s.low.At(n))
}

// evictedRange is an evicted range of a wire's bytes. The field data is nil until the range is restored.
type evictedRange struct {
	start, end int64
	data       []byte
}

// evictedIn returns the first evicted range that overlaps the span, or nil.
func (w *Wire) evictedIn(start, end int64) *evictedRange {
	n := sort.Search(len(w.evicted), func(i int) bool { return w.evicted[i].end > start })
	if n == len(w.evicted) || w.evicted[n].start >= end {
		return nil
	}
	return &w.evicted[n]
}

// Evict frees the bytes [start, end). The span must never have been evicted, or must be a range that has been
// restored since. The bounds of records and frames stay known.
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
		if int64(b.evictedBytes) == size && (b.given || i+1 < len(w.blocks)) { // the last block may still grow
			b.data = nil
		}
	}
}

// Restore puts the bytes of an evicted range back. It returns false if start and data don't match exactly one range.
func (w *Wire) Restore(start int64, data []byte) bool {
	h := w.evictedIn(start, start+1)
	if h == nil || h.start != start || h.end != start+int64(len(data)) {
		return false
	}
	h.data = data
	return true
}

// EvictFrames forgets the bounds of some or all frames before frame n.
func (w *Wire) EvictFrames(n int32) {
	if w.boundaries != nil {
		w.boundaries.ends.low.FreeBefore(int(n) - 1)
	}
}

// has reports whether element i was not evicted.
func (s *packedInts) has(i int) bool { return s.low.Has(i) }

// wireForms contains the wire forms of some events of a block, in order (see WireForm). Most forms contain the
// text of their event, and the bytes around it equal those of the previous form. So only differences are
// stored: a byte or two for most forms.
type wireForms struct {
	packed     []byte
	runs       [blockEvents / formRun]uint32 // offset in packed at which each run of events begins
	last       int                           // the last run that has a form, counted from 1
	head, tail []byte                        // the bytes before and after the text in the last form of that run
}

// formRun is the number of events in a run. To read a form, decoding starts at the beginning of its run.
const formRun = 16

// Flags of a form. The parts that differ from the previous form follow them.
const (
	sameHead = 1 << iota
	sameTail
	allText // all of the text is between head and tail
)

// add stores the wire form of event i of its block.
func (o *wireForms) add(i int, wire, text string) {
	if run := i / formRun; o.last != run+1 {
		o.last, o.runs[run] = run+1, uint32(len(o.packed))
		o.head, o.tail = o.head[:0], o.tail[:0]
	}
	at, from, n := locateText(wire, text)
	head, tail := wire[:at], wire[at+n:]
	says := len(o.packed)
	o.packed = append(o.packed, 0)
	if head == string(o.head) {
		o.packed[says] |= sameHead
	} else {
		same := 0
		for same < min(len(head), len(o.head)) && head[same] == o.head[same] {
			same++
		}
		o.packed = binary.AppendUvarint(o.packed, uint64(same))
		o.appendPart(head[same:])
		o.head = append(o.head[:0], head...)
	}
	if tail == string(o.tail) {
		o.packed[says] |= sameTail
	} else {
		o.appendPart(tail)
		o.tail = append(o.tail[:0], tail...)
	}
	if n == len(text) {
		o.packed[says] |= allText
	} else {
		o.packed = binary.AppendUvarint(binary.AppendUvarint(o.packed, uint64(from)), uint64(n))
	}
}

func (o *wireForms) appendPart(s string) {
	o.packed = append(binary.AppendUvarint(o.packed, uint64(len(s))), s...)
}

// locateText finds n bytes of the text in a form. It returns their offset in the form (at) and in the text (from).
// These bytes are the whole text, or its end or beginning if that is long enough.
func locateText(wire, text string) (at, from, n int) {
	const least = 4
	if at = strings.LastIndex(wire, text); at >= 0 {
		return at, 0, len(text)
	}
	if len(text) < least {
		return 0, 0, 0
	}
	if at = strings.LastIndex(wire, text[len(text)-least:]); at >= 0 {
		n = least
		for at > 0 && n < len(text) && wire[at-1] == text[len(text)-n-1] {
			at, n = at-1, n+1
		}
		from = len(text) - n
	}
	if begin := strings.LastIndex(wire, text[:least]); begin >= 0 {
		k := least
		for begin+k < len(wire) && k < len(text) && wire[begin+k] == text[k] {
			k++
		}
		if k > n {
			at, from, n = begin, 0, k
		}
	}
	return max(at, 0), from, n
}

// storedForm is the decoded form of an event: head, text[from:from+n] and tail. If n < 0, all of the text is
// between head and tail.
type storedForm struct {
	head, tail []byte
	from, n    int
}

// formOf returns the wire form of event i, given the event's text. The event must have a wire form.
func (o *wireForms) formOf(list *packedEvents, i int, text []byte) string {
	first, rest := i-i%formRun, o.packed[o.runs[i/formRun]:]
	var f storedForm
	for k := first; k <= i; k++ {
		if list.at(k).kind&hasWireForm != 0 {
			rest = f.read(rest)
		}
	}
	if f.n >= 0 {
		text = text[f.from : f.from+f.n]
	}
	return string(slices.Concat(f.head, text, f.tail))
}

// read decodes the next form of p into f, which must contain the previous form. It returns the rest of p.
func (f *storedForm) read(p []byte) (rest []byte) {
	says := p[0]
	p = p[1:]
	if says&sameHead == 0 {
		same, k := binary.Uvarint(p)
		var more []byte
		more, p = readPart(p[k:])
		f.head = append(f.head[:same:same], more...)
	}
	if says&sameTail == 0 {
		f.tail, p = readPart(p)
	}
	if f.from, f.n = 0, -1; says&allText == 0 {
		from, j := binary.Uvarint(p)
		n, k := binary.Uvarint(p[j:])
		f.from, f.n, p = int(from), int(n), p[j+k:]
	}
	return p
}

func readPart(p []byte) (part, rest []byte) {
	n, k := binary.Uvarint(p)
	return p[k : k+int(n)], p[k+int(n):]
}
