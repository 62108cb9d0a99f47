package stream

import "math/bits"

// facts are some facts in a row. Once they are full, each stands there in as few bits as the ones
// of this list need: of every field what it is more than the least one.
type facts struct {
	open   []fact // until they are full
	n      int
	packed []uint64
	least  [factFields]uint32
	wide   [factFields]uint8
	each   int // bits of a fact
}

const factFields = 6

// fields are a fact as numbers. Those that may be -1 are counted from there.
func (f *fact) fields() [factFields]uint32 {
	return [...]uint32{uint32(f.turn + 1), uint32(f.frame + 1), f.at, uint32(f.call), uint32(f.kind), uint32(f.code)}
}

func (l *facts) add(f fact) {
	l.open = append(l.open, f)
	l.n++
}

// at is fact i, 0 ≤ i < n.
func (l *facts) at(i int) fact {
	if l.packed == nil {
		return l.open[i]
	}
	var v [factFields]uint32
	at := i * l.each
	for k, wide := range l.wide {
		v[k] = l.least[k] + l.read(at, wide)
		at += int(wide)
	}
	return fact{
		turn: int32(v[0]) - 1, frame: int32(v[1]) - 1, at: v[2], call: uint16(v[3]), kind: EventKind(v[4]), code: Code(v[5]),
	}
}

// turn is the turn of fact i.
func (l *facts) turn(i int) int32 {
	if l.packed == nil {
		return l.open[i].turn
	}
	return int32(l.least[0]+l.read(i*l.each, l.wide[0])) - 1
}

// read reads so many bits.
func (l *facts) read(at int, wide uint8) uint32 {
	word, from := at/64, at%64
	v := l.packed[word] >> from
	if from+int(wide) > 64 {
		v |= l.packed[word+1] << (64 - from)
	}
	return uint32(v & (1<<wide - 1))
}

// pack says that no fact is added any more. It returns the room that they had.
func (l *facts) pack() (spare []fact) {
	l.measure()
	l.packed = make([]uint64, 0, l.n*l.each/64+1)
	word, filled := uint64(0), 0
	for i := range l.open {
		for k, v := range l.open[i].fields() {
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

// measure finds how many bits each field needs.
func (l *facts) measure() {
	l.least = l.open[0].fields()
	most := l.least
	for i := range l.open {
		for k, v := range l.open[i].fields() {
			l.least[k], most[k] = min(l.least[k], v), max(most[k], v)
		}
	}
	l.each = 0
	for k := range most {
		l.wide[k] = uint8(bits.Len32(most[k] - l.least[k]))
		l.each += int(l.wide[k])
	}
}
