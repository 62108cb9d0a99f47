package capture

import (
	"context"
	"io"
	"os"
	"sync/atomic"
)

// Progress is how much was read of files, of what they held when they were opened. Several
// goroutines may use it; a nil Progress counts nothing.
type Progress struct {
	read, size atomic.Int64
	files      []string // that will be read; nobody adds to them once reading has begun
}

// State is how many bytes were read, of how many.
func (p *Progress) State() (read, size int64) { return p.read.Load(), p.size.Load() }

// Survey counts what is in all the files, as Survey does for one. What cannot be looked at says so to
// who reads it.
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

// newReader is a reader of which what is read counts.
func (p *Progress) newReader(from io.Reader) io.Reader {
	if p == nil {
		return from
	}
	return countingReader{from, p}
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
