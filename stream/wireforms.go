package stream

import (
	"encoding/binary"
	"slices"
	"strings"
)

// wireForms contains the wire forms of some events of a block, in order (see WireForm). Most forms contain the
// text of their event, and the bytes around it equal those of the previous form. So only differences are
// stored: a byte or two for most forms.
type wireForms struct {
	packed     []byte
	runs       [blockEvents / formRun]uint32 // offset in packed at which each run of events begins
	last       int                           // the last run that has a form, counted from 1
	head, tail []byte                        // the bytes before and after the text in the last form of that run
}

// formRun is the number of events in a run. To read a form, decoding starts at the beginning of its run.
const formRun = 16

// Flags of a form. The parts that differ from the previous form follow them.
const (
	sameHead = 1 << iota
	sameTail
	allText // all of the text is between head and tail
)

// add stores the wire form of event i of its block.
func (o *wireForms) add(i int, wire, text string) {
	if run := i / formRun; o.last != run+1 {
		o.last, o.runs[run] = run+1, uint32(len(o.packed))
		o.head, o.tail = o.head[:0], o.tail[:0]
	}
	at, from, n := locateText(wire, text)
	head, tail := wire[:at], wire[at+n:]
	says := len(o.packed)
	o.packed = append(o.packed, 0)
	if head == string(o.head) {
		o.packed[says] |= sameHead
	} else {
		same := 0
		for same < min(len(head), len(o.head)) && head[same] == o.head[same] {
			same++
		}
		o.packed = binary.AppendUvarint(o.packed, uint64(same))
		o.appendPart(head[same:])
		o.head = append(o.head[:0], head...)
	}
	if tail == string(o.tail) {
		o.packed[says] |= sameTail
	} else {
		o.appendPart(tail)
		o.tail = append(o.tail[:0], tail...)
	}
	if n == len(text) {
		o.packed[says] |= allText
	} else {
		o.packed = binary.AppendUvarint(binary.AppendUvarint(o.packed, uint64(from)), uint64(n))
	}
}

func (o *wireForms) appendPart(s string) {
	o.packed = append(binary.AppendUvarint(o.packed, uint64(len(s))), s...)
}

// locateText finds n bytes of the text in a form. It returns their offset in the form (at) and in the text (from).
// These bytes are the whole text, or its end or beginning if that is long enough.
func locateText(wire, text string) (at, from, n int) {
	const least = 4
	if at = strings.LastIndex(wire, text); at >= 0 {
		return at, 0, len(text)
	}
	if len(text) < least {
		return 0, 0, 0
	}
	if at = strings.LastIndex(wire, text[len(text)-least:]); at >= 0 {
		n = least
		for at > 0 && n < len(text) && wire[at-1] == text[len(text)-n-1] {
			at, n = at-1, n+1
		}
		from = len(text) - n
	}
	if begin := strings.LastIndex(wire, text[:least]); begin >= 0 {
		k := least
		for begin+k < len(wire) && k < len(text) && wire[begin+k] == text[k] {
			k++
		}
		if k > n {
			at, from, n = begin, 0, k
		}
	}
	return max(at, 0), from, n
}

// storedForm is the decoded form of an event: head, text[from:from+n] and tail. If n < 0, all of the text is
// between head and tail.
type storedForm struct {
	head, tail []byte
	from, n    int
}

// formOf returns the wire form of event i, given the event's text. The event must have a wire form.
func (o *wireForms) formOf(list *packedEvents, i int, text []byte) string {
	first, rest := i-i%formRun, o.packed[o.runs[i/formRun]:]
	var f storedForm
	for k := first; k <= i; k++ {
		if list.at(k).kind&hasWireForm != 0 {
			rest = f.read(rest)
		}
	}
	if f.n >= 0 {
		text = text[f.from : f.from+f.n]
	}
	return string(slices.Concat(f.head, text, f.tail))
}

// read decodes the next form of p into f, which must contain the previous form. It returns the rest of p.
func (f *storedForm) read(p []byte) (rest []byte) {
	says := p[0]
	p = p[1:]
	if says&sameHead == 0 {
		same, k := binary.Uvarint(p)
		var more []byte
		more, p = readPart(p[k:])
		f.head = append(f.head[:same:same], more...)
	}
	if says&sameTail == 0 {
		f.tail, p = readPart(p)
	}
	if f.from, f.n = 0, -1; says&allText == 0 {
		from, j := binary.Uvarint(p)
		n, k := binary.Uvarint(p[j:])
		f.from, f.n, p = int(from), int(n), p[j+k:]
	}
	return p
}

func readPart(p []byte) (part, rest []byte) {
	n, k := binary.Uvarint(p)
	return p[k : k+int(n)], p[k+int(n):]
}
