package stream

import "strings"

// Arena holds many short strings in few allocations. The zero value is ready.
type Arena struct{ b *strings.Builder }

const arenaBlock = 64 << 10

// Hold returns p as a string.
func (a *Arena) Hold(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	if a.b == nil || a.b.Cap()-a.b.Len() < len(p) {
		a.b = new(strings.Builder)
		a.b.Grow(max(arenaBlock, len(p)))
	}
	n := a.b.Len()
	a.b.Write(p)
	return a.b.String()[n:]
}
