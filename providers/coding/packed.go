package coding

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// compression is a compression method. detect recognises it by the first bytes; ok is false while more
// bytes are needed.
type compression struct {
	detect func(head []byte) (yes, ok bool)
	open   func(*pushReader) (io.Reader, error)
}

var compressions = map[string]compression{
	"gzip": {magicMatcher("\x1f\x8b"), func(r *pushReader) (io.Reader, error) { return gzip.NewReader(r) }},
	"zstd": {magicMatcher("\x28\xb5\x2f\xfd"), func(r *pushReader) (io.Reader, error) {
		// One worker decodes on the reader's side: nothing runs in the background. The window has the
		// largest size that a content coding may have (RFC 9659).
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
	}},
	"br":      {detectBinary, func(r *pushReader) (io.Reader, error) { return brotli.NewReader(r), nil }},
	"deflate": {detectBinary, openDeflate},
}

func magicMatcher(want string) func([]byte) (yes, ok bool) {
	return func(head []byte) (yes, ok bool) {
		n := min(len(head), len(want))
		same := string(head[:n]) == want[:n]
		return same && n == len(want), !same || n == len(want)
	}
}

// IsText reports whether a body with that beginning can't be in any coding.
func IsText(head []byte) bool {
	packed, _ := detectBinary(head)
	return !packed
}

// detectBinary distinguishes codings without magic bytes from text: in compressed data, a run of printable
// bytes of this length is not chance.
func detectBinary(head []byte) (yes, ok bool) {
	const enough = 24
	for _, c := range head[:min(len(head), enough)] {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f {
			return true, true
		}
	}
	return false, len(head) >= enough
}

// openDeflate reads the zlib format, which "deflate" means, and the raw format that some servers send
// instead.
func openDeflate(r *pushReader) (io.Reader, error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	r.in = append(head, r.in...)
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}

// decompressor is the stage for compressed bytes.
type decompressor struct {
	coding string
	budget *sizeBudget
	head   []byte // held back until it shows whether the coding is used
	isText bool   // the coding is not used
	push   *pushDecoder
}

func newDecompressor(coding string, b *sizeBudget) *decompressor {
	return &decompressor{coding: coding, budget: b}
}

func (s *decompressor) name() string {
	if s.push == nil {
		return ""
	}
	return s.coding
}

func (s *decompressor) isPlain() bool { return s.isText }

func (s *decompressor) write(p []byte) ([]byte, error) {
	switch {
	case s.isText:
		return p, nil
	case s.push != nil:
		return s.push.write(p)
	}
	s.head = append(s.head, p...)
	yes, ok := compressions[s.coding].detect(s.head)
	if !ok {
		return nil, nil
	}
	p, s.head = s.head, nil
	if s.isText = !yes; s.isText {
		return p, nil
	}
	s.push = newPusher(compressions[s.coding].open, s.budget)
	return s.push.write(p)
}

func (s *decompressor) close() ([]byte, error) {
	if s.push == nil {
		rest := s.head
		s.head = nil
		return rest, nil
	}
	out, err := s.push.close()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the data is cut off")
	}
	if err != nil {
		err = fmt.Errorf("%s coding: %w", s.coding, err)
	}
	return out, err
}

// pushDecoder turns a decoder that reads into a writer: the reader runs as a coroutine that resumes when
// it has bytes.
type pushDecoder struct {
	in    []byte
	ended bool
	next  func() ([]byte, bool) // nil: it needs more bytes
	stop  func()
	done  bool // the coded bytes have ended
	out   []byte
	made  int // bytes of all output
	err   error

	budget *sizeBudget
}

func newPusher(open func(*pushReader) (io.Reader, error), b *sizeBudget) *pushDecoder {
	p := &pushDecoder{budget: b}
	p.next, p.stop = iter.Pull(func(yield func([]byte) bool) {
		r, err := open(&pushReader{p, yield})
		buf := make([]byte, 32<<10)
		for err == nil {
			var n int
			if n, err = r.Read(buf); n > 0 && !yield(buf[:n]) {
				return
			}
		}
		if err != io.EOF {
			p.err = err
		} else if len(p.in) > 0 {
			p.err = fmt.Errorf("more bytes follow the end: %d", len(p.in))
		}
	})
	return p
}

// pushReader is the input of the decoder. It also reads single bytes, so that no decoder buffers bytes
// after the end.
type pushReader struct {
	*pushDecoder
	yield func([]byte) bool
}

// waitForBytes returns when there are bytes, or the input has ended.
func (r *pushReader) waitForBytes() error {
	for len(r.in) == 0 {
		if r.ended || !r.yield(nil) {
			return io.EOF
		}
	}
	return nil
}

func (r *pushReader) Read(b []byte) (int, error) {
	if err := r.waitForBytes(); err != nil {
		return 0, err
	}
	n := copy(b, r.in)
	r.in = r.in[n:]
	return n, nil
}

func (r *pushReader) ReadByte() (byte, error) {
	if err := r.waitForBytes(); err != nil {
		return 0, err
	}
	c := r.in[0]
	r.in = r.in[1:]
	return c, nil
}

func (p *pushDecoder) write(b []byte) ([]byte, error) {
	if p.done && p.err == nil && len(b) > 0 {
		p.err = errors.New("more bytes follow the end")
	}
	p.in, p.out = b, reuseBuffer(p.out)
	p.resumeDecoder()
	return p.out, p.err
}

// resumeDecoder resumes the decoder until it needs more bytes, or exceeds the budget.
func (p *pushDecoder) resumeDecoder() {
	for wants := false; !wants && !p.done; {
		got, more := p.next()
		wants, p.done = got == nil, !more
		if room := p.budget.maxOutput() - p.made; len(got) > room {
			got, p.err, p.done = got[:room], p.budget.exceededError(), true
			p.stop()
		}
		p.made += len(got)
		p.out = append(p.out, got...)
	}
}

func (p *pushDecoder) close() ([]byte, error) {
	p.ended, p.out = true, reuseBuffer(p.out)
	p.resumeDecoder()
	p.stop()
	return p.out, p.err
}
