package json

import (
	"bytes"
	"slices"
)

// A templateCache speeds up reading of frames that look alike. Events of one kind differ only in their strings
// and numbers, called holes. The bytes between the holes are the literals. The cache keeps the literals of
// recent frames. If a new frame has the same literals, it is valid if its holes are valid, and its values are
// at the same holes. So only the holes are read. Invariant: if a frame matches, the cache returns the same
// values as Scanner.
type templateCache struct {
	looks  [8]*frameTemplate // the latest first
	trace  scanTrace
	last   *frameValues // values of the last read, by a template or the trace
	sizes  [8]size
	begun  bool // a frame was read before
	missed int  // number of consecutive frames without a matching template
}

// size is cheap to compute and equal for frames that look alike: the number of literal bytes and the number of
// holes. A frame becomes a template only if a frame of its size came shortly before, because most sizes never
// come again.
type size struct{ literals, holes int }

// Limits of the cache. A frame with more holes or more literal bytes does not become a template.
const (
	maxHoles    = 128
	maxLiterals = 4 << 10
	maxMisses   = 8  // number of consecutive misses that are traced
	missesAfter = 64 // after that, one miss in this many is traced
)

// frameValues contains the bound variables that one frame set: values, and the counts and flags of lists.
type frameValues struct {
	values []*Value
	counts []counted // numbers of elements in lists
	flags  []*bool   // flags of the lists that are present
}

type counted struct {
	to *int
	n  int
}

// clearValues resets the values: fields to nil, lists to empty and missing.
func (f *frameValues) clearValues() {
	for _, to := range f.values {
		*to = nil
	}
	for _, c := range f.counts {
		*c.to = 0
	}
	for _, to := range f.flags {
		*to = false
	}
}

// scanTrace records the values that Scanner read in one frame, for making a template.
type scanTrace struct {
	frameValues
	keeps  bool   // the frame may become a template, so the fields below are also set
	places []span // places of the values
	holes  []span
}

type span struct {
	start, end int
	kind       slotKind
}

func (t *scanTrace) addSlot(start, end int, kind slotKind) {
	if t != nil && t.keeps {
		t.holes = append(t.holes, span{start, end, kind})
	}
}

func (t *scanTrace) addValue(to *Value, start, end int) {
	if t == nil {
		return
	}
	if t.values = append(t.values, to); t.keeps {
		t.places = append(t.places, span{start: start, end: end})
	}
}

// addList records the number of elements of a list.
func (t *scanTrace) addList(n *int, given *bool) {
	if t != nil {
		t.counts, t.flags = append(t.counts, counted{n, *n}), append(t.flags, given)
	}
}

// skipFrame excludes the frame from becoming a template.
func (t *scanTrace) skipFrame() {
	if t != nil {
		t.keeps = false
	}
}

// startFrame clears the values of the last read. It returns the trace for a frame that a Scanner has to read.
func (c *templateCache) startFrame() *scanTrace {
	c.clearLast()
	c.missed++
	t := &c.trace
	*t = scanTrace{
		frameValues: frameValues{t.values[:0], t.counts[:0], t.flags[:0]},
		keeps:       c.begun && (c.missed <= maxMisses || c.missed%missesAfter == 0), // false for the first frame, which may be the only one
		places:      t.places[:0], holes: t.holes[:0],
	}
	c.last, c.begun = &t.frameValues, true
	return t
}

func (c *templateCache) clearLast() {
	if c.last != nil {
		c.last.clearValues()
	}
}

// addTemplate makes a template of the traced frame, if it is within the limits and a frame of its size came
// shortly before.
func (c *templateCache) addTemplate(data []byte) {
	t := &c.trace
	if !t.keeps || len(t.holes) > maxHoles || !c.isRecentSize(t.frameSize(len(data))) {
		return
	}
	l := &frameTemplate{
		frameValues: frameValues{slices.Clone(t.values), slices.Clone(t.counts), slices.Clone(t.flags)},
		places:      make([]place, 0, len(t.places)), holes: make([]templateSlot, 0, len(t.holes)),
		ends: make([]int, 1, len(t.holes)+1), spare: make([]int, len(t.holes)+1),
	}
	at := 0
	for _, h := range t.holes {
		l.literal = append(l.literal, data[at:h.start]...)
		l.holes, l.ends = append(l.holes, templateSlot{len(l.literal), h.kind}), append(l.ends, h.end)
		at = h.end
	}
	if l.literal = append(l.literal, data[at:]...); len(l.literal) > maxLiterals {
		return
	}
	l.learnHead(data)
	for _, p := range t.places {
		l.places = append(l.places, place{t.offsetOf(p.start), t.offsetOf(p.end)})
	}
	copy(c.looks[1:], c.looks[:])
	c.looks[0], c.last = l, &l.frameValues
}

// isRecentSize reports whether a frame of this size came shortly before. If not, it records the size.
func (c *templateCache) isRecentSize(s size) bool {
	if slices.Contains(c.sizes[:], s) {
		return true
	}
	copy(c.sizes[1:], c.sizes[:])
	c.sizes[0] = s
	return false
}

func (t *scanTrace) frameSize(all int) size {
	for _, h := range t.holes {
		all -= h.end - h.start
	}
	return size{all, len(t.holes)}
}

// offsetOf returns the slotOffset of the byte at offset at. No value begins or ends inside a hole.
func (t *scanTrace) offsetOf(at int) slotOffset {
	m := slotOffset{0, at}
	for i, h := range t.holes {
		if h.end > at {
			break
		}
		m = slotOffset{i + 1, at - h.end}
	}
	return m
}

// read sets the values of a frame that matches a template. If none matches, it returns false and sets nothing.
func (c *templateCache) read(data []byte) bool {
	for i, l := range c.looks[:] {
		if l == nil || !l.is(data) {
			continue
		}
		if i > 0 {
			copy(c.looks[1:i+1], c.looks[:i])
			c.looks[0] = l
		}
		if c.last != &l.frameValues {
			c.clearLast()
			c.last = &l.frameValues
		}
		c.missed = 0
		l.set(data)
		return true
	}
	return false
}

// frameTemplate contains the literals and holes of a frame. Most frames that match it also begin with the
// same bytes, up to the first hole that changes. These bytes are compared in one step.
type frameTemplate struct {
	frameValues
	places  []place        // places of the values
	literal []byte         // all literals, one after the other
	holes   []templateSlot // holes between the literals
	ends    []int          // 0, then the ends of the holes in the current frame
	spare   []int

	head  []byte // common beginning of the latest frames, up to a hole
	known int    // number of the hole where head ends
	fresh bool   // head is from one frame only
}

// templateSlot is a hole: a string or number. The field after is the number of literal bytes before the hole.
type templateSlot struct {
	after int
	kind  slotKind
}

type slotKind uint8

const (
	stringHole slotKind = iota
	numberHole
)

// slotEnd returns the end of the hole that begins at data[at], or -1.
func (h templateSlot) slotEnd(data []byte, at int) int {
	switch {
	case h.kind == numberHole:
		if n := numberLen(data[at:]); n > 0 {
			return at + n
		}
	case at < len(data) && data[at] == '"':
		if n, _, wrong := stringLen(data[at:]); wrong == "" {
			return at + n
		}
	}
	return -1
}

// place is the start and end of a value.
type place struct{ start, end slotOffset }

// slotOffset is a position in a frame. The field holes is the number of holes that end before the position. The field
// off is the number of bytes since the end of the last of these holes, or since the start of the frame if there is
// none.
type slotOffset struct{ holes, off int }

// is reports whether data matches the template, and records the ends of its holes.
func (l *frameTemplate) is(data []byte) bool {
	if len(l.holes) == 0 {
		return bytes.Equal(data, l.literal)
	}
	if bytes.HasPrefix(data, l.head) {
		l.fresh = false
		return l.fitsFrom(data, l.known, len(l.head), l.ends)
	}
	first := l.holes[0].after
	if !bytes.HasPrefix(data, l.literal[:first]) || !l.fitsFrom(data, 0, first, l.spare) {
		return false
	}
	l.ends, l.spare = l.spare, l.ends
	l.learnHead(data)
	return true
}

// fitsFrom reports whether data matches the template from hole number n on. The hole begins at data[at].
// fitsFrom records the ends of the holes.
func (l *frameTemplate) fitsFrom(data []byte, n, at int, ends []int) bool {
	for ; n < len(l.holes); n++ {
		end := l.holes[n].slotEnd(data, at)
		if end < 0 {
			return false
		}
		text := l.literalBehind(n)
		if !bytes.HasPrefix(data[end:], text) {
			return false
		}
		ends[n+1], at = end, end+len(text)
	}
	return at == len(data)
}

// literalBehind returns the literal after hole number n.
func (l *frameTemplate) literalBehind(n int) []byte {
	if n+1 < len(l.holes) {
		return l.literal[l.holes[n].after:l.holes[n+1].after]
	}
	return l.literal[l.holes[n].after:]
}

// maxHead is the maximum number of bytes that are compared at once.
const maxHead = 1 << 10

// learnHead sets the head to the beginning of data, up to the last hole that begins within maxHead bytes. If the
// current head is from one frame only, the new head is the beginning that both frames share.
func (l *frameTemplate) learnHead(data []byte) {
	if len(l.holes) == 0 {
		return
	}
	most := maxHead
	if l.fresh {
		most = min(most, commonLen(data, l.head))
	}
	l.known = len(l.holes) - 1
	for l.known > 0 && l.slotStart(l.known) > most {
		l.known--
	}
	l.head, l.fresh = append(l.head[:0], data[:l.slotStart(l.known)]...), !l.fresh
}

// slotStart returns the start of hole number n.
func (l *frameTemplate) slotStart(n int) int {
	if n == 0 {
		return l.holes[0].after
	}
	return l.ends[n] + len(l.literalBehind(n-1))
}

// commonLen returns the length of the common beginning of a and b.
func commonLen(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// set stores the values of data, which matches the template.
func (l *frameTemplate) set(data []byte) {
	for i, to := range l.values {
		p := &l.places[i]
		start, end := l.ends[p.start.holes]+p.start.off, l.ends[p.end.holes]+p.end.off
		*to = Value(data[start:end:end])
	}
	for _, n := range l.counts {
		*n.to = n.n
	}
	for _, f := range l.flags {
		*f = true
	}
}
