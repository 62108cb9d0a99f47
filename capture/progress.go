package capture

import (
	"context"
	"io"
	"os"
	"sync/atomic"
)

// Progress counts how many bytes of files were read, and how many they had when opened. It is safe for
// concurrent use. A nil Progress counts nothing.
type Progress struct {
	read, size atomic.Int64
	files      []string // to be read; constant once reading has begun
}

// State returns how many bytes were read, and the total.
func (p *Progress) State() (read, size int64) { return p.read.Load(), p.size.Load() }

// Survey adds up the surveys of all files. It leaves out unreadable files: reading them reports the
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

// newReader returns a reader that counts the bytes read.
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
