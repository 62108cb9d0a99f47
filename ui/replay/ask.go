package replay

import (
	"slices"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// previewKey names one cell in the table of targets and policies. The screen shows a row or a column of
// that table.
type previewKey struct {
	scope    replay.Scope
	to       int  // in providers.Targets
	policy   int  // in replay.Policies
	policies bool // the rows are policies, for one target
}

// noTarget is the target until the user selects one.
const noTarget = -1

// version identifies the state of a call, turn or conversation. While it is equal, nothing that would be
// sent back has changed.
type version struct {
	of       stream.Ref
	scope    replay.Scope
	bytes    int // bytes of arguments, text and reasoning
	rewrites int
	parts    int
	words    int // bytes of ids, names and signatures
	answers  int // calls with a failed result
	request  int64
	returns  int // requests that sent the call back
}

// addCall adds a call to the counts.
func (v *version) addCall(c *stream.Call) {
	v.parts++
	v.bytes += len(c.Args())
	v.rewrites += c.Rewrites
	v.words += len(c.ID) + len(c.Name) + len(c.Item) + len(c.Namespace) + len(c.Kind) + len(c.Parent) + len(c.Signature)
	if c.ResultCode == stream.ResultFailed {
		v.answers++
	}
}

// versionOf returns the current version. With replay.OneCall, c must not be nil.
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

// size returns the number of bytes that a preview must process.
func (v *version) size() int {
	if v.scope == replay.WholeConversation {
		return v.bytes + v.words + int(v.request)
	}
	return v.bytes + v.words
}

// sourceData has the data for a replay.Source. It is a copy, so that another goroutine can read it while
// the stream continues.
type sourceData struct {
	scope  replay.Scope
	turn   *stream.Turn
	call   *stream.Call
	names  []replay.UnsentCall // the calls in the turn's request
	seen   []replay.Evidence   // what providers answered to requests with the call
	before []protocol.Message  // all messages of the turn's request
	from   *protocol.Target    // their format
}

// materialOf copies the data that may change. Byte slices are shared, because they are only appended to.
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

// makeSource makes the source. own is the number of the selected call in it, from 1, or 0 if no call is
// selected.
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

// callNumber returns the position of the selected call among the turn's calls, without the discarded ones.
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
