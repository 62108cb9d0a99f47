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

// Location is the position of a record in a file that can be read again. The zero Location means that the
// record can't be read again.
//
// A record of a capture or a log has the location of its line. A record from an entry of a HAR file, or of
// another HTTP log, has the location of the complete entry. A body or a curl dump is one exchange and is read
// again from its start, so the location of each record covers everything read so far. Records made at the end
// of a file are located after its last byte.
type Location struct {
	File       *File
	Start, End int64
	Bare       bool     // the file is the body of one response and nothing else
	Lines      *Lines   // the lines of the exchange, if the file is a log
	Line       [2]int64 // start and end of the record's own line in the file
	Entries    *Entries // the entries of the file, if the exchange is one of them
}

// File is a file that can be read again, exchange by exchange. It keeps nothing open. It is safe for
// concurrent use.
type File struct {
	path  string
	info  fs.FileInfo  // state of the file when it was first opened
	last  []byte       // last bytes of the file at that time
	ended atomic.Int64 // offset at which the first read ended; MaxInt64 until then
}

// Path returns the path with which the file was opened.
func (f *File) Path() string { return f.path }

// newFile returns the File of a file that was just opened, or nil if it can't be read again.
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

// finish records that the file was read to its end, at size. It returns the end position for records made there,
// which is one byte after size.
func (f *File) finish(size int64) int64 {
	if f != nil {
		f.ended.Store(size)
	}
	return size + 1
}

// Again yields the records of one exchange in [start,end), as they were first read. It leaves out records
// about the source itself and records that are marked as damaged. The location of the
// exchange's first record begins at start. The records get the number in the parameter exchange, whatever their
// number in the file is.
//
// A missing or changed file is an error. A file that has only grown counts as unchanged. A change that keeps
// size and times is not detected here; callers that must be sure compare the bytes.
func (f *File) Again(ctx context.Context, exchange int, start, end int64) Source {
	return func(yield func(Record, error) bool) {
		opened, err := f.open()
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer opened.Close()
		last := min(end, f.ended.Load())
		in := newInputReader(f.path, &exchangeNumbers{last: exchange - 1})
		in.from, in.read = f, start
		if start > 0 { // only a capture is read from the middle, after its first line
			c := newCaptureReader(f.path, &exchangeNumbers{})
			c.from, c.before, c.number, c.wanted = f, start, 1, &exchangeFilter{exchange: exchange}
			in.reader = c
		}
		deliver := func(r Record, err error) bool { return err == nil && (r.OfSource() || r.Damaged) || yield(r, err) }
		for from := io.NewSectionReader(opened, start, last-start); ctx.Err() == nil; {
			c := in.readChunk(from)
			if c.err == io.EOF && in.read+int64(len(c.data)) < last {
				yield(Record{}, f.changedError())
				return
			}
			if c.err == io.EOF && end == last { // records made at the file's end don't belong to the range
				if lines := in.asCapture(); lines != nil {
					yieldRecords(deliver, lines.readLastLine(nil), nil)
				}
				return
			}
			if !in.deliverChunk(deliver, c) {
				return
			}
		}
	}
}

// Bytes returns the bytes [start,end) of the file. It returns the same errors as Again.
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

// open opens the file. It fails if the file was replaced or changed.
func (f *File) open() (*os.File, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, openError(f.path, err)
	}
	if !info.Mode().IsRegular() { // opening another kind of file may block
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

// isSame reports whether an opened file is this file and probably has the same content. If its size is the
// same, its modification time must be the same too. If its size differs, the bytes before the old end must be
// the same.
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

// exchangeFilter selects the one exchange of a capture that is to be read.
type exchangeFilter struct {
	exchange int // its number among all sources
	number   int // its number in the capture; if 0, set by the first record that is read
}

// matches reports whether a record with this exchange number is to be read. If the filter has no number yet,
// matches sets it to this number.
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

// passesOver reports whether a line can be skipped because its beginning shows that it belongs to another exchange.
// The first line with a checksum is not skipped: it makes checksums mandatory for later lines.
func (c *captureReader) passesOver(line []byte) bool {
	if c.wanted == nil || c.wanted.number == 0 || !c.summed && sumStart(line) >= 0 {
		return false
	}
	_, x, _ := linePrefix(line)
	return x != 0 && x != c.wanted.number
}
