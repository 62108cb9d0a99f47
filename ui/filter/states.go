package filter

import (
	"slices"
	"strings"

	"toolscope/providers/replay"
	"toolscope/stream"
)

// What is asked for beside the states themselves.
const (
	isBad     = "bad"     // went wrong: its state, or a finding that is an error
	isOpen    = "open"    // more may come
	isStopped = "stopped" // by the client
)

// stateWords are what a state can be asked for as.
func stateWords() []string {
	words := []string{isBad, isOpen, isStopped}
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
	case isBad:
		return term{fits: (*subject).bad}, ""
	case isOpen:
		return term{fits: func(s *subject) bool { return s.status() <= stream.LooksDone }}, ""
	case isStopped:
		return term{fits: (*subject).stopped}, ""
	}
	var wanted [stream.NumStatus]bool
	for st := range wanted {
		wanted[st] = strings.HasPrefix(bare.Replace(stream.Status(st).String()), bare.Replace(value))
	}
	if value == "" || wanted == ([stream.NumStatus]bool{}) {
		return term{}, "no such state; " + strings.Join(stateWords(), " ")
	}
	return term{fits: func(s *subject) bool { return wanted[s.status()] }}, ""
}

// wrong reports whether a state is that of what went wrong.
func wrong(st stream.Status) bool { return st >= stream.CutShort && st <= stream.Rejected }

// status is the state of a call, or of a turn as a list has it: that of its first bad call, else of
// its own end.
func (s *subject) status() stream.Status {
	if s.call != nil {
		return s.call.Status()
	}
	own := ends[s.turn.Phase()]
	if s.turn.Closed() && s.turn.Phase() == stream.TurnIsOpen {
		own = stream.Unseen
	}
	if wrong(own) {
		return own
	}
	for _, c := range s.turn.Calls {
		if st := c.Status(); wrong(st) {
			return st
		}
	}
	for st, n := range s.turn.Was() {
		if n > 0 && wrong(stream.Status(st)) {
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

// stopped reports whether the client ended it. That is no fault.
func (s *subject) stopped() bool {
	if s.call != nil {
		return s.call.Stopped()
	}
	return s.turn.Phase() == stream.TurnAborted && s.turn.EndedBy == stream.Client
}

// bad reports whether it went wrong, or a finding of it is an error.
func (s *subject) bad() bool {
	return wrong(s.status()) && !s.stopped() || slices.ContainsFunc(s.findings(), func(f stream.Finding) bool { return f.Severity == stream.Error })
}

func (s *subject) findings() []stream.Finding {
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
			return term{fits: func(s *subject) bool {
				return slices.ContainsFunc(s.findings(), func(f stream.Finding) bool { return f.Severity == of })
			}}, ""
		}
	}
	n := newShort(value)
	n.whole = op == "="
	if !slices.ContainsFunc(codes(), n.in) {
		return term{}, "no code has that in it"
	}
	return term{fits: func(s *subject) bool {
		return slices.ContainsFunc(s.findings(), func(f stream.Finding) bool { return n.in(f.Code) })
	}}, ""
}

// What is asked for beside the fates themselves.
const (
	isChanged = "changed" // it says something else, or is not there
	isBack    = "back"    // in a later request, however
)

// kept are the fates of what says the same.
var kept = []string{string(replay.Intact), string(replay.WasReformatted), string(replay.WasMoved), string(replay.AsClientHasIt)}

// allFates are what a later request may make of a call.
var allFates = []replay.Fate{
	replay.Intact, replay.WasReformatted, replay.WasEmptied, replay.WasRepaired, replay.WasEncoded, replay.WasWrapped,
	replay.WasAltered, replay.WasDropped, replay.WasOrphaned, replay.WasMoved,
}

func fates() []string {
	words := []string{isChanged, isBack}
	for _, f := range allFates {
		words = append(words, string(f))
	}
	return words
}

// readSent reads what later requests made of a call.
func readSent(_, value string, _ *Filter) (term, string) {
	value = strings.ToLower(value)
	is := func(fate string) bool { return strings.HasPrefix(fate, value) }
	switch {
	case value == isChanged:
		is = func(fate string) bool { return !slices.Contains(kept, fate) }
	case value == isBack:
		is = func(string) bool { return true }
	case !slices.ContainsFunc(fates(), is):
		return term{}, "no such word; " + strings.Join(fates(), " ")
	}
	return term{fits: func(s *subject) bool {
		return s.call != nil && slices.ContainsFunc(s.call.SentBack, func(r stream.Return) bool { return is(r.As) })
	}}, ""
}
