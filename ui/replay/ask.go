package replay

import (
	"slices"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// previewKey is what is previewed: one cell of a table of targets and policies, of which the screen shows
// a row or a column.
type previewKey struct {
	scope    replay.Scope
	to       int  // in providers.Targets
	policy   int  // in replay.Policies
	policies bool // the rows are policies, for one target
}

// noTarget is the target until one is asked for.
const noTarget = -1

// version says which state of a call, a turn or a conversation something was made from: while it is
// the same, nothing that is sent back has changed.
type version struct {
	of       stream.Ref
	scope    replay.Scope
	bytes    int // of arguments, text and reasoning
	rewrites int
	parts    int
	words    int // bytes of ids, names and signatures
	answers  int // calls that are known to have failed
	request  int64
	returns  int // requests that brought the call back
}

// addCall counts a call in.
func (v *version) addCall(c *stream.Call) {
	v.parts++
	v.bytes += len(c.Args())
	v.rewrites += c.Rewrites
	v.words += len(c.ID) + len(c.Name) + len(c.Item) + len(c.Namespace) + len(c.Kind) + len(c.Parent) + len(c.Signature)
	if c.ResultCode == stream.ResultFailed {
		v.answers++
	}
}

// versionOf is the state things are in now. With replay.OneCall c is not nil.
func versionOf(t *stream.Turn, c *stream.Call, of stream.Ref, s replay.Scope, x *providers.Exchange) version {
	v := version{of: of, scope: s}
	if x != nil {
		v.request = x.Request.Size()
	}
	if s == replay.OneCall {
		v.addCall(c)
		v.returns = len(c.SentBack)
		for _, other := range t.Calls {
			v.words += len(other.ID)
		}
		return v
	}
	v.bytes = len(t.Text) + len(t.Thinking)
	v.parts = len(t.Parts)
	for _, p := range t.Parts {
		v.words += len(p.ID) + len(p.Signature)
	}
	for _, call := range t.Calls {
		v.addCall(call)
	}
	return v
}

// size is how many bytes are to be read and written for one preview.
func (v *version) size() int {
	if v.scope == replay.WholeConversation {
		return v.bytes + v.words + int(v.request)
	}
	return v.bytes + v.words
}

// sourceData is what a source is made of. Nothing of it changes any more, so that a job may read it
// while the stream goes on.
type sourceData struct {
	scope  replay.Scope
	turn   *stream.Turn
	call   *stream.Call
	names  []replay.UnsentCall // of the calls that the request of the turn carries
	seen   []replay.Evidence   // what providers answered to requests that carried it
	before []protocol.Message  // all that it carries
	from   *protocol.Target    // in which form
}

// materialOf copies what may change. The bytes themselves are only appended to.
func materialOf(v *providers.View, t *stream.Turn, c *stream.Call, s replay.Scope, x *providers.Exchange) sourceData {
	turn := *t
	m := sourceData{scope: s, turn: &turn}
	if s != replay.WholeConversation {
		m.names = x.CarriedCalls()
	}
	if c != nil {
		call := *c
		m.call = &call
	}
	if s == replay.OneCall {
		m.seen = v.Witnesses(c)
	}
	turn.Parts = slices.Clone(turn.Parts)
	turn.Calls = make([]*stream.Call, len(t.Calls))
	for i, call := range t.Calls {
		copied := *call
		turn.Calls[i] = &copied
	}
	if s == replay.WholeConversation {
		m.before, m.from = x.History()
	}
	return m
}

// makeSource makes the source, and says which of its calls is the chosen one, from 1; 0 if none is.
func (m *sourceData) makeSource() (src *replay.Source, own int) {
	from := providers.TargetOf(m.turn.Protocol)
	if m.scope == replay.OneCall {
		return replay.SourceOfCalls(m.turn, from, m.call).InHistory(m.names, m.turn, m.call).WithEvidence(m.seen), 1
	}
	own = m.callNumber()
	if m.scope == replay.WholeTurn {
		return replay.SourceOfTurn(m.turn, from).InHistory(m.names, m.turn, nil), own
	}
	if own > 0 {
		own += replay.NumCalls(m.before)
	}
	return replay.SourceOfHistoryAndTurn(m.before, m.from, m.turn, from), own
}

// callNumber is which of the turn's calls the chosen one is, among those that count.
func (m *sourceData) callNumber() (n int) {
	if m.call == nil {
		return 0
	}
	for _, c := range m.turn.Calls[:m.call.Number] {
		if !c.Discarded {
			n++
		}
	}
	return n
}
