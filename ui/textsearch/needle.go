// Package textsearch finds words in texts that may be long.
package textsearch

import (
	"bytes"
	"iter"
	"strings"
)

// Query is what is looked for, and how. Nobody changes one: many may look with it at once.
type Query struct {
	query []byte
	fold  bool // ASCII capitals match too
	rare  int  // where the byte of it is that is looked for first
}

// New is what is looked for without regard to case, if it has no capitals itself. Here and elsewhere that is
// the case of A-Z, so that no byte moves.
func New(query string) Query { return newQuery(query, query == lowerASCII(query)) }

// Fold is what is looked for without regard to case.
func Fold(query string) Query { return newQuery(lowerASCII(query), true) }

func newQuery(query string, fold bool) Query {
	n := Query{query: []byte(query), fold: fold}
	for i, c := range n.query {
		if byteRarity(c) > byteRarity(n.query[n.rare]) {
			n.rare = i
		}
	}
	return n
}

// Len is how many bytes it has.
func (n *Query) Len() int { return len(n.query) }

// lowerASCII lowers A-Z alone.
func lowerASCII(text string) string {
	low := []byte(text)
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	return string(low)
}

// byteRarity is how many bytes are more common than c in arguments, about.
func byteRarity(c byte) int {
	if i := strings.IndexByte(` etaionsr"lhdcu,mpf:g\yw.vb/k{}_-()0123456789xjqz`, c); i >= 0 {
		return i
	}
	return 1 << 8
}

// In reports whether what is looked for is in a text; nothing is in none.
func (n *Query) In(text []byte) bool {
	for range n.All(text) {
		return true
	}
	return false
}

// All are the places in a text at which what is looked for begins, one behind the other. It goes from
// one of the query's rarest bytes to the next.
func (n *Query) All(text []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		size, next := len(n.query), 0
		if size == 0 || len(text) < size {
			return
		}
		low := newTrace(text, n.query[n.rare], n.rare)
		high := bytePositions{at: len(text)}
		if c := n.query[n.rare]; n.fold && 'a' <= c && c <= 'z' {
			high = newTrace(text, c-'a'+'A', n.rare)
		}
		for {
			at := &low
			if high.at < low.at {
				at = &high
			}
			if at.at == len(text) {
				return
			}
			if off := at.at - n.rare; off >= next && off+size <= len(text) && n.isMatch(text[off:off+size]) {
				if next = off + size; !yield(off) {
					return
				}
			}
			at.advance(text)
		}
	}
}

// bytePositions is the places of one byte in a text.
type bytePositions struct {
	byte byte
	at   int // the present one, or the length of the text
}

func newTrace(text []byte, c byte, from int) bytePositions {
	t := bytePositions{c, from - 1}
	t.advance(text)
	return t
}

// advance goes to the next place.
func (t *bytePositions) advance(text []byte) {
	if from := t.at + 1; from < len(text) {
		if i := bytes.IndexByte(text[from:], t.byte); i >= 0 {
			t.at = from + i
			return
		}
	}
	t.at = len(text)
}

// isMatch reports whether a text that is as long is what is looked for.
func (n *Query) isMatch(text []byte) bool {
	if !n.fold {
		return bytes.Equal(text, n.query)
	}
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != n.query[i] {
			return false
		}
	}
	return true
}
