// Package coding decodes the codings of a body: chunked transfer coding (RFC 9112 §7.1), and gzip,
// deflate, brotli and zstd content coding (RFC 9110 §8.4).
//
//	bytes as sent ─▶ stage ─▶ stage ─▶ the body
//
// The header names the codings of a body. The bytes show whether they still apply, because dumps keep
// the headers of bodies that the client has already decoded.
//
// A [sizeBudget] limits the output of each stage, because hostile bytes can expand a thousandfold in
// each coding. Beyond it, decoding ends with [ErrExpands], and the output so far is the body.
package coding

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxCodings is how many codings one body may have. More than two are not used in practice, and each
// needs memory.
const maxCodings = 5

// Chain decodes all codings of one body, the last applied first. The result doesn't depend on how the
// bytes are cut into writes.
type Chain struct {
	stages []codingStage
	budget *sizeBudget
	out    []byte
	err    error
}

// A codingStage decodes one coding. Its output is valid until the next call.
type codingStage interface {
	name() string  // "" until the bytes show that the coding is used
	isPlain() bool // the bytes show that it is not used
	write(p []byte) ([]byte, error)
	close() ([]byte, error)
}

// New returns the chain for a response with that header (canonical names). It returns an error if the
// header names an unknown coding, or too many codings.
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
		// Compressed files come without a header: they begin with bytes that no text begins with.
		c.stages = append(c.stages, newDecompressor("gzip", c.budget), newDecompressor("zstd", c.budget))
	}
	if len(c.stages) > maxCodings {
		return nil, fmt.Errorf("the body has %d codings: toolscope decodes at most %d", len(c.stages), maxCodings)
	}
	return &c, nil
}

// listCodings returns the codings of a header, the last applied first.
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
		return fmt.Errorf("the coding %q of the body is not gzip, deflate, br or zstd", coding)
	}
	c.stages = append(c.stages, newDecompressor(coding, c.budget))
	return nil
}

// Plain reports whether the bytes show that no coding is used: they are the body.
func (c *Chain) Plain() bool {
	for _, s := range c.stages {
		if !s.isPlain() {
			return false
		}
	}
	return true
}

// Name returns the codings that were really decoded: "chunked, gzip", or "".
func (c *Chain) Name() string {
	var names []string
	for _, s := range c.stages {
		if n := s.name(); n != "" {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// Write decodes p and returns the new bytes of the body, which are valid until the next call. After an
// error, it decodes nothing more.
func (c *Chain) Write(p []byte) ([]byte, error) {
	c.out = reuseBuffer(c.out)
	for len(p) > 0 && c.err == nil {
		n := c.budget.receiveBytes(len(p))
		c.out = append(c.out, c.decode(p[:n])...)
		p = p[n:]
	}
	return c.out, c.err
}

// decode passes bytes through all stages.
func (c *Chain) decode(p []byte) []byte {
	for _, s := range c.stages {
		if c.err != nil || len(p) == 0 {
			break
		}
		p, c.err = s.write(p)
	}
	return p
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

// reuseBuffer returns an empty buffer with the memory of p, or nil if p is too large to keep.
func reuseBuffer(p []byte) []byte {
	if cap(p) > 1<<20 {
		return nil
	}
	return p[:0]
}

const (
	freeBody = 10 << 20  // allowed size of every body
	maxRatio = 100       // above that, allowed multiple of the bytes as sent
	maxBody  = 256 << 20 // largest allowed size
)

// ErrExpands is the error for a body that becomes too large.
var ErrExpands = errors.New("the body becomes too large")

// sizeBudget limits the output of the stages of one body by the bytes as sent.
type sizeBudget struct{ sent int }

// stepBytes is the number of encoded bytes that are counted at a time. So the place where a body becomes too large
// doesn't depend on how it was cut into writes.
const stepBytes = 4 << 10

// receiveBytes counts the next bytes as sent, at most n and up to the next step. It returns how many.
func (b *sizeBudget) receiveBytes(n int) int {
	n = min(n, stepBytes-b.sent%stepBytes)
	b.sent += n
	return n
}

// maxOutput returns how many bytes a stage may have output so far.
func (b *sizeBudget) maxOutput() int {
	sent := (b.sent + stepBytes - 1) / stepBytes * stepBytes
	return min(maxBody, max(freeBody, maxRatio*sent))
}

// exceededError returns the error for a stage that has output more.
func (b *sizeBudget) exceededError() error {
	if b.maxOutput() == maxBody {
		return fmt.Errorf("%w: more than %d MiB", ErrExpands, maxBody>>20)
	}
	return fmt.Errorf("%w: more than %d MiB and %d times its sent size", ErrExpands, freeBody>>20, maxRatio)
}
