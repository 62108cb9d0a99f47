package dialect

import "slices"

// Events of one kind are alike but for their strings and numbers. A cache remembers what frames
// looked like that were read before: a frame that is one of them again, byte for byte between its
// strings and numbers, has its values in the same places. It is valid because the other was: only
// the strings and numbers are read. What a cache says is what Scanner says, or that it does not
// know.
type cache struct {
	looks  [4]*look // the one that was seen last is the first
	trace  trace
	last   *found // what was set last, by a look or the trace
	sizes  [8]size
	begun  bool // a frame was read
	missed int  // frames in a row that looked like none
}

// size is what frames that look alike have in common and that is soon found out: how many bytes are
// not in holes, and how many holes there are. A frame is remembered when one of its size came
// shortly before: most have one that never comes again.
type size struct{ literals, holes int }

// A frame that is larger or has more holes is not remembered.
const (
	mostHoles    = 128
	mostLiterals = 4 << 10
	misses       = 8  // so many frames in a row that are not alike are remembered,
	missesAfter  = 64 // and then one of so many
)

// found is what a frame has that is wanted.
type found struct {
	values []*Raw
	counts []counted // of the elements of lists
	flags  []*bool   // of the lists that are there
}

type counted struct {
	to *int
	n  int
}

// forget makes it nil, empty and not there.
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

// look is what a frame looked like.
type look struct {
	found
	places  []place // of the values
	literal []byte  // everything but the strings and numbers
	holes   []hole  // between
	ends    []int   // where each hole ended in the frame that is being read
}

// hole is a string or number: up to where literals come before it.
type hole struct {
	after int
	kind  holeKind
}

type holeKind uint8

const (
	stringHole holeKind = iota
	numberHole
)

// place is where a value begins and ends.
type place struct{ start, end mark }

// mark is a byte of a frame: so many behind the end of that many holes.
type mark struct{ holes, off int }

// trace is what Scanner saw in one frame.
type trace struct {
	found
	keeps  bool   // the frame is to be remembered:
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

// list says how many elements a list has.
func (t *trace) list(n *int, given *bool) {
	if t != nil {
		t.counts, t.flags = append(t.counts, counted{n, *n}), append(t.flags, given)
	}
}

// spoil says that the frame is not to be remembered.
func (t *trace) spoil() {
	if t != nil {
		t.keeps = false
	}
}

// begin forgets what was read last. It returns the trace for a frame that looks like none.
func (c *cache) begin() *trace {
	c.forget()
	c.missed++
	t := &c.trace
	*t = trace{
		found:  found{t.values[:0], t.counts[:0], t.flags[:0]},
		keeps:  c.begun && (c.missed <= misses || c.missed%missesAfter == 0), // many a response is one frame
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
		found: found{slices.Clone(t.values), slices.Clone(t.counts), slices.Clone(t.flags)},
		holes: make([]hole, 0, len(t.holes)), ends: make([]int, len(t.holes)), places: make([]place, 0, len(t.places)),
	}
	at := 0
	for _, h := range t.holes {
		l.literal = append(l.literal, data[at:h.start]...)
		l.holes = append(l.holes, hole{len(l.literal), h.kind})
		at = h.end
	}
	if l.literal = append(l.literal, data[at:]...); len(l.literal) > mostLiterals {
		return
	}
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

// mark is where a byte of the frame is. None that is wanted is inside a hole.
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

// read sets the values of a frame that looks like one before; false if it does not.
func (c *cache) read(data []byte) bool {
	for i, l := range c.looks {
		if l == nil || !l.is(data) {
			continue
		}
		copy(c.looks[1:i+1], c.looks[:i])
		if c.looks[0] = l; c.last != &l.found {
			c.forget()
			c.last = &l.found
		}
		c.missed = 0
		l.set(data)
		return true
	}
	return false
}

// is reports whether data looks like that, and finds out where its holes end.
func (l *look) is(data []byte) bool {
	s := Scanner{data: data}
	from := 0
	for i, h := range l.holes {
		text := l.literal[from:h.after]
		if len(data)-s.i < len(text) || string(data[s.i:s.i+len(text)]) != string(text) {
			return false
		}
		s.i, from = s.i+len(text), h.after
		switch {
		case h.kind == numberHole:
			n := numberLen(data[s.i:])
			if n == 0 {
				return false
			}
			s.i += n
		case s.Kind() != '"':
			return false
		default:
			if s.str(); s.err != nil {
				return false
			}
		}
		l.ends[i] = s.i
	}
	return string(data[s.i:]) == string(l.literal[from:])
}

func (l *look) set(data []byte) {
	at := func(m mark) int {
		if m.holes == 0 {
			return m.off
		}
		return l.ends[m.holes-1] + m.off
	}
	for i, to := range l.values {
		start, end := at(l.places[i].start), at(l.places[i].end)
		*to = Raw(data[start:end:end])
	}
	for _, n := range l.counts {
		*n.to = n.n
	}
	for _, f := range l.flags {
		*f = true
	}
}
