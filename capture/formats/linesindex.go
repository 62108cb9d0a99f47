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

// addStream takes a stream that begins.
func (n *streamIndex) addStream(x *logStream) {
	x.index = n
	n.nameless = append(n.nameless, x)
}

// setResponse takes that a stream told which response it is.
func (n *streamIndex) setResponse(x *logStream) {
	if n == nil {
		return
	}
	n.nameless = withoutStream(n.nameless, x)
	if n.byID == nil {
		n.byID = map[uint64][]*logStream{}
	}
	n.byID[x.id] = append(n.byID[x.id], x)
}

// removeStream forgets a stream.
func (n *streamIndex) removeStream(x *logStream) {
	if x.id == 0 {
		n.nameless = withoutStream(n.nameless, x)
		return
	}
	if n.byID[x.id] = withoutStream(n.byID[x.id], x); len(n.byID[x.id]) == 0 {
		delete(n.byID, x.id)
	}
}

func withoutStream(all []*logStream, x *logStream) []*logStream {
	if i := slices.Index(all, x); i >= 0 {
		return slices.Delete(all, i, i+1)
	}
	return all
}

// candidatesByID are the streams that a payload may be of, as far as it tells of which response it is: if one
// of the first is what it is of, none of the second is.
func (s *openStreams) candidatesByID(f *payload) (first, second []*logStream) {
	if f.id == 0 || f.begins && f.of != ofChat {
		return s.open, nil
	}
	return s.index.byID[f.id], s.index.nameless
}

// makeRoom ends the oldest stream, if too many are open: of those that are finished, and may still be
// told what they cost, fewer may be than of others.
func (s *openStreams) makeRoom() {
	finished := filterStreams(s.open, func(x *logStream) bool { return x.finished })
	switch {
	case len(finished) >= maxFinished:
		s.endStream(finished[0], capture.EndEOF, "")
	case len(s.open) >= maxStreams:
		s.endStream(s.open[0], capture.EndEOF, "")
	}
}
