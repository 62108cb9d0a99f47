package providers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolscope/providers/acp"
	"toolscope/providers/coding"
	"toolscope/providers/mcp"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/providers/schema"
	"toolscope/providers/toolrun"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// mcpTraffic is the traffic with MCP servers. It belongs to no turn.
type mcpTraffic struct {
	in       *Inspector
	log      mcp.Log
	matcher  *toolrun.Matcher
	may      map[int][]stream.Record // first records of exchanges that may be with an MCP server
	chains   map[int]*coding.Chain   // codings of responses
	stops    map[int][]offsetAt
	compared []*schema.Set // tools in requests that were compared with the servers' tools
}

// toolTraffic returns the inspector's mcpTraffic. It creates one if there is none.
func (in *Inspector) toolTraffic() *mcpTraffic {
	if in.executed == nil {
		e := &mcpTraffic{in: in}
		e.matcher, in.executed = toolrun.NewMatcher(e, &e.log), e
	}
	return in.executed
}

// writeRecord reads a record if it belongs to an MCP server, or keeps it until this is known. The result
// taken is false if the caller must read the record, as traffic with a model.
func (m *mcpTraffic) writeRecord(r *stream.Record) (taken bool) {
	in := m.in
	if m.log.Has(r.Exchange) {
		m.feed(*r)
		return true
	}
	held, waits := m.may[r.Exchange]
	switch {
	case waits:
	case r.Head == nil || !r.Request || in.alone || in.byNumber[r.Exchange] != nil || in.forcedFor(r.Exchange) != nil:
		return false
	case m.isServer(r.Head), asksServer(r.Head) && speaksRPC(r.Data):
		m.open(*r)
		return true
	case asksServer(r.Head) && len(r.Data) == 0, opensStream(r.Head):
	default:
		return false
	}
	own := *r
	own.Data = bytes.Clone(r.Data)
	held = append(held, own)
	switch is, undecided := isWithServer(held); {
	case undecided:
		if m.may == nil {
			m.may = map[int][]stream.Record{}
		}
		m.may[r.Exchange] = held
		return true
	case is:
		m.open(held[0])
		for _, r := range held[1:] {
			m.feed(r)
		}
	default:
		for _, r := range held {
			in.writeModelRecord(&r)
		}
	}
	delete(m.may, r.Exchange)
	return true
}

// isWithServer reports whether an exchange is with an MCP server. It checks the beginning of the body that
// was sent, or of the event stream that was received.
func isWithServer(held []stream.Record) (is, undecided bool) {
	asked, last := held[0].Head, held[len(held)-1]
	if asked.Method == "POST" {
		return last.Request && speaksRPC(last.Data), len(held) == 1
	}
	var got []byte
	for _, r := range held {
		switch {
		case r.End || r.Lost > 0:
			undecided = false
		case r.Head != nil && !r.Request:
			kind := strings.Join(r.Head.Header["Content-Type"], "")
			undecided = r.Head.Status == 200 && strings.HasPrefix(kind, "text/event-stream")
		case r.Request:
			undecided = true
		}
		if !r.Request {
			got = append(got, r.Data...)
		}
	}
	text := strings.ReplaceAll(string(got[:min(len(got), 64)]), " ", "") // a space after the colon is optional
	return strings.HasPrefix(text, mcp.EventStreamStart), undecided && strings.HasPrefix(mcp.EventStreamStart, text)
}

// open starts reading an exchange as traffic with an MCP server.
func (m *mcpTraffic) open(r stream.Record) {
	first := len(m.log.Servers) == 0
	m.log.Begin(r.Exchange, r.Head)
	if first {
		// The calls of the latest turns may belong to this server, too.
		turns := m.in.Session().Turns
		for _, t := range turns[max(0, len(turns)-maxEarlierTurns):] {
			if t.Retention == stream.InMemory {
				m.matcher.AddTurn(t)
			}
		}
	}
	m.feed(r)
}

// feed passes a record to the log of MCP traffic, with its codings decoded.
func (m *mcpTraffic) feed(r stream.Record) {
	in := m.in
	in.log.addWithBytes(r)
	m.noteOffset(&r, in.nextEvent())
	if r.Note != "" && isNoteAlone(&r) && !mcp.IsProcessNote(r.Note) {
		in.noteSource(r.Note)
	}
	if r.Head != nil && !r.Request && len(r.Head.Header["Content-Encoding"]) > 0 {
		if chain, err := coding.New(r.Head.Header); err == nil && chain != nil {
			if m.chains == nil {
				m.chains = map[int]*coding.Chain{}
			}
			m.chains[r.Exchange] = chain
		}
	}
	if chain := m.chains[r.Exchange]; chain != nil && !r.Request {
		plain, err := chain.Write(r.Data)
		r.Data = bytes.Clone(plain)
		if err == nil && r.End {
			rest, _ := chain.Close()
			r.Data = append(r.Data, rest...)
		}
		if err != nil || r.End {
			delete(m.chains, r.Exchange)
		}
	}
	m.log.Write(&r, in.eventCount())
	if r.At >= 0 {
		m.matcher.NoteMessage(m.log.RunOf(r.Exchange), r.At)
	}
}

// isServer reports whether a request can only be for an MCP server, or is a shell command.
func (m *mcpTraffic) isServer(h *stream.Head) bool {
	if m.log.IsEndpoint(h) {
		return true
	}
	switch h.Method {
	case mcp.Stdio:
		return strings.HasPrefix(h.URL, "mcp:")
	case mcp.Shell:
		return strings.HasPrefix(h.URL, "shell:")
	}
	for _, name := range []string{"Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method"} {
		if len(h.Header[name]) > 0 {
			return true
		}
	}
	return false
}

// asksServer reports whether a request may be for an MCP server. Such a request without a session must accept
// two forms of the response.
func asksServer(h *stream.Head) bool {
	accepts := strings.Join(h.Header["Accept"], ",")
	return h.Method == "POST" && strings.Contains(accepts, "application/json") && strings.Contains(accepts, "text/event-stream")
}

// opensStream reports whether a request may open the event stream of an MCP server over HTTP+SSE.
func opensStream(h *stream.Head) bool {
	accepts := strings.Join(h.Header["Accept"], ",")
	return h.Method == "GET" && len(h.Header["Upgrade"]) == 0 && (accepts == "" || strings.Contains(accepts, "text/event-stream"))
}

// speaksRPC reports whether a body begins like a JSON-RPC message, or like a list of such messages.
func speaksRPC(body []byte) bool { return rpc().Match(body[:min(len(body), 64)]) }

var rpc = lazyregexp.New(`^\s*(\[\s*)?\{\s*"(jsonrpc|method|id|params|result|error)"`)

// Servers returns the MCP servers that were seen.
func (v *View) Servers() []*mcp.Server { return v.in.toolTraffic().log.Servers }

// Executed returns the log of the traffic with MCP servers.
func (in *Inspector) Executed() *mcp.Log { return &in.toolTraffic().log }

// Executed returns the requests to and from MCP servers as of the moment of the view, in the order in which
// they were sent.
func (v *View) Executed() []*mcp.Request {
	all := v.in.toolTraffic().log.Requests
	if v.past == nil {
		return all
	}
	var then []*mcp.Request
	for _, r := range all {
		if was := r.AsOf(int32(v.past.events)); was != nil {
			then = append(then, was)
		}
	}
	return then
}

// offsetAt is the offset in an exchange with a server, after a number of events.
type offsetAt struct {
	known int32
	ExchangeOffset
}

// noteOffset records the offset after a record.
func (m *mcpTraffic) noteOffset(r *stream.Record, known int32) {
	if m.stops == nil {
		m.stops = map[int][]offsetAt{}
	}
	all := m.stops[r.Exchange]
	next := offsetAt{known: known}
	if n := len(all) - 1; n >= 0 {
		if next.ExchangeOffset = all[n].ExchangeOffset; all[n].known == known {
			all = all[:n]
		}
	}
	if r.Request {
		next.RequestBytes += int64(len(r.Data))
	} else {
		next.ResponseBytes += int64(len(r.Data))
		next.Answered = next.Answered || r.Head != nil || len(r.Data) > 0 || r.Note != "" || r.End
	}
	next.Ended = next.Ended || r.End
	m.stops[r.Exchange] = append(all, next)
}

// matchEvent passes an event of the timeline to the matcher.
func (in *Inspector) matchEvent(e *stream.Event) {
	if in.executed == nil || len(in.executed.log.Servers) == 0 || e.Turn == stream.NoTurn {
		return
	}
	t := in.Session().Turn(e.Turn)
	if e.Kind == stream.CallOpen || e.Kind == stream.CallMeta {
		in.executed.checkServerSchemas(t)
	}
	in.executed.matcher.AddEvent(t, *e)
}

// maxEarlierTurns is the maximum number of turns that are matched although they came before the first server.
const maxEarlierTurns = 64

// checkServerSchemas compares the tools that a request declares with the tools that their servers published. It skips
// lists of tools that were compared recently.
func (m *mcpTraffic) checkServerSchemas(t *stream.Turn) {
	in := m.in
	x := in.Exchange(t.Exchange)
	if x == nil || x.Protocol == nil {
		return
	}
	set := x.check.declaredTools()
	if set == nil || slices.Contains(m.compared, set) {
		return
	}
	if m.compared = append(m.compared, set); len(m.compared) > maxRecentSets {
		m.compared = m.compared[1:]
	}
	tools, _ := set.Tools()
	for _, f := range m.matcher.AddDeclared(x.Head.Run, tools) {
		in.Timeline.Append(stream.Event{Kind: stream.Found, At: x.at, Frame: x.frame, Turn: t.Number, Slot: stream.NoSlot, What: &f})
	}
}

// matchResult passes the result of a call in a request to the matcher.
func (h *history) matchResult(o *replay.Observation, event int) {
	in := h.x.in
	if in.executed == nil || len(in.executed.log.Servers) == 0 || o.Result == 0 {
		return
	}
	given := toolrun.SentResult{Size: o.ToolResult().Bytes, Media: o.ToolResult().Media, Failed: o.Result == stream.ResultFailed}
	if p := o.ResultPart(); p != nil {
		given.Text, given.Size = p.Text, len(p.Text)
	}
	to := h.target
	given.Flag = to != nil && to.ErrorFlag
	if t, _ := in.Session().Find(o.Ref()); t != nil && in.executed.RunOf(t.Exchange) == h.x.Head.Run {
		in.executed.matcher.AddResult(o.Ref(), h.x.at, event, given)
	}
}

// Find implements toolrun.Source.
func (m *mcpTraffic) Find(r stream.Ref) (*stream.Turn, *stream.Call) { return m.in.Session().Find(r) }

// RunOf implements toolrun.Source. It returns "" if the run of the exchange is unknown.
func (m *mcpTraffic) RunOf(model int) string {
	if x := m.in.Exchange(model); x != nil {
		return x.Head.Run
	}
	return ""
}

// ClocksApart implements toolrun.Source. It returns true if the turn and the request are in different files,
// because the programs that recorded them may have different clocks.
func (m *mcpTraffic) ClocksApart(model, server int) bool {
	x := m.in.Exchange(model)
	return x == nil || x.Head.File != m.log.FileOf(server)
}

// EndedTwice implements toolrun.Source. The evidence is a finding about an end in the call's slot when the call was
// no longer open.
func (m *mcpTraffic) EndedTwice(r stream.Ref) bool {
	t, c := m.in.Session().Find(r)
	return c != nil && slices.ContainsFunc(t.Findings, func(f stream.Finding) bool {
		return f.Diagnosis == stream.ProtocolViolation && f.Message == fmt.Sprintf(protocol.StopOfNone, c.Slot)
	})
}

// AddToolRun implements toolrun.Source.
func (m *mcpTraffic) AddToolRun(n toolrun.Match) (event int) {
	t, _ := m.in.Session().Find(n.Call)
	if t == nil {
		return event
	}
	if n.Finding.Diagnosis != nil {
		n.Finding = unlessFaulted(t, n.Finding)
	}
	m.in.Timeline.Append(stream.Event{Kind: stream.Ran, At: n.At, Turn: n.Call.Turn, Slot: n.Call.Call, Frame: t.LastFrame, Text: n.Text, What: &n.ToolExecution})
	return m.in.Timeline.Len() - 1
}

// NotRun returns the calls with a result whose tools were never run.
func (in *Inspector) NotRun() []toolrun.CallWithoutRun { return in.toolTraffic().matcher.NotRun() }

// ToolRun returns the tool request for r, with its match. It returns nil if r doesn't run a tool.
func (in *Inspector) ToolRun(r *mcp.Request) *toolrun.ToolRequest {
	return in.toolTraffic().matcher.Request(r)
}

// ToolRun is a tool run of a call with its result, as known at the moment of a view.
type ToolRun struct {
	stream.ToolRun
	How          string // description of the match between the tool run and the call
	Server, Tool string
	Args         []byte // the arguments, or their beginning
	ArgsSize     int
	Altered      bool
	IsPrefix     bool   // Args is only the beginning of the model's arguments, as a JSON string
	PrefixBytes  int    // if IsPrefix is set: length of that beginning, in bytes
	Path         string // path of the first value that differs
	At           time.Duration
	Took         time.Duration // negative if there is no response
	State        string        // state of the request, in words
	Failed       bool
	HasText      bool   // the text of the response is known; the output of shell commands is not recorded
	Text         string // text of the response, or its beginning
	Size         int    // size of all text in the response
	Shape        int    // size of the structured content in the response
	ResultSent   bool   // the model got a result
	SentSize     int
	Verdict      string // comparison of the model's result with the response
}

// ToolRuns returns the tool runs of a call, in order.
func (v *View) ToolRuns(c *stream.Call) (all []ToolRun) {
	log := &v.in.toolTraffic().log
	for _, g := range c.Runs {
		if g.Request >= len(log.Requests) {
			continue
		}
		r := log.Requests[g.Request]
		a := v.in.ToolRun(r)
		if v.past != nil {
			r = r.AsOf(int32(v.past.events))
		}
		if a == nil || r == nil {
			continue
		}
		got := v.newToolRun(r)
		got.ToolRun, got.How, got.Altered, got.IsPrefix, got.PrefixBytes, got.Path = g, a.Explain(), a.Args == "altered", a.IsPrefix, a.PrefixBytes, a.Path
		if a.ModelHasResult && a.ResultEvent < v.ArrivedEvents() {
			got.ResultSent, got.SentSize, got.Verdict = true, a.ResultBytes, string(a.Result)
		}
		all = append(all, got)
	}
	return all
}

// UnmatchedToolRuns returns the tool runs that are not matched to a call, in order.
func (v *View) UnmatchedToolRuns() (all []ToolRun) {
	matched := map[int]bool{}
	for _, t := range v.Session().Turns {
		for _, c := range t.Calls {
			for _, g := range c.Runs {
				matched[g.Request] = true
			}
		}
	}
	for n, r := range v.in.toolTraffic().log.Requests {
		if v.past != nil {
			r = r.AsOf(int32(v.past.events))
		}
		if r != nil && r.IsCall() && !matched[n] {
			all = append(all, v.newToolRun(r))
		}
	}
	return all
}

// newToolRun returns a tool run without the facts about its match.
func (v *View) newToolRun(r *mcp.Request) ToolRun {
	got := ToolRun{
		Server: r.Server.Name, Tool: r.Tool, Args: r.Args, ArgsSize: r.ArgsSize,
		At: r.AskedAt, Took: r.Duration(), State: r.State.String(), Failed: r.Failed, Text: r.Text, Size: r.TextSize, Shape: r.StructuredSize,
	}
	if v.past != nil && r.State == mcp.Open {
		got.State = "no answer yet"
	}
	if r.Error != "" {
		got.Text, got.Size = r.Error, len(r.Error)
	}
	got.HasText = r.Error != "" || r.HasResult() && !r.Shell()
	return got
}

// SinceMoment returns the time from a moment of the call to the tool run, in words. It returns "" if the time
// is unknown.
func (g *ToolRun) SinceMoment(at time.Duration, of string) string {
	if at < 0 || g.At < 0 {
		return ""
	}
	word := "after"
	if g.At < at {
		word = "before"
	}
	return fmt.Sprintf("%s %s %s", toolrun.DurationText((g.At - at).Abs()), word, of)
}

// editorSide frames the messages of the editor in a recorded connection between an editor and an agent. The
// decoder reads the messages of both sides, in the order in which they were recorded.
type editorSide struct {
	lines stream.Lines
	torn  bool // bytes of the current line are missing
}

// isAgentConnection reports whether an exchange is a recorded connection between an editor and an agent.
func isAgentConnection(h *stream.Head) bool {
	return h.Method == mcp.Stdio && strings.HasPrefix(h.URL, acp.Scheme)
}

// readEditorBytes reads bytes of the editor.
func (x *Exchange) readEditorBytes(r *stream.Record) {
	e, p := &x.editor, r.Data
	if r.Lost > 0 {
		*e = editorSide{torn: true}
	}
	if e.torn {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			return
		}
		e.torn, p = false, p[i+1:]
	}
	x.at = r.At
	e.lines.Write(p, func(f stream.Frame) { x.decodeFrame(&f, x.frame) })
}

// isAboutProcess reports whether a record is only a note about the process of an agent: its command line, its
// standard error or a signal.
func (in *Inspector) isAboutProcess(r *stream.Record) bool {
	x := in.byNumber[r.Exchange]
	return x != nil && isAgentConnection(x.Head) && mcp.IsProcessNote(r.Note)
}

var shownCall = &stream.Diagnosis{
	Code: "ACP_MODEL_CALL", Severity: stream.Info, By: stream.Client,
	Meaning: "The agent showed a call of the model to its editor: both calls have the same id. Agents may add fields to the arguments that they show.",
	Advice:  "Nothing. If the arguments differ, compare the two calls.",
}

// matchShownCall matches a shown call of an agent to the model's call with the same id. When the shown arguments are
// final, it compares them with the model's arguments.
func (x *Exchange) matchShownCall(e *stream.Event) {
	if e.Kind != stream.CallOpen && e.Kind != stream.Seal || x.Protocol.Name != acp.Name {
		return
	}
	s := x.in.Session()
	t := s.Turn(e.Turn)
	if t == nil || len(t.Calls) == 0 {
		return
	}
	if e.Kind == stream.CallOpen {
		if of, _ := s.Find(s.EarlierCall()); of != nil && !of.Shown {
			if x.modelCalls == nil {
				x.modelCalls = map[stream.Ref]stream.Ref{}
			}
			x.modelCalls[t.Calls[len(t.Calls)-1].Ref()] = s.EarlierCall()
		}
		return
	}
	for _, c := range t.Calls {
		ref, matched := x.modelCalls[c.Ref()]
		if _, written := s.Find(ref); matched && c.Slot == e.Slot && written != nil {
			delete(x.modelCalls, c.Ref())
			f := shownCall.Finding("the model made the call in turn %d; %s", ref.Turn+1, compareShown(written, c))
			x.emit(stream.Event{Kind: stream.Found, Turn: int32(x.turns.indexOf(e.Turn)), Slot: e.Slot, What: &f})
		}
	}
}

// compareShown compares the arguments of a call with the arguments that an agent shows for it.
func compareShown(written, shown *stream.Call) stream.Message {
	added, isPart := acp.AddedFields(written.Args(), shown.Args())
	switch {
	case shown.ArgsLen() == 0:
		return stream.Messagef("the agent shows no arguments")
	case written.ArgsLen() != len(written.Args()):
		return stream.Messagef("toolscope no longer has the model's arguments")
	case json.Same(written.Args(), shown.Args()):
		return stream.Messagef("the arguments are the same")
	case isPart:
		return stream.Messagef("the agent adds %s", stream.Fact(strings.Join(added, ", ")))
	}
	return stream.Messagef("the arguments differ")
}
