package replay

import (
	"bytes"
	"hash/maphash"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// TurnSummary is what is kept of a turn when its content is let go of: enough to find its calls in a
// history, and to tell whether they are still what the model wrote.
type TurnSummary struct {
	calls      []CallSummary
	text       uint64
	long       bool
	signatures []uint64
	state      turnState
	ended      bool
}

// A CallSummary is what is left of a call.
type CallSummary struct {
	callIdentity
	report *LastReport         // nil while nothing was said
	found  []*stream.Diagnosis // about it, until now
	size   int
	exact  uint64 // hash of the arguments
	value  valueHash
	object bool           // they were one
	last   *cachedVerdict // what was said of them last, where they were not intact
}

// LastReport is what was said of a call last.
type LastReport struct {
	ID        string // it had in the request
	Treatment Treatment
	Result    stream.Code
}

// lastReport is what was said of it last.
func (t *CallSummary) lastReport() LastReport {
	if t.report == nil {
		return LastReport{}
	}
	return *t.report
}

// lastReportOf is what was said of a call last.
func lastReportOf(c *stream.Call) (t LastReport) {
	if n := len(c.SentBack); n > 0 {
		t = LastReport{c.SentBack[n-1].ID, Treatment(c.SentBack[n-1].Outcome), c.SentBack[n-1].ResultCode}
	}
	return t
}

// callIdentity is what a call is known by.
type callIdentity struct {
	ref            stream.Ref
	id, name, item string
	choice         int32
	server         bool
	attempt        bool
	phase          stream.Phase
}

// turnState is what of a turn's state decides whether it must be in a history.
type turnState struct{ unseen, aborted bool }

func stateOf(t *stream.Turn) turnState {
	return turnState{t.HasGap(), t.Phase() == stream.TurnAborted}
}

func calledOf(c *stream.Call) callIdentity {
	return callIdentity{
		ref: c.Ref(), id: c.ID, name: c.Name, item: c.Item, choice: c.Choice, server: c.RunByProvider, attempt: c.Discarded, phase: c.Phase(),
	}
}

// Summarise is what to keep of a turn. It is made while the content is there.
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

// Report notes what is said of the call now, and found.
func (t *CallSummary) Report(told LastReport, found stream.Finding) {
	if t.report = &told; found.Diagnosis != nil {
		t.found = append(t.found, found.Base())
	}
}

// CallName is the name and the id of the turn's call of that number; ok is false if it has none.
func (r *TurnSummary) CallName(call int32) (name, id string, ok bool) {
	if n := int(call) - 1; n >= 0 && n < len(r.calls) {
		return r.calls[n].name, r.calls[n].id, true
	}
	return "", "", false
}

// isIntact reports whether the arguments sent are the same bytes, or both are empty.
func (t *CallSummary) isIntact(sent *protocol.Part, to *protocol.Target) bool {
	if sent.Form == protocol.TextForm && to.Form != protocol.TextForm {
		return false // a string where an object must be: bytes that are the same mean something else
	}
	return t.isOf(sent.Args) || t.value == nothing && saysNothing(sent.Args)
}

// isOf reports whether the call had these arguments.
func (t *CallSummary) isOf(args []byte) bool {
	return len(args) == t.size && maphash.Bytes(seed, args) == t.exact
}

// judgeArgs says what became of arguments that are not intact, as far as hashes tell: whether they are
// the same value, or others. What was said while they were there stays said, unless it is wrong
// now.
func (t *CallSummary) judgeArgs(sent *protocol.Part, to *protocol.Target) argsVerdict {
	if slices.Contains(hashesIn(sent, to), t.value) {
		return argsVerdict{treatment: t.reportedOr(WasReformatted, WasEncoded, WasWrapped), vague: true}
	}
	fate := t.reportedOr(WasAltered, WasRepaired)
	if saysNothing(sent.Args) {
		fate = t.reportedOr(fate, WasEmptied)
	}
	if fate != WasAltered || !t.object {
		return argsVerdict{treatment: fate, vague: true} // clients repair what is no object: that is not blamed on them unseen
	}
	return argsVerdict{fate, ArgsAltered.newLoss("other arguments were sent than the model wrote"), true}
}

// reportedOr is what was said of the call, if that is one of those that hashes do not tell from fate.
func (t *CallSummary) reportedOr(fate Treatment, others ...Treatment) Treatment {
	if slices.Contains(others, t.lastReport().Treatment) {
		return t.lastReport().Treatment
	}
	return fate
}

// hashText is a hash of a turn's text; long is false where it does not tell the turn from others.
func hashText(text []byte) (sum uint64, long bool) {
	text = bytes.TrimSpace(text)
	return maphash.Bytes(seed, text), len(text) >= minText
}
