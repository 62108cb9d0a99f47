package capture

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// FileSurvey holds counts for a file that are known without parsing it.
type FileSurvey struct {
	Bytes, Lines int64
	Responses    int64 // an estimate; 0 without markers
}

// Add adds the counts of another file.
func (s *FileSurvey) Add(other FileSurvey) {
	s.Bytes += other.Bytes
	s.Lines += other.Lines
	s.Responses += other.Responses
}

// surveyBytes is the number of bytes of a file that are read at a time.
const surveyBytes = 512 << 10

// Survey counts the lines of a file, and estimates the number of responses by their markers. It uses several
// goroutines and keeps no content. For a compressed or special file, it returns at most the size.
func Survey(ctx context.Context, path string, all []ResponseMarker, workers int) (FileSurvey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return FileSurvey{}, openError(path, err)
	}
	s := &survey{ctx: ctx, size: info.Size(), all: all}
	if !info.Mode().IsRegular() {
		return FileSurvey{}, nil
	}
	if s.file, err = os.Open(path); err != nil {
		return FileSurvey{}, openError(path, err)
	}
	defer s.file.Close()
	if isPacked(s.file) {
		return FileSurvey{Bytes: s.size}, nil
	}
	var working sync.WaitGroup
	for range workers {
		working.Go(s.countParts)
	}
	working.Wait()
	if s.err != nil {
		return FileSurvey{}, readError(path, s.err)
	}
	sum := FileSurvey{Bytes: s.size, Lines: s.lines}
	for k := range s.begun {
		sum.Responses += max(s.begun[k], s.ended[k]) // a kind may lack some of its markers for beginnings or ends
	}
	return sum, ctx.Err()
}

// survey is the state that the goroutines of one Survey share.
type survey struct {
	ctx  context.Context
	file *os.File
	size int64
	all  []ResponseMarker
	next atomic.Int64 // the next range to read

	mu           sync.Mutex
	lines        int64
	begun, ended []int64 // by kind
	err          error
}

// countParts reads ranges of the file until there are no more.
func (s *survey) countParts() {
	m := newMarkerScanner(s.all)
	begun, ended := make([]int64, m.kinds), make([]int64, m.kinds)
	room := make([]byte, markBehind+surveyBytes+markAhead)
	var lines int64
	var err error
	for s.ctx.Err() == nil && err == nil {
		start := (s.next.Add(1) - 1) * surveyBytes
		if start >= s.size {
			break
		}
		before := min(start, markBehind)
		var n int
		n, err = s.file.ReadAt(room[:before+min(surveyBytes, s.size-start)+markAhead], start-before)
		if err == io.EOF {
			err = nil
		}
		from := min(int(before), n)
		to := min(from+surveyBytes, n)
		lines += int64(bytes.Count(room[from:to], []byte("\n")))
		m.countMarkers(room[:n], from, to, begun, ended)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines += lines
	if s.begun == nil {
		s.begun, s.ended = make([]int64, m.kinds), make([]int64, m.kinds)
	}
	for k := range begun {
		s.begun[k] += begun[k]
		s.ended[k] += ended[k]
	}
	if err != nil {
		s.err = err
	}
}

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
	steps  [1 << hashBits]uint8 // by the last bytes of a position: distance to the next possible end
	recent [recentNames]uint64  // hashes of the ids of responses whose end was seen
	next   int
}

const (
	hashBits    = 14
	blockBytes  = 3       // number of bytes compared at a time
	markBehind  = 4 << 10 // maximum number of bytes of a line searched before a marker
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

// seenNear reports whether the end of the same response was seen shortly before, and records this end, because
// some providers repeat the end with the usage. The last id before the marker in its line identifies the
// response. An end without an id counts as the end of another response.
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

// Progress counts the bytes that were read from files, and the bytes that the files had when they were opened.
// It is safe for concurrent use. A nil Progress counts nothing.
type Progress struct {
	read, size atomic.Int64
	files      []string // to be read; constant once reading has begun
}

// State returns the number of bytes read, and the total.
func (p *Progress) State() (read, size int64) { return p.read.Load(), p.size.Load() }

// Survey adds up the surveys of all files. It leaves out unreadable files, because reading them reports the
// error.
func (p *Progress) Survey(ctx context.Context, all []ResponseMarker, workers int) (sum FileSurvey) {
	for _, path := range p.files {
		if s, err := Survey(ctx, path, all, workers); err == nil {
			sum.Add(s)
		}
	}
	return sum
}

// expectFile counts a file that will be read.
func (p *Progress) expectFile(path string) {
	if p == nil {
		return
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		p.size.Add(info.Size())
		p.files = append(p.files, path)
	}
}

func (p *Progress) add(n int) {
	if p != nil {
		p.read.Add(int64(n))
	}
}

type countingReader struct {
	io.Reader
	to *Progress
}

func (c countingReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.to.add(n)
	return n, err
}
