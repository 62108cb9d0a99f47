package stream

import "math/bits"

// packedEvents are some facts in a row. Once they are full, each stands there in as few bits as the ones
// of this list need: of every field what it is more than the least one.
type packedEvents struct {
	open   []packedEvent // until they are full
	n      int
	packed []uint64
	least  [eventFields]uint32
	wide   [eventFields]uint8
	each   int // bits of a fact
}

const eventFields = 6

// fieldValues are a fact as numbers. Those that may be -1 are counted from there.
func (f *packedEvent) fieldValues() [eventFields]uint32 {
	return [...]uint32{uint32(f.turn + 1), uint32(f.frame + 1), f.at, uint32(f.call), uint32(f.kind), uint32(f.code)}
}

func (l *packedEvents) add(f packedEvent) {
	l.open = append(l.open, f)
	l.n++
}

// at is fact i, 0 ≤ i < n.
func (l *packedEvents) at(i int) packedEvent {
	if l.packed == nil {
		return l.open[i]
	}
	var v [eventFields]uint32
	at := i * l.each
	for k, wide := range l.wide {
		v[k] = l.least[k] + l.readBits(at, wide)
		at += int(wide)
	}
	return packedEvent{
		turn: int32(v[0]) - 1, frame: int32(v[1]) - 1, at: v[2], call: uint16(v[3]), kind: EventKind(v[4]), code: Code(v[5]),
	}
}

// turnAt is the turn of fact i.
func (l *packedEvents) turnAt(i int) int32 {
	if l.packed == nil {
		return l.open[i].turn
	}
	return int32(l.least[0]+l.readBits(i*l.each, l.wide[0])) - 1
}

// readBits reads so many bits.
func (l *packedEvents) readBits(at int, wide uint8) uint32 {
	word, from := at/64, at%64
	v := l.packed[word] >> from
	if from+int(wide) > 64 {
		v |= l.packed[word+1] << (64 - from)
	}
	return uint32(v & (1<<wide - 1))
}

// packOpen says that no fact is added any more. It returns the room that they had.
func (l *packedEvents) packOpen() (spare []packedEvent) {
	l.measureFields()
	l.packed = make([]uint64, 0, l.n*l.each/64+1)
	word, filled := uint64(0), 0
	for i := range l.open {
		for k, v := range l.open[i].fieldValues() {
			wide := int(l.wide[k])
			more := uint64(v - l.least[k])
			word |= more << filled
			if filled += wide; filled >= 64 {
				l.packed = append(l.packed, word)
				filled -= 64
				word = more >> (wide - filled)
			}
		}
	}
	l.packed = append(l.packed, word)
	spare, l.open = l.open[:0], nil
	return spare
}

// measureFields finds how many bits each field needs.
func (l *packedEvents) measureFields() {
	l.least = l.open[0].fieldValues()
	most := l.least
	for i := range l.open {
		for k, v := range l.open[i].fieldValues() {
			l.least[k], most[k] = min(l.least[k], v), max(most[k], v)
		}
	}
	l.each = 0
	for k := range most {
		l.wide[k] = uint8(bits.Len32(most[k] - l.least[k]))
		l.each += int(l.wide[k])
	}
}
