package stream

import "slices"

// What grows, and whose elements never change: so a past one is the beginning of the live one, and
// what a past one adds is read again, not copied.

// trail is such a list. The zero value is ready.
type trail[T any] struct {
	of *list[T] // of a past one that of the live one
	n  int      // elements of it that are there
}

func (t *trail[T]) add(v T) {
	if t.of == nil {
		t.of = new(list[T])
	}
	if t.n == t.of.n {
		t.of.add(v)
	}
	t.n++
}

// trim gives back room that is not needed once no more is expected.
func (t *trail[T]) trim() {
	if t.of != nil && t.n == t.of.n {
		t.of.trim()
	}
}

// at is element i, 0 ≤ i < n.
func (t *trail[T]) at(i int) T { return *t.of.at(i) }

// copy is a trail with elements of its own.
func (t *trail[T]) copy() (c trail[T]) {
	for i := range t.n {
		c.add(t.at(i))
	}
	return c
}

// growing is such a text. The zero value is ready.
type growing struct {
	s    []byte
	past bool // up to the capacity of s, what comes next stands there already
}

// upto is the text as it was when it had n bytes.
func (t growing) upto(n int) growing {
	n = min(n, len(t.s))
	return growing{t.s[:n:len(t.s)], true}
}

func (t *growing) add(more string) {
	switch n := len(t.s) + len(more); {
	case t.past && n <= cap(t.s):
		t.s = t.s[:n]
	case t.past:
		*t = growing{s: append(slices.Clip(t.s), more...)}
	default:
		t.s = append(roomFor(t.s, len(more)), more...)
	}
}

// trim gives back room that is not needed once no more is expected.
func (t *growing) trim() {
	if spare := cap(t.s) - len(t.s); !t.past && spare > len(t.s)/8 && spare > 1<<10 {
		t.s = append(make([]byte, 0, len(t.s)), t.s...)
	}
}

// said is a text that grows, and which event brought what of it.
type said struct {
	text   growing
	deltas trail[Delta]
}

// add adds what an event brought. It returns the whole text.
func (s *said) add(text string, event int) []byte {
	s.text.add(text)
	s.deltas.add(Delta{uint32(len(s.text.s)), int32(event)})
	return s.text.s
}

func (s *said) trim() {
	s.text.trim()
	s.deltas.trim()
}
