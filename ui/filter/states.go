package filter

import (
	"slices"
	"strings"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// What is asked for beside the states themselves.
const (
	badState     = "bad"     // went wrong: its state, or a finding that is an error
	openState    = "open"    // more may come
	stoppedState = "stopped" // by the client
)

// stateWords are what a state can be asked for as.
func stateWords() []string {
	words := []string{badState, openState, stoppedState}
	for st := range stream.Status(stream.NumStatus) {
		words = append(words, strings.ReplaceAll(st.String(), " ", "-"))
	}
	return words
}

// bare is a state without what may stand between its words.
var bare = strings.NewReplacer(" ", "", "-", "", "_", "")

// readState reads a state by the beginning of its word.
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
		return term{}, "no such state; " + strings.Join(stateWords(), " ")
	}
	return term{fits: func(s *matchTarget) bool { return wanted[s.status()] }}, ""
}

// isFailure reports whether a state is that of what went wrong.
func isFailure(st stream.Status) bool { return st >= stream.CutShort && st <= stream.Rejected }

// status is the state of a call, or of a turn as a list has it: that of its first bad call, else of
// its own end.
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

// ends are the states that turns share with calls.
var ends = [...]stream.Status{
	stream.TurnIsOpen: stream.Streaming, stream.TurnComplete: stream.Complete, stream.TurnTruncated: stream.CutShort,
	stream.TurnAborted: stream.Aborted, stream.TurnRejected: stream.Rejected,
}

// isStopped reports whether the client ended it. That is no fault.
func (s *matchTarget) isStopped() bool {
	if s.call != nil {
		return s.call.StoppedByClient()
	}
	return s.turn.Phase() == stream.TurnAborted && s.turn.EndedBy == stream.Client
}

// isBad reports whether it went wrong, or a finding of it is an error.
func (s *matchTarget) isBad() bool {
	return isFailure(s.status()) && !s.isStopped() || slices.ContainsFunc(s.findings(), func(f stream.Finding) bool { return f.Severity == stream.Error })
}

func (s *matchTarget) findings() []stream.Finding {
	if s.call != nil {
		return s.call.Findings
	}
	return s.turn.Findings
}

// readFinding reads a severity, or a part of a code.
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
		return term{}, "no code has that in it"
	}
	return term{fits: func(s *matchTarget) bool {
		return slices.ContainsFunc(s.findings(), func(f stream.Finding) bool { return n.isIn(f.Code) })
	}}, ""
}

// What is asked for beside the fates themselves.
const (
	changedWord = "changed" // it says something else, or is not there
	backWord    = "back"    // in a later request, however
)

// intactOutcomes are the fates of what says the same.
var intactOutcomes = []string{string(replay.Intact), string(replay.WasReformatted), string(replay.WasMoved), string(replay.AsClientHasIt)}

// sentOutcomes are what a later request may make of a call.
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

// readSent reads what later requests made of a call.
func readSent(_, value string, _ *Filter) (term, string) {
	value = strings.ToLower(value)
	is := func(fate string) bool { return strings.HasPrefix(fate, value) }
	switch {
	case value == changedWord:
		is = func(fate string) bool { return !slices.Contains(intactOutcomes, fate) }
	case value == backWord:
		is = func(string) bool { return true }
	case !slices.ContainsFunc(sentWords(), is):
		return term{}, "no such word; " + strings.Join(sentWords(), " ")
	}
	return term{fits: func(s *matchTarget) bool {
		return s.call != nil && slices.ContainsFunc(s.call.SentBack, func(r stream.SentBackCall) bool { return is(r.Outcome) })
	}}, ""
}
