package replay

import (
	"bytes"
	"hash/maphash"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// TurnSummary is kept of a turn when its content is evicted or dropped. It is enough to find the turn's calls
// in a history, and to check whether they are intact.
type TurnSummary struct {
	calls      []CallSummary
	text       uint64
	long       bool
	signatures []uint64
	state      turnState
	ended      bool
}

// A CallSummary is kept of a call.
type CallSummary struct {
	callIdentity
	report *LastReport         // nil if there was no report
	found  []*stream.Diagnosis // diagnoses of its findings so far
	size   int                 // of the arguments in bytes
	exact  uint64              // hash of the arguments
	value  valueHash
	object bool           // the arguments are an object
	last   *cachedVerdict // the latest verdict on them, if it is cached
}

// LastReport is the latest report about a call.
type LastReport struct {
	ID        string // the call's id in the request
	Treatment Treatment
	Result    stream.Code
}

// lastReport returns the latest report about the call.
func (t *CallSummary) lastReport() LastReport {
	if t.report == nil {
		return LastReport{}
	}
	return *t.report
}

// lastReportOf returns the latest report about a call.
func lastReportOf(c *stream.Call) (t LastReport) {
	if n := len(c.SentBack); n > 0 {
		t = LastReport{c.SentBack[n-1].ID, Treatment(c.SentBack[n-1].Outcome), c.SentBack[n-1].ResultCode}
	}
	return t
}

// callIdentity holds the values that identify a call.
type callIdentity struct {
	ref            stream.Ref
	id, name, item string
	choice         int32
	server         bool
	attempt        bool
	phase          stream.Phase
}

// turnState is the part of a turn's state that decides whether the turn must be in a history.
type turnState struct{ unseen, aborted bool }

func stateOf(t *stream.Turn) turnState {
	return turnState{t.HasGap(), t.Phase() == stream.TurnAborted}
}

func calledOf(c *stream.Call) callIdentity {
	return callIdentity{
		ref: c.Ref(), id: c.ID, name: c.Name, item: c.Item, choice: c.Choice, server: c.RunByProvider, attempt: c.Discarded, phase: c.Phase(),
	}
}

// Summarise returns the summary of a turn. The turn must still have its content.
func (by *Observer) Summarise(t *stream.Turn) *TurnSummary {
	r := &TurnSummary{state: stateOf(t), ended: t.Closed()}
	r.text, r.long = hashText(t.Text)
	for _, c := range t.Calls {
		r.calls = append(r.calls, by.summariseCall(c))
		r.addSignature(c.Signature)
	}
	for i := range t.Parts {
		r.addSignature(t.Parts[i].Signature)
	}
	return r
}

func (r *TurnSummary) addSignature(signature string) {
	if signature != "" {
		r.signatures = append(r.signatures, maphash.String(seed, signature))
	}
}

func (by *Observer) summariseCall(c *stream.Call) CallSummary {
	args := c.Args()
	t := CallSummary{
		callIdentity: calledOf(c), size: len(args), exact: maphash.Bytes(seed, args), value: valueOf(args),
		object: c.Syntax() == stream.SyntaxObject,
	}
	if told := lastReportOf(c); told != (LastReport{}) {
		t.report = &told
	}
	if j, ok := by.lastVerdict(t.ref); ok {
		t.last = &j
	}
	for i := range c.Findings {
		t.found = append(t.found, c.Findings[i].Base())
	}
	return t
}

// Report notes a report about the call, and the finding if there is one.
func (t *CallSummary) Report(told LastReport, found stream.Finding) {
	if t.report = &told; found.Diagnosis != nil {
		t.found = append(t.found, found.Base())
	}
}

// CallName returns the name and the id of the turn's call of a number; ok is false if there is none.
func (r *TurnSummary) CallName(call int32) (name, id string, ok bool) {
	if n := int(call) - 1; n >= 0 && n < len(r.calls) {
		return r.calls[n].name, r.calls[n].id, true
	}
	return "", "", false
}

// isIntact reports whether the arguments sent are the same bytes, or both are empty.
func (t *CallSummary) isIntact(sent *protocol.Part, to *protocol.Target) bool {
	if sent.Form == protocol.TextForm && to.Form != protocol.TextForm {
		return false // a string instead of an object: the same bytes are another value
	}
	return t.isOf(sent.Args) || t.value == nothing && saysNothing(sent.Args)
}

// isOf reports whether the call has these arguments.
func (t *CallSummary) isOf(args []byte) bool {
	return len(args) == t.size && maphash.Bytes(seed, args) == t.exact
}

// judgeArgs judges arguments that are not intact by their hashes: they have the same value or another one. An
// earlier report about the full arguments is kept if the hashes don't contradict it.
func (t *CallSummary) judgeArgs(sent *protocol.Part, to *protocol.Target) argsVerdict {
	if slices.Contains(hashesIn(sent, to), t.value) {
		return argsVerdict{treatment: t.reportedOr(WasReformatted, WasEncoded, WasWrapped), vague: true}
	}
	fate := t.reportedOr(WasAltered, WasRepaired)
	if saysNothing(sent.Args) {
		fate = t.reportedOr(fate, WasEmptied)
	}
	if fate != WasAltered || !t.object {
		return argsVerdict{treatment: fate, vague: true} // clients may have repaired them, so they are not reported as altered
	}
	return argsVerdict{fate, ArgsAltered.newLoss("arguments were sent that the model didn't write"), true}
}

// reportedOr returns the last reported treatment if it is one of others, which hashes can't distinguish from
// fate, and else fate.
func (t *CallSummary) reportedOr(fate Treatment, others ...Treatment) Treatment {
	if slices.Contains(others, t.lastReport().Treatment) {
		return t.lastReport().Treatment
	}
	return fate
}

// hashText returns a hash of a turn's text; long is false if the text is too short to identify the turn.
func hashText(text []byte) (sum uint64, long bool) {
	text = bytes.TrimSpace(text)
	return maphash.Bytes(seed, text), len(text) >= minText
}
