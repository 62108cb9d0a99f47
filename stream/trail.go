package stream

import "slices"

// Lists and texts that grow, and whose elements never change. So a past one is the beginning of the live
// one, and elements that a past one adds are found there, not copied.

// appendList is a list that grows. The zero value is ready.
type appendList[T any] struct {
	of *blockList[T] // a past list shares that of the live one
	n  int           // number of elements
}

func (t *appendList[T]) add(v T) {
	if t.of == nil {
		t.of = new(blockList[T])
	}
	if t.n == t.of.n {
		t.of.add(v)
	}
	t.n++
}

// freeSpare frees unused room once no more elements are expected.
func (t *appendList[T]) freeSpare() {
	if t.of != nil && t.n == t.of.n {
		t.of.freeSpare()
	}
}

// at returns element i, 0 ≤ i < n.
func (t *appendList[T]) at(i int) T { return *t.of.at(i) }

// copy returns a list with elements of its own.
func (t *appendList[T]) copy() (c appendList[T]) {
	for i := range t.n {
		c.add(t.at(i))
	}
	return c
}

// appendText is a text that grows. The zero value is ready.
type appendText struct {
	s    []byte
	past bool // the next bytes are already in s, up to its capacity
}

// prefixTo returns the text as it was when it had n bytes.
func (t appendText) prefixTo(n int) appendText {
	n = min(n, len(t.s))
	return appendText{t.s[:n:len(t.s)], true}
}

func (t *appendText) add(more string) {
	switch n := len(t.s) + len(more); {
	case t.past && n <= cap(t.s):
		t.s = t.s[:n]
	case t.past:
		*t = appendText{s: append(slices.Clip(t.s), more...)}
	default:
		t.s = append(withRoomFor(t.s, len(more)), more...)
	}
}

// freeSpare frees unused room once no more text is expected.
func (t *appendText) freeSpare() {
	if spare := cap(t.s) - len(t.s); !t.past && spare > len(t.s)/8 && spare > 1<<10 {
		t.s = append(make([]byte, 0, len(t.s)), t.s...)
	}
}

// eventText is a text that grows, with the range that each event brought.
type eventText struct {
	text   appendText
	deltas appendList[Delta]
}

// add appends the text of an event. It returns the complete text.
func (s *eventText) add(text string, event int) []byte {
	s.text.add(text)
	s.deltas.add(Delta{uint32(len(s.text.s)), int32(event)})
	return s.text.s
}

func (s *eventText) freeSpare() {
	s.text.freeSpare()
	s.deltas.freeSpare()
}
