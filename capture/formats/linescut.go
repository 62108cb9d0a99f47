package formats

import (
	"bytes"
	"fmt"
	"slices"

	"toolscope/capture"
	"toolscope/stream/json"
)

// This file holds payloads that were cut, until it is clear what they go on with.

// truncatedByLength counts payloads that were cut, by how long their lines are.
type truncatedByLength struct {
	size, count int
	reported    bool
}

// holdTruncated keeps a payload whose end is missing until the next line tells whether it goes on there.
func (s *openStreams) holdTruncated(f *payload) bool {
	if !f.field && f.is != aChunk {
		return false
	}
	held := *f
	held.text, held.before, held.after = bytes.Clone(f.text), bytes.Clone(f.before), bytes.Clone(f.after)
	held.kind = bytes.Clone(f.kind)
	if len(s.r.truncated) == maxTruncated {
		s.takeTruncated(0)
	}
	s.r.truncated = append(s.r.truncated, &truncatedPayload{held, s.r.number})
	f.on.begun = f.on.begun || f.quoted
	return true
}

// continueTruncated has payloads that were cut go on with what a line holds, or takes them as they are. What is
// left of the line is returned.
func (s *openStreams) continueTruncated(finds []payload, taken *bool) []payload {
	for i := 0; i < len(s.r.truncated); i++ {
		held := s.r.truncated[i]
		ours := len(finds) > 0 && finds[0].on == held.on && !compareKeys(held.keys, finds[0].keys).conflicts()
		if ours && len(finds) == 1 {
			whole, is := s.joinTruncated(&held.payload, &finds[0])
			if is && whole.cut {
				held.payload, held.line = whole, s.r.number
				*taken = true
				return nil
			}
			if is {
				s.dropTruncated(i)
				return []payload{whole}
			}
		}
		if ours && (finds[0].is != aRest || len(finds[0].text) == 0) || s.r.number > held.line+maxLinesBetween {
			s.takeTruncated(i)
			i--
		}
	}
	return finds
}

// dropTruncated forgets a payload that was cut.
func (s *openStreams) dropTruncated(i int) {
	on := s.r.truncated[i].on
	s.r.truncated = slices.Delete(s.r.truncated, i, i+1)
	on.begun = slices.ContainsFunc(s.r.truncated, func(h *truncatedPayload) bool { return h.on == on && h.quoted })
}

// takeTruncated takes a payload that was cut as it is.
func (s *openStreams) takeTruncated(i int) {
	held := s.r.truncated[i]
	s.dropTruncated(i)
	s.countTruncated(&held.payload)
	held.cut = false
	if !s.takePayload(&held.payload) {
		s.r.others.addLine(1, held.text)
	}
}

// maxLinesBetween is how many lines of others may come between two pieces of a payload.
const maxLinesBetween = 100

// joinTruncated is a payload with what a line goes on with: the next line of a text of which each has its
// own data:, or the second half of a line that was cut.
func (s *openStreams) joinTruncated(held, next *payload) (whole payload, is bool) {
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
		if whole.text = append(held.text, next.text...); len(whole.text) > maxStartBytes {
			return whole, false
		}
		said, known := s.r.unwrapper.readEvents(whole.text)
		if !known {
			said, known = s.r.unwrapper.readObjects(whole.text)
		}
		if known {
			whole.chunkInfo, whole.cut = said, false
		}
		return whole, true
	}
	if !s.canContinue(held, text) {
		return whole, false
	}
	if held.field && bytes.HasPrefix(text, []byte("data:")) {
		whole.text = append(append(held.text, '\n'), text...)
	} else {
		whole.text = append(held.text, text...)
	}
	if len(whole.text) > maxLineBytes {
		return whole, false
	}
	value := whole.text
	if held.field {
		value = dataOf(value)
	}
	value = bytes.TrimSpace(value)
	n, closed := json.ValueLen(value)
	if closed && len(bytes.TrimSpace(value[n:])) > 0 {
		return whole, false // it is not what goes on here
	}
	if whole.cut = !closed; closed {
		all, _, _ := json.AppendFields(nil, value)
		if said := readChunkInfo(all); said.is != noPayload {
			whole.chunkInfo = said
			whole.is = aChunk
		}
	}
	return whole, true
}

// opensWithin reports whether a line that may begin a payload is a bracket alone, where the payload
// that was cut has room for a value: so nicely printed JSON goes on.
func opensWithin(held, next *payload) bool {
	bracket, is := bytes.CutPrefix(bytes.TrimSpace(next.text), []byte("data:"))
	if !is || !held.field || !next.cut || string(bytes.TrimSpace(bracket)) != "{" {
		return false
	}
	text := bytes.TrimSpace(held.text)
	return bytes.IndexByte([]byte("[,:"), text[len(text)-1]) >= 0
}

// canContinue reports whether a text can be what a payload that was cut goes on with. Inside a string that
// may be anything, so only what is as long as loggers cut at is taken for cut there.
func (s *openStreams) canContinue(held *payload, text []byte) bool {
	const least = 500
	next, lines := bytes.CutPrefix(text, []byte("data:"))
	if lines != bytes.Contains(held.text, []byte("\ndata:")) && bytes.Contains(held.text, []byte("\ndata:")) {
		return false
	}
	value := held.text
	if held.field {
		value = dataOf(value)
	}
	var span json.ValueScanner
	if span.Write(value); span.InString() {
		return len(held.before)+len(held.text) >= least
	}
	next = bytes.TrimLeft(next, " ")
	return len(next) > 0 && bytes.IndexByte([]byte(`{}[]",:-0123456789tfn`), next[0]) >= 0
}

// maxStartBytes is how many bytes of a text are held that may begin an event stream, or not.
const maxStartBytes = 64 << 10

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

// countTruncated notices that lines are cut at one length: then the logger did it.
func (s *openStreams) countTruncated(f *payload) {
	const some, least = 2, 128
	x := s.chooseStream(f).flow
	known := x != nil && x.headWritten && !x.mute
	if known && !x.stops {
		x.stops = true
		s.r.recs = append(s.r.recs, capture.Record{Exchange: x.number, At: x.at, Head: &capture.Head{Lacks: []capture.Lack{capture.CutLines}}})
	}
	size := len(f.before) + len(f.text) + len(f.after)
	if size < least || s.cuts.reported {
		return
	}
	if size != s.cuts.size {
		s.cuts.size, s.cuts.count = size, 0
	}
	if s.cuts.count++; s.cuts.count < some {
		return
	}
	s.cuts.reported = true
	note := fmt.Sprintf("the program that wrote the log cut lines at %d bytes: the rest of each line is missing", size)
	if known {
		s.r.recs = append(s.r.recs, capture.Record{Exchange: x.number, At: x.at, Head: &capture.Head{}, Note: note})
		return
	}
	s.r.addNote(note, false)
}
