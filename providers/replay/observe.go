package replay

import (
	"fmt"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
)

// Treatment is what a client made of a call when it sent it back.
type Treatment string

const (
	Intact         Treatment = "intact"
	WasReformatted Treatment = "reformatted"          // the same value, written in another way, or rounded
	WasEmptied     Treatment = "emptied"              // {} in place of what the model wrote
	WasRepaired    Treatment = "repaired"             // an object in place of what was none
	WasEncoded     Treatment = "double-encoded"       // a string where an object must be, or a string in a string
	WasWrapped     Treatment = "wrapped"              // in an object that holds the text
	WasAltered     Treatment = "altered"              // other arguments
	WasDropped     Treatment = "dropped"              // the turn is there, the call is not
	WasOrphaned    Treatment = "orphaned"             // without a result, while the conversation went on
	WasMoved       Treatment = "moved"                // out of its order, or away from the calls it was made with
	AsClientHasIt  Treatment = "as the client has it" // what the model wrote is not known but from here
)

// A Candidate is a turn whose calls a request may have brought back.
type Candidate struct {
	Turn      *stream.Turn
	Summary   *TurnSummary        // where the content of Turn was let go of
	Reload    func() *stream.Turn // then reads the turn again; nil where that cannot be done
	Target    *protocol.Target    // where its protocol sends history, nil when it has none
	Position  Position            // where the request stands that it answers
	Continues bool                // the history goes on from it: the request names its response
}

// Ended reports whether all of the turn has come. Until then no request can have brought it back.
func (c *Candidate) Ended() bool {
	if c.Summary != nil {
		return c.Summary.ended
	}
	return c.Turn.Closed()
}

// An Observation is what one request's history has of an earlier call.
type Observation struct {
	Call           *stream.Call // nil where its arguments were let go of
	Summary        *CallSummary // what is left of it then
	Treatment      Treatment
	ID             string      // the call's in the request
	Result         stream.Code // stream.AnswerOK or AnswerFailed; 0 when there is none
	KeptByProvider bool        // it is not in the history itself: the provider keeps it
	Losses         []Loss

	of         *earlierCall
	turn       *Candidate
	to         *protocol.Target
	sent       *protocol.Part // nil when the call is not in the history
	resultPart *protocol.Part // the result, nil when there is none
	vague      bool           // the fate is as much as hashes tell
}

// Ref is the call's name.
func (o *Observation) Ref() stream.Ref { return o.of.ref }

// Part is the call as the request carries it, nil where it does not.
func (o *Observation) Part() *protocol.Part { return o.sent }

// argsLen is how many bytes the arguments had.
func (o *Observation) argsLen() int {
	if o.Summary != nil {
		return o.Summary.size
	}
	return len(o.Call.Args())
}

// LastReport is what was said of the call before.
func (o *Observation) LastReport() LastReport {
	if o.Summary != nil {
		return o.Summary.lastReport()
	}
	return lastReportOf(o.Call)
}

// WasFound reports whether a request before this one has made the same finding about the call.
func (o *Observation) WasFound(f stream.Finding) bool {
	if o.Summary != nil {
		return slices.Contains(o.Summary.found, f.Diagnosis)
	}
	return slices.ContainsFunc(o.Call.Findings, func(old stream.Finding) bool { return old.Diagnosis == f.Diagnosis })
}

// An Observer says what became of calls. It remembers its verdicts, because each request of a
// conversation brings the same calls again. The zero value is ready; it belongs to one goroutine.
type Observer struct {
	judged, before map[stream.Ref]cachedVerdict
}

// Observe finds the calls of earlier turns in a request's history and says what became of each. It
// is silent about turns that are not in the history at all: they belong to another conversation, or
// were left behind on purpose.
func (by *Observer) Observe(history *History, turns []Candidate) (all []Observation) {
	m := matchTurns(by, history, turns)
	for i := range m.turns {
		t := &m.turns[i]
		first := len(all)
		for j := range t.calls {
			if o, ok := m.observeCall(&t.calls[j]); ok {
				all = append(all, o)
			}
		}
		if t.sure {
			m.checkOrder(all[first:])
		}
	}
	return all
}

// observeCall says what became of one call.
func (m *matcher) observeCall(c *earlierCall) (o Observation, ok bool) {
	o = Observation{Call: c.call, Summary: c.summary, of: c, turn: c.turn.Candidate, to: m.to}
	switch {
	case c.server, c.attempt, c.phase == stream.PhaseUnseen:
		return o, false
	case c.byItem:
		return o.markKept(m.orphanOf(c)), true
	case c.found < 0:
		return m.judgeMissing(o)
	}
	h := &m.entries[c.found]
	o.ID, o.sent = h.part.ID, h.part
	o.setVerdict(m.by.judgeCall(c, o.sent, m.to))
	if o.ID != c.id && c.id != "" {
		o.addLoss(IDRewritten.newLoss("its id is %s here", quoteShort(o.ID)))
	}
	if h.result != nil {
		o.setResult(h.result)
		if h.late && m.to.ResultsFollow {
			o.addLoss(AdjacencyFix.newLoss("its result does not follow it at once"))
			o.lowerOutcome(WasMoved)
		}
	} else if !m.KeptByProvider && m.goesOn(h.message) {
		o.markOrphaned(m.orphanOf(c))
	}
	return o, true
}

// markKept says that the provider keeps the call as it made it; l is its result, or nil.
func (o Observation) markKept(l *orphan) Observation {
	o.Treatment, o.ID, o.KeptByProvider = Intact, o.of.id, true
	if l != nil {
		o.setResult(l.part)
	}
	return o
}

// FromLog says that the request is of a log that has only what each one adds: no provider keeps a
// call that is not in it.
func (o *Observation) FromLog() {
	if o.KeptByProvider {
		o.Treatment, o.KeptByProvider = AsClientHasIt, false
	}
}

// judgeMissing says what it means that a call is not found. It means nothing where calls of the turn may
// not have been seen. Where the provider keeps what was said before, a result proves that it keeps
// the call, and without one nothing is known.
func (m *matcher) judgeMissing(o Observation) (Observation, bool) {
	c, t := o.of, o.of.turn
	l := m.orphanOf(c)
	if m.KeptByProvider {
		return o.markKept(l), l != nil && (t.Continues || m.known[c.id] == 1)
	}
	if !t.sure || t.state.unseen || l == nil && t.chosenOther(c) {
		return o, false
	}
	o.Treatment = WasDropped
	if l != nil {
		o.setResult(l.part)
	} else if c.phase >= stream.PhaseAborted || t.state.aborted {
		return o, true // that the response broke off, or was refused, is a reason to leave it out
	}
	o.addLoss(CallDropped.newLoss("the call is not in the history: the model sees that it never asked"))
	if l != nil {
		o.addLoss(OrphanResult.newLoss("its result is there, without a call"))
	}
	return o, true
}

// chosenOther reports whether a call belongs to a choice of the turn that the client did not take.
func (t *candidateTurn) chosenOther(c *earlierCall) bool {
	for i := range t.calls {
		if other := &t.calls[i]; other.choice != c.choice && (other.found >= 0 || c.choice > other.choice) {
			return true
		}
	}
	return false
}

// markOrphaned says that a call has no result, although the conversation goes on; l is a result that
// has its old id, or nil.
func (o *Observation) markOrphaned(l *orphan) {
	if l == nil {
		o.addLoss(OrphanCall.newLoss("no result of it is in the history, and the conversation goes on"))
	} else {
		o.addLoss(OrphanCall.newLoss("its result is still for the id %s", quoteShort(l.part.ID)))
	}
	o.lowerOutcome(WasOrphaned)
}

// lowerOutcome changes the fate of a call whose arguments did not change.
func (o *Observation) lowerOutcome(f Treatment) {
	if o.Treatment == Intact || o.Treatment == WasReformatted {
		o.Treatment = f
	}
}

// goesOn reports whether anything is said after a message.
func (m *matcher) goesOn(after int) bool {
	for i := after + 1; i < len(m.messages); i++ {
		if len(m.messages[i].Parts) > 0 && m.messages[i].Role != protocol.System {
			return true
		}
	}
	return false
}

func (o *Observation) addLoss(l Loss) { o.Losses = append(o.Losses, l) }

// checkOrder says which calls of a turn are not where the model put them.
func (m *matcher) checkOrder(seen []Observation) {
	last := -1
	for i := range seen {
		o := &seen[i]
		n := o.of.found
		if n < 0 {
			continue
		}
		switch {
		case n < last:
			o.addLoss(CallsReordered.newLoss("it stands before a call that the model made first"))
			o.lowerOutcome(WasMoved)
		case last >= 0 && m.to.ResultsFollow && m.areSeparate(m.entries[last].message, m.entries[n].message):
			o.addLoss(ParallelSplit.newLoss("it was made together with another call, and stands in a message of its own"))
			o.lowerOutcome(WasMoved)
		}
		last = n
	}
}

// areSeparate reports whether two messages of the model are not one.
func (m *matcher) areSeparate(a, b int) bool {
	if a == b {
		return false
	}
	for i := a + 1; i < b; i++ {
		if m.messages[i].Role != protocol.Assistant {
			return true
		}
	}
	return !m.to.Merges
}

// Finding tells the worst loss; ok is false when none is worth telling.
func (o *Observation) Finding() (f stream.Finding, ok bool) {
	worst := -1
	for i, l := range o.Losses {
		if l.Severity >= Medium && (worst < 0 || l.Severity > o.Losses[worst].Severity) {
			worst = i
		}
	}
	if worst < 0 {
		return f, false
	}
	l := o.Losses[worst]
	severity := stream.Warn
	if l.Severity == Critical {
		severity = stream.Error
	}
	found := l.Diagnosis.WithSeverity(severity).WithCause(stream.Client)
	f = found.Finding("a later request sent it back %s: %s", o.Treatment, l.Message)
	if o.Treatment == WasDropped {
		f = found.Finding("a later request left it out: %s", l.Message)
	}
	if names := o.MatchingPolicies(); names != "" {
		f.Message += fmt.Sprintf(" (policy %s)", names)
	}
	if o.vague || o.Treatment == WasDropped && o.Summary != nil && o.of.reload() == nil {
		f.Message += fmt.Sprintf("; toolscope has let go of its arguments (%s) and knows no more", count.Of(o.Summary.size, "byte"))
	}
	return f, true
}
