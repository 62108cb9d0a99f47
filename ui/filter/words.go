package filter

import (
	"strings"

	"toolscope/stream"
)

// needle is what is looked for in short texts. ASCII letters of both cases are the same.
type needle struct {
	low   string
	whole bool // the text must be nothing else
}

func newNeedle(text string) *needle { return &needle{low: lower(text)} }

// lower lowers A-Z alone, so that no byte moves.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// in reports whether a text has it.
func (n *needle) in(text string) bool {
	if n.whole {
		return len(text) == len(n.low) && n.at(text)
	}
	for i := 0; i+len(n.low) <= len(text); i++ {
		if n.at(text[i:]) {
			return true
		}
	}
	return false
}

// at reports whether a text that is long enough begins with it.
func (n *needle) at(text string) bool {
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

// plain is a word that the row of a turn or call says.
func plain(value string) term {
	n := newNeedle(value)
	return term{calls: true, fits: func(s *subject) bool {
		if n.in(s.status().String()) {
			return true
		}
		for _, f := range s.findings() {
			if n.in(f.Code) {
				return true
			}
		}
		if c := s.call; c != nil && (n.in(c.Name) || n.in(c.ID)) {
			return true
		}
		return n.ofTurn(s)
	}}
}

// ofTurn reports whether the row of a turn says it.
func (n *needle) ofTurn(s *subject) bool {
	t := s.turn
	return n.in(t.Model) || n.in(t.ID) || n.in(t.Finish) || n.in(t.Dialect) || agentOf(s, n.in) || fileOf(s, n.in) || hostOf(s, n.in) || n.asked(t.Ask)
}

func (n *needle) asked(a *stream.Ask) bool {
	return a != nil && (n.in(a.Purpose) || n.in(a.Answers) || n.in(a.Words))
}
