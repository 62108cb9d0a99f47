package protocol

import "bytes"

// frameTemplate is the literals and holes of a frame. Most frames that match it also begin alike, up to
// the first hole that changes. These bytes are compared at once.
type frameTemplate struct {
	frameValues
	places  []place        // of the values
	literal []byte         // all literals, one after the other
	holes   []templateSlot // between them
	ends    []int          // ends of the holes in the current frame, after a 0
	spare   []int

	head  []byte // common beginning of the latest frames, up to a hole
	known int    // number of that hole
	fresh bool   // head is from one frame only
}

// templateSlot is a string or number. after is the number of literal bytes before it.
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

// slotOffset is a position in a frame: off bytes after the end of hole number holes, counted from 1; 0
// is the start of the frame.
type slotOffset struct{ holes, off int }

// is reports whether data matches, and records the ends of its holes.
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

// fitsFrom reports whether data matches from hole number n on, which begins at data[at], and records
// the ends of the holes.
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

// learnHead sets the head to the beginning of data, up to its last hole and at most maxHead bytes. If
// the head so far is from one frame only, it becomes the beginning that both frames share.
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

// set stores the values of data, which matches.
func (l *frameTemplate) set(data []byte) {
	for i, to := range l.values {
		p := &l.places[i]
		start, end := l.ends[p.start.holes]+p.start.off, l.ends[p.end.holes]+p.end.off
		*to = Raw(data[start:end:end])
	}
	for _, n := range l.counts {
		*n.to = n.n
	}
	for _, f := range l.flags {
		*f = true
	}
}
