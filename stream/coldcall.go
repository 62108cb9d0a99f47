package stream

import "encoding/binary"

// packRuns packs the state that an evicted call needs to restore its runs, in few bytes. Events are
// counted from the event from.
func (w *callContent) packRuns(from int32) string {
	var room [(3 + NumRunRules*5) * binary.MaxVarintLen32]byte
	p := binary.AppendVarint(room[:0], int64(w.argsFrame))
	p = binary.AppendVarint(p, int64(w.argsFrom-from))
	p = binary.AppendVarint(p, int64(w.repeated-from))
	for x, r := range w.runs {
		if r != (ruleRunState{}) {
			p = append(p, byte(x))
			p = binary.AppendVarint(p, int64(r.event-from))
			p = binary.AppendUvarint(p, uint64(r.bytes))
			p = binary.AppendUvarint(p, uint64(r.docs))
			p = binary.AppendUvarint(p, uint64(r.made))
		}
	}
	return string(p)
}

// unpackRuns restores packed runs.
func (w *callContent) unpackRuns(packed string, from int32) {
	p := []byte(packed)
	signed := func() int32 {
		v, n := binary.Varint(p)
		p = p[n:]
		return int32(v)
	}
	count := func() uint64 {
		v, n := binary.Uvarint(p)
		p = p[n:]
		return v
	}
	w.argsFrame, w.argsFrom, w.repeated = signed(), from+signed(), from+signed()
	w.runs = [NumRunRules]ruleRunState{}
	for len(p) > 0 {
		x := p[0]
		p = p[1:]
		w.runs[x] = ruleRunState{event: from + signed(), bytes: uint32(count()), docs: uint16(count()), made: uint16(count())}
	}
}
