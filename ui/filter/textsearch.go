package filter

import (
	"bytes"
	"iter"
	"strings"

	"toolscope/stream"
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

// shortQuery is a search string for short texts. It ignores the case of ASCII letters.
type shortQuery struct {
	low   string
	exact bool // the string must equal the complete text
}

func newShortQuery(text string) *shortQuery { return &shortQuery{low: lowerASCII(text)} }

// lowerASCII converts A-Z to lower case, and replaces bytes that are not UTF-8.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// isIn reports whether a text contains the string. If exact is set, it reports whether the text equals the
// string.
func (n *shortQuery) isIn(text string) bool {
	if n.exact {
		return len(text) == len(n.low) && n.isPrefixOf(text)
	}
	for i := 0; i+len(n.low) <= len(text); i++ {
		if n.isPrefixOf(text[i:]) {
			return true
		}
	}
	return false
}

// isPrefixOf reports whether a text begins with the string. The text must not be shorter than the string.
func (n *shortQuery) isPrefixOf(text string) bool {
	for i := range len(n.low) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != n.low[i] {
			return false
		}
	}
	return true
}

// plainTerm returns the term for a word without a field. It searches the row of a turn or call, the arguments
// of a call, and the text of a turn. The parameter number is the index of the term in the filter.
func plainTerm(value string, number int) term {
	n, texts := newShortQuery(value), FoldTextQuery(value)
	return term{calls: true, texts: true, fits: func(s *matchTarget) bool {
		if n.isIn(s.status().String()) {
			return true
		}
		for _, f := range s.findings() {
			if n.isIn(f.Code) {
				return true
			}
		}
		if c := s.call; c != nil && (n.isIn(c.Name) || n.isIn(c.ID)) {
			return true
		}
		return n.isInTurn(s) || s.hasText(number, &texts)
	}}
}

// SearchProgress stores how far growing texts have been searched, so that no byte is searched twice. It is for one
// filter. It is valid only while time moves forward. After a step back in time, texts are shorter and the stored
// positions are wrong.
type SearchProgress map[searchedText]int

type searchedText struct {
	term     int
	of       stream.Ref
	part     uint8
	rewrites int
}

// alreadyFound is the progress of a text that contains the search string.
const alreadyFound = -1

// hasText reports whether the arguments of the call, or the text of its turn, contain n. The parameter term is the
// index of the term that contains n.
func (s *matchTarget) hasText(term int, n *TextQuery) bool {
	c, t := s.call, s.turn
	if c != nil && s.searchText(searchedText{term, c.Ref(), 0, c.Rewrites}, n, c.Args(), c.MayGrow()) {
		return true
	}
	if len(t.Text)+len(t.Thinking) == 0 {
		return false
	}
	for len(s.texts) <= term {
		s.texts = append(s.texts, unknown)
	}
	if s.texts[term] == unknown { // the result is the same for all calls of the turn
		s.texts[term] = without
		if open := !t.Closed(); s.searchText(searchedText{term, t.Ref(), 0, 0}, n, t.Text, open) || s.searchText(searchedText{term, t.Ref(), 1, 0}, n, t.Thinking, open) {
			s.texts[term] = with
		}
	}
	return s.texts[term] == with
}

// containment records whether the text of a turn contains a search string, if that is known.
type containment uint8

const (
	unknown containment = iota
	without
	with
)

// searchText reports whether a text contains the query. If the text grows, it searches only the part that is
// new since the last search.
func (s *matchTarget) searchText(in searchedText, n *TextQuery, text []byte, grows bool) bool {
	if !grows || s.Progress == nil {
		return n.In(text)
	}
	from := s.Progress[in]
	if from == alreadyFound {
		return true
	}
	is := n.In(text[min(from, len(text)):])
	if s.Progress[in] = max(0, len(text)-len(n.query)+1); is {
		s.Progress[in] = alreadyFound
	}
	return is
}

// isInTurn reports whether the row of a turn contains the string.
func (n *shortQuery) isInTurn(s *matchTarget) bool {
	t, a := s.turn, s.turn.Request
	return n.isIn(t.Model) || n.isIn(t.ID) || n.isIn(t.Finish) || n.isIn(t.Protocol) || agentOf(s, n.isIn) || fileOf(s, n.isIn) || hostOf(s, n.isIn) ||
		a != nil && (n.isIn(a.Purpose) || n.isIn(a.ResultsOf) || n.isIn(a.Snippet))
}
