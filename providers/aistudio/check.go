package aistudio

import (
	"bytes"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// remarks are the messages for oddities: each says why it matters.
var remarks = map[*stream.Diagnosis]string{
	nonCanonical:  "%s is not written as protobuf writes values: clients disagree on its meaning; toolscope uses its length and last element",
	listAmbiguous: "%s is a list of one element, which may also be an array around a value: toolscope reads it as a list",
	numAsFloat:    "%s can't be kept exactly: every number of this protocol is a double",
}

// checkReading reports oddities of the arguments, and how a decoder that checks lengths first would
// have read them.
func (d *decoder) checkReading(c *protocol.Call, args jsonNodes) {
	for _, n := range d.args.notes {
		c.FindAt(n.offset, n.of, remarks[n.of], n.value)
	}
	if d.lengthFirst = lengthFirst(d.lengthFirst[:0], args); !bytes.Equal(d.lengthFirst, d.args.text) {
		from := diffOffset(d.lengthFirst, d.args.text)
		c.Find(lengthFirstDivergence,
			"a client that checks an array's length before its content reads %s instead of %s", clipFrom(d.lengthFirst, from), clipFrom(d.args.text, from))
	}
}

// diffOffset returns where a and b begin to differ, or a little before; 0 if they differ near the start.
func diffOffset(a, b []byte) int {
	const near, before = 120, 40
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	if n < near {
		return 0
	}
	return n - before
}

// clipFrom returns as much of p from that byte on as a message may quote.
func clipFrom(p []byte, from int) string { return stream.Clip(p, from, 200) }
