package capture

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sync/atomic"
)

// Location is where a record stands in a file that can be read again; the zero Place is nowhere.
//
// A record of a capture stands in its line, and so does what was found in a log. What an entry of a
// HAR tells, or of another recording of HTTP, stands in all of the entry. A body, or a dump of
// curl, is one exchange, and is read again from its start: its records stand in all that was read of
// it by then. What is made of the end of a file stands behind its last byte.
type Location struct {
	File       *File
	Start, End int64
	Bare       bool     // the file is the body of a response, and nothing else
	Lines      *Lines   // the lines of the exchange, where the file is a log
	Line       [2]int64 // where in that the record's own line begins and ends
	Entries    *Entries // the file, where the exchange stands in an entry of it
}

// File is a file that can be read again, exchange by exchange. It holds nothing open, and may be
// used by several goroutines at once.
type File struct {
	path  string
	info  fs.FileInfo  // when it was opened first
	last  []byte       // the last bytes it had then
	ended atomic.Int64 // where it ended for who read it first; before that, behind everything
}

// newFile is the file that was just opened, nil if it cannot be read again.
func newFile(path string, opened osFile) *File {
	info, err := opened.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f := &File{path: path, info: info, last: make([]byte, min(info.Size(), lastPrint))}
	if _, err := opened.ReadAt(f.last, info.Size()-int64(len(f.last))); err != nil && err != io.EOF {
		return nil
	}
	f.ended.Store(math.MaxInt64)
	return f
}

// finish says that the file was read to its end, at size. It returns where what is made of that
// stands: up to the byte behind it.
func (f *File) finish(size int64) int64 {
	if f != nil {
		f.ended.Store(size)
	}
	return size + 1
}

// Again yields the records of one exchange that stand in [start,end), as they were read first, and
// none that tell of the source itself. start is where the first record of the exchange stands, and
// exchange is the number it had then, whatever its number in the file.
//
// A file that is gone, or is no longer as it was, is an error. One that has only grown is as it
// was. What was changed without a trace in its size and times is not noticed here: who needs to be
// sure compares the bytes.
func (f *File) Again(ctx context.Context, exchange int, start, end int64) Source {
	return func(yield func(Record, error) bool) {
		opened, err := f.open()
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer opened.Close()
		part := f.newPart(exchange, start, end)
		part.read(ctx, opened, func(r Record, err error) bool {
			return err == nil && (r.OfSource() || r.Damaged) || yield(r, err)
		})
	}
}

// Bytes are those that stand in [start,end) of the file. The error is as that of Again.
func (f *File) Bytes(start, end int64) ([]byte, error) {
	opened, err := f.open()
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	p := make([]byte, end-start)
	if _, err := opened.ReadAt(p, start); err != nil {
		return nil, f.changedError()
	}
	return p, nil
}

// open opens the file, if it is still the one that was read.
func (f *File) open() (*os.File, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, openError(f.path, err)
	}
	if !info.Mode().IsRegular() { // and opening it may wait for somebody
		return nil, f.changedError()
	}
	opened, err := os.Open(f.path)
	if err != nil {
		return nil, openError(f.path, err)
	}
	if !f.isSame(opened) {
		opened.Close()
		return nil, f.changedError()
	}
	return opened, nil
}

func (f *File) changedError() error { return fmt.Errorf("%s changed since it was read", f.path) }

// isSame reports whether an opened file is this one and, as far as that shows, holds what it held.
func (f *File) isSame(opened *os.File) bool {
	info, err := opened.Stat()
	if err != nil || !os.SameFile(info, f.info) {
		return false
	}
	size := f.info.Size()
	if info.Size() == size {
		return info.ModTime().Equal(f.info.ModTime())
	}
	return hasBytesAt(opened, f.last, size-int64(len(f.last)))
}

// filePart is a part of a file that is read again.
type filePart struct {
	file       *File
	in         *inputReader
	start, end int64 // end is no further than the file's
	whole      bool  // what is made of the file's end belongs to it
}

func (f *File) newPart(exchange int, start, end int64) filePart {
	p := filePart{file: f, start: start, end: min(end, f.ended.Load()), in: newInputReader(f.path, &exchangeNumbers{last: exchange - 1})}
	p.whole = end > p.end
	p.in.from, p.in.read = f, start
	if start > 0 { // only a capture has anything to read in its midst: its first line is a header
		c := newCaptureReader(f.path, &exchangeNumbers{})
		c.from, c.before, c.number, c.wanted = f, start, 1, &exchangeFilter{exchange: exchange}
		p.in.reader = c
	}
	return p
}

// read yields the records of the part, and maybe others that tell of the source.
func (p *filePart) read(ctx context.Context, opened io.ReaderAt, yield func(Record, error) bool) {
	from := io.NewSectionReader(opened, p.start, p.end-p.start)
	for ctx.Err() == nil {
		c := p.in.readChunk(from)
		if c.err == io.EOF && p.in.read+int64(len(c.data)) < p.end {
			yield(Record{}, p.file.changedError())
			return
		}
		if c.err == io.EOF && !p.whole {
			if lines := p.in.asCapture(); lines != nil {
				yieldRecords(yield, lines.readLastLine(nil), nil)
			}
			return
		}
		if !p.in.deliverChunk(yield, c) {
			return
		}
	}
}

// exchangeFilter is the only exchange to be read of a capture.
type exchangeFilter struct {
	exchange int // its number among all that was read
	number   int // its number in the capture, which the first line tells; 0 before that
}

// matches reports whether a record of that number is wanted.
func (w *exchangeFilter) matches(number int, n numberMap) bool {
	if w == nil {
		return true
	}
	if w.number == 0 {
		w.number = number
		n.known[number] = w.exchange
	}
	return number == w.number
}

// passesOver reports whether a line is not of the wanted exchange, as its beginning tells, and says
// nothing of the lines behind it: the first checksum says that they need one.
func (c *captureReader) passesOver(line []byte) bool {
	if c.wanted == nil || c.wanted.number == 0 || !c.summed && sumStart(line) >= 0 {
		return false
	}
	_, x, _ := linePrefix(line)
	return x != 0 && x != c.wanted.number
}
