package capture

import (
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// compression is a compression format, detected by its first bytes.
type compression struct {
	name   string
	magic  string
	unpack func(io.Reader) (io.Reader, error)
}

// maxZstdWindow is the maximum memory for a zstd frame. Data with a larger window was meant for readers
// with special settings.
const maxZstdWindow = 64 << 20

var compressions = []compression{
	{"gzip", "\x1f\x8b\x08", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", unpackZstd},
	{"bzip2", "BZh", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"zlib", "\x78\x01", unpackZlib}, {"zlib", "\x78\x9c", unpackZlib}, {"zlib", "\x78\xda", unpackZlib},
}

func unpackZlib(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }

func unpackZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
}

// compressionOf returns the compression of data that begins with first. more reports that further bytes
// could decide it.
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

// decompressor reads an input and decompresses it if it is compressed. Other input passes in the same
// chunks, except where its first bytes leave it undecided.
type decompressor struct {
	from io.Reader
	name string    // of the compression, once the first bytes were read; "" without one
	read io.Reader // nil before that
	err  error     // why from has ended
}

// compressionError is input that can't be decompressed any further. It means damaged input, not a failure
// to read it.
type compressionError struct {
	name string
	err  error
}

func (b *compressionError) Error() string {
	if errors.Is(b.err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("the %s data breaks off", b.name)
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

// detectCompression reads the first bytes into p and detects the compression. Without one, they are the
// result.
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
