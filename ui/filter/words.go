package filter

import (
	"slices"
	"strings"

	"toolscope/providers/replay"
	"toolscope/stream"
)

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

// Values of the field state that are not states of calls.
const (
	badState     = "bad"     // a bad state, or an error finding
	openState    = "open"    // more bytes may arrive
	stoppedState = "stopped" // stopped by the client
)

// stateWords returns all values of the field state.
func stateWords() []string {
	words := []string{badState, openState, stoppedState}
	for st := range stream.Status(stream.NumStatus) {
		words = append(words, strings.ReplaceAll(st.String(), " ", "-"))
	}
	return words
}

// bare removes the separators between the words of a state.
var bare = strings.NewReplacer(" ", "", "-", "", "_", "")

// readState parses a state. The user may type only the beginning of a state.
func readState(_, value string, _ *Filter) (term, string) {
	value = strings.ToLower(value)
	switch value {
	case badState:
		return term{fits: (*matchTarget).isBad}, ""
	case openState:
		return term{fits: func(s *matchTarget) bool { return s.status() <= stream.LooksDone }}, ""
	case stoppedState:
		return term{fits: (*matchTarget).isStopped}, ""
	}
	var wanted [stream.NumStatus]bool
	for st := range wanted {
		wanted[st] = strings.HasPrefix(bare.Replace(stream.Status(st).String()), bare.Replace(value))
	}
	if value == "" || wanted == ([stream.NumStatus]bool{}) {
		return term{}, "unknown state; use " + strings.Join(stateWords(), " ")
	}
	return term{fits: func(s *matchTarget) bool { return wanted[s.status()] }}, ""
}

// isFailure reports whether a state is a failure.
func isFailure(st stream.Status) bool { return st >= stream.CutShort && st <= stream.Rejected }

// status returns the state of a call or a turn. For a turn, it returns the state that a list shows: the turn's own
// failure, or else the state of its first failed call, or else the turn's own state.
func (s *matchTarget) status() stream.Status {
	if s.call != nil {
		return s.call.Status()
	}
	own := ends[s.turn.Phase()]
	if s.turn.Closed() && s.turn.Phase() == stream.TurnIsOpen {
		own = stream.Unseen
	}
	if isFailure(own) {
		return own
	}
	for _, c := range s.turn.Calls {
		if st := c.Status(); isFailure(st) {
			return st
		}
	}
	for st, n := range s.turn.DroppedCounts() {
		if n > 0 && isFailure(stream.Status(st)) {
			return stream.Status(st)
		}
	}
	return own
}

// ends maps phases of turns to the equivalent states of calls.
var ends = [...]stream.Status{
	stream.TurnIsOpen: stream.Streaming, stream.TurnComplete: stream.Complete, stream.TurnTruncated: stream.CutShort,
	stream.TurnAborted: stream.Aborted, stream.TurnRejected: stream.Rejected, stream.TurnRefused: stream.Rejected,
}

// isStopped reports whether the client stopped the call or turn. That is not a failure.
func (s *matchTarget) isStopped() bool {
	if s.call != nil {
		return s.call.StoppedByClient()
	}
	return s.turn.Phase() == stream.TurnAborted && s.turn.EndedBy == stream.Client
}

// isBad reports whether the call or turn failed, or has an error finding.
func (s *matchTarget) isBad() bool {
	return isFailure(s.status()) && !s.isStopped() || slices.ContainsFunc(s.findings(), func(f stream.Finding) bool { return f.Severity == stream.Error })
}

func (s *matchTarget) findings() []stream.Finding {
	if s.call != nil {
		return s.call.Findings
	}
	return s.turn.Findings
}

// readFinding parses a severity, or a part of a finding code. The second result is the error, or "".
func readFinding(op, value string, _ *Filter) (term, string) {
	value = strings.ToLower(value)
	for _, of := range []stream.Severity{stream.Info, stream.Warn, stream.Error} {
		if value == of.String() {
			return term{fits: func(s *matchTarget) bool {
				return slices.ContainsFunc(s.findings(), func(f stream.Finding) bool { return f.Severity == of })
			}}, ""
		}
	}
	n := newShortQuery(value)
	n.exact = op == "="
	if !slices.ContainsFunc(findingCodes(), n.isIn) {
		return term{}, "unknown code"
	}
	return term{fits: func(s *matchTarget) bool {
		return slices.ContainsFunc(s.findings(), func(f stream.Finding) bool { return n.isIn(f.Code) })
	}}, ""
}

// Values of the field sent that are not outcomes.
const (
	changedWord = "changed" // sent back with another meaning, or missing
	backWord    = "back"    // any outcome in a later request
)

// intactOutcomes are the outcomes that do not change the meaning of a call.
var intactOutcomes = []string{string(replay.Intact), string(replay.WasReformatted), string(replay.WasMoved), string(replay.AsClientHasIt)}

// sentOutcomes are the outcomes of a call in a later request.
var sentOutcomes = []replay.Treatment{
	replay.Intact, replay.WasReformatted, replay.WasEmptied, replay.WasRepaired, replay.WasEncoded, replay.WasWrapped,
	replay.WasAltered, replay.WasDropped, replay.WasOrphaned, replay.WasMoved,
}

func sentWords() []string {
	words := []string{changedWord, backWord}
	for _, f := range sentOutcomes {
		words = append(words, string(f))
	}
	return words
}

// readSent parses an outcome of a call in later requests.
func readSent(_, value string, _ *Filter) (term, string) {
	value = strings.ToLower(value)
	is := func(fate string) bool { return strings.HasPrefix(fate, value) }
	switch {
	case value == changedWord:
		is = func(fate string) bool { return !slices.Contains(intactOutcomes, fate) }
	case value == backWord:
		is = func(string) bool { return true }
	case !slices.ContainsFunc(sentWords(), is):
		return term{}, "unknown outcome; use " + strings.Join(sentWords(), " ")
	}
	return term{fits: func(s *matchTarget) bool {
		return s.call != nil && slices.ContainsFunc(s.call.SentBack, func(r stream.SentBackCall) bool { return is(r.Outcome) })
	}}, ""
}
