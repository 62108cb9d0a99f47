package formats

import (
	"bytes"
	"fmt"
	"slices"

	"toolscope/capture"
)

// This file holds payloads that were cut, until it is clear what they go on with.

// cutCount counts payloads that were cut, by how long their lines are.
type cutCount struct {
	size, count int
	told        bool
}

// holdCut keeps a payload whose end is missing until the next line tells whether it goes on there.
func (s *flows) holdCut(f *find) bool {
	if !f.field && f.is != aChunk {
		return false
	}
	held := *f
	held.text, held.before, held.after = bytes.Clone(f.text), bytes.Clone(f.before), bytes.Clone(f.after)
	held.kind = bytes.Clone(f.kind)
	if len(s.r.cut) == cutLimit {
		s.asItIs(0)
	}
	s.r.cut = append(s.r.cut, &heldCut{held, s.r.number})
	f.on.begun = f.on.begun || f.quoted
	return true
}

// goOn has payloads that were cut go on with what a line holds, or takes them as they are. What is
// left of the line is returned.
func (s *flows) goOn(finds []find, taken *bool) []find {
	for i := 0; i < len(s.r.cut); i++ {
		held := s.r.cut[i]
		ours := len(finds) > 0 && finds[0].on == held.on && !agree(held.clues, finds[0].clues).against()
		if ours && len(finds) == 1 {
			whole, is := s.joined(&held.find, &finds[0])
			if is && whole.cut {
				held.find, held.line = whole, s.r.number
				*taken = true
				return nil
			}
			if is {
				s.dropCut(i)
				return []find{whole}
			}
		}
		if ours && (finds[0].is != aRest || len(finds[0].text) == 0) || s.r.number > held.line+cutPatience {
			s.asItIs(i)
			i--
		}
	}
	return finds
}

// dropCut forgets a payload that was cut.
func (s *flows) dropCut(i int) {
	on := s.r.cut[i].on
	s.r.cut = slices.Delete(s.r.cut, i, i+1)
	on.begun = slices.ContainsFunc(s.r.cut, func(h *heldCut) bool { return h.on == on && h.quoted })
}

// asItIs takes a payload that was cut as it is.
func (s *flows) asItIs(i int) {
	held := s.r.cut[i]
	s.dropCut(i)
	s.countCut(&held.find)
	held.cut = false
	if !s.one(&held.find) {
		s.r.others.add(1, held.text)
	}
}

// cutPatience is how many lines of others may come between two pieces of a payload.
const cutPatience = 100

// joined is a payload with what a line goes on with: the next line of a text of which each has its
// own data:, or the second half of a line that was cut.
func (s *flows) joined(held, next *find) (whole find, is bool) {
	if next.is != aRest && !opensWithin(held, next) || next.on != held.on || len(next.text) == 0 {
		return whole, false
	}
	whole = *held
	text := bytes.TrimRight(next.text, "\r\n")
	if held.quoted && bytes.HasPrefix(text, []byte("data:")) { // lines of one event, and no pieces
		whole.quoted, held.quoted, held.field, whole.field = false, false, true, true
		held.on.begun, held.on.fields = false, true
	}
	if held.quoted && held.on.begun {
		if whole.text = append(held.text, next.text...); len(whole.text) > beginLimit {
			return whole, false
		}
		said, known := s.r.peeler.events(whole.text)
		if !known {
			said, known = s.r.peeler.objects(whole.text)
		}
		if known {
			whole.saying, whole.cut = said, false
		}
		return whole, true
	}
	if !s.goesOn(held, text) {
		return whole, false
	}
	if held.field && bytes.HasPrefix(text, []byte("data:")) {
		whole.text = append(append(held.text, '\n'), text...)
	} else {
		whole.text = append(held.text, text...)
	}
	if len(whole.text) > lineLimit {
		return whole, false
	}
	value := whole.text
	if held.field {
		value = dataOf(value)
	}
	value = bytes.TrimSpace(value)
	n, closed := valueLen(value)
	if closed && len(bytes.TrimSpace(value[n:])) > 0 {
		return whole, false // it is not what goes on here
	}
	if whole.cut = !closed; closed {
		all, _, _ := readMembers(nil, value)
		if said := say(all); said.is != noPayload {
			whole.saying = said
			whole.is = aChunk
		}
	}
	return whole, true
}

// opensWithin reports whether a line that may begin a payload is a bracket alone, where the payload
// that was cut has room for a value: so nicely printed JSON goes on.
func opensWithin(held, next *find) bool {
	bracket, is := bytes.CutPrefix(bytes.TrimSpace(next.text), []byte("data:"))
	if !is || !held.field || !next.cut || string(bytes.TrimSpace(bracket)) != "{" {
		return false
	}
	text := bytes.TrimSpace(held.text)
	return bytes.IndexByte([]byte("[,:"), text[len(text)-1]) >= 0
}

// goesOn reports whether a text can be what a payload that was cut goes on with. Inside a string that
// may be anything, so only what is as long as loggers cut at is taken for cut there.
func (s *flows) goesOn(held *find, text []byte) bool {
	const least = 500
	next, lines := bytes.CutPrefix(text, []byte("data:"))
	if lines != bytes.Contains(held.text, []byte("\ndata:")) && bytes.Contains(held.text, []byte("\ndata:")) {
		return false
	}
	value := held.text
	if held.field {
		value = dataOf(value)
	}
	var span Span
	if span.Write(value); span.text {
		return len(held.before)+len(held.text) >= least
	}
	next = bytes.TrimLeft(next, " ")
	return len(next) > 0 && bytes.IndexByte([]byte(`{}[]",:-0123456789tfn`), next[0]) >= 0
}

// beginLimit is how many bytes of a text are held that may begin an event stream, or not.
const beginLimit = 64 << 10

// dataOf is the data of a field, or of several: without their names.
func dataOf(field []byte) (data []byte) {
	for i, line := range bytes.Split(field, []byte("\n")) {
		if i > 0 {
			data = append(data, '\n')
		}
		data = append(data, bytes.TrimPrefix(line, []byte("data:"))...)
	}
	return data
}

// countCut notices that lines are cut at one length: then the logger did it.
func (s *flows) countCut(f *find) {
	const some, least = 2, 128
	x := s.choose(f).flow
	known := x != nil && x.told && !x.mute
	if known && !x.stops {
		x.stops = true
		s.r.recs = append(s.r.recs, capture.Record{Exchange: x.number, At: x.at, Head: &capture.Head{Lacks: []capture.Lack{capture.CutLines}}})
	}
	size := len(f.before) + len(f.text) + len(f.after)
	if size < least || s.cuts.told {
		return
	}
	if size != s.cuts.size {
		s.cuts.size, s.cuts.count = size, 0
	}
	if s.cuts.count++; s.cuts.count < some {
		return
	}
	s.cuts.told = true
	note := fmt.Sprintf("lines are cut at %d bytes, by who wrote the log: what stood behind is not there", size)
	if known {
		s.r.recs = append(s.r.recs, capture.Record{Exchange: x.number, At: x.at, Head: &capture.Head{}, Note: note})
		return
	}
	s.r.note(note, false)
}
