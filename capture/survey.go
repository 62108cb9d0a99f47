package capture

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// FileSurvey holds numbers about a file that are known without parsing it.
type FileSurvey struct {
	Bytes, Lines int64
	Responses    int64 // an estimate; 0 without markers
}

// Add adds the numbers of another file.
func (s *FileSurvey) Add(other FileSurvey) {
	s.Bytes += other.Bytes
	s.Lines += other.Lines
	s.Responses += other.Responses
}

// surveyBytes is how many bytes of a file are read at a time.
const surveyBytes = 512 << 10

// Survey counts the lines of a file, and estimates the number of responses by their markers, in so many
// goroutines. It keeps no content. Of a compressed or special file it returns at most the size.
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
	return s.sumUp(), ctx.Err()
}

// survey is the state that its goroutines share.
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

// sumUp returns the totals. If a kind has markers at both ends, some may be missing at either: the larger
// number counts.
func (s *survey) sumUp() FileSurvey {
	all := FileSurvey{Bytes: s.size, Lines: s.lines}
	for k := range s.begun {
		all.Responses += max(s.begun[k], s.ended[k])
	}
	return all
}
