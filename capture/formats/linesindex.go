package formats

import (
	"slices"

	"toolscope/capture"
)

// streamIndex finds the streams of a log that are open, however many there are.
type streamIndex struct {
	byID     map[uint64][]*logStream // those that told which response they are
	nameless []*logStream            // and those that did not
	over     bool                    // some may be over
}

// begin takes a stream that begins.
func (n *streamIndex) begin(x *logStream) {
	x.index = n
	n.nameless = append(n.nameless, x)
}

// named takes that a stream told which response it is.
func (n *streamIndex) named(x *logStream) {
	if n == nil {
		return
	}
	n.nameless = without(n.nameless, x)
	if n.byID == nil {
		n.byID = map[uint64][]*logStream{}
	}
	n.byID[x.id] = append(n.byID[x.id], x)
}

// end forgets a stream.
func (n *streamIndex) end(x *logStream) {
	if x.id == 0 {
		n.nameless = without(n.nameless, x)
		return
	}
	if n.byID[x.id] = without(n.byID[x.id], x); len(n.byID[x.id]) == 0 {
		delete(n.byID, x.id)
	}
}

func without(all []*logStream, x *logStream) []*logStream {
	if i := slices.Index(all, x); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}

// maybe are the streams that a payload may be of, as far as it tells of which response it is: if one
// of the first is what it is of, none of the second is.
func (s *flows) maybe(f *find) (first, second []*logStream) {
	if f.id == 0 || f.begins && f.of != ofChat {
		return s.open, nil
	}
	return s.index.byID[f.id], s.index.nameless
}

// makeRoom ends the oldest stream, if too many are open: of those that are finished, and may still be
// told what they cost, fewer may be than of others.
func (s *flows) makeRoom() {
	finished := only(s.open, func(x *logStream) bool { return x.finished })
	switch {
	case len(finished) >= finishedLimit:
		s.end(finished[0], capture.EndEOF, "")
	case len(s.open) >= flowLimit:
		s.end(s.open[0], capture.EndEOF, "")
	}
}
