package stream

import "strings"

// Arena holds many short strings in few allocations. The zero value is ready.
type Arena struct{ b *strings.Builder }

// Bounds of a block's size. Each block is twice as large as the previous one, within these bounds: a
// session may have thousands of short exchanges, each with an arena.
const (
	minBlock = 1 << 10
	maxBlock = 64 << 10
)

// StringOf returns p as a string.
func (a *Arena) StringOf(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	if a.b == nil || a.b.Cap()-a.b.Len() < len(p) {
		size := minBlock
		if a.b != nil {
			size = min(max(2*a.b.Cap(), size), maxBlock)
		}
		a.b = new(strings.Builder)
		a.b.Grow(max(size, len(p)))
	}
	n := a.b.Len()
	a.b.Write(p)
	return a.b.String()[n:]
}
