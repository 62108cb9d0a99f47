package coding

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// chunkDecoder is the stage for chunked transfer coding. Trailers are dropped: no provider sends any.
type chunkDecoder struct {
	line  []byte // the line being read
	left  int    // bytes of the chunk that are still missing
	state chunkState
	out   []byte
}

type chunkState uint8

const (
	chunkFirst   chunkState = iota // unknown whether the coding is used
	chunkPlain                     // the coding is not used
	chunkSize                      // in the line with a chunk's size
	chunkData                      // in a chunk
	chunkDataEnd                   // in the line end after it
	chunkTrailer                   // after the last chunk
)

// maxChunkLine is longer than any size line with its extensions.
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

// decodePart consumes a part of p.
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

// isSizeStart reports whether line may begin a line with a chunk size: hex digits, then nothing, an
// extension or the line end.
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
