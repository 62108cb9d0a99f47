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

// packing is a way to make files smaller, told by how they begin.
type packing struct {
	name   string
	magic  string
	unpack func(io.Reader) (io.Reader, error)
}

// zstdWindow is the most memory that a frame of zstd may want. What a larger window was used for
// was made to be unpacked by somebody who knows.
const zstdWindow = 64 << 20

var packings = []packing{
	{"gzip", "\x1f\x8b\x08", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", unpackZstd},
	{"bzip2", "BZh", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"zlib", "\x78\x01", unpackZlib}, {"zlib", "\x78\x9c", unpackZlib}, {"zlib", "\x78\xda", unpackZlib},
}

func unpackZlib(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }

func unpackZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
}

// packed is the packing that begins with first. more reports that further bytes may tell one.
func packed(first []byte) (p *packing, more bool) {
	for i := range packings {
		magic := []byte(packings[i].magic)
		if bytes.HasPrefix(first, magic) {
			return &packings[i], false
		}
		more = more || bytes.HasPrefix(magic, first)
	}
	return nil, more
}

// isPacked reports whether a file begins as something packed does.
func isPacked(f io.ReaderAt) bool {
	first := make([]byte, 16)
	n, _ := f.ReadAt(first, 0)
	p, _ := packed(first[:n])
	return p != nil
}

// unpacker reads an input, and where that is packed what is in it. What is not packed passes in the
// same pieces, as far as its first bytes tell at once.
type unpacker struct {
	from io.Reader
	name string    // of the packing, once the first bytes were read; "" where there is none
	read io.Reader // nil before that
	err  error     // why nothing more comes from
}

// badPacking is an input that cannot be unpacked any further. It is the input's own damage, not a
// failure to read it.
type badPacking struct {
	name string
	err  error
}

func (b *badPacking) Error() string {
	if errors.Is(b.err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("the %s data breaks off", b.name)
	}
	return fmt.Sprintf("the %s data is damaged: %v", b.name, b.err)
}

func (u *unpacker) Read(p []byte) (n int, err error) {
	if u.read == nil {
		if n, err = u.begin(p); u.name == "" {
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
		err = &badPacking{u.name, err}
	}
	return n, err
}

// begin reads the first bytes into p and finds out how the input is packed. If it is not, they are
// what is read.
func (u *unpacker) begin(p []byte) (n int, err error) {
	var found *packing
	for more := true; more && err == nil && n < len(p); {
		var read int
		read, err = u.from.Read(p[n:])
		n += read
		found, more = packed(p[:n])
	}
	if u.read = u.from; found == nil {
		return n, err
	}
	u.name, u.err = found.name, err
	rest := &rest{bytes.Clone(p[:n]), u}
	if u.read, err = found.unpack(rest); err != nil {
		u.read = broken{err}
	}
	return 0, nil
}

// rest is a packed input again from its first byte on.
type rest struct {
	first []byte
	u     *unpacker
}

func (r *rest) Read(p []byte) (n int, err error) {
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

// broken cannot be read.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
