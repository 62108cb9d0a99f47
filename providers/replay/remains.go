package replay

import (
	"bytes"
	"hash/maphash"
	"slices"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// Remains is what is kept of a turn when its content is let go of: enough to find its calls in a
// history, and to tell whether they are still what the model wrote.
type Remains struct {
	calls      []Trace
	text       uint64
	long       bool
	signatures []uint64
	state      turnState
	ended      bool
}

// A Trace is what is left of a call.
type Trace struct {
	called
	told   *Told               // nil while nothing was said
	found  []*stream.Diagnosis // about it, until now
	size   int
	exact  uint64 // hash of the arguments
	value  value
	object bool       // they were one
	last   *judgement // what was said of them last, where they were not intact
}

// Told is what was said of a call last.
type Told struct {
	ID     string // it had in the request
	Fate   Fate
	Result stream.Code
}

// wasTold is what was said of it last.
func (t *Trace) wasTold() Told {
	if t.told == nil {
		return Told{}
	}
	return *t.told
}

// lastTold is what was said of a call last.
func lastTold(c *stream.Call) (t Told) {
	if n := len(c.SentBack); n > 0 {
		t = Told{c.SentBack[n-1].ID, Fate(c.SentBack[n-1].Outcome), c.SentBack[n-1].ResultCode}
	}
	return t
}

// called is what a call is known by.
type called struct {
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

func calledOf(c *stream.Call) called {
	return called{
		ref: c.Ref(), id: c.ID, name: c.Name, item: c.Item, choice: c.Choice, server: c.RunByProvider, attempt: c.Discarded, phase: c.Phase(),
	}
}

// Remains is what to keep of a turn. It is made while the content is there.
func (by *Observer) Remains(t *stream.Turn) *Remains {
	r := &Remains{state: stateOf(t), ended: t.Closed()}
	r.text, r.long = hashText(t.Text)
	for _, c := range t.Calls {
		r.calls = append(r.calls, by.trace(c))
		r.sign(c.Signature)
	}
	for i := range t.Parts {
		r.sign(t.Parts[i].Signature)
	}
	return r
}

func (r *Remains) sign(signature string) {
	if signature != "" {
		r.signatures = append(r.signatures, maphash.String(seed, signature))
	}
}

func (by *Observer) trace(c *stream.Call) Trace {
	args := c.Args()
	t := Trace{
		called: calledOf(c), size: len(args), exact: maphash.Bytes(seed, args), value: valueOf(args),
		object: c.Syntax() == stream.SyntaxObject,
	}
	if told := lastTold(c); told != (Told{}) {
		t.told = &told
	}
	if j, ok := by.remembers(t.ref); ok {
		t.last = &j
	}
	for i := range c.Findings {
		t.found = append(t.found, c.Findings[i].Base())
	}
	return t
}

// Tell notes what is said of the call now, and found.
func (t *Trace) Tell(told Told, found stream.Finding) {
	if t.told = &told; found.Diagnosis != nil {
		t.found = append(t.found, found.Base())
	}
}

// Called is the name and the id of the turn's call of that number; ok is false if it has none.
func (r *Remains) Called(call int32) (name, id string, ok bool) {
	if n := int(call) - 1; n >= 0 && n < len(r.calls) {
		return r.calls[n].name, r.calls[n].id, true
	}
	return "", "", false
}

// isIntact reports whether the arguments sent are the same bytes, or both are empty.
func (t *Trace) isIntact(sent *dialect.Part, to *dialect.Target) bool {
	if sent.Form == dialect.TextForm && to.Form != dialect.TextForm {
		return false // a string where an object must be: bytes that are the same mean something else
	}
	return t.isOf(sent.Args) || t.value == nothing && saysNothing(sent.Args)
}

// isOf reports whether the call had these arguments.
func (t *Trace) isOf(args []byte) bool {
	return len(args) == t.size && maphash.Bytes(seed, args) == t.exact
}

// judge says what became of arguments that are not intact, as far as hashes tell: whether they are
// the same value, or others. What was said while they were there stays said, unless it is wrong
// now.
func (t *Trace) judge(sent *dialect.Part, to *dialect.Target) verdict {
	if slices.Contains(heldIn(sent, to), t.value) {
		return verdict{fate: t.saidOr(WasReformatted, WasEncoded, WasWrapped), vague: true}
	}
	fate := t.saidOr(WasAltered, WasRepaired)
	if saysNothing(sent.Args) {
		fate = t.saidOr(fate, WasEmptied)
	}
	if fate != WasAltered || !t.object {
		return verdict{fate: fate, vague: true} // clients repair what is no object: that is not blamed on them unseen
	}
	return verdict{fate, ArgsAltered.loss("other arguments were sent than the model wrote"), true}
}

// saidOr is what was said of the call, if that is one of those that hashes do not tell from fate.
func (t *Trace) saidOr(fate Fate, others ...Fate) Fate {
	if slices.Contains(others, t.wasTold().Fate) {
		return t.wasTold().Fate
	}
	return fate
}

// hashText is a hash of a turn's text; long is false where it does not tell the turn from others.
func hashText(text []byte) (sum uint64, long bool) {
	text = bytes.TrimSpace(text)
	return maphash.Bytes(seed, text), len(text) >= leastText
}
