// Package textsearch finds a string in long texts.
package textsearch

import (
	"bytes"
	"iter"
	"strings"
)

// Query is a search string and its case rule. It is immutable and safe for concurrent use.
type Query struct {
	query []byte
	fold  bool // ignore the case of ASCII letters
	rare  int  // index of the byte that is searched first
}

// New returns a query that ignores case if query has no capitals. Only A-Z have case here, so byte
// offsets don't change.
func New(query string) Query { return newQuery(query, query == lowerASCII(query)) }

// Fold returns a query that ignores case.
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

// Len returns the length of the query in bytes.
func (n *Query) Len() int { return len(n.query) }

// lowerASCII lowers only A-Z.
func lowerASCII(text string) string {
	low := []byte(text)
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	return string(low)
}

// byteRarity returns the approximate number of bytes that are more common than c in arguments.
func byteRarity(c byte) int {
	if i := strings.IndexByte(` etaionsr"lhdcu,mpf:g\yw.vb/k{}_-()0123456789xjqz`, c); i >= 0 {
		return i
	}
	return 1 << 8
}

// In reports whether text contains the query; an empty query is in no text.
func (n *Query) In(text []byte) bool {
	for range n.All(text) {
		return true
	}
	return false
}

// All yields the offsets of the matches in a text. Matches don't overlap. To be fast, it searches for one of
// the query's rarest bytes.
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

// bytePositions iterates over the positions of one byte in a text.
type bytePositions struct {
	byte byte
	at   int // the current position, or the length of the text
}

func newTrace(text []byte, c byte, from int) bytePositions {
	t := bytePositions{c, from - 1}
	t.advance(text)
	return t
}

// advance moves to the next position.
func (t *bytePositions) advance(text []byte) {
	if from := t.at + 1; from < len(text) {
		if i := bytes.IndexByte(text[from:], t.byte); i >= 0 {
			t.at = from + i
			return
		}
	}
	t.at = len(text)
}

// isMatch reports whether a text of the query's length matches it.
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
