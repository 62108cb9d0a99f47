// Package coding decodes the codings of a body: chunked transfer coding (RFC 9112 §7.1), and gzip,
// deflate, brotli and zstd content coding (RFC 9110 §8.4).
//
//	bytes as sent ─▶ stage ─▶ stage ─▶ the body
//
// The header lists the codings of a body. The bytes show whether these codings still apply, because dumps
// keep the headers of bodies that the client has already decoded.
//
// A [sizeBudget] limits the output of each stage, because malicious bytes can expand a thousandfold in each
// coding. Beyond the limit, decoding ends with [ErrExpands], and the output so far is the body.
package coding

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// maxCodings is the maximum number of codings of one body. More than two are not used in practice, and each
// coding needs memory.
const maxCodings = 5

// Chain decodes all codings of one body, beginning with the coding that was applied last. The result doesn't depend
// on how the bytes are split into writes.
type Chain struct {
	stages []codingStage
	budget *sizeBudget
	out    []byte
	err    error
}

// A codingStage decodes one coding. Its output is valid until the next call.
type codingStage interface {
	name() string  // "" until the bytes show that the coding is used
	isPlain() bool // whether the bytes show that the coding is not used
	write(p []byte) ([]byte, error)
	close() ([]byte, error)
}

// New returns the chain for a response with the given header, whose names are canonical. It returns an error if the
// header contains an unknown coding, or too many codings.
func New(header map[string][]string) (*Chain, error) {
	c := Chain{budget: new(sizeBudget)}
	for _, coding := range listCodings(header["Transfer-Encoding"]) {
		switch coding {
		case "chunked":
			c.stages = append(c.stages, new(chunkDecoder))
		case "identity":
		default:
			if err := c.addCoding(coding); err != nil {
				return nil, err
			}
		}
	}
	content := listCodings(header["Content-Encoding"])
	for _, coding := range content {
		if err := c.addCoding(coding); err != nil {
			return nil, err
		}
	}
	if len(content) == 0 {
		for _, coding := range fileCodings {
			c.stages = append(c.stages, newDecompressor(coding, c.budget))
		}
	}
	if len(c.stages) > maxCodings {
		return nil, fmt.Errorf("the body has %d codings: toolscope decodes at most %d", len(c.stages), maxCodings)
	}
	return &c, nil
}

// fileCodings lists the codings of compressed files, which have no header that lists their codings. Text never begins
// with the first bytes of such a file.
var fileCodings = []string{"gzip", "zstd"}

// IsPlain reports whether a body with the given header has no coding, as its first bytes show. Such a body needs no
// chain. IsPlain returns false if these bytes don't suffice.
func IsPlain(header map[string][]string, first []byte) bool {
	return len(header["Transfer-Encoding"])+len(header["Content-Encoding"]) == 0 && !slices.ContainsFunc(fileCodings, func(coding string) bool {
		yes, ok := compressions[coding].detect(first)
		return yes || !ok
	})
}

// listCodings returns the codings in a header, starting with the last applied.
func listCodings(values []string) (codings []string) {
	for _, v := range values {
		for word := range strings.SplitSeq(v, ",") {
			if word = strings.ToLower(strings.TrimSpace(word)); word != "" {
				codings = append(codings, word)
			}
		}
	}
	slices.Reverse(codings)
	return codings
}

func (c *Chain) addCoding(coding string) error {
	switch coding {
	case "identity", "aws-chunked":
		return nil
	case "x-gzip":
		coding = "gzip"
	}
	if _, known := compressions[coding]; !known {
		return fmt.Errorf("the body's coding %q is not gzip, deflate, br or zstd", coding)
	}
	c.stages = append(c.stages, newDecompressor(coding, c.budget))
	return nil
}

// Plain reports whether the bytes show that no coding is used. If so, the bytes are the body.
func (c *Chain) Plain() bool {
	for _, s := range c.stages {
		if !s.isPlain() {
			return false
		}
	}
	return true
}

// Name returns the codings that were actually decoded, for example "chunked, gzip", or "".
func (c *Chain) Name() string {
	var names []string
	for _, s := range c.stages {
		if n := s.name(); n != "" {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// Write decodes p and returns the new bytes of the body, which are valid until the next call. After an error, it
// decodes nothing more.
func (c *Chain) Write(p []byte) ([]byte, error) {
	c.out = reuseBuffer(c.out)
	for len(p) > 0 && c.err == nil {
		n := min(len(p), stepBytes-c.budget.sent%stepBytes) // up to the next step
		c.budget.sent += n
		step := p[:n]
		for _, s := range c.stages {
			if c.err != nil || len(step) == 0 {
				break
			}
			step, c.err = s.write(step)
		}
		c.out = append(c.out, step...)
		p = p[n:]
	}
	return c.out, c.err
}

// Close ends the input, and returns the remaining bytes of the body.
func (c *Chain) Close() (rest []byte, err error) {
	for _, s := range c.stages {
		var moved []byte
		if len(rest) > 0 && c.err == nil {
			moved, c.err = s.write(rest)
			moved = slices.Clone(moved)
		}
		last, err := s.close()
		if c.err == nil {
			c.err = err
		}
		rest = append(moved, last...)
	}
	return rest, c.err
}

// reuseBuffer returns an empty buffer that reuses the memory of p, or nil if p is too large to keep.
func reuseBuffer(p []byte) []byte {
	if cap(p) > 1<<20 {
		return nil
	}
	return p[:0]
}

const (
	freeBody = 10 << 20  // size that every body is allowed
	maxRatio = 100       // above that size, the maximum ratio to the encoded bytes
	maxBody  = 256 << 20 // absolute maximum size of a body
)

// ErrExpands is the error for a body that becomes too large.
var ErrExpands = errors.New("the decoded body is too large")

// sizeBudget limits the output of one body's stages in proportion to the encoded bytes.
type sizeBudget struct{ sent int }

// stepBytes is the number of encoded bytes that are counted at a time. Because of these steps, the offset at which a
// body becomes too large doesn't depend on how the body was split into writes.
const stepBytes = 4 << 10

// maxOutput returns the maximum number of bytes that a stage may have output so far.
func (b *sizeBudget) maxOutput() int {
	sent := (b.sent + stepBytes - 1) / stepBytes * stepBytes
	return min(maxBody, max(freeBody, maxRatio*sent))
}

// exceededError returns the error for a stage that has output more than maxOutput.
func (b *sizeBudget) exceededError() error {
	if b.maxOutput() == maxBody {
		return fmt.Errorf("%w: more than %d MiB", ErrExpands, maxBody>>20)
	}
	return fmt.Errorf("%w: more than %d MiB and %d times its size as sent", ErrExpands, freeBody>>20, maxRatio)
}

// compression is a compression method. detect recognises the method by the first bytes of the data. While it needs
// more bytes, ok is false.
type compression struct {
	detect func(head []byte) (yes, ok bool)
	open   func(*pushReader) (io.Reader, error)
}

var compressions = map[string]compression{
	"gzip": {magicMatcher("\x1f\x8b"), func(r *pushReader) (io.Reader, error) { return gzip.NewReader(r) }},
	"zstd": {magicMatcher("\x28\xb5\x2f\xfd"), func(r *pushReader) (io.Reader, error) {
		// A single worker decodes in the reader's goroutine, so nothing runs in the background. The window
		// has the maximum size for a content coding (RFC 9659).
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

// IsText reports whether the first 24 bytes of a body are text. Compressed data practically never begins with this
// much text.
func IsText(head []byte) bool {
	packed, _ := detectBinary(head)
	return !packed
}

// detectBinary distinguishes codings without magic bytes from text. Compressed data practically never begins with 24
// bytes of text.
func detectBinary(head []byte) (yes, ok bool) {
	const enough = 24
	for _, c := range head[:min(len(head), enough)] {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f {
			return true, true
		}
	}
	return false, len(head) >= enough
}

// openDeflate reads the zlib format, which RFC 9110 calls "deflate", and the raw format that some servers
// send instead.
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
	head   []byte // held back until the bytes show whether the coding is used
	isText bool   // whether the coding is not used
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

// pushDecoder turns a decoder that reads its input into one that is written to. The decoder runs as a coroutine that
// resumes when there are bytes.
type pushDecoder struct {
	in    []byte
	ended bool
	next  func() ([]byte, bool) // the result is nil if more bytes are needed, and false at the end
	stop  func()
	done  bool // whether the encoded data has ended
	out   []byte
	made  int // total number of output bytes
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

// pushReader is the input of the decoder. It can also read single bytes, so that no decoder reads beyond the end of
// the encoded data.
type pushReader struct {
	*pushDecoder
	yield func([]byte) bool
}

// waitForBytes returns nil when there are bytes, or io.EOF when the input has ended or the decoder is stopped.
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

// resumeDecoder resumes the decoder until it needs more bytes, ends, or exceeds the budget.
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

// chunkDecoder is the stage for chunked transfer coding. It drops trailers, because no known provider sends
// any.
type chunkDecoder struct {
	line  []byte // the line being read
	left  int    // number of bytes still missing from the chunk
	state chunkState
	out   []byte
}

type chunkState uint8

const (
	chunkFirst   chunkState = iota // not known yet whether the coding is used
	chunkPlain                     // the coding is not used
	chunkSize                      // in the line with a chunk size
	chunkData                      // in a chunk
	chunkDataEnd                   // in the line break after a chunk
	chunkTrailer                   // after the last chunk
)

// maxChunkLine is the maximum length of a line with a chunk size and its extensions.
const maxChunkLine = 4096

func (c *chunkDecoder) name() string {
	if c.state <= chunkPlain {
		return ""
	}
	return "chunked"
}

func (c *chunkDecoder) isPlain() bool { return c.state == chunkPlain }

func (c *chunkDecoder) write(p []byte) ([]byte, error) {
	c.out = c.out[:0]
	if c.state == chunkFirst {
		p = append(c.line, p...)
		c.line = nil
		end := bytes.IndexByte(p, '\n')
		if end < 0 && isSizeStart(p) && len(p) <= maxChunkLine {
			c.line = p
			return nil, nil
		}
		c.state = chunkPlain
		if end > 0 && isSizeStart(p[:end]) {
			if _, err := chunkLen(p[:end+1]); err == nil {
				c.state = chunkSize
			}
		}
	}
	if c.state == chunkPlain {
		return p, nil
	}
	for len(p) > 0 {
		var err error
		if p, err = c.decodePart(p); err != nil {
			return c.out, err
		}
	}
	return c.out, nil
}

// decodePart decodes the beginning of p and returns the rest.
func (c *chunkDecoder) decodePart(p []byte) (rest []byte, err error) {
	switch c.state {
	case chunkData:
		n := min(c.left, len(p))
		c.out = append(c.out, p[:n]...)
		if c.left -= n; c.left == 0 {
			c.state = chunkDataEnd
		}
		return p[n:], nil
	case chunkTrailer:
		return nil, nil
	}
	end := bytes.IndexByte(p, '\n')
	if end < 0 {
		c.line = append(c.line, p...)
		if len(c.line) > maxChunkLine {
			return nil, errors.New("chunked coding: the line with a chunk size doesn't end")
		}
		return nil, nil
	}
	line := append(c.line, p[:end+1]...)
	c.line = c.line[:0]
	if c.state == chunkDataEnd {
		if len(bytes.TrimSpace(line)) > 0 {
			return nil, fmt.Errorf("chunked coding: a chunk is followed by %q, not by a line end", line)
		}
		c.state = chunkSize
		return p[end+1:], nil
	}
	if c.left, err = chunkLen(line); err != nil {
		return nil, err
	}
	if c.state = chunkData; c.left == 0 {
		c.state = chunkTrailer
	}
	return p[end+1:], nil
}

// isSizeStart reports whether line may be the beginning of a line with a chunk size: hex digits, followed by
// nothing, an extension or the line break.
func isSizeStart(line []byte) bool {
	digits := 0
	for digits < len(line) && strings.IndexByte("0123456789abcdefABCDEF", line[digits]) >= 0 {
		digits++
	}
	return digits <= 16 && (digits == len(line) || digits > 0 && strings.IndexByte("; \t\r\n", line[digits]) >= 0)
}

func chunkLen(line []byte) (int, error) {
	size, _, _ := bytes.Cut(line, []byte(";"))
	n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 31)
	if err != nil {
		return 0, fmt.Errorf("chunked coding: %q is not a chunk size", bytes.TrimSpace(line))
	}
	return int(n), nil
}

func (c *chunkDecoder) close() ([]byte, error) {
	switch c.state {
	case chunkFirst:
		return c.line, nil
	case chunkPlain, chunkTrailer:
		return nil, nil
	}
	return nil, errors.New("chunked coding: the last chunk, of size 0, is missing")
}
