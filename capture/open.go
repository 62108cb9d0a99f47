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
	chunkSize    = 64 << 10 // maximum size of one read, and so of one record
	minReadBytes = 16 << 10 // minimum free buffer for reading a file

	pollEvery   = 100 * time.Millisecond // poll interval of a followed file, whatever the file system reports
	oldFileStay = 10 * time.Second       // a rotated file is read until it was quiet for this long
)

// Options are options for opening a source. The zero value reads a file to its end.
type Options struct {
	Follow bool      // keep reading as the file grows, across truncation and rotation; pipes are read to their end
	Stdin  io.Reader // input for "-"; nil is os.Stdin

	Formats      []Format                  // further formats of the input, the more specific ones first
	Forced       bool                      // the input has the first of these formats, or is a bare body if there is none
	GuessPayload func([]byte) PayloadGuess // guesses what a payload is, by the formats of providers; may be nil

	ReadOnce    bool      // records from logs need not be read again
	AllowChunks bool      // records from logs may have several Chunks, and then have no Before and After
	Progress    *Progress // counts the bytes read from files; may be nil

	poll  time.Duration // 0 is pollEvery
	stay  time.Duration // 0 is oldFileStay
	late  time.Duration // 0 is lingerTime
	blind bool          // don't use the file system's notifications
}

func (o Options) lingerTime() time.Duration { return cmp.Or(o.late, lingerTime) }

// Open opens a file, a pipe, or standard input ("-") as a source. A missing or unreadable file and a
// directory are errors here. The format is detected while reading: toolscope's own captures, output of
// curl -i and curl -v, the formats in o, and anything else as one bare body. The source ends when ctx is
// done.
//
// A read from standard input or a named pipe that blocks in the operating system may outlive ctx until it
// returns.
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
	if o.Follow && !isPacked(probe) { // a compressed file doesn't grow
		return followNames(ctx, o, []*followedName{{path: path, shown: path, open: open}}, nil), nil
	}
	return openRegular(ctx, path, open, path, o), nil
}

// osFile has the methods of os.File that reading needs.
type osFile interface {
	io.ReadCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
	SetReadDeadline(time.Time) error
}

// borrowed is a file that its owner closes.
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

// WithoutPath returns an error without the names of the system call and the path. Callers add their own
// words.
func WithoutPath(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// openRegular reads a file to its end. The arrival of its bytes was not measured, so they have no time. A
// file with a path can be read again.
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

// chunk is the result of one read. It owns its data.
type chunk struct {
	data    []byte
	at      time.Duration
	err     error  // why nothing follows data
	packing string // the compression that was removed from data
}

// openPipe reads chunks as they arrive. Each gets the time since the source was opened.
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

// pumpChunks reads until the input or ctx ends. It exists because a read can't wait for ctx.
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
		// Wakes a waiting read; if the system can't, the read ends with its input.
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
