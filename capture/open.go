package capture

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	chunkSize    = 64 << 10 // most bytes of one read, and so of one record
	minReadBytes = 16 << 10 // a file is not read into less room than that

	pollEvery   = 100 * time.Millisecond // a followed file is looked at this often, whatever the file system tells
	oldFileStay = 10 * time.Second       // a rotated file is still read until it was quiet for so long
)

// Options says how to open a source. The zero value reads a file to its end.
type Options struct {
	Follow bool      // keep reading as the file grows, across truncation and rotation; pipes are read to their end
	Stdin  io.Reader // what "-" stands for; nil is os.Stdin

	Formats      []Format                  // what the input may be besides, the more specific ones first
	Forced       bool                      // the input is the first of these, or a bare body if there is none
	GuessPayload func([]byte) PayloadGuess // what found bytes look like, to who knows what providers send; may be nil

	ReadOnce    bool      // where what is found in logs can be read again is not asked for
	AllowChunks bool      // what is found in logs may come in records of several pieces, without what stands around them
	Progress    *Progress // where what is read of files counts; may be nil

	poll  time.Duration // 0 is pollEvery
	stay  time.Duration // 0 is oldFileStay
	late  time.Duration // 0 is lingerTime
	blind bool          // live without the file system's notifications
}

func (o Options) lingerTime() time.Duration { return cmp.Or(o.late, lingerTime) }

// Open makes a source of a file, a pipe, or standard input ("-"). A missing or unreadable file and
// a directory fail here; what the content is shows while it is read: toolscope's own captures,
// dumps of curl -i and curl -v, the formats that o names, and everything else as one bare body. The source ends when ctx is
// done.
//
// A read from standard input or a named pipe that blocks in the operating system may outlive ctx
// until it returns.
func Open(ctx context.Context, path string, o Options) (Source, error) {
	if path == "-" {
		return openStdin(ctx, o)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.Follow:
		return followNames(ctx, o, []*followedName{{path: path, shown: path, open: fileOpener(path)}}, nil), nil
	case err != nil:
		return nil, openError(path, err)
	case info.IsDir():
		return nil, openError(path, syscall.EISDIR)
	}
	open := fileOpener(path)
	if !info.Mode().IsRegular() { // opening a named pipe waits for its writer, so the source does that
		return openPipe(ctx, path, open, o), nil
	}
	// Only a probe: a source that is never read must not keep a file open.
	probe, err := open()
	if err != nil {
		return nil, openError(path, err)
	}
	defer probe.Close()
	if o.Follow && !isPacked(probe) { // what is packed does not grow
		return followNames(ctx, o, []*followedName{{path: path, shown: path, open: open}}, nil), nil
	}
	return openRegular(ctx, path, open, path, o), nil
}

// osFile is what reading needs of an os.File.
type osFile interface {
	io.ReadCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
	SetReadDeadline(time.Time) error
}

// borrowed is a file that somebody else will close.
type borrowed struct{ *os.File }

func (borrowed) Close() error { return nil }

func openStdin(ctx context.Context, o Options) (Source, error) {
	const shown = "stdin"
	in := o.Stdin
	if in == nil {
		in = os.Stdin
	}
	f, ok := in.(*os.File)
	if !ok {
		return openPipe(ctx, shown, func() (io.ReadCloser, error) { return io.NopCloser(in), nil }, o), nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil, openError(shown, err)
	}
	open := func() (osFile, error) { return borrowed{f}, nil }
	switch {
	case info.IsDir():
		return nil, openError(shown, syscall.EISDIR)
	case info.Mode().IsRegular() && o.Follow && !isPacked(f):
		return followNames(ctx, o, []*followedName{{shown: shown, open: open}}, nil), nil
	case info.Mode().IsRegular():
		return openRegular(ctx, shown, open, "", o), nil
	}
	return openPipe(ctx, shown, open, o), nil
}

func openError(path string, err error) error {
	return fmt.Errorf("open %s: %w", path, WithoutPath(err))
}
func readError(path string, err error) error {
	return fmt.Errorf("read %s: %w", path, WithoutPath(err))
}

// WithoutPath is an error without the names of the system call and the path, which the callers say in
// their own words.
func WithoutPath(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// openRegular reads a file to its end. Nobody measured when its bytes arrived, so they have no time. A
// file that has a path can be read again.
func openRegular(ctx context.Context, name string, open func() (osFile, error), path string, o Options) Source {
	return func(yield func(Record, error) bool) {
		f, err := open()
		if err != nil {
			yield(Record{}, openError(name, err))
			return
		}
		defer f.Close()
		in := o.newReader(name, &exchangeNumbers{})
		if path != "" {
			in.from = newFile(path, f)
			if !o.ReadOnce {
				in.again = in.from
			}
		}
		from := &decompressor{from: o.Progress.newReader(f)}
		for ctx.Err() == nil && in.deliverChunk(yield, in.readChunk(from)) {
		}
	}
}

// chunk is the result of one read. Its data is its own.
type chunk struct {
	data    []byte
	at      time.Duration
	err     error  // why there is no more after data
	packing string // what data was unpacked from
}

// openPipe reads what arrives bit by bit, and stamps each bit with the time since the source was
// opened.
func openPipe[R io.ReadCloser](ctx context.Context, name string, open func() (R, error), o Options) Source {
	began := time.Now()
	return func(yield func(Record, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		chunks := make(chan chunk)
		go pumpChunks(ctx, open, began, chunks)
		in := o.newReader(name, &exchangeNumbers{})
		var late <-chan time.Time
		for {
			if in.holdsBack() && late == nil {
				late = time.After(o.lingerTime())
			}
			select {
			case <-ctx.Done():
				return
			case <-late:
				if recs, err := in.decideNow(); !yieldRecords(yield, recs, err) {
					return
				}
			case c := <-chunks:
				if ctx.Err() != nil || !in.deliverChunk(yield, c) {
					return
				}
			}
		}
	}
}

// pumpChunks reads until the input or ctx ends. It exists because a read cannot wait for ctx.
func pumpChunks[R io.ReadCloser](ctx context.Context, open func() (R, error), began time.Time, to chan<- chunk) {
	send := func(c chunk) bool {
		select {
		case to <- c:
			return c.err == nil
		case <-ctx.Done():
			return false
		}
	}
	r, err := open()
	if err != nil {
		send(chunk{at: NoTime, err: err})
		return
	}
	defer r.Close()
	if f, ok := any(r).(interface{ SetReadDeadline(time.Time) error }); ok {
		// Wakes a read that waits; where the system cannot, the read ends with its input.
		defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })()
	}
	buf := make([]byte, chunkSize)
	from := &decompressor{from: r}
	for {
		n, err := from.Read(buf)
		if !send(chunk{bytes.Clone(buf[:n]), time.Since(began), err, from.name}) {
			return
		}
	}
}
