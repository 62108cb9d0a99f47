// Package list provides lists that grow by blocks. Long lists are not copied, and little memory is left unused.
package list

import (
	"iter"
	"slices"
)

// Blocks is an append-only list for many elements. Elements move only while the first block grows, or when FreeSpare
// shortens their block. The zero value is ready to use.
type Blocks[T any] struct {
	blocks [][]T
	n      int
}

// BlockSize is the number of elements in a block.
const BlockSize = 1024

// Len returns the number of elements.
func (l *Blocks[T]) Len() int { return l.n }

// Add appends an element.
func (l *Blocks[T]) Add(v T) {
	b := len(l.blocks) - 1
	if l.n == BlockSize*len(l.blocks) {
		l.blocks = append(l.blocks, make([]T, 0, min(max(l.n, 32), BlockSize))) // the first block grows
		b++
	}
	if last := l.blocks[b]; len(last) == cap(last) { // not with append: it would allocate more than a block's size
		l.blocks[b] = append(make([]T, 0, min(2*len(last), BlockSize)), last...)
	}
	l.blocks[b] = append(l.blocks[b], v)
	l.n++
}

// At returns a pointer to element i, 0 ≤ i < Len().
func (l *Blocks[T]) At(i int) *T { return &l.blocks[i/BlockSize][i%BlockSize] }

// Before returns the first n elements. Elements can't be added to the result.
func (l *Blocks[T]) Before(n int) Blocks[T] { return Blocks[T]{l.blocks, n} }

// Reset empties the list and keeps the memory of its first block.
func (l *Blocks[T]) Reset() {
	if l.n == 0 {
		return
	}
	clear(l.blocks[1:])
	l.blocks, l.n = l.blocks[:1], 0
	l.blocks[0] = l.blocks[0][:0]
}

// FreeSpare frees spare capacity once no more elements are expected.
func (l *Blocks[T]) FreeSpare() {
	if b := len(l.blocks) - 1; b >= 0 && cap(l.blocks[b])-len(l.blocks[b]) > len(l.blocks[b])/8 {
		l.blocks[b] = slices.Clone(l.blocks[b])
	}
}

// FreeBefore frees the blocks whose elements are all before element n.
func (l *Blocks[T]) FreeBefore(n int) {
	for b := min(n/BlockSize, len(l.blocks)) - 1; b >= 0 && l.blocks[b] != nil; b-- {
		l.blocks[b] = nil
	}
}

// Has reports whether element i has not been freed.
func (l *Blocks[T]) Has(i int) bool { return l.blocks[i/BlockSize] != nil }

// List is a list that grows. Its elements change only through Ptr, so a past list is the beginning of the live one. When
// a past list adds an element, it finds the element in the live list and copies nothing. The zero value is ready to use.
type List[T any] struct {
	of *Blocks[T] // shared by the live list and its past lists
	n  int
}

// Len returns the number of elements.
func (l *List[T]) Len() int { return l.n }

// Add appends an element. If the list is a past one, the live list must have the same element at that place.
func (l *List[T]) Add(v T) {
	if l.of == nil {
		l.of = new(Blocks[T])
	}
	if l.n == l.of.n {
		l.of.Add(v)
	}
	l.n++
}

// At returns element i, 0 ≤ i < Len().
func (l *List[T]) At(i int) T { return *l.of.At(i) }

// All iterates over the elements and their indexes. It is faster than At for each index.
func (l *List[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for first := 0; first < l.n; first += BlockSize {
			block := l.of.blocks[first/BlockSize]
			for i, v := range block[:min(len(block), l.n-first)] {
				if !yield(first+i, v) {
					return
				}
			}
		}
	}
}

// Ptr returns a pointer to element i, 0 ≤ i < Len(). A change of the element also changes it in past lists, which share
// it.
func (l *List[T]) Ptr(i int) *T { return l.of.At(i) }

// Before returns the list as it was when it had n elements.
func (l *List[T]) Before(n int) List[T] { return List[T]{l.of, n} }

// FreeSpare frees spare capacity once no more elements are expected.
func (l *List[T]) FreeSpare() {
	if l.of != nil && l.n == l.of.n {
		l.of.FreeSpare()
	}
}

// Clone returns a list with its own copy of the elements.
func (l *List[T]) Clone() (c List[T]) {
	for i := range l.n {
		c.Add(l.At(i))
	}
	return c
}
