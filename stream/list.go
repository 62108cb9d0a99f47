package stream

import "slices"

// blockList is an append-only list that may get long. It grows block by block: its elements never move,
// and little room is left unused. The zero value is ready.
type blockList[T any] struct {
	blocks [][]T
	n      int
}

// withRoomFor returns s with room for n more. A long slice doubles, where append adds a quarter: each
// byte is copied, and fresh memory requested, once instead of four times.
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
		l.blocks = append(l.blocks, make([]T, 0, min(max(l.n, 32), listBlock))) // the first block grows
		b++
	}
	if last := l.blocks[b]; len(last) == cap(last) { // not by append: it allocates more than a block can hold
		l.blocks[b] = append(make([]T, 0, min(2*len(last), listBlock)), last...)
	}
	l.blocks[b] = append(l.blocks[b], v)
	l.n++
}

// reset empties the list and keeps the room of its first block.
func (l *blockList[T]) reset() {
	if l.n == 0 {
		return
	}
	clear(l.blocks[1:])
	l.blocks, l.n = l.blocks[:1], 0
	l.blocks[0] = l.blocks[0][:0]
}

// freeSpare frees unused room once no more elements are expected.
func (l *blockList[T]) freeSpare() {
	if b := len(l.blocks) - 1; b >= 0 && cap(l.blocks[b])-len(l.blocks[b]) > len(l.blocks[b])/8 {
		l.blocks[b] = slices.Clone(l.blocks[b])
	}
}

// at returns element i, 0 ≤ i < n.
func (l *blockList[T]) at(i int) *T { return &l.blocks[i/listBlock][i%listBlock] }
