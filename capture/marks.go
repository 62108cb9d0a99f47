package capture

import "bytes"

// ResponseMarker is a word that occurs once in every response of some kind, as a JSON string or key. It
// marks the beginning or the end of a response; a kind may have markers for either or both.
type ResponseMarker struct {
	Word string
	Kind int  // kind of response
	Ends bool // it marks the end, and only if it has a value
}

// markerScanner finds markers in text without parsing it. It jumps from one possible end of a marker to
// the next, as far as the bytes there allow (the algorithm of Wu and Manber). JSON within JSON has more
// backslashes, but the same quotes and words.
type markerScanner struct {
	all    []ResponseMarker
	kinds  int
	least  int                  // length of the shortest marker with its quote
	steps  [1 << hashBits]uint8 // by the last bytes of a place: distance to the next possible end
	recent [recentNames]uint64  // hashes of response ids with a seen end
	next   int
}

const (
	hashBits    = 14
	blockBytes  = 3       // bytes compared at a time
	markBehind  = 4 << 10 // bytes of a line searched before a marker
	markAhead   = 128     // maximum length of a marker and its value
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

// blockOf returns a hash of the blockBytes bytes before end.
func blockOf[T string | []byte](text T, end int) uint32 {
	n := uint32(text[end-1]) | uint32(text[end-2])<<8 | uint32(text[end-3])<<16
	return n * 0x9e3779b1 >> (32 - hashBits)
}

// countMarkers finds the markers that begin in text[from:to]. It adds the begun and ended responses of
// each kind.
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

// countAt counts the marker at a position, if there is one.
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

// hasValue reports whether the field whose key ends here has a value.
func hasValue(rest []byte) bool {
	value := bytes.TrimLeft(rest[:min(len(rest), markAhead)], "\\\": ")
	if len(value) == 0 || !isLetter(value[0]) && (value[0] < '0' || value[0] > '9') {
		return false
	}
	return !bytes.HasPrefix(value, []byte("null")) && !bytes.HasPrefix(value, []byte("None"))
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// seenNear reports whether the end of the same response was seen shortly before: some providers repeat it
// with the usage. The last id in the line identifies the response; without one, it counts as another
// response.
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
