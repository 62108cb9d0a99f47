package dialect

import "slices"

// A cache makes reading frames that look alike cheap. Invariant: it gives what Scanner gives, or
// says that it does not know. Events of one kind differ only in their strings and numbers, called
// holes; the bytes between are the literals. The cache remembers the literals of recent frames. A
// frame with the same literals is valid if its holes are, and has its values between the same
// holes. So only the holes are read.
type cache struct {
	looks  [4]*look // the latest one first
	trace  trace
	last   *found // what the last read set, by a look or the trace
	sizes  [8]size
	begun  bool // a frame was read before
	missed int  // frames in a row that looked like none of looks
}

// size is cheap to find and the same for frames that look alike: how many bytes of literals, and
// how many holes. A frame is remembered only if one of its size came shortly before, because most
// sizes never come again.
type size struct{ literals, holes int }

// Limits. A frame that is larger or has more holes is not remembered.
const (
	mostHoles    = 128
	mostLiterals = 4 << 10
	misses       = 8  // so many misses in a row are remembered,
	missesAfter  = 64 // and then one of so many
)

// found is what one frame set: values, and counts and flags of lists.
type found struct {
	values []*Raw
	counts []counted // of the elements of lists
	flags  []*bool   // of the lists that are there
}

type counted struct {
	to *int
	n  int
}

// forget takes back what was set: values nil, lists empty and not there.
func (f *found) forget() {
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

// trace is what Scanner read in one frame, from which a look is made.
type trace struct {
	found
	keeps  bool   // the frame is to be remembered: then also
	places []span // of the values
	holes  []span
}

type span struct {
	start, end int
	kind       holeKind
}

func (t *trace) scalar(start, end int, kind holeKind) {
	if t != nil && t.keeps {
		t.holes = append(t.holes, span{start, end, kind})
	}
}

func (t *trace) value(to *Raw, start, end int) {
	if t == nil {
		return
	}
	if t.values = append(t.values, to); t.keeps {
		t.places = append(t.places, span{start: start, end: end})
	}
}

// list notes how many elements a list has.
func (t *trace) list(n *int, given *bool) {
	if t != nil {
		t.counts, t.flags = append(t.counts, counted{n, *n}), append(t.flags, given)
	}
}

// spoil says that the frame must not be remembered.
func (t *trace) spoil() {
	if t != nil {
		t.keeps = false
	}
}

// begin forgets what the last read set. It returns the trace for a frame that Scanner has to read.
func (c *cache) begin() *trace {
	c.forget()
	c.missed++
	t := &c.trace
	*t = trace{
		found:  found{t.values[:0], t.counts[:0], t.flags[:0]},
		keeps:  c.begun && (c.missed <= misses || c.missed%missesAfter == 0), // not the first: it may be the only one
		places: t.places[:0], holes: t.holes[:0],
	}
	c.last, c.begun = &t.found, true
	return t
}

func (c *cache) forget() {
	if c.last != nil {
		c.last.forget()
	}
}

// keep remembers the frame of the trace.
func (c *cache) keep(data []byte) {
	t := &c.trace
	if !t.keeps || len(t.holes) > mostHoles || !c.came(t.size(len(data))) {
		return
	}
	l := &look{
		found:  found{slices.Clone(t.values), slices.Clone(t.counts), slices.Clone(t.flags)},
		places: make([]place, 0, len(t.places)), holes: make([]hole, 0, len(t.holes)),
		ends: make([]int, 1, len(t.holes)+1), spare: make([]int, len(t.holes)+1),
	}
	at := 0
	for _, h := range t.holes {
		l.literal = append(l.literal, data[at:h.start]...)
		l.holes, l.ends = append(l.holes, hole{len(l.literal), h.kind}), append(l.ends, h.end)
		at = h.end
	}
	if l.literal = append(l.literal, data[at:]...); len(l.literal) > mostLiterals {
		return
	}
	l.learn(data)
	for _, p := range t.places {
		l.places = append(l.places, place{t.mark(p.start), t.mark(p.end)})
	}
	copy(c.looks[1:], c.looks[:])
	c.looks[0], c.last = l, &l.found
}

// came reports whether a frame of that size came shortly before.
func (c *cache) came(s size) bool {
	if slices.Contains(c.sizes[:], s) {
		return true
	}
	copy(c.sizes[1:], c.sizes[:])
	c.sizes[0] = s
	return false
}

func (t *trace) size(all int) size {
	for _, h := range t.holes {
		all -= h.end - h.start
	}
	return size{all, len(t.holes)}
}

// mark is the mark of the byte at. No value begins or ends inside a hole.
func (t *trace) mark(at int) mark {
	m := mark{0, at}
	for i, h := range t.holes {
		if h.end > at {
			break
		}
		m = mark{i + 1, at - h.end}
	}
	return m
}

// read sets the values of a frame that looks like one before. It is false if the frame does not,
// and then sets nothing.
func (c *cache) read(data []byte) bool {
	for i, l := range c.looks {
		if l == nil || !l.is(data) {
			continue
		}
		if i > 0 {
			copy(c.looks[1:i+1], c.looks[:i])
			c.looks[0] = l
		}
		if c.last != &l.found {
			c.forget()
			c.last = &l.found
		}
		c.missed = 0
		l.set(data)
		return true
	}
	return false
}
