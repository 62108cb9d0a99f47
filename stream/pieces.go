package stream

// pieces are bytes that come piece by piece and are wanted as one. Few of them stand in one buffer.
// More stand in blocks until they are wanted, because a buffer that grows large is copied again and
// again. The zero value is ready.
type pieces struct {
	small  []byte
	blocks [][]byte // what follows small; the last one is filling up
}

const (
	smallSize  = 1 << 20
	pieceBlock = 256 << 10
)

func (t *pieces) add(p []byte) {
	if t.blocks == nil && len(t.small)+len(p) <= smallSize {
		t.small = append(t.small, p...)
		return
	}
	for len(p) > 0 {
		n := len(t.blocks) - 1
		if n < 0 || len(t.blocks[n]) == pieceBlock {
			t.blocks = append(t.blocks, make([]byte, 0, pieceBlock))
			n++
		}
		k := min(len(p), pieceBlock-len(t.blocks[n]))
		t.blocks[n] = append(t.blocks[n], p[:k]...)
		p = p[k:]
	}
}

func (t *pieces) push(c byte) {
	if t.blocks == nil && len(t.small) < smallSize {
		t.small = append(t.small, c)
		return
	}
	t.add([]byte{c})
}

func (t *pieces) empty() bool { return len(t.small) == 0 && t.blocks == nil }

// whole is all of it in one buffer, which stays the pieces' own.
func (t *pieces) whole() []byte {
	if t.blocks == nil {
		return t.small
	}
	size := len(t.small)
	for _, b := range t.blocks {
		size += len(b)
	}
	all := append(make([]byte, 0, size), t.small...)
	for i, b := range t.blocks {
		all = append(all, b...)
		t.blocks[i] = nil
	}
	t.small, t.blocks = all, nil
	return all
}

// clear makes room for the next.
func (t *pieces) clear() { t.small, t.blocks = emptied(t.small), nil }
