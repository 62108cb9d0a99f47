package stream

import "math/bits"

// packedEvents are consecutive events. Once the list is full, each event is stored in as few bits as this
// list needs: for each field, the difference from the field's smallest value.
type packedEvents struct {
	open   []packedEvent // nil once the list is full
	n      int
	packed []uint64
	least  [eventFields]uint32
	wide   [eventFields]uint8
	each   int // bits of an event
}

const eventFields = 6

// fieldValues returns the fields as numbers. Fields that may be -1 are counted from -1.
func (f *packedEvent) fieldValues() [eventFields]uint32 {
	return [...]uint32{uint32(f.turn + 1), uint32(f.frame + 1), f.at, uint32(f.call), uint32(f.kind), uint32(f.code)}
}

func (l *packedEvents) add(f packedEvent) {
	l.open = append(l.open, f)
	l.n++
}

// at returns event i, 0 ≤ i < n.
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

// turnAt returns the turn of event i.
func (l *packedEvents) turnAt(i int) int32 {
	if l.packed == nil {
		return l.open[i].turn
	}
	return int32(l.least[0]+l.readBits(i*l.each, l.wide[0])) - 1
}

// readBits reads wide bits at bit position at.
func (l *packedEvents) readBits(at int, wide uint8) uint32 {
	word, from := at/64, at%64
	v := l.packed[word] >> from
	if from+int(wide) > 64 {
		v |= l.packed[word+1] << (64 - from)
	}
	return uint32(v & (1<<wide - 1))
}

// packOpen packs the list once it is full. It returns the spare room.
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
