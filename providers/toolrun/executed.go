// Package toolrun tells which call of a model a tool's server was asked to run, and what became of it
// between the two:
//
//	model wrote ─▶ tool got ─▶ tool answered ─▶ model was told
//
//	calls of turns ─┐
//	                ├─▶ Join ─▶ which is which, how that is known, and what is found of it
//	requests of MCP ┘
//
// Words. An Ask is one tools/call of a client, with all its rounds. It is joined to a call by the id
// that some clients send, or else by the tool's name and equal arguments, or at last by the name alone.
//
// What always holds:
//   - Nothing is guessed: where two calls or two requests may be the one that is meant, neither is joined.
//     But of calls that are equal the first is taken for the first, and it is said of how many it is one.
//   - Nobody is blamed by what is joined by a name alone, nor for what toolscope did not see.
//   - Two recordings have two clocks: a millisecond between them says nothing. Those of two runs have
//     nothing to do with each other: neither tells anything of the other.
package toolrun

import (
	"bytes"
	"slices"
	"time"

	"toolscope/providers/mcp"
	"toolscope/stream"
)

// A Join holds what servers were asked against the calls of models, as both come. The zero Join with
// its functions is ready.
type Join struct {
	Find  func(stream.Ref) (*stream.Turn, *stream.Call)
	Apart func(exchange, other int) bool // that their times are of two clocks
	RunOf func(exchange int) string      // of what run it is
	Tell  func(Match) (event int)

	Doubled func(stream.Ref) bool // that the end of a call was said twice

	Log *mcp.Log

	calls    []*Call
	asks     []*ToolRequest
	byNumber map[int]*ToolRequest
	not      []CallWithoutRun
	unrun    []*Call // that the model was given a result of, and no request is known of
	declared []declaration
	drifts   []driftedTool // that were told
	blind    bool          // bytes of a model's answer were not seen
}

// Match is that a call was joined, or that something was found.
type Match struct {
	Call stream.Ref
	At   time.Duration
	Text string
	stream.ToolExecution
}

// A Call is what is known of a model's call.
type Call struct {
	Ref      stream.Ref
	ID, Name string
	Exchange int
	Run      string
	Args     []byte // as far as they came; nil once nothing more comes of them
	Size     int

	OpenedAt, FirstAt, LastAt, SealedAt, ClosedAt time.Duration // or stream.NoTime
	Phase                                         stream.TurnPhase

	opened      int32
	syntax      stream.Syntax
	settled     bool // no more of its arguments comes
	closed      bool // its turn has ended
	unseen      bool
	freeform    bool
	muted       bool // whoever ended its turn, it was no fault
	given       bool // the model was told a result
	givenAt     time.Duration
	result      *SentResult // and what, as long as a request may be found to be of it
	resultEvent int
	asks        []*ToolRequest
	finding     map[*stream.Diagnosis]bool
	exclusive   bool // a request may be of another server's tool, too: it waits until all are known
}

// An ToolRequest is one request to run a tool.
type ToolRequest struct {
	*mcp.Request
	Call       *Call // that it is joined to, nil for none
	Basis      stream.MatchBasis
	EqualCalls int     // how many equal calls it may be one of
	Candidates []*Call // where it is not joined: calls that it may be, more than one

	Args           string // "same" or "altered", "" while that is not known
	Path           string // of the first value that differs
	IsPrefix       bool   // they are a JSON string: the beginning of what the model wrote
	PrefixBytes    int    // and how many bytes of that
	Result         ResultRelation
	ModelHasResult bool // the model was told a result
	ResultEvent    int  // number of the event that tells
	ResultBytes    int  // bytes that the model was told
	Unasked        bool // no call of a model is there for it

	Findings []stream.Finding

	finding map[*stream.Diagnosis]bool
}

// CallWithoutRun is a call that the model was given a result of, while nobody asked its tool.
type CallWithoutRun struct {
	*Call
	Server, Tool string
	Finding      stream.Finding
}

// NotRun are all of these.
func (j *Join) NotRun() []CallWithoutRun { return j.not }

// AfterSeal is how long after its call's arguments were final a request was made, negative where that
// was before; ok is false where it is not known.
func (a *ToolRequest) AfterSeal() (d time.Duration, ok bool) {
	if a.Call == nil || a.AskedAt < 0 || a.Call.SealedAt < 0 {
		return 0, false
	}
	return a.AskedAt - a.Call.SealedAt, true
}

// AfterTurn is AfterSeal of the end of the turn.
func (a *ToolRequest) AfterTurn() (d time.Duration, ok bool) {
	if a.Call == nil || a.AskedAt < 0 || a.Call.ClosedAt < 0 {
		return 0, false
	}
	return a.AskedAt - a.Call.ClosedAt, true
}

// The most calls and requests that may still be joined.
const maxUnmatched = 4096

// skew is how far two clocks may be apart.
const skew = time.Millisecond

// Ask is what is known of a request, nil where it is none that runs a tool.
func (j *Join) Ask(r *mcp.Request) *ToolRequest { return j.byNumber[r.Number] }

// Opened takes a call that began, or got its name or id.
func (j *Join) Opened(t *stream.Turn, c *stream.Call) {
	if c.RunByProvider || c.Discarded || c.Kind != "" && c.Kind != "function" && c.Kind != "custom" && c.Kind != "mcp" {
		return
	}
	for i := len(j.calls) - 1; i >= 0 && i >= len(j.calls)-64; i-- {
		if j.calls[i].Ref == c.Ref() {
			j.learn(j.calls[i])
			return
		}
	}
	of := &Call{Ref: c.Ref(), Exchange: t.Exchange, Run: j.RunOf(t.Exchange), opened: c.OpenedBy, ClosedAt: stream.NoTime, givenAt: stream.NoTime}
	if j.calls = append(j.calls, of); len(j.calls) > maxUnmatched {
		j.calls = append(j.calls[:0], j.calls[maxUnmatched/2:]...)
	}
	j.learn(of)
	j.tryAgain(of)
}

// learn takes what is known of a call now.
func (j *Join) learn(of *Call) {
	t, c := j.Find(of.Ref)
	if c == nil || t.Retention != stream.InMemory {
		return
	}
	of.ID, of.Name, of.freeform = c.ID, c.Name, c.Freeform()
	if c.Namespace != "" {
		of.Name = c.Namespace + "__" + c.Name
	}
	of.OpenedAt, of.FirstAt, of.LastAt, of.SealedAt = c.OpenedAt, c.FirstArgAt, c.LastArgAt, c.SealedAt
	of.Args, of.Size, of.syntax = c.Args(), c.ArgsLen(), c.Syntax()
	of.settled = !c.MayGrow()
	of.unseen = t.Missed > 0 || t.HasGap() || c.Status() == stream.Unseen
	j.blind = j.blind || of.unseen
}

// call is what is known of a call, nil where that is nothing.
func (j *Join) call(ref stream.Ref) *Call {
	for i := len(j.calls) - 1; i >= 0; i-- {
		if j.calls[i].Ref == ref {
			return j.calls[i]
		}
	}
	return nil
}

// Sealed says that no more arguments of a call come.
func (j *Join) Sealed(ref stream.Ref) {
	if of := j.call(ref); of != nil {
		j.learn(of)
		j.tryAgain(of)
		j.judge(of)
	}
}

// Closed says that a turn has ended.
func (j *Join) Closed(t *stream.Turn) {
	j.blind = j.blind || t.Missed > 0
	for _, of := range j.calls {
		if of.Ref.Turn != t.Number || of.closed {
			continue
		}
		j.learn(of)
		of.closed, of.settled, of.ClosedAt, of.Phase = true, true, t.ClosedAt, t.Phase()
		of.muted = t.EndedBy == stream.Client || t.EndedBy == stream.Toolscope
		j.tryAgain(of)
		j.judge(of)
	}
}

// Asked takes news of a request to run a tool: that it was asked, once more with what its server wanted
// to know, or answered.
func (j *Join) Asked(r *mcp.Request) {
	if !r.IsCall() {
		return
	}
	if j.byNumber[r.Number] != nil {
		return
	}
	a := &ToolRequest{Request: r}
	if j.byNumber == nil {
		j.byNumber = map[int]*ToolRequest{}
	}
	j.byNumber[r.Number] = a
	if j.asks = append(j.asks, a); len(j.asks) > maxUnmatched {
		j.asks = append(j.asks[:0], j.asks[maxUnmatched/2:]...)
	}
	j.find(a)
}

// Given says that the model was told a result of a call: these bytes, and that the tool failed, where
// its protocol can say so.
func (j *Join) Given(ref stream.Ref, at time.Duration, event int, g SentResult) {
	of := j.call(ref)
	if of == nil || of.given {
		return
	}
	if !of.settled {
		j.learn(of)
	}
	of.given, of.givenAt = true, at
	if j.mayBeServed(of) && len(g.Text) <= mcp.MaxKept {
		g.Text = bytes.Clone(g.Text)
	} else if len(of.asks) == 0 {
		g.Text = nil
	}
	of.result, of.resultEvent = &g, event
	j.resolve(of)
	for _, a := range of.asks {
		j.compare(of, a, event, g)
	}
	if len(of.asks) == 0 {
		if j.unrun = append(j.unrun, of); len(j.unrun) > maxUnmatched {
			j.unrun = append(j.unrun[:0], j.unrun[maxUnmatched/2:]...)
		}
	} else if of.result = nil; of.Phase == stream.TurnComplete {
		of.Args = nil
	}
}

// Heard says that a server of a run said something, or was told something, at a time: what it was asked
// before is known then.
func (j *Join) Heard(run string, at time.Duration) {
	j.unrun = slices.DeleteFunc(j.unrun, func(of *Call) bool {
		known := of.Run == run && of.givenAt+skew < at
		if known {
			j.notAsked(of)
		}
		return known
	})
}

// SentResult is what the model was told as the result of a call.
type SentResult struct {
	Text   []byte // all of it, or its beginning
	Size   int
	Media  int
	Failed bool
	Flag   bool // the protocol can say that a tool failed
}

// End says that nothing more comes.
func (j *Join) End() {
	for _, of := range j.calls {
		j.resolve(of)
	}
	for _, of := range j.unrun {
		j.notAsked(of)
	}
	j.unrun = nil
	if j.blind {
		return
	}
	models := map[string]bool{} // runs in which one was asked
	for _, of := range j.calls {
		models[of.Run] = true
	}
	for _, a := range j.asks {
		if models[a.Server.Run] && a.Call == nil && a.Request.CallID == "" && len(a.Candidates) == 0 && a.Server.Gaps == 0 && !a.Unasked {
			a.Unasked = true
			a.Server.AddFinding(a.AskedAt, unasked, "%s was run, and no call of a model is there that asks for it", a.Tool)
		}
	}
}
