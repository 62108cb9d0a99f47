// Package toolrun matches requests that run tools to the calls of models, and compares both ends of each
// match:
//
//	model wrote ─▶ tool got ─▶ tool returned ─▶ model got
//
//	calls of turns ─┐
//	                ├─▶ Matcher ─▶ matches, how they were made, and findings
//	requests of MCP ┘
//
// Terms: a ToolRequest is one tools/call of a client with all its rounds, or one command in a shell. It is
// matched to a call by the id that some clients send. Without such an id, it is matched by the tool's name
// and equal arguments, and finally by the name alone.
//
// Invariants:
//   - Nothing is guessed: if two calls or two requests are possible, neither is matched. There is one
//     exception: of several equal calls, the first request is matched to the first call, and the match
//     records the number of equal calls.
//   - No finding is based on a match by name alone, or on bytes that toolscope missed.
//   - Two captures may have different clocks, so a difference of a millisecond means nothing. Calls and
//     requests in different runs are never matched.
package toolrun

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"toolscope/providers/mcp"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Source provides facts about the calls to a Matcher, and receives its matches.
type Source interface {
	Find(stream.Ref) (*stream.Turn, *stream.Call)
	RunOf(exchange int) string
	ClocksApart(exchange, other int) bool // reports whether the times of the exchanges come from different clocks
	EndedTwice(stream.Ref) bool           // reports whether the end of a call was sent twice
	AddToolRun(Match) (event int)         // adds a match to the timeline, and returns the number of its event
}

// A Matcher matches requests to the calls of models as both arrive.
type Matcher struct {
	source Source
	log    *mcp.Log

	calls    []*Call
	asks     []*ToolRequest
	byNumber map[int]*ToolRequest
	not      []CallWithoutRun
	unrun    []*Call // calls whose result the model got although no request for them is known
	declared []declaration
	drifts   []driftedTool // already reported
	blind    bool          // bytes of a response were missed
}

// NewMatcher returns a Matcher for the calls of a source and the requests of a log. The Matcher receives each
// new request in the log.
func NewMatcher(s Source, log *mcp.Log) *Matcher {
	m := &Matcher{source: s, log: log}
	log.News = m.addRequest
	return m
}

// AddEvent reads the latest event of turn t, if the event is about a call or ends the turn.
func (m *Matcher) AddEvent(t *stream.Turn, e stream.Event) {
	switch e.Kind {
	case stream.CallOpen, stream.CallMeta:
		if c := t.InSlot(e.Slot); c != nil {
			m.addCall(t, c)
		}
	case stream.Seal:
		if c := t.InSlot(e.Slot); c != nil {
			if of := m.call(c.Ref()); of != nil { // no more arguments of the call will arrive
				m.learn(of)
				m.tryAgain(of)
				m.judge(of)
			}
		}
	case stream.TurnClose:
		m.closeTurn(t)
	}
}

// AddTurn adds the calls of a turn whose events were not passed to the Matcher.
func (m *Matcher) AddTurn(t *stream.Turn) {
	for _, c := range t.Calls {
		m.addCall(t, c)
	}
	if t.Closed() {
		m.closeTurn(t)
	}
}

// A Match is a tool run that was matched to a call, or a finding about a tool run.
type Match struct {
	Call stream.Ref
	At   time.Duration
	Text string
	stream.ToolExecution
}

// A Call contains the facts about a model's call that are known so far.
type Call struct {
	Ref      stream.Ref
	ID, Name string
	Exchange int
	Run      string
	Args     []byte // the arguments received so far; nil once they are no longer needed
	Size     int

	OpenedAt, FirstAt, LastAt, SealedAt, ClosedAt time.Duration    // or stream.NoTime
	Phase                                         stream.TurnPhase // TurnIsOpen until the turn ends

	opened      int32
	syntax      json.Syntax
	settled     bool // no more arguments will arrive
	closed      bool // its turn has ended
	unseen      bool
	freeform    bool
	muted       bool // the client or toolscope ended the turn, which is not a fault
	given       bool // the model got a result
	givenAt     time.Duration
	result      *SentResult // the result; kept while a request may still be matched to the call
	resultEvent int
	asks        []*ToolRequest
	finding     map[*stream.Diagnosis]bool
	ambiguous   bool // the name may also mean another server's tool: no request is matched until all facts are known
}

// A ToolRequest is one MCP request or shell command that runs a tool, together with its match.
type ToolRequest struct {
	*mcp.Request
	Call       *Call // the matched call, or nil
	Basis      stream.MatchBasis
	EqualCalls int     // number of equal calls that the request may belong to
	Candidates []*Call // if the request is not matched: the calls that it may belong to

	Args           string // "same" or "altered"; "" if not yet known
	Path           string // path of the first value that differs
	IsPrefix       bool   // the arguments are a JSON string that contains only the beginning of the model's arguments
	PrefixBytes    int    // if IsPrefix is set: length of that beginning, in bytes
	Result         ResultRelation
	ModelHasResult bool // the model got a result
	ResultEvent    int  // number of the event that reports the result
	ResultBytes    int  // size of the result that the model got, in bytes
	Unasked        bool // no recorded call requested it

	Findings []stream.Finding

	finding map[*stream.Diagnosis]bool
}

// CallWithoutRun is a call whose result the model got, although no request for the call reached its tool.
type CallWithoutRun struct {
	*Call
	Server, Tool string
	Finding      stream.Finding
}

// NotRun returns all calls without a run.
func (m *Matcher) NotRun() []CallWithoutRun { return m.not }

// AfterSeal returns the time from the moment at which the call's arguments were final to the request. It is negative
// if the request came first. The result ok is false if a time is unknown.
func (a *ToolRequest) AfterSeal() (d time.Duration, ok bool) {
	if a.Call == nil || a.AskedAt < 0 || a.Call.SealedAt < 0 {
		return 0, false
	}
	return a.AskedAt - a.Call.SealedAt, true
}

// AfterTurn is like AfterSeal, but returns the time from the end of the turn to the request. The result ok is
// false if a time is unknown.
func (a *ToolRequest) AfterTurn() (d time.Duration, ok bool) {
	if a.Call == nil || a.AskedAt < 0 || a.Call.ClosedAt < 0 {
		return 0, false
	}
	return a.AskedAt - a.Call.ClosedAt, true
}

// maxUnmatched is the maximum number of calls that are kept for matching. It also limits the number of requests.
const maxUnmatched = 4096

// skew is the maximum difference between two clocks.
const skew = time.Millisecond

// Request returns the tool request for an MCP request, or nil if the MCP request does not run a tool.
func (m *Matcher) Request(r *mcp.Request) *ToolRequest { return m.byNumber[r.Number] }

// addCall adds a call that has just begun, or has just received its name or id.
func (m *Matcher) addCall(t *stream.Turn, c *stream.Call) {
	if c.RunByProvider || c.Discarded || c.Kind != "" && c.Kind != "function" && c.Kind != "custom" && c.Kind != "mcp" {
		return
	}
	for i := len(m.calls) - 1; i >= 0 && i >= len(m.calls)-64; i-- {
		if m.calls[i].Ref == c.Ref() {
			m.learn(m.calls[i])
			return
		}
	}
	of := &Call{Ref: c.Ref(), Exchange: t.Exchange, Run: m.source.RunOf(t.Exchange), opened: c.OpenedBy, ClosedAt: stream.NoTime, givenAt: stream.NoTime}
	if m.calls = append(m.calls, of); len(m.calls) > maxUnmatched {
		m.calls = append(m.calls[:0], m.calls[maxUnmatched/2:]...)
	}
	m.learn(of)
	m.tryAgain(of)
}

// learn updates the known facts about a call.
func (m *Matcher) learn(of *Call) {
	t, c := m.source.Find(of.Ref)
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
	of.unseen = t.HasGap() || c.Status() == stream.Unseen
	m.blind = m.blind || of.unseen
}

// call returns the known facts about a call, or nil.
func (m *Matcher) call(ref stream.Ref) *Call {
	for i := len(m.calls) - 1; i >= 0; i-- {
		if m.calls[i].Ref == ref {
			return m.calls[i]
		}
	}
	return nil
}

// closeTurn records that a turn has ended, and matches and judges the calls of the turn.
func (m *Matcher) closeTurn(t *stream.Turn) {
	m.blind = m.blind || t.HasGap()
	for _, of := range m.calls {
		if of.Ref.Turn != t.Number || of.closed {
			continue
		}
		m.learn(of)
		of.closed, of.settled, of.ClosedAt, of.Phase = true, true, t.ClosedAt, t.Phase()
		of.muted = t.EndedBy == stream.Client || t.EndedBy == stream.Toolscope
		m.tryAgain(of)
		m.judge(of)
	}
}

// addRequest adds a request to run a tool. It ignores a request that it has already added.
func (m *Matcher) addRequest(r *mcp.Request) {
	if !r.IsCall() {
		return
	}
	if m.byNumber[r.Number] != nil {
		return
	}
	a := &ToolRequest{Request: r}
	if m.byNumber == nil {
		m.byNumber = map[int]*ToolRequest{}
	}
	m.byNumber[r.Number] = a
	if m.asks = append(m.asks, a); len(m.asks) > maxUnmatched {
		m.asks = append(m.asks[:0], m.asks[maxUnmatched/2:]...)
	}
	m.matchRun(a)
}

// AddResult records that the model got the result of a call. The parameter event is the number of the event
// that reports the result.
func (m *Matcher) AddResult(ref stream.Ref, at time.Duration, event int, g SentResult) {
	of := m.call(ref)
	if of == nil || of.given {
		return
	}
	if !of.settled {
		m.learn(of)
	}
	of.given, of.givenAt = true, at
	if m.mayBeServed(of) && len(g.Text) <= mcp.MaxKept {
		g.Text = bytes.Clone(g.Text)
	} else if len(of.asks) == 0 {
		g.Text = nil
	}
	for _, a := range of.asks {
		m.compare(of, a, event, g)
	}
	of.result, of.resultEvent = &g, event
	m.resolve(of)
	if len(of.asks) == 0 {
		if m.unrun = append(m.unrun, of); len(m.unrun) > maxUnmatched {
			m.unrun = append(m.unrun[:0], m.unrun[maxUnmatched/2:]...)
		}
	} else if of.result = nil; of.Phase == stream.TurnComplete {
		of.Args = nil
	}
}

// NoteMessage records that a server in a run sent or received a message at the given time. All earlier requests in
// the run are known by then, so calls that got a result before that time are checked for a missing request.
func (m *Matcher) NoteMessage(run string, at time.Duration) {
	m.unrun = slices.DeleteFunc(m.unrun, func(of *Call) bool {
		known := of.Run == run && of.givenAt+skew < at
		if known {
			m.notAsked(of)
		}
		return known
	})
}

// SentResult is the result of a call in the form in which the model got it.
type SentResult struct {
	Text   []byte // the complete result, or its beginning
	Size   int
	Media  int
	Failed bool
	Flag   bool // the protocol can say that a tool failed
}

// Close ends the matching after the last event. It reports calls without a request and requests without a call.
func (m *Matcher) Close() {
	for _, of := range m.calls {
		m.resolve(of)
	}
	for _, of := range m.unrun {
		m.notAsked(of)
	}
	m.unrun = nil
	if m.blind {
		return
	}
	models := map[string]bool{} // runs that contain calls of models
	for _, of := range m.calls {
		models[of.Run] = true
	}
	for _, a := range m.asks {
		if models[a.Server.Run] && a.Call == nil && a.Request.CallID == "" && len(a.Candidates) == 0 && a.Server.Gaps == 0 && !a.Unasked {
			a.Unasked = true
			a.Server.AddFinding(a.AskedAt, unasked, "%s was run, but no recorded call asked for it", stream.Fact(a.Tool))
		}
	}
}

// Degrees of certainty that the name in a model's call means a tool of a server.
const (
	noName     = iota
	endsSo     // the name ends with the tool's name
	bareName   // the name is the tool's name
	someServer // the tool's name follows mcp_ and the client's own name for a server
	thisServer // the name contains the names of this server and of the tool
)

// nameMatch returns the certainty that the name in a model's call means a server's tool. Clients put the server's
// name before the tool's name, replace characters that providers don't accept, and shorten long names.
func nameMatch(name string, s *mcp.Server, tool string) int {
	full := plainName(name)
	if tool = plainName(tool); tool == "" {
		return noName
	}
	for _, server := range serverNames(s) {
		for _, made := range []string{"mcp_" + server + "_" + tool, server + "_" + tool} {
			if full == made || isShortened(name, made) {
				return thisServer
			}
		}
	}
	before, ends := strings.CutSuffix(full, tool)
	switch {
	case full == tool:
		return bareName
	case ends && strings.HasPrefix(before, "mcp_") && strings.HasSuffix(before, "_"):
		return someServer
	case ends && strings.HasSuffix(before, "_"):
		return endsSo
	}
	return noName
}

// serverNames returns the names that a client may use for a server: the name in the capture, the server's own
// name, and the parts of a name that is a URL.
func serverNames(s *mcp.Server) (all []string) {
	for _, name := range append([]string{s.Name, s.Title}, strings.Split(s.Name, "/")...) {
		if name = plainName(name); name != "" && name != "mcp" {
			all = append(all, name)
		}
	}
	return all
}

// plainName returns a name in which one "_" replaces each run of characters that are not letters or digits.
// Such characters at the beginning and at the end are dropped.
func plainName(name string) string {
	var b strings.Builder
	var gap bool
	for i := range len(name) {
		c := name[i]
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteByte(c)
			continue
		}
		gap = true
	}
	return b.String()
}

// minShortened is the minimum length of a shortened name. Providers accept names of up to 64 characters.
const minShortened = 56

// isShortened reports whether a name is a shortened form of a longer one. Either "..." replaces the middle, or a hash
// replaces the end.
func isShortened(name, plain string) bool {
	if len(name) < minShortened || len(plain) < len(name) {
		return false
	}
	if first, last, cut := strings.Cut(name, "..."); cut {
		return strings.HasPrefix(plain, plainName(first)) && strings.HasSuffix(plain, plainName(last))
	}
	short, same := plainName(name), 0
	for same < len(short) && short[same] == plain[same] {
		same++
	}
	hash := strings.TrimLeft(short[same:], "_")
	return same >= minShortened/2 && len(hash) <= 40 && strings.Trim(hash, "0123456789abcdef") == ""
}
