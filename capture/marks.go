package capture

import "bytes"

// A ResponseMarker is a word that stands once in every answer of some kind, as a string or the name of a member
// in JSON. Answers of one kind may be marked where they begin, where they end, or in both places.
type ResponseMarker struct {
	Word string
	Kind int  // of answers
	Ends bool // it stands where they end: only one that has a value does
}

// markerScanner finds marks in text, without reading what the text says: from one place where a mark may end
// it goes on to the next one, as far as the bytes that stand there allow (Wu and Manber's way). JSON
// that stands in JSON has more backslashes, and the same quotes and words.
type markerScanner struct {
	all    []ResponseMarker
	kinds  int
	least  int                  // how long the shortest is, with its quote
	steps  [1 << hashBits]uint8 // by the last bytes of a place, how far on the next one may be
	recent [recentNames]uint64  // the answers of which an end was seen
	next   int
}

const (
	hashBits    = 14
	blockBytes  = 3       // so many bytes are looked at at a time
	markBehind  = 4 << 10 // so much of a line before a mark is looked at
	markAhead   = 128     // a mark and its value are no longer
	recentNames = 64
)

func newMarkerScanner(all []ResponseMarker) *markerScanner {
	m := &markerScanner{all: all, least: 255}
	for _, mark := range all {
		m.least = min(m.least, 1+len(mark.Word))
		m.kinds = max(m.kinds, mark.Kind+1)
	}
	for i := range m.steps {
		m.steps[i] = uint8(m.least - blockBytes + 1)
	}
	for _, mark := range all {
		text := `"` + mark.Word
		for end := blockBytes; end <= m.least; end++ {
			step := &m.steps[blockOf(text, end)]
			*step = min(*step, uint8(m.least-end))
		}
	}
	return m
}

// blockOf is a number for the bytes that end there.
func blockOf[T string | []byte](text T, end int) uint32 {
	n := uint32(text[end-1]) | uint32(text[end-2])<<8 | uint32(text[end-3])<<16
	return n * 0x9e3779b1 >> (32 - hashBits)
}

// countMarkers finds the marks that begin in text[from:to], and reports of each kind how many answers begin
// and how many end.
func (m *markerScanner) countMarkers(text []byte, from, to int, begun, ended []int64) {
	m.recent, m.next = [recentNames]uint64{}, 0
	for end := from + m.least; end <= len(text); {
		if step := m.steps[blockOf(text, end)]; step > 0 {
			end += int(step)
			continue
		}
		at := end - m.least
		if at >= to {
			return
		}
		if text[at] == '"' {
			m.countAt(text, at, begun, ended)
		}
		end++
	}
}

// countAt counts the mark that stands there, if one does.
func (m *markerScanner) countAt(text []byte, at int, begun, ended []int64) {
	for i := range m.all {
		mark := &m.all[i]
		rest, is := bytes.CutPrefix(text[at+1:], []byte(mark.Word))
		if !is || len(rest) == 0 || rest[0] != '"' && rest[0] != '\\' {
			continue
		}
		switch {
		case !mark.Ends:
			begun[mark.Kind]++
		case hasValue(rest) && !m.seenNear(text, at):
			ended[mark.Kind]++
		}
		return
	}
}

// hasValue reports whether the member whose name ends here has a value.
func hasValue(rest []byte) bool {
	value := bytes.TrimLeft(rest[:min(len(rest), markAhead)], "\\\": ")
	if len(value) == 0 || !isLetter(value[0]) && (value[0] < '0' || value[0] > '9') {
		return false
	}
	return !bytes.HasPrefix(value, []byte("null")) && !bytes.HasPrefix(value, []byte("None"))
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// seenNear reports whether the end of the same answer was seen shortly before: some tell it again beside
// what it cost. Which answer it is, the last id of the line tells; where none does, it is another one.
func (m *markerScanner) seenNear(text []byte, at int) bool {
	line := text[max(0, at-markBehind):at]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	i := bytes.LastIndex(line, []byte(`"id`))
	if i < 0 {
		return false
	}
	id := bytes.TrimLeft(line[i+len(`"id`):], "\\\": ")
	if end := bytes.IndexAny(id, `"\,}`); end >= 0 {
		id = id[:end]
	}
	if len(id) == 0 {
		return false
	}
	name := uint64(14695981039346656037)
	for _, c := range id {
		name = (name ^ uint64(c)) * 1099511628211
	}
	for _, known := range m.recent {
		if known == name {
			return true
		}
	}
	m.recent[m.next%recentNames] = name
	m.next++
	return false
}
