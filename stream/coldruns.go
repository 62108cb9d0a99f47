package stream

import "encoding/binary"

// packRuns are the runs of a call in few bytes. Their events are counted from the one that opened it.
func packRuns(runs *[NumExecutors]run, from int32) string {
	var room [NumExecutors * 4 * binary.MaxVarintLen32]byte
	p := room[:0]
	for x, r := range runs {
		if r != (run{}) {
			p = append(p, byte(x))
			p = binary.AppendVarint(p, int64(r.event-from))
			p = binary.AppendUvarint(p, uint64(r.bytes))
			p = binary.AppendUvarint(p, uint64(r.docs))
			p = binary.AppendUvarint(p, uint64(r.made))
		}
	}
	return string(p)
}

// unpackRuns are what was packed.
func unpackRuns(packed string, from int32) (runs [NumExecutors]run) {
	p := []byte(packed)
	next := func() uint64 {
		v, n := binary.Uvarint(p)
		p = p[n:]
		return v
	}
	for len(p) > 0 {
		x := p[0]
		event, n := binary.Varint(p[1:])
		p = p[1+n:]
		runs[x] = run{event: from + int32(event), bytes: uint32(next()), docs: uint16(next()), made: uint16(next())}
	}
	return runs
}
