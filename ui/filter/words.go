package filter

import (
	"strings"

	"toolscope/stream"
	"toolscope/ui/needle"
)

// short is what is looked for in short texts. ASCII letters of both cases are the same.
type short struct {
	low   string
	whole bool // the text must be nothing else
}

func newShort(text string) *short { return &short{low: lower(text)} }

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
func (n *short) in(text string) bool {
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
func (n *short) at(text string) bool {
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

// plain is a word that the row of a turn or call says, or that the arguments of a call or the text of
// a turn hold: the term of that number.
func plain(value string, number int) term {
	n, texts := newShort(value), needle.Fold(value)
	return term{calls: true, texts: true, fits: func(s *subject) bool {
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
		return n.ofTurn(s) || s.holds(number, &texts)
	}}
}

// Looked is how far texts that grow were looked through, so that nothing is looked through twice. It
// is of one filter, and of one past: of a text that became shorter it knows too much.
type Looked map[lookedIn]int

type lookedIn struct {
	term     int
	of       stream.Ref
	part     uint8
	rewrites int
}

// found is how far a text was looked through that holds what is looked for.
const found = -1

// holds reports whether the arguments of the call hold what the term of that number looks for, or the
// text of its turn.
func (s *subject) holds(term int, n *needle.Needle) bool {
	c, t := s.call, s.turn
	if c != nil && s.look(lookedIn{term, c.Ref(), 0, c.Rewrites}, n, c.Args(), c.Arriving()) {
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
		if open := !t.Closed(); s.look(lookedIn{term, t.Ref(), 0, 0}, n, t.Text, open) || s.look(lookedIn{term, t.Ref(), 1, 0}, n, t.Thinking, open) {
			s.texts[term] = with
		}
	}
	return s.texts[term] == with
}

// held is whether the text of a turn holds something.
type held uint8

const (
	unknown held = iota
	without
	with
)

// look looks through what is new of a text.
func (s *subject) look(in lookedIn, n *needle.Needle, text []byte, grows bool) bool {
	if !grows || s.Looked == nil {
		return n.In(text)
	}
	from := s.Looked[in]
	if from == found {
		return true
	}
	is := n.In(text[min(from, len(text)):])
	if s.Looked[in] = max(0, len(text)-n.Len()+1); is {
		s.Looked[in] = found
	}
	return is
}

// ofTurn reports whether the row of a turn says it.
func (n *short) ofTurn(s *subject) bool {
	t := s.turn
	return n.in(t.Model) || n.in(t.ID) || n.in(t.Finish) || n.in(t.Dialect) || agentOf(s, n.in) || fileOf(s, n.in) || hostOf(s, n.in) || n.asked(t.Ask)
}

func (n *short) asked(a *stream.Ask) bool {
	return a != nil && (n.in(a.Purpose) || n.in(a.Answers) || n.in(a.Words))
}
