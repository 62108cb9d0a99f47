package stream

// chunkBuffer collects bytes that arrive in chunks and are needed in one buffer. A few bytes are kept in
// one buffer. More are kept in blocks until they are needed, because a buffer that grows large is copied
// again and again. The zero value is ready.
type chunkBuffer struct {
	small  []byte
	blocks [][]byte // the bytes after small; the last block is filling up
}

const (
	maxSmallBytes = 1 << 20
	chunkBlock    = 256 << 10
)

func (t *chunkBuffer) add(p []byte) {
	if t.blocks == nil && len(t.small)+len(p) <= maxSmallBytes {
		t.small = append(t.small, p...)
		return
	}
	for len(p) > 0 {
		n := len(t.blocks) - 1
		if n < 0 || len(t.blocks[n]) == chunkBlock {
			t.blocks = append(t.blocks, make([]byte, 0, chunkBlock))
			n++
		}
		k := min(len(p), chunkBlock-len(t.blocks[n]))
		t.blocks[n] = append(t.blocks[n], p[:k]...)
		p = p[k:]
	}
}

func (t *chunkBuffer) appendByte(c byte) {
	if t.blocks == nil && len(t.small) < maxSmallBytes {
		t.small = append(t.small, c)
		return
	}
	t.add([]byte{c})
}

func (t *chunkBuffer) isEmpty() bool { return len(t.small) == 0 && t.blocks == nil }

// joinBytes returns all bytes in one buffer, which still belongs to t.
func (t *chunkBuffer) joinBytes() []byte {
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

// reset empties the buffer for reuse.
func (t *chunkBuffer) reset() { t.small, t.blocks = resetBuffer(t.small), nil }
