package filter

import (
	"strings"

	"toolscope/stream"
	"toolscope/ui/textsearch"
)

// shortQuery is what is looked for in short texts. ASCII letters of both cases are the same.
type shortQuery struct {
	low   string
	exact bool // the text must be nothing else
}

func newShortQuery(text string) *shortQuery { return &shortQuery{low: lowerASCII(text)} }

// lowerASCII lowers A-Z alone, so that no byte moves.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// isIn reports whether a text has it.
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

// isPrefixOf reports whether a text that is long enough begins with it.
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

// plainTerm is a word that the row of a turn or call says, or that the arguments of a call or the text of
// a turn hold: the term of that number.
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

// SearchProgress is how far texts that grow were looked through, so that nothing is looked through twice. It
// is of one filter, and of one past: of a text that became shorter it knows too much.
type SearchProgress map[searchedText]int

type searchedText struct {
	term     int
	of       stream.Ref
	part     uint8
	rewrites int
}

// alreadyFound is how far a text was looked through that holds what is looked for.
const alreadyFound = -1

// hasText reports whether the arguments of the call hold what the term of that number looks for, or the
// text of its turn.
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
	if s.texts[term] == unknown { // its calls ask the same
		s.texts[term] = without
		if open := !t.Closed(); s.searchText(searchedText{term, t.Ref(), 0, 0}, n, t.Text, open) || s.searchText(searchedText{term, t.Ref(), 1, 0}, n, t.Thinking, open) {
			s.texts[term] = with
		}
	}
	return s.texts[term] == with
}

// containment is whether the text of a turn holds something.
type containment uint8

const (
	unknown containment = iota
	without
	with
)

// searchText looks through what is new of a text.
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

// isInTurn reports whether the row of a turn says it.
func (n *shortQuery) isInTurn(s *matchTarget) bool {
	t := s.turn
	return n.isIn(t.Model) || n.isIn(t.ID) || n.isIn(t.Finish) || n.isIn(t.Protocol) || agentOf(s, n.isIn) || fileOf(s, n.isIn) || hostOf(s, n.isIn) || n.isInAsk(t.Request)
}

func (n *shortQuery) isInAsk(a *stream.RequestInfo) bool {
	return a != nil && (n.isIn(a.Purpose) || n.isIn(a.ResultsOf) || n.isIn(a.Snippet))
}
