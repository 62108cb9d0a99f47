package capture

import (
	"bytes"
	"slices"

	"toolscope/stream/json"
)

// lineShapes are the distinct shapes of the texts in an input's lines.
type lineShapes struct {
	all  []lineShape
	last []int32 // the most recently used
	met  *Head   // the last head
	ends *ending // the last ending
	room [2][]byte
}

// lineShape is the position of a text in a line, possibly within nested JSON strings.
type lineShape struct {
	strings []int // where each string begins, after its quote, counted in the unquoted string around it
	before  int   // bytes before the text in the innermost string
	behind  int   // bytes after the text there
}

const (
	maxShapes       = 1 << 12 // of an input
	maxRecentShapes = 8       // tried first
	maxShapeDepth   = 4       // strings in strings
)

// internHead returns an earlier head that is equal to h, or h: most heads of a log are equal and stored
// once.
func (s *lineShapes) internHead(h *Head) *Head {
	if of := s.met; of != nil && of.File == h.File && of.Method == h.Method && of.URL == h.URL && of.Status == h.Status && len(of.Header)+len(h.Header) == 0 &&
		of.Start.Equal(h.Start) && of.Wrappers == h.Wrappers && slices.Equal(of.Lacks, h.Lacks) && of.Incremental == h.Incremental {
		return of
	}
	s.met = h
	return h
}

// internEnding returns an earlier ending that is equal to e, or e: most are equal.
func (s *lineShapes) internEnding(e ending) *ending {
	if s.ends == nil || *s.ends != e {
		s.ends = &e
	}
	return s.ends
}

// numberOf returns the number of the shape of a text in a line, 0 if it has none.
func (s *lineShapes) numberOf(line, before, text, after []byte) int32 {
	for i, n := range s.last {
		if s.all[n-1].matches(line, before, text, after, &s.room) {
			copy(s.last[1:i+1], s.last[:i])
			s.last[0] = n
			return n
		}
	}
	found := lineShape{}
	if !found.find(line, before, text, after, 0) || !found.matches(line, before, text, after, &s.room) {
		return 0
	}
	n := int32(slices.IndexFunc(s.all, func(a lineShape) bool { return a.isSame(&found) }) + 1)
	if n == 0 {
		if len(s.all) == maxShapes {
			return 0
		}
		s.all = append(s.all, found)
		n = int32(len(s.all))
	}
	s.last = slices.Insert(s.last, 0, n)
	s.last = s.last[:min(len(s.last), maxRecentShapes)]
	return n
}

func (s *lineShape) isSame(of *lineShape) bool {
	return s.before == of.before && s.behind == of.behind && slices.Equal(s.strings, of.strings)
}

// find searches a text in a line and the strings in it.
func (s *lineShape) find(line, before, text, after []byte, depth int) bool {
	if n := len(before) + len(text); bytes.HasPrefix(line, before) && bytes.HasPrefix(line[len(before):], text) && bytes.HasPrefix(after, withoutBreaks(line[n:])) {
		s.before, s.behind = len(before), len(line)-len(before)-len(text)
		return true
	}
	for at := 0; depth < maxShapeDepth; {
		q := bytes.IndexByte(before[at:], '"')
		if at += q + 1; q < 0 || !bytes.HasPrefix(line, before[:at]) {
			return false
		}
		end := stringEnd(line, at)
		if end < 0 {
			return false
		}
		s.strings = append(s.strings, at)
		if s.find(json.AppendUnquoted(nil, line[at:end]), before[at:], text, after, depth+1) {
			return true
		}
		s.strings = s.strings[:len(s.strings)-1]
	}
	return false
}

// stringEnd returns the end of the string whose content begins at a position, -1 if there is none.
func stringEnd(text []byte, at int) int {
	if at > len(text) || text[at-1] != '"' {
		return -1
	}
	n, closed := json.StringEnd(text[at-1:])
	if !closed {
		return -1
	}
	return at + n - 2
}

// matches reports whether text, before and after are in a line at this shape.
func (s *lineShape) matches(line, before, text, after []byte, room *[2][]byte) bool {
	for i, at := range s.strings {
		end := stringEnd(line, at)
		if end < 0 || !bytes.HasPrefix(before, line[:at]) || !bytes.HasSuffix(after, withoutBreaks(line[end:])) {
			return false
		}
		before, after = before[at:], after[:len(after)-len(withoutBreaks(line[end:]))]
		room[i%2] = json.AppendUnquoted(room[i%2][:0], line[at:end])
		line = room[i%2]
	}
	end := len(line) - s.behind
	return s.before <= end && bytes.Equal(line[:s.before], before) && bytes.Equal(line[s.before:end], text) &&
		bytes.Equal(withoutBreaks(line[end:]), after)
}

func withoutBreaks(p []byte) []byte { return bytes.TrimRight(p, "\r\n") }

// splitLine returns the text at this shape in a line, and the bytes around it. The text shares memory
// with line or room.
func (s *lineShape) splitLine(line []byte, room *[2][]byte) (before, text, after []byte, ok bool) {
	text = line
	for i, at := range s.strings {
		end := stringEnd(text, at)
		if end < 0 {
			return nil, nil, nil, false
		}
		before = append(before, text[:at]...)
		after = append(bytes.Clone(withoutBreaks(text[end:])), after...)
		room[i%2] = json.AppendUnquoted(room[i%2][:0], text[at:end])
		text = room[i%2]
	}
	end := len(text) - s.behind
	if s.before > end {
		return nil, nil, nil, false
	}
	before = append(before, text[:s.before]...)
	after = append(bytes.Clone(withoutBreaks(text[end:])), after...)
	return before, text[s.before:end], after, true
}
