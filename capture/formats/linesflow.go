package formats

import (
	"slices"
	"time"

	"toolscope/capture"
)

// logStream is an exchange that is open: a stream of which a log has lines.
type logStream struct {
	number int
	of     family
	on     *trail
	id     uint64   // of the response, 0 while that is not told
	clues  []clue   // that its lines have in common
	kept   []clue   // of the last of them
	items  []uint64 // that its chunks were about
	block  int64    // that is open, -1 for none
	begun  int64    // blocks
	next   int64    // number of the next chunk, -1 where they have none
	lines  int64
	last   int64 // number of its last line
	at     time.Duration

	named    bool // its events have names
	fields   bool // its payloads are fields of events
	pieces   bool // its payloads are pieces of text, however it was cut
	midline  bool // the last of them ends inside a line
	finished bool // a chunk said that the response is finished
	over     bool // nothing comes any more but the mark that it ends
	mixed    bool // it is told that lines of others may be in it
	lost     bool // what is of it and what of others cannot be told any more
	mute     bool // another place in the log has the same
	told     bool // its head was told
	stops    bool // it was told that lines of it stop in their midst
	stamps   stampSpan

	index  *streamIndex   // that it is in
	stands *capture.Lines // where its records stand
	apart  apart          // what its chunks say that is not so of every stream
	first  int64          // number of its first line

	rival *logStream // that was open when this one began, and may have been broken off there, or not
	held  []find     // that are of this stream, if its rival was broken off
}

// stampSpan is how the stamps of a stream's lines differ.
type stampSpan struct {
	first, last time.Duration
	lines       int
}

// flows are the streams of a log that are open.
type flows struct {
	r      *lineReader
	open   []*logStream
	last   int         // exchange
	events []heldEvent // names of events whose data has not come
	asks   []find      // requests whose answer has not come
	asked  int         // bytes of them
	index  streamIndex
	seen   map[uint64]*ids // responses that the log has
	cuts   cutCount
	room   []byte
	fit    []*logStream // room for streams that a payload may be of
	clock  lastStamp
	ended  ended // the last stream that ended, of those that have no names
	groove groove
	pieces pieces
}

// ids is where a response was seen.
type ids struct {
	on    *trail
	clues []clue
}

// heldEvent is the name of an event, in the line that it stood in.
type heldEvent struct {
	on                        *trail
	clues                     []clue
	kind, data, before, after []byte
	line                      int64
	spot                      capture.Spot
}

// heldCut is a payload that was cut, and in which line it began.
type heldCut struct {
	find
	line int64
}

const (
	cutLimit      = 32       // payloads whose rest may come
	flowLimit     = 1024     // streams that are open
	finishedLimit = 64       // and of them, those that are finished
	eventLimit    = 64       // names of events that are held
	askLimit      = 64       // requests that are held
	askBytes      = 16 << 20 // of them
	seenLimit     = 1 << 16  // responses that are remembered
)

// agreement is how the clues of a line are like those of a stream.
type agreement struct{ same, other [ofRequest + 1]int }

func agree(f []clue, with []clue) (a agreement) {
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

// sameClues reports whether clues are the very same ones, as those of lines of one mould are.
func sameClues(a, b []clue) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// against reports whether a line cannot be of the stream: it names another request, or is from
// another place.
func (a agreement) against() bool {
	if a.same[ofRequest]+a.other[ofRequest] > 0 {
		return a.same[ofRequest] == 0
	}
	if a.same[ofTrace]+a.other[ofTrace] > 0 && a.same[ofTrace] == 0 {
		return true
	}
	return a.other[ofPlace] > 0
}

// keep keeps what the clues of a stream have in common with those of a line that is of it.
func (f *logStream) keep(with []clue) {
	if f.lines == 0 {
		f.clues, f.kept = slices.Clone(with), with
		return
	}
	if sameClues(f.kept, with) {
		return
	}
	kept := f.clues[:0]
	for _, own := range f.clues {
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
	f.clues, f.kept = kept, with
}

// choice is the stream that a payload is of.
type choice struct {
	flow *logStream
	many bool // it may be of several
	all  []*logStream
}

// choose finds the stream that a chunk is of, if that is open.
func (s *flows) choose(f *find) choice {
	first, second := s.maybe(f)
	fit := s.fitting(first, f)
	if len(fit) == 0 {
		fit = s.fitting(second, f)
	}
	for _, by := range []func([]*logStream, *find) []*logStream{byItem, byRequest, byNumber, byBlock, byMark, byRest} {
		if len(fit) < 2 {
			break
		}
		if fewer := by(fit, f); len(fewer) > 0 {
			fit = fewer
		}
	}
	switch len(fit) {
	case 0:
		return choice{}
	case 1:
		return choice{flow: fit[0]}
	}
	return choice{flow: fit[len(fit)-1], many: true, all: fit}
}

// fitting are those of some streams that a payload may be of.
func (s *flows) fitting(all []*logStream, f *find) []*logStream {
	fit := s.fit[:0]
	for _, x := range all {
		if x.on == f.on && s.related(x, f) && (sameClues(x.kept, f.clues) || !agree(x.clues, f.clues).against()) && !(x.over && f.is != aMark) && !x.apartFrom(f) {
			fit = append(fit, x)
		}
	}
	s.fit = fit
	return fit
}

// related reports whether a chunk can be of a stream, as far as their protocols tell.
func (s *flows) related(x *logStream, f *find) bool {
	switch {
	case f.of == x.of:
		return true
	case f.is == aMark, f.weak, f.of == ofAny:
		return true
	}
	return x.of == ofAny && f.is != eventText
}

func only(all []*logStream, is func(*logStream) bool) (some []*logStream) {
	for _, x := range all {
		if is(x) {
			some = append(some, x)
		}
	}
	return some
}

func byItem(all []*logStream, f *find) []*logStream {
	if f.item == 0 {
		return nil
	}
	return only(all, func(x *logStream) bool {
		for _, item := range x.items {
			if item == f.item {
				return true
			}
		}
		return false
	})
}

func byRequest(all []*logStream, f *find) []*logStream {
	return byClues(byClues(byClues(all, f, ofRequest), f, ofTrace), f, ofPlace)
}

func byRest(all []*logStream, f *find) []*logStream { return byClues(all, f, plainClue) }

// byClues are the streams whose clues of a rank are those of a line, where they differ among each
// other.
func byClues(all []*logStream, f *find, rank clueRank) []*logStream {
	for _, c := range f.clues {
		if c.rank != rank {
			continue
		}
		same, other := 0, 0
		has := func(x *logStream) bool {
			for _, own := range x.clues {
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
			all = only(all, has)
		}
	}
	return all
}

func byNumber(all []*logStream, f *find) []*logStream {
	if f.number < 0 {
		return nil
	}
	return only(all, func(x *logStream) bool { return x.next == f.number })
}

// byBlock are the streams in which a block can begin, go on or end as a chunk says.
func byBlock(all []*logStream, f *find) []*logStream {
	if f.of != ofMessages {
		return nil
	}
	return only(all, func(x *logStream) bool {
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
func byMark(all []*logStream, f *find) []*logStream {
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

// track remembers what a chunk tells of where its stream is.
func (x *logStream) track(f *find) {
	if x.id == 0 && f.id != 0 {
		x.id = f.id
		x.index.named(x)
	}
	if x.of == ofAny {
		x.of = f.of
	}
	if f.item != 0 && len(x.items) < 1024 && !slices.Contains(x.items, f.item) {
		x.items = append(x.items, f.item)
	}
	if f.number >= 0 {
		x.next = f.number + 1
	}
	switch string(f.kind) {
	case "content_block_start":
		x.block, x.begun = f.block, f.block+1
	case "content_block_stop":
		x.block = -1
	}
	x.apart.add(f.apart)
	x.finished = x.finished || f.ends
	if x.over = x.over || f.last; x.over && x.index != nil {
		x.index.over = true
	}
	x.keep(f.clues)
	x.lines++
}

// end ends a stream.
func (s *flows) end(x *logStream, end capture.End, why string) {
	s.index.end(x)
	for i, other := range s.open {
		if other == x {
			s.open = append(s.open[:i], s.open[i+1:]...)
			break
		}
	}
	if x.mute || x.lost || !x.told {
		return
	}
	r := capture.Record{Exchange: x.number, At: x.at, End: end, Why: why}
	if !x.over {
		r.Head = &capture.Head{Lacks: []capture.Lack{capture.NoEnding}} // the log ends, and its stream may go on
	}
	x.stands.Add(&r, capture.Spot{}, 0)
	s.r.recs = append(s.r.recs, r)
}

// endOver ends the streams that were over before this line, but for those that its mark is of.
func (s *flows) endOver() {
	if !s.index.over {
		return
	}
	s.index.over = false
	for i := len(s.open) - 1; i >= 0; i-- {
		s.index.over = s.index.over || s.open[i].over
		if x := s.open[i]; x.over && x.last < s.r.number {
			s.end(x, capture.EndEOF, "")
		}
	}
}
