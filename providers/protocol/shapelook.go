package protocol

import "bytes"

// frameTemplate is what a frame looked like. Most frames that look so begin alike, too: up to the first hole
// that changes. That much is compared at once.
type frameTemplate struct {
	frameValues
	places  []place        // of the values
	literal []byte         // all literals, one after the other
	holes   []templateSlot // between them
	ends    []int          // where the holes end in the frame that is being read, after a 0
	spare   []int

	head  []byte // what the latest frames began with: all before a hole
	known int    // which one that is
	fresh bool   // head is of one frame only
}

// templateSlot is a string or number. after is how many bytes of literals stand before it.
type templateSlot struct {
	after int
	kind  slotKind
}

type slotKind uint8

const (
	stringHole slotKind = iota
	numberHole
)

// slotEnd is where the hole that begins at data[at] ends, or -1.
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

// place is where a value begins and ends.
type place struct{ start, end slotOffset }

// slotOffset is a place in a frame: off bytes behind the end of the hole number holes, counted from 1; 0
// is the start.
type slotOffset struct{ holes, off int }

// is reports whether data looks so, and notes where its holes end.
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

// fitsFrom reports whether data looks so from its hole number n on, which begins at data[at], and notes
// where the holes end.
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

// literalBehind is what stands behind hole number n.
func (l *frameTemplate) literalBehind(n int) []byte {
	if n+1 < len(l.holes) {
		return l.literal[l.holes[n].after:l.holes[n+1].after]
	}
	return l.literal[l.holes[n].after:]
}

// maxHead is the most bytes that are compared at once.
const maxHead = 1 << 10

// learnHead takes what data begins with as the head: all before its last hole. If that is another head
// than the frame before had, it takes only what the two have in common.
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

// slotStart is where hole number n begins.
func (l *frameTemplate) slotStart(n int) int {
	if n == 0 {
		return l.holes[0].after
	}
	return l.ends[n] + len(l.literalBehind(n-1))
}

// commonLen is how many bytes a and b begin with both.
func commonLen(a, b []byte) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// set gives the values of data, which looks so.
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
