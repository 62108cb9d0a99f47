package capture

import (
	"bytes"
	"cmp"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"toolscope/capture/sqlite"
)

const (
	chunkSize    = 64 << 10 // maximum size of one read, and so of most records
	minReadBytes = 16 << 10 // minimum free space in the buffer for a read

	pollEvery   = 100 * time.Millisecond // poll interval of a followed file, whatever the file system reports
	oldFileStay = 10 * time.Second       // a rotated file is read until it has been quiet for this long
)

// Options are options for opening a source. The zero value reads a file to its end.
type Options struct {
	Follow bool      // keep reading as the file grows, across truncation and rotation; pipes, compressed files and databases are read to their end
	Stdin  io.Reader // input for "-"; nil is os.Stdin

	Formats      []Format                  // further formats of the input, the more specific ones first
	Forced       bool                      // use the first of these formats, or read a bare body if there is none
	GuessPayload func([]byte) PayloadGuess // guesses what a payload is, by the formats of providers; may be nil

	IsLive func(path string) bool // reports whether a program is recording to a capture, whose exchanges then stay open; may be nil

	ReadOnce    bool      // records from logs need not be read again
	Lend        bool      // records of a bare body or a capture may have a Release
	AllowChunks bool      // records from logs may have several Chunks, and then have no Before and After
	Progress    *Progress // counts the bytes read from files; may be nil

	poll  time.Duration // 0 is pollEvery
	stay  time.Duration // 0 is oldFileStay
	late  time.Duration // 0 is lingerTime
	blind bool          // don't use the file system's notifications
}

func (o Options) lingerTime() time.Duration { return cmp.Or(o.late, lingerTime) }

// Open opens a file, a pipe, or standard input ("-") as a source. A directory, an unreadable file and,
// without o.Follow, a missing file are errors here. The format is detected while reading: toolscope's own
// captures, output of curl -i and curl -v, the formats in o, and anything else as one bare body. The source
// ends when ctx is done.
//
// A read from standard input or a named pipe that is blocked in the operating system may outlive ctx.
func Open(ctx context.Context, path string, o Options) (Source, error) {
	if path == "-" {
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
			return openRegular(ctx, shown, open, "", "", o), nil
		}
		return openPipe(ctx, shown, open, o), nil
	}
	file, session := path, ""
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if file, session = SplitSession(path); session != "" {
			info, err = os.Stat(file)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.Follow:
		return followNames(ctx, o, []*followedName{{path: path, shown: path, open: fileOpener(path)}}, nil), nil
	case err != nil:
		return nil, openError(path, err)
	case info.IsDir():
		return nil, openError(path, syscall.EISDIR)
	}
	open := fileOpener(file)
	if !info.Mode().IsRegular() { // opening a named pipe waits for its writer, so it is opened only when the source is read
		return openPipe(ctx, path, open, o), nil
	}
	// Only a probe: a source that is never read must not keep a file open.
	probe, err := open()
	if err != nil {
		return nil, openError(path, err)
	}
	defer probe.Close()
	if o.Follow && !isPacked(probe) && !isDatabase(probe) { // a compressed file doesn't grow, and a database doesn't grow at its end
		return followNames(ctx, o, []*followedName{{path: path, shown: path, open: open}}, nil), nil
	}
	return openRegular(ctx, path, open, file, session, o), nil
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
// file with a path can be read again. If session is not empty, only that session of a database is read.
func openRegular(ctx context.Context, name string, open func() (osFile, error), path, session string, o Options) Source {
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
			if o.Lend {
				in.spare = make(chan []byte, aheadBytes/chunkSize)
			}
		}
		from := &decompressor{from: f}
		if o.Progress != nil {
			from.from = countingReader{f, o.Progress}
		}
		if path != "" && isDatabase(f) {
			text, err := sqlite.Sessions(path, session)
			if err != nil {
				yield(Record{}, openError(name, fmt.Errorf("can't read the file as an SQLite database: %w", WithoutPath(err))))
				return
			}
			from = &decompressor{name: "SQLite", read: bytes.NewReader(text)}
		}
		for ctx.Err() == nil {
			c := in.readChunk(from)
			if c.err == io.EOF && path != "" && o.IsLive != nil && !in.checked && in.asCapture() != nil {
				if in.live, in.checked = o.IsLive(path), true; !in.live {
					c.err = nil // the program may have written its last lines since the read
				}
			}
			if !in.deliverChunk(yield, c) {
				return
			}
		}
	}
}

// chunk is the result of one read. It owns its data.
type chunk struct {
	data    []byte
	at      time.Duration
	err     error  // the reason why nothing follows data
	packing string // the compression that was removed from data
}

// openPipe reads chunks as they arrive. Each chunk gets the time since the source was opened.
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

// pumpChunks reads until the input or ctx ends. It needs its own goroutine, because ctx can't interrupt a
// read.
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
		// This wakes a waiting read. If the system can't do that, the read ends with its input.
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

// scanEvery is the interval at which directories and patterns are searched for new files.
const scanEvery = time.Second

// OpenAll opens all paths as one source: files, pipes, standard input ("-"), directories, and patterns as in a shell.
// They are read one after another or, with o.Follow, at the same time. The captures of one run are read as one, in
// order of time. With o.Follow, files that appear in the directories or match the patterns later are read as well,
// and missing files are waited for. Unreadable files in a directory or pattern become notes.
func OpenAll(ctx context.Context, paths []string, o Options) (Source, error) {
	if o.Follow {
		src, err := followAll(ctx, paths, o)
		if err == nil && (len(paths) > 1 || IsPlace(paths[0])) {
			src = onOneWall(src, paths)
		}
		return src, err
	}
	files, left, err := Find(paths)
	if err != nil {
		return nil, err
	}
	var all []Source
	var run []string // paths of the files that are read
	if IsRun(files) {
		o.AllowChunks = false
	}
	for _, f := range files {
		src, err := Open(ctx, f.Path, o)
		if err != nil && f.In == "" {
			return nil, err
		}
		if err != nil {
			left = append(left, err.Error())
			continue
		}
		o.Progress.expectFile(f.Path)
		all, run = append(all, src), append(run, f.Path)
	}
	if len(all) == len(files) && IsRun(files) {
		all = []Source{oneRun(run, all)}
	}
	for _, text := range left {
		all = append(all, func(yield func(Record, error) bool) { yield(Record{Exchange: 1, At: NoTime, Note: text}, nil) })
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return Concat(all...), nil
}

func followAll(ctx context.Context, paths []string, o Options) (Source, error) {
	var others []Source // pipes, and standard input
	var names []*followedName
	var places []*searchPath
	for _, path := range paths {
		info, err := os.Stat(path)
		if p := searchPathOf(path); p != nil {
			places = append(places, p)
		} else if path == "-" || err == nil && !info.Mode().IsRegular() {
			src, err := Open(ctx, path, o)
			if err != nil {
				return nil, err
			}
			others = append(others, src)
		} else if n, err := probeName(path); err != nil {
			return nil, err
		} else {
			names = append(names, n)
		}
	}
	if len(names)+len(places) > 0 {
		others = append(others, followNames(ctx, o, names, places))
	}
	if len(others) == 1 {
		return others[0], nil
	}
	return Merge(ctx, others...), nil
}

// probeName returns a name to follow. If its file exists, it must be readable.
func probeName(path string) (*followedName, error) {
	probe, err := os.Open(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, openError(path, err)
	}
	if err == nil {
		probe.Close()
	}
	return &followedName{path: path, shown: path, open: fileOpener(path)}, nil
}

// compression is a compression format, detected by its first bytes.
type compression struct {
	name   string
	magic  string
	unpack func(io.Reader) (io.Reader, error)
}

// maxZstdWindow is the maximum window size of a zstd frame. Data with a larger window was meant for readers
// with special settings.
const maxZstdWindow = 64 << 20

var compressions = []compression{
	{"gzip", "\x1f\x8b\x08", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
	}},
	{"bzip2", "BZh", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"zlib", "\x78\x01", unpackZlib}, {"zlib", "\x78\x9c", unpackZlib}, {"zlib", "\x78\xda", unpackZlib},
}

func unpackZlib(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }

// compressionOf returns the compression of data that begins with first. The result more reports that further
// bytes could decide it.
func compressionOf(first []byte) (p *compression, more bool) {
	for i := range compressions {
		magic := []byte(compressions[i].magic)
		if bytes.HasPrefix(first, magic) {
			return &compressions[i], false
		}
		more = more || bytes.HasPrefix(magic, first)
	}
	return nil, more
}

// isPacked reports whether a file begins like compressed data.
func isPacked(f io.ReaderAt) bool {
	first := make([]byte, 16)
	n, _ := f.ReadAt(first, 0)
	p, _ := compressionOf(first[:n])
	return p != nil
}

// isDatabase reports whether a file is an SQLite database.
func isDatabase(f io.ReaderAt) bool {
	first := make([]byte, len(sqlite.Magic))
	_, err := f.ReadAt(first, 0)
	return err == nil && string(first) == sqlite.Magic
}

// SplitSession splits a path such as "opencode.db#ses_1" into the path of a database and the id of one of its
// sessions. If there is no such database, it returns the path unchanged.
func SplitSession(path string) (file, session string) {
	i := strings.LastIndexByte(path, '#')
	if i < 0 || i == len(path)-1 {
		return path, ""
	}
	f, err := os.Open(path[:i])
	if err != nil {
		return path, ""
	}
	defer f.Close()
	if !isDatabase(f) {
		return path, ""
	}
	return path[:i], path[i+1:]
}

// decompressor reads an input and decompresses it if it is compressed. Other input is passed on in the
// same chunks, except while its first bytes leave the compression undecided.
type decompressor struct {
	from io.Reader
	name string    // name of the compression, once the first bytes have been read; "" for none
	read io.Reader // nil before that
	err  error     // the reason why the compressed input has ended
}

// compressionError means that the input can't be decompressed any further because it is damaged. It
// doesn't mean that reading failed.
type compressionError struct {
	name string
	err  error
}

func (b *compressionError) Error() string {
	if errors.Is(b.err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("the %s data ends too early", b.name)
	}
	return fmt.Sprintf("the %s data is damaged: %v", b.name, b.err)
}

func (u *decompressor) Read(p []byte) (n int, err error) {
	if u.read == nil {
		if n, err = u.detectCompression(p); u.name == "" {
			return n, err
		}
	}
	if n, err = u.read.Read(p); err == nil || u.name == "" {
		return n, err
	}
	if c, ok := u.read.(*zstd.Decoder); ok {
		c.Close()
	}
	if err != io.EOF && (u.err == nil || u.err == io.EOF) {
		err = &compressionError{u.name, err}
	}
	return n, err
}

// detectCompression reads the first bytes into p and detects the compression. For uncompressed input, these
// bytes are the result.
func (u *decompressor) detectCompression(p []byte) (n int, err error) {
	var found *compression
	for more := true; more && err == nil && n < len(p); {
		var read int
		read, err = u.from.Read(p[n:])
		n += read
		found, more = compressionOf(p[:n])
	}
	if u.read = u.from; found == nil {
		return n, err
	}
	u.name, u.err = found.name, err
	rest := &rewoundReader{bytes.Clone(p[:n]), u}
	if u.read, err = found.unpack(rest); err != nil {
		u.read = errReader{err}
	}
	return 0, nil
}

// rewoundReader reads a compressed input from its first byte.
type rewoundReader struct {
	first []byte
	u     *decompressor
}

func (r *rewoundReader) Read(p []byte) (n int, err error) {
	switch {
	case len(r.first) > 0:
		n = copy(p, r.first)
		r.first = r.first[n:]
	case r.u.err != nil:
		err = r.u.err
	default:
		n, r.u.err = r.u.from.Read(p)
		err = r.u.err
	}
	return n, err
}

// errReader fails with its error.
type errReader struct{ err error }

func (b errReader) Read([]byte) (int, error) { return 0, b.err }
