package stream

import "slices"

// blockList is a list that is only appended to and may get long. It grows block by block: its elements
// stay where they are, and little room is left unused. The zero value is ready.
type blockList[T any] struct {
	blocks [][]T
	n      int
}

// withRoomFor is s with room for n more. A long one doubles, where append adds a quarter: that copies,
// and asks for fresh memory, once a byte and not four times.
func withRoomFor[T any](s []T, n int) []T {
	if len(s)+n > cap(s) && len(s) > 1<<14 {
		return slices.Grow(s, max(n, len(s)))
	}
	return s
}

const listBlock = 1024 // elements of a block

func (l *blockList[T]) add(v T) {
	b := len(l.blocks) - 1
	if l.n == listBlock*len(l.blocks) {
		l.blocks = append(l.blocks, make([]T, 0, min(max(l.n, 32), listBlock))) // the first one grows
		b++
	}
	if last := l.blocks[b]; len(last) == cap(last) { // not by append, which gives a block more than it can hold
		l.blocks[b] = append(make([]T, 0, min(2*len(last), listBlock)), last...)
	}
	l.blocks[b] = append(l.blocks[b], v)
	l.n++
}

// reset empties the list, and keeps the room of its first block.
func (l *blockList[T]) reset() {
	if l.n == 0 {
		return
	}
	clear(l.blocks[1:])
	l.blocks, l.n = l.blocks[:1], 0
	l.blocks[0] = l.blocks[0][:0]
}

// freeSpare gives back room that is not needed once no more is expected.
func (l *blockList[T]) freeSpare() {
	if b := len(l.blocks) - 1; b >= 0 && cap(l.blocks[b])-len(l.blocks[b]) > len(l.blocks[b])/8 {
		l.blocks[b] = slices.Clone(l.blocks[b])
	}
}

// at is element i, 0 ≤ i < n.
func (l *blockList[T]) at(i int) *T { return &l.blocks[i/listBlock][i%listBlock] }
