package formats

import "slices"

// This file finds the stream that a payload is of.

// keyOverlap is how the clues of a line are like those of a stream.
type keyOverlap struct{ same, other [ofRequest + 1]int }

func compareKeys(f []correlationKey, with []correlationKey) (a keyOverlap) {
	for _, c := range with {
		for _, own := range f {
			if own.name != c.name {
				continue
			}
			if own.value == c.value {
				a.same[c.rank]++
			} else {
				a.other[c.rank]++
			}
			break
		}
	}
	return a
}

// sameKeys reports whether clues are the very same ones, as those of lines of one mould are.
func sameKeys(a, b []correlationKey) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// conflicts reports whether a line cannot be of the stream: it names another request, or is from
// another place.
func (a keyOverlap) conflicts() bool {
	if a.same[ofRequest]+a.other[ofRequest] > 0 {
		return a.same[ofRequest] == 0
	}
	if a.same[ofTrace]+a.other[ofTrace] > 0 && a.same[ofTrace] == 0 {
		return true
	}
	return a.other[ofPlace] > 0
}

// keepCommonKeys keeps what the clues of a stream have in common with those of a line that is of it.
func (f *logStream) keepCommonKeys(with []correlationKey) {
	if f.lines == 0 {
		f.keys, f.kept = slices.Clone(with), with
		return
	}
	if sameKeys(f.kept, with) {
		return
	}
	kept := f.keys[:0]
	for _, own := range f.keys {
		same := true
		for _, c := range with {
			if c.name == own.name {
				same = c.value == own.value
				break
			}
		}
		if same {
			kept = append(kept, own)
		}
	}
	f.keys, f.kept = kept, with
}

// streamChoice is the stream that a payload is of.
type streamChoice struct {
	flow *logStream
	many bool // it may be of several
	all  []*logStream
}

// chooseStream finds the stream that a chunk is of, if that is open.
func (s *openStreams) chooseStream(f *payload) streamChoice {
	first, second := s.candidatesByID(f)
	fit := s.candidatesFor(first, f)
	if len(fit) == 0 {
		fit = s.candidatesFor(second, f)
	}
	for _, by := range []func([]*logStream, *payload) []*logStream{byItem, byRequest, byNumber, byBlock, byMark, byRest} {
		if len(fit) < 2 {
			break
		}
		if fewer := by(fit, f); len(fewer) > 0 {
			fit = fewer
		}
	}
	switch len(fit) {
	case 0:
		return streamChoice{}
	case 1:
		return streamChoice{flow: fit[0]}
	}
	return streamChoice{flow: fit[len(fit)-1], many: true, all: fit}
}

// candidatesFor are those of some streams that a payload may be of.
func (s *openStreams) candidatesFor(all []*logStream, f *payload) []*logStream {
	fit := s.fit[:0]
	for _, x := range all {
		if x.on == f.on && s.sameProtocol(x, f) && (sameKeys(x.kept, f.keys) || !compareKeys(x.keys, f.keys).conflicts()) && !(x.over && f.is != aMark) && !x.apartFrom(f) {
			fit = append(fit, x)
		}
	}
	s.fit = fit
	return fit
}

// sameProtocol reports whether a chunk can be of a stream, as far as their protocols tell.
func (s *openStreams) sameProtocol(x *logStream, f *payload) bool {
	switch {
	case f.of == x.of:
		return true
	case f.is == aMark, f.weak, f.of == ofAny:
		return true
	}
	return x.of == ofAny && f.is != eventText
}

func filterStreams(all []*logStream, is func(*logStream) bool) (some []*logStream) {
	for _, x := range all {
		if is(x) {
			some = append(some, x)
		}
	}
	return some
}

func byItem(all []*logStream, f *payload) []*logStream {
	if f.item == 0 {
		return nil
	}
	return filterStreams(all, func(x *logStream) bool {
		for _, item := range x.items {
			if item == f.item {
				return true
			}
		}
		return false
	})
}

func byRequest(all []*logStream, f *payload) []*logStream {
	return byKeys(byKeys(byKeys(all, f, ofRequest), f, ofTrace), f, ofPlace)
}

func byRest(all []*logStream, f *payload) []*logStream { return byKeys(all, f, plainKey) }

// byKeys are the streams whose clues of a rank are those of a line, where they differ among each
// other.
func byKeys(all []*logStream, f *payload, rank keyWeight) []*logStream {
	for _, c := range f.keys {
		if c.rank != rank {
			continue
		}
		same, other := 0, 0
		has := func(x *logStream) bool {
			for _, own := range x.keys {
				if own.name == c.name {
					return own.value == c.value
				}
			}
			return false
		}
		for _, x := range all {
			if has(x) {
				same++
			} else {
				other++
			}
		}
		if same > 0 && other > 0 {
			all = filterStreams(all, has)
		}
	}
	return all
}

func byNumber(all []*logStream, f *payload) []*logStream {
	if f.number < 0 {
		return nil
	}
	return filterStreams(all, func(x *logStream) bool { return x.next == f.number })
}

// byBlock are the streams in which a block can begin, go on or end as a chunk says.
func byBlock(all []*logStream, f *payload) []*logStream {
	if f.of != ofMessages {
		return nil
	}
	return filterStreams(all, func(x *logStream) bool {
		switch string(f.kind) {
		case "content_block_start":
			return x.block < 0 && x.begun == f.block
		case "content_block_delta", "content_block_stop":
			return x.block == f.block
		case "message_delta":
			return x.block < 0 && x.begun > 0 && !x.finished
		case "message_stop":
			return x.finished
		}
		return false
	})
}

// byMark: of streams that are finished, the mark that ends one is for any: it says the same for all.
// It goes to the one whose last chunk is longest ago.
func byMark(all []*logStream, f *payload) []*logStream {
	if f.is != aMark {
		return nil
	}
	var oldest *logStream
	for _, x := range all {
		if x.finished && (oldest == nil || x.last < oldest.last) {
			oldest = x
		}
	}
	if oldest == nil {
		return nil
	}
	return []*logStream{oldest}
}
