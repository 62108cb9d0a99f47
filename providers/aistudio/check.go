package aistudio

import (
	"bytes"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// remarks are what is said of a note: why it matters.
var remarks = map[*stream.Diagnosis]string{
	nonCanonical:  "%s is no value as protobuf writes it: clients disagree on what it means, here its length and last element count",
	listAmbiguous: "%s is a list of one element, which may as well be an array round a value: it is read as the list",
	numAsFloat:    "%s cannot be kept exactly: every number of this protocol is a double",
}

// checkReading says what is odd about arguments that were read, and what a decoder that goes by
// length would have made of them.
func (d *decoder) checkReading(c *protocol.Call, args jsonNodes) {
	for _, n := range d.args.notes {
		c.FindAt(n.offset, n.of, remarks[n.of], n.value)
	}
	if d.lengthFirst = lengthFirst(d.lengthFirst[:0], args); !bytes.Equal(d.lengthFirst, d.args.text) {
		from := diffOffset(d.lengthFirst, d.args.text)
		c.Find(lengthFirstDivergence,
			"a client that goes by the length of an array before what is in it passes on %s instead of %s", clipFrom(d.lengthFirst, from), clipFrom(d.args.text, from))
	}
}

// diffOffset is where a and b begin to differ, or a little before it; 0 if that is not far.
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

// clipFrom is as much of p from there on as a sentence may quote.
func clipFrom(p []byte, from int) string { return stream.Clip(p, from, 200) }
