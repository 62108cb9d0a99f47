package replay

import (
	"bytes"
	"crypto/sha256"
	"hash/maphash"
	"slices"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// Remains is what is kept of a turn when its content is let go: enough to find its calls in a
// history, and to tell whether they are still what the model wrote.
type Remains struct {
	calls []Trace
	text  uint64
	long  bool
	state turnState
}

// A Trace is what is left of a call.
type Trace struct {
	called
	told   Told
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

// lastTold is what was said of a call last.
func lastTold(c *stream.Call) (t Told) {
	if n := len(c.SentBack); n > 0 {
		t = Told{c.SentBack[n-1].ID, Fate(c.SentBack[n-1].As), c.SentBack[n-1].Result}
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
	return turnState{t.Unseen(), t.Phase() == stream.TurnAborted}
}

func calledOf(c *stream.Call) called {
	return called{
		ref: c.Ref(), id: c.ID, name: c.Name, item: c.Item, choice: c.Choice, server: c.Server, attempt: c.Attempt, phase: c.Phase(),
	}
}

// Remains is what to keep of a turn. It is made while the content is there.
func (by *Observer) Remains(t *stream.Turn) *Remains {
	r := &Remains{state: stateOf(t)}
	r.text, r.long = hashText(t.Text)
	for _, c := range t.Calls {
		r.calls = append(r.calls, by.trace(c))
	}
	return r
}

func (by *Observer) trace(c *stream.Call) Trace {
	args := c.Args()
	t := Trace{
		called: calledOf(c), size: len(args), exact: maphash.Bytes(seed, args), value: valueOf(args),
		object: c.Syntax() == stream.SyntaxObject,
	}
	t.told = lastTold(c)
	if j, ok := by.remembers(t.ref); ok {
		t.last = &j
	}
	for i := range c.Findings {
		t.found = append(t.found, c.Findings[i].Declared())
	}
	return t
}

// Tell notes what is said of the call now, and found.
func (t *Trace) Tell(told Told, found stream.Finding) {
	if t.told = told; found.Diagnosis != nil {
		t.found = append(t.found, found.Declared())
	}
}

// judge says what became of the arguments as far as hashes tell: whether they are the same bytes,
// the same value, or others. What was said while they were there stays said, unless it is wrong now.
func (t *Trace) judge(sent *dialect.Part, to *dialect.Target) verdict {
	if j := t.last; j != nil && j.isAbout(sha256.Sum256(sent.Args), sent.Form, to) {
		return j.verdict
	}
	values := heldIn(sent, to)
	asText := sent.Form == dialect.TextForm && to.Form != dialect.TextForm
	same := len(sent.Args) == t.size && maphash.Bytes(seed, sent.Args) == t.exact || t.value == nothing && values[0] == nothing
	switch {
	case same && !asText:
		return verdict{fate: Intact}
	case slices.Contains(values, t.value):
		return verdict{fate: t.saidOr(WasReformatted, WasEncoded, WasWrapped)}
	case !t.object, t.saidOr(WasAltered, WasEmptied, WasRepaired) != WasAltered:
		return verdict{fate: t.saidOr(WasAltered, WasEmptied, WasRepaired)}
	}
	return verdict{WasAltered, ArgsAltered.loss("other arguments were sent than the model wrote")}
}

// saidOr is what was said of the call, if that is one of those that hashes do not tell from fate.
func (t *Trace) saidOr(fate Fate, others ...Fate) Fate {
	if slices.Contains(others, t.told.Fate) {
		return t.told.Fate
	}
	return fate
}

// hashText is a hash of a turn's text; long is false where it does not tell the turn from others.
func hashText(text []byte) (sum uint64, long bool) {
	text = bytes.TrimSpace(text)
	return maphash.Bytes(seed, text), len(text) >= leastText
}

// Wrote says whether the turn has a call with the id and the tool of one in a history, or one that
// had the id in a history before, and whether one of them has its arguments.
func (c *Candidate) Wrote(p *dialect.Part) (same, any bool) {
	for _, e := range c.calls() {
		if e.name != p.Name || !e.isOfID(p.ID) {
			continue
		}
		any = true
		if same = e.left == nil && dialect.Same(e.call.Args(), p.Args) || e.left != nil && e.left.value == valueOf(p.Args); same {
			break
		}
	}
	return same, any
}

// isOfID reports whether a call has that id, or had it in a request.
func (c *earlier) isOfID(id string) bool {
	if c.left != nil {
		return c.id == id || c.left.told.ID == id
	}
	return c.id == id || slices.ContainsFunc(c.call.SentBack, func(r stream.Return) bool { return r.ID == id })
}
