package stream

import "strings"

// Arena holds many short strings in few allocations. The zero value is ready.
type Arena struct{ b *strings.Builder }

// texts are many strings, each known by its place: a place is no pointer, so that a list of them is
// nothing to the garbage collector. The zero value is ready.
type texts struct{ blocks []*strings.Builder }

// place is where a string is among texts. The zero place is that of "".
type place struct{ block, at, size uint32 }

// add copies s.
func (t *texts) add(s string) place {
	if s == "" {
		return place{}
	}
	n := len(t.blocks) - 1
	if n < 0 || t.blocks[n].Cap()-t.blocks[n].Len() < len(s) {
		size := smallestBlock
		if n >= 0 {
			size = min(max(2*t.blocks[n].Cap(), size), largestBlock)
		}
		t.blocks = append(t.blocks, new(strings.Builder))
		n++
		t.blocks[n].Grow(max(size, len(s)))
	}
	b := t.blocks[n]
	p := place{uint32(n), uint32(b.Len()), uint32(len(s))}
	b.WriteString(s)
	return p
}

// at is the string of a place.
func (t *texts) at(p place) string {
	if p.size == 0 {
		return ""
	}
	return t.blocks[p.block].String()[p.at : p.at+p.size]
}

// A block is twice the one before, within these bounds: a session may have thousands of short
// exchanges, each with an arena.
const (
	smallestBlock = 1 << 10
	largestBlock  = 64 << 10
)

// Hold returns p as a string.
func (a *Arena) Hold(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	if a.b == nil || a.b.Cap()-a.b.Len() < len(p) {
		size := smallestBlock
		if a.b != nil {
			size = min(max(2*a.b.Cap(), size), largestBlock)
		}
		a.b = new(strings.Builder)
		a.b.Grow(max(size, len(p)))
	}
	n := a.b.Len()
	a.b.Write(p)
	return a.b.String()[n:]
}
