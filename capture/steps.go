package capture

import "encoding/binary"

// lineStep is the position of a record relative to the one before: how to read its line, the gap in
// bytes, and the time difference.
type lineStep struct {
	bits  uint64
	gap   int64
	later int64
}

// appendTo appends a step in full.
func (s *lineStep) appendTo(p []byte) []byte {
	p = binary.AppendUvarint(p, s.bits)
	p = binary.AppendVarint(p, s.gap)
	if s.bits&stepNoTime == 0 {
		p = binary.AppendVarint(p, s.later)
	}
	return p
}

// stepIn decodes a step of appendTo and returns the rest.
func stepIn(p []byte) (s lineStep, rest []byte) {
	bits, k := binary.Uvarint(p)
	gap, j := binary.Varint(p[k:])
	s, p = lineStep{bits: bits, gap: gap}, p[k+j:]
	if bits&stepNoTime == 0 {
		later, k := binary.Varint(p)
		s.later, p = later, p[k:]
	}
	return s, p
}

// stepPredictor predicts a step from the two steps before: it is the step that followed them last time.
type stepPredictor struct {
	known  []prediction
	next   int // index in known to replace, once it is full
	before [2]lineStep
}

// prediction is the step that last followed two steps.
type prediction struct {
	bits         uint64
	gap          int64
	still, stood bool // whether the time difference of the last and of the second last was zero
	then         lineStep
}

const maxGuesses = 32

// predict returns the prediction for the last two steps, nil if there is none.
func (g *stepPredictor) predict() *prediction {
	last := &g.before[0]
	for i := range g.known {
		k := &g.known[i]
		if k.bits == last.bits && k.gap == last.gap && k.still == (last.later == 0) && k.stood == (g.before[1].later == 0) {
			return k
		}
	}
	return nil
}

// observe records the actual step.
func (g *stepPredictor) observe(s lineStep) {
	if k := g.predict(); k != nil {
		k.then = s
	} else {
		last := &g.before[0]
		k := prediction{last.bits, last.gap, last.later == 0, g.before[1].later == 0, s}
		if len(g.known) < maxGuesses {
			g.known = append(g.known, k)
		} else {
			g.known[g.next] = k
			g.next = (g.next + 1) % maxGuesses
		}
	}
	g.before[1], g.before[0] = g.before[0], s
}

// Encodings of a step, in two bits each.
const (
	stepWhole   = iota // the complete step
	stepLater          // only the time difference
	stepGuessed        // nothing
)

// packSteps compresses steps by leaving out the predicted values.
func packSteps(steps []byte, count int32) []byte {
	var g stepPredictor
	what := make([]byte, (count+3)/4, int(count+3)/4+len(steps))
	rest := what[len(what):]
	for i := range count {
		var s lineStep
		s, steps = stepIn(steps)
		kind := stepWhole
		if k := g.predict(); k != nil && k.then.bits == s.bits && k.then.gap == s.gap {
			if kind = stepLater; k.then.later == s.later {
				kind = stepGuessed
			}
		}
		what[i/4] |= byte(kind) << (i % 4 * 2)
		switch kind {
		case stepWhole:
			rest = s.appendTo(rest)
		case stepLater:
			rest = binary.AppendVarint(rest, s.later)
		}
		g.observe(s)
	}
	return append(make([]byte, 0, len(what)+len(rest)), what[:len(what)+len(rest)]...)
}

// unpackSteps reverses packSteps.
func unpackSteps(packed []byte, count int32) (steps []byte) {
	var g stepPredictor
	what, rest := packed[:(count+3)/4], packed[(count+3)/4:]
	for i := range count {
		var s lineStep
		switch what[i/4] >> (i % 4 * 2) & 3 {
		case stepWhole:
			s, rest = stepIn(rest)
		case stepLater:
			s = g.predict().then
			later, k := binary.Varint(rest)
			s.later, rest = later, rest[k:]
		default:
			s = g.predict().then
		}
		steps = s.appendTo(steps)
		g.observe(s)
	}
	return steps
}
