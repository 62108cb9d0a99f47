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

// unpacker reads an input, and where that is packed what is in it. It reads no further ahead than it
// takes to tell.
type unpacker struct {
	from io.Reader
	name string    // of the packing, once the first bytes were read; "" where there is none
	read io.Reader // nil before that
	err  error     // that came with the first bytes
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
		u.begin()
	}
	if n, err = u.read.Read(p); err == nil || u.name == "" {
		return n, err
	}
	if (u.err == nil || u.err == io.EOF) && err != io.EOF {
		return n, &badPacking{u.name, err}
	}
	if c, ok := u.read.(*zstd.Decoder); ok {
		c.Close()
	}
	return n, err
}

// begin finds out how the input is packed.
func (u *unpacker) begin() {
	var first []byte
	room := make([]byte, 16)
	for more := true; more && u.err == nil; {
		var n int
		n, u.err = u.from.Read(room)
		first = append(first, room[:n]...)
		_, more = packed(first)
	}
	all := io.Reader(&rest{first, u})
	u.read = all
	p, _ := packed(first)
	if p == nil {
		return
	}
	u.name = p.name
	unpacked, err := p.unpack(all)
	if err != nil {
		unpacked = broken{err}
	}
	u.read = unpacked
}

// rest is the input again from its first byte on.
type rest struct {
	first []byte
	u     *unpacker
}

func (r *rest) Read(p []byte) (int, error) {
	switch {
	case len(r.first) > 0:
		n := copy(p, r.first)
		r.first = r.first[n:]
		return n, nil
	case r.u.err != nil:
		return 0, r.u.err
	}
	n, err := r.u.from.Read(p)
	if err != nil && err != io.EOF {
		r.u.err = err
	}
	return n, err
}

// broken cannot be read.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
