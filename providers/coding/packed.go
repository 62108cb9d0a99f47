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

// compression is one way to compress. packed says from the first bytes whether they are; ok is false
// while that needs more of them.
type compression struct {
	detect func(head []byte) (yes, ok bool)
	open   func(*pushReader) (io.Reader, error)
}

var compressions = map[string]compression{
	"gzip": {magicMatcher("\x1f\x8b"), func(r *pushReader) (io.Reader, error) { return gzip.NewReader(r) }},
	"zstd": {magicMatcher("\x28\xb5\x2f\xfd"), func(r *pushReader) (io.Reader, error) {
		// One worker decodes on the reader's side: nothing runs in the background. The window is as
		// big as a content coding's may be (RFC 9659).
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

// IsText reports whether a body that begins so cannot be in any coding.
func IsText(head []byte) bool {
	packed, _ := detectBinary(head)
	return !packed
}

// detectBinary tells bytes of a coding without a mark of its own from text: a run of printable bytes this
// long is none by chance.
func detectBinary(head []byte) (yes, ok bool) {
	const enough = 24
	for _, c := range head[:min(len(head), enough)] {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f {
			return true, true
		}
	}
	return false, len(head) >= enough
}

// openDeflate reads zlib's format, which is what "deflate" means, and the bare one that some
// servers send instead.
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
	head   []byte // held back until it tells whether the coding is there
	isText bool   // it is not
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
		err = errors.New("it ends in the middle")
	}
	if err != nil {
		err = fmt.Errorf("the %s coding: %w", s.coding, err)
	}
	return out, err
}

// pushDecoder turns a decoder that reads into one that is written to: the reader runs as a coroutine
// that is resumed when there are bytes for it.
type pushDecoder struct {
	in    []byte
	ended bool
	next  func() ([]byte, bool) // nil: it wants more bytes
	stop  func()
	done  bool // the coded bytes have ended
	out   []byte
	made  int // bytes of all that came out
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
			p.err = fmt.Errorf("more bytes follow its end: %d", len(p.in))
		}
	})
	return p
}

// pushReader is what the decoder reads from. It reads single bytes too, so that nobody buffers what
// comes after the end.
type pushReader struct {
	*pushDecoder
	yield func([]byte) bool
}

// waitForBytes returns when there are bytes, or no more will come.
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
		p.err = errors.New("more bytes follow its end")
	}
	p.in, p.out = b, reuseBuffer(p.out)
	p.resumeDecoder()
	return p.out, p.err
}

// resumeDecoder resumes the decoder until it wants more bytes, or has made too many.
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
