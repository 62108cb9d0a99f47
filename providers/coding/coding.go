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
	"errors"
	"fmt"
	"slices"
	"strings"
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
		// A compressed file has no header that lists its codings. Text never begins with the first bytes of such a
		// file.
		c.stages = append(c.stages, newDecompressor("gzip", c.budget), newDecompressor("zstd", c.budget))
	}
	if len(c.stages) > maxCodings {
		return nil, fmt.Errorf("the body has %d codings: toolscope decodes at most %d", len(c.stages), maxCodings)
	}
	return &c, nil
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
