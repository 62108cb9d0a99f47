package filter

import (
	"strings"

	"toolscope/stream"
	"toolscope/ui/textsearch"
)

// shortQuery is a search string for short texts. It ignores the case of ASCII letters.
type shortQuery struct {
	low   string
	exact bool // the string must be the complete text
}

func newShortQuery(text string) *shortQuery { return &shortQuery{low: lowerASCII(text)} }

// lowerASCII lowers only A-Z, so byte offsets don't change.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// isIn reports whether a text contains the string.
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

// isPrefixOf reports whether a text begins with the string. The text must be at least as
// long.
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

// plainTerm returns the term of a word without a field. It searches the row of a turn or call, the arguments
// of a call and the text of a turn. number is the index of the term in the filter.
func plainTerm(value string, number int) term {
	n, texts := newShortQuery(value), textsearch.Fold(value)
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

// SearchProgress stores how far growing texts were searched, so that no byte is searched twice. It is for one
// filter and for one view in time: after a step back in time, texts are shorter and it is wrong.
type SearchProgress map[searchedText]int

type searchedText struct {
	term     int
	of       stream.Ref
	part     uint8
	rewrites int
}

// alreadyFound is the progress of a text that contains the search string.
const alreadyFound = -1

// hasText reports whether the arguments of the call or the text of its turn contain n, the search string of
// the term with that number.
func (s *matchTarget) hasText(term int, n *textsearch.Query) bool {
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

// containment is whether the text of a turn contains a search string.
type containment uint8

const (
	unknown containment = iota
	without
	with
)

// searchText searches the new part of a text.
func (s *matchTarget) searchText(in searchedText, n *textsearch.Query, text []byte, grows bool) bool {
	if !grows || s.Progress == nil {
		return n.In(text)
	}
	from := s.Progress[in]
	if from == alreadyFound {
		return true
	}
	is := n.In(text[min(from, len(text)):])
	if s.Progress[in] = max(0, len(text)-n.Len()+1); is {
		s.Progress[in] = alreadyFound
	}
	return is
}

// isInTurn reports whether the row of a turn contains the string.
func (n *shortQuery) isInTurn(s *matchTarget) bool {
	t := s.turn
	return n.isIn(t.Model) || n.isIn(t.ID) || n.isIn(t.Finish) || n.isIn(t.Protocol) || agentOf(s, n.isIn) || fileOf(s, n.isIn) || hostOf(s, n.isIn) || n.isInAsk(t.Request)
}

func (n *shortQuery) isInAsk(a *stream.RequestInfo) bool {
	return a != nil && (n.isIn(a.Purpose) || n.isIn(a.ResultsOf) || n.isIn(a.Snippet))
}
