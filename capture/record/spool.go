package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"toolscope/capture"
)

// Spool is a capture that waits to be sent elsewhere. It consists of segments, NAME.tsc and then
// NAME.tsc.OFFSET. Joined, they are the capture. If the segments exceed the limit, the oldest is deleted, even
// if it was not sent. If the disk is full, sent segments are deleted.
//
// A program that writes the spool, or sends an orphaned one, holds a lock on .NAME.lock. It holds the lock
// from before the first segment exists until the spool is released. The lock file also contains the send
// position; see [Spool.Mark].
type Spool struct {
	base    string // path without extension
	segment int64  // size at which the next segment begins
	limit   int64
	bell    chan struct{}
	lock    lockFile
	syncs   sync.WaitGroup // running syncs of complete segments

	mu     sync.Mutex // the writer reads parts, end and last without locking it
	parts  []segment
	end    int64
	last   segmentFile // the file being written; nil for an orphaned spool
	reader *os.File    // the segment that was read last, unless it is being written
	from   int64       // where that segment begins
	closed bool
	sent   int64 // the hub has all bytes before this offset
}

// segmentFile is an open file of a segment.
type segmentFile interface {
	io.WriteSeeker
	io.ReaderAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// segment is a part of the capture: its range of bytes and its file.
type segment struct {
	start, end int64
	path       string
}

// SpoolGap is a range of missing bytes in a spool.
type SpoolGap struct {
	End  int64  // where the range ends
	Path string // path of the segment that another program removed or truncated; "" if the spool itself deleted it
}

// Error returns the reason why the bytes are missing.
func (h *SpoolGap) Error() string {
	if h.Path == "" {
		return "the spool was full"
	}
	return h.Path + " was removed or truncated"
}

const minSegmentBytes = 64 << 10

// CreateSpool begins a spool with this name in a directory, as [CreateIn] begins a capture.
func CreateSpool(dir, name string, limit int64, created time.Time, by string) (r *Recorder, s *Spool, warning string, err error) {
	if warning, err = makeDir(dir); err != nil {
		return nil, nil, "", err
	}
	s = &Spool{base: filepath.Join(dir, name), limit: limit, segment: max(limit/8, minSegmentBytes), bell: make(chan struct{}, 1)}
	if err = s.lock.createLocked(lockPath(dir, name)); err == nil {
		err = s.lock.write(SendMark{Created: created})
	}
	if err == nil {
		err = s.beginSegment()
	}
	if err != nil {
		s.lock.remove()
		return nil, nil, warning, fmt.Errorf("create %s: %w", s.Path(), capture.WithoutPath(err))
	}
	if r, err = New(s, created, by); err != nil {
		s.Remove()
		return nil, nil, warning, err
	}
	return r, s, warning, nil
}

// Name returns the spool's name.
func (s *Spool) Name() string { return filepath.Base(s.base) }

// Path returns the path of the first segment, which may be deleted.
func (s *Spool) Path() string { return s.base + Extension }

// Wakeups returns a channel that receives a value when there may be new bytes, or when the spool has ended.
func (s *Spool) Wakeups() <-chan struct{} { return s.bell }

// Wake sends on the channel of Wakeups.
func (s *Spool) Wake() {
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// Span returns the range of bytes that exist, and whether the spool is closed for writing.
func (s *Spool) Span() (first, end int64, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.parts) == 0 {
		return s.end, s.end, s.closed
	}
	return s.parts[0].start, s.end, s.closed
}

// beginSegment begins the next segment. The previous one is forced to the disk in the background.
func (s *Spool) beginSegment() error {
	path := s.Path()
	if s.end > 0 {
		path += "." + strconv.FormatInt(s.end, 10)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	if err := restrictToOwner(f); err != nil {
		f.Close()
		os.Remove(path)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if whole := s.last; whole != nil {
		s.syncs.Go(func() {
			_ = whole.Sync() // bytes lost in a power failure become a gap
			whole.Close()
		})
	}
	s.last, s.parts = f, append(s.parts, segment{s.end, s.end, path})
	return nil
}

// Write appends complete lines: all of them or, if the file can be truncated after a failed write, nothing.
// If the disk is full, sent segments are deleted to make room. Only one goroutine writes, and no other waits
// for its disk writes.
func (s *Spool) Write(p []byte) (int, error) {
	n, err := s.write(p)
	if err != nil && n == 0 && s.makeRoom() {
		n, err = s.write(p)
	}
	return n, err
}

func (s *Spool) write(p []byte) (int, error) {
	size := s.end - s.parts[len(s.parts)-1].start
	if size > 0 && size+int64(len(p)) > s.segment {
		if err := s.beginSegment(); err != nil {
			return 0, err
		}
		size = 0
	}
	n, err := s.last.Write(p)
	if err != nil && n > 0 && s.last.Truncate(size) == nil {
		if _, failed := s.last.Seek(size, io.SeekStart); failed == nil {
			n = 0
		}
	} // otherwise the bytes stay, as the beginning of a damaged line
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end += int64(n)
	s.parts[len(s.parts)-1].end = s.end
	// Delete the oldest segments beyond the limit.
	for len(s.parts) > 1 && s.end-s.parts[0].start > s.limit {
		s.deleteOldest()
	}
	s.Wake()
	return n, err
}

// ReadAt reads bytes of one segment, at an offset in the capture. For missing bytes, the error is a
// [SpoolGap].
func (s *Spool) ReadAt(p []byte, at int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.partOf(at)
	if at >= s.end {
		return 0, io.EOF
	}
	if i < 0 || at >= s.parts[i].end {
		return 0, s.gapAfter(i)
	}
	of := &s.parts[i]
	f, err := s.openSegment(i)
	if errors.Is(err, fs.ErrNotExist) {
		of.end = at
		return 0, s.gapAfter(i)
	}
	if err != nil {
		return 0, err
	}
	n, err := f.ReadAt(p[:min(int64(len(p)), of.end-at)], at-of.start)
	switch {
	case n > 0:
		return n, nil
	case err == io.EOF:
		of.end = at
		return 0, s.gapAfter(i)
	}
	return 0, err
}

// partOf returns the index of the last segment that begins at or before an offset, or -1 if there is none.
func (s *Spool) partOf(at int64) int {
	i, found := slices.BinarySearchFunc(s.parts, at, func(p segment, at int64) int { return cmp.Compare(p.start, at) })
	if !found {
		i--
	}
	return i
}

// gapAfter returns the range that is missing after a segment, or before the first one.
func (s *Spool) gapAfter(i int) *SpoolGap {
	h := &SpoolGap{End: s.end}
	if i >= 0 {
		h.Path = s.parts[i].path
	}
	if i+1 < len(s.parts) {
		h.End = s.parts[i+1].start
	}
	return h
}

// openSegment opens a segment for reading. The segment being written is already open, and can be read even if
// another program removes it.
func (s *Spool) openSegment(i int) (io.ReaderAt, error) {
	if i == len(s.parts)-1 && s.last != nil {
		return s.last, nil
	}
	if s.reader != nil && s.from == s.parts[i].start {
		return s.reader, nil
	}
	if s.reader != nil {
		s.reader.Close()
	}
	var err error
	if s.reader, err = os.OpenFile(s.parts[i].path, os.O_RDONLY|noFollow|noWait, 0); err != nil {
		s.reader = nil
		return nil, err
	}
	s.from = s.parts[i].start
	return s.reader, nil
}

// Close ends writing to the spool. It can be read until it is released.
func (s *Spool) Close() error {
	s.mu.Lock()
	last := s.last
	s.closed = true
	s.mu.Unlock()
	s.Wake()
	s.syncs.Wait()
	return last.Sync()
}

// Release closes the spool's files and unlocks it.
func (s *Spool) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeFiles()
	s.lock.close()
}

func (s *Spool) closeFiles() {
	if s.last != nil {
		s.last.Close()
	}
	if s.reader != nil {
		s.reader.Close()
	}
	s.reader = nil
}

func (s *Spool) deleteOldest() {
	if s.reader != nil && s.from == s.parts[0].start {
		s.reader.Close()
		s.reader = nil
	}
	os.Remove(s.parts[0].path)
	s.parts = s.parts[1:]
}

// makeRoom deletes the segments that were sent completely, and reports whether there were any.
func (s *Spool) makeRoom() (some bool) {
	last := s.parts[len(s.parts)-1]
	if s.isSent(last) && last.start < last.end && s.beginSegment() != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.parts) > 1 && s.parts[0].end <= s.sent {
		s.deleteOldest()
		some = true
	}
	return some
}

func (s *Spool) isSent(p segment) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.end <= s.sent
}
