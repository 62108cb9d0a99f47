// Package coding undoes the codings a body travels in: chunked transfer coding (RFC 9112 §7.1) and
// gzip, deflate, brotli and zstd content coding (RFC 9110 §8.4).
//
//	bytes as sent ─▶ stage ─▶ stage ─▶ the body
//
// A header says what a body is coded in; the bytes say whether it still is, because dumps keep the
// headers of bodies that the client has already decoded.
//
// No stage may make more of the bytes as sent than a [budget] allows, because hostile bytes can
// expand a thousandfold in each coding. Beyond it decoding ends with [ErrExpands], and what came
// until then is the body.
package coding

import (
	"fmt"
	"slices"
	"strings"
)

// maxCodings is how many codings may be applied to one body. Nobody applies more than two, and each
// of them needs memory.
const maxCodings = 5

// Chain undoes all codings of one body, the last applied first. However its bytes are cut into
// writes, the body is the same.
type Chain struct {
	stages []codingStage
	budget *sizeBudget
	out    []byte
	err    error
}

// A codingStage undoes one coding. What it returns is valid until the next call.
type codingStage interface {
	name() string  // "" while the bytes have not shown that the coding is there
	isPlain() bool // the bytes have shown that it is not
	write(p []byte) ([]byte, error)
	close() ([]byte, error)
}

// New is the chain for a response with that header (canonical names), or nil with the reason when
// it names a coding that is not known.
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
		// Files are also kept compressed: these begin with bytes no text has.
		c.stages = append(c.stages, newDecompressor("gzip", c.budget), newDecompressor("zstd", c.budget))
	}
	if len(c.stages) > maxCodings {
		return nil, fmt.Errorf("the body is coded %d times over: %d is the most that is undone", len(c.stages), maxCodings)
	}
	return &c, nil
}

// listCodings are the codings of a header, the last applied first.
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
		return fmt.Errorf("the body is coded as %q, which is none of gzip, deflate, br and zstd", coding)
	}
	c.stages = append(c.stages, newDecompressor(coding, c.budget))
	return nil
}

// Plain reports whether the bytes have shown that nothing is coded: they are the body.
func (c *Chain) Plain() bool {
	for _, s := range c.stages {
		if !s.isPlain() {
			return false
		}
	}
	return true
}

// Name says which codings were really undone: "chunked, gzip", or "".
func (c *Chain) Name() string {
	var names []string
	for _, s := range c.stages {
		if n := s.name(); n != "" {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}

// Write decodes p and returns the body's bytes it completes, which are valid until the next call.
// After an error nothing more is decoded.
func (c *Chain) Write(p []byte) ([]byte, error) {
	c.out = reuseBuffer(c.out)
	for len(p) > 0 && c.err == nil {
		n := c.budget.receiveBytes(len(p))
		c.out = append(c.out, c.decode(p[:n])...)
		p = p[n:]
	}
	return c.out, c.err
}

// decode takes bytes through all stages.
func (c *Chain) decode(p []byte) []byte {
	for _, s := range c.stages {
		if c.err != nil || len(p) == 0 {
			break
		}
		p, c.err = s.write(p)
	}
	return p
}

// Close says that no more bytes come, and returns what was still held back.
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

// reuseBuffer is a buffer to be filled again, or none where a burst has left a big one.
func reuseBuffer(p []byte) []byte {
	if cap(p) > 1<<20 {
		return nil
	}
	return p[:0]
}
