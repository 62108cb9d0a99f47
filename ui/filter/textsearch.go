package filter

import (
	"bytes"
	"iter"
	"strings"
)

// TextQuery searches long texts for a string. It can ignore case. It is immutable and safe for concurrent
// use.
type TextQuery struct {
	query []byte
	fold  bool // ignore the case of ASCII letters
	rare  int  // index of the byte that is searched first
}

// NewTextQuery returns a query that ignores case if query has no capital letters. Only the letters A-Z have
// case here, so byte offsets don't change.
func NewTextQuery(query string) TextQuery { return newTextQuery(query, query == lowerBytes(query)) }

// FoldTextQuery returns a query that ignores case.
func FoldTextQuery(query string) TextQuery { return newTextQuery(lowerBytes(query), true) }

func newTextQuery(query string, fold bool) TextQuery {
	n := TextQuery{query: []byte(query), fold: fold}
	for i, c := range n.query {
		if byteRarity(c) > byteRarity(n.query[n.rare]) {
			n.rare = i
		}
	}
	return n
}

// lowerBytes converts only A-Z to lower case, and keeps bytes that are not UTF-8.
func lowerBytes(text string) string {
	low := []byte(text)
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	return string(low)
}

// byteRarity returns the approximate number of byte values that are more common than c in arguments.
func byteRarity(c byte) int {
	if i := strings.IndexByte(` etaionsr"lhdcu,mpf:g\yw.vb/k{}_-()0123456789xjqz`, c); i >= 0 {
		return i
	}
	return 1 << 8
}

// In reports whether text contains the query. No text contains an empty query.
func (n *TextQuery) In(text []byte) bool {
	for range n.All(text) {
		return true
	}
	return false
}

// All yields the offsets of the matches in a text. Matches don't overlap. For speed, it searches for one of
// the query's rarest bytes first.
func (n *TextQuery) All(text []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		size, next := len(n.query), 0
		if size == 0 || len(text) < size {
			return
		}
		low := newBytePositions(text, n.query[n.rare], n.rare)
		high := bytePositions{at: len(text)}
		if c := n.query[n.rare]; n.fold && 'a' <= c && c <= 'z' {
			high = newBytePositions(text, c-'a'+'A', n.rare)
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
			at.moveToNext(text)
		}
	}
}

// bytePositions iterates over the positions of one byte in a text.
type bytePositions struct {
	byte byte
	at   int // the current position, or the length of the text
}

func newBytePositions(text []byte, c byte, from int) bytePositions {
	t := bytePositions{c, from - 1}
	t.moveToNext(text)
	return t
}

// moveToNext moves to the next position.
func (t *bytePositions) moveToNext(text []byte) {
	if from := t.at + 1; from < len(text) {
		if i := bytes.IndexByte(text[from:], t.byte); i >= 0 {
			t.at = from + i
			return
		}
	}
	t.at = len(text)
}

// isMatch reports whether a text of the query's length matches the query.
func (n *TextQuery) isMatch(text []byte) bool {
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
