// Package mcp reads the messages between agents and servers of the Model Context Protocol. The messages are
// JSON-RPC: one message per line over standard streams, or one per request over HTTP, with the response in a
// body or an event stream. The package supports the versions 2025-06-18, 2025-11-25 and 2026-07-28; see
// https://modelcontextprotocol.io/specification.
//
//	records ─▶ dialogue, one per exchange ─▶ messages ─▶ Log: requests, each with its response
//
// Terms: a server offers tools. Its client sends it requests, and may receive requests from it. A request is
// a message that needs a response. A notification is a message that needs none.
//
// Invariants:
//   - An exchange in this package is not a turn of a model, and contains no output of a model.
//   - A message is read or reported as unreadable, unless it is incomplete, too long, or in a response with an error status.
//   - A response is matched to its request by id and direction, never by its position.
package mcp

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/providers/schema"
	"toolscope/stream"
	"toolscope/stream/json"
)

// A Log contains the servers and all requests to and from them, each with its response, in order of arrival. The zero
// value is ready to use.
type Log struct {
	Servers  []*Server
	Requests []*Request     // in the order in which they were sent
	News     func(*Request) // called with each new request; may be nil

	talks map[int]*dialogue
	open  []*Request // requests that wait for their response
	bytes int        // size of the kept texts
	bare  int        // requests before this index no longer have texts

	endpoints         map[string]*endpoint // endpoints of event streams, by run and URL
	early, earlyBytes int                  // number of early responses so far, and their size
}

// Limits on the size of kept texts and on the number of waiting requests.
const (
	maxTextBytes = 64 << 20
	maxWaiting   = 4096
)

// add adds a request to the log and to the waiting requests, and passes it to News.
func (l *Log) add(r *Request) {
	l.Requests = append(l.Requests, r)
	l.addWaiting(r)
	if l.News != nil {
		l.News(r)
	}
}

// FileOf returns the file that contains the exchange with the given number, or "" if the file is unknown.
func (l *Log) FileOf(number int) string {
	if t := l.talks[number]; t != nil {
		return t.file
	}
	return ""
}

// RunOf returns the run of the exchange with the given number, or "" if the exchange doesn't belong to the log.
func (l *Log) RunOf(number int) string {
	if t := l.talks[number]; t != nil {
		return t.server.Run
	}
	return ""
}

// addWaiting adds a request to the waiting requests. If too many requests wait, it removes the oldest one, so
// toolscope will not recognise the response to that request.
func (l *Log) addWaiting(r *Request) {
	if l.open = append(l.open, r); len(l.open) > maxWaiting {
		oldest := l.open[0]
		l.open = append(l.open[:0], l.open[1:]...)
		oldest.State, oldest.Server.forgot = Unseen, true
		oldest.Server.noteLimit(r.AskedAt, "more than %d requests wait for a response: toolscope doesn't look for responses to older requests", maxWaiting)
	}
}

// countText adds a size to the total size of the kept texts. If the total exceeds maxTextBytes, countText drops the
// texts of the oldest requests.
func (l *Log) countText(bytes int) {
	for l.bytes += bytes; l.bytes > maxTextBytes && l.bare < len(l.Requests)-1; l.bare++ {
		r := l.Requests[l.bare]
		l.bytes -= len(r.Args) + len(r.Text) + len(r.Structured)
		r.Args, r.Text, r.Structured = nil, "", nil
	}
}

// A Server is one MCP server: one process, or one URL.
type Server struct {
	Name        string       // name in the capture, or URL without the query
	Run         string       // run of the captures that contain the server; see stream.Head
	Shell       bool         // not a server, but the commands of a shell
	Title       string       // the server's own name, or "" if the client didn't ask for it
	Version     string       // protocol version that both sides agreed on, or that the messages contain
	Calls       int          // number of tool calls
	Messages    int          // number of messages read from both sides
	Gaps        int64        // number of missed bytes
	Notes       []ServerNote // findings, and lines of standard error
	Ended       string       // reason for an abnormal end
	Changes     int          // number of times that the server announced changed tools
	Tools       []Tool       // the latest list of its tools
	FormerTools []Tool       // tools in earlier lists that are not in the latest list

	FirstSeenAt time.Duration // time of its first record
	EndedAt     time.Duration // time when the process ended; stream.NoTime if no end was seen

	forgot  bool   // a request was not read, or was removed from the waiting requests
	listed  []Tool // tools in the pages of the latest list so far
	listing bool   // more pages of that list may follow
}

// A ServerNote is a finding about a server, or a line of its standard error.
type ServerNote struct {
	At      time.Duration
	Finding *stream.Finding // nil for a line of standard error
	Text    string
}

// maxNotes is the maximum number of notes per server. The oldest notes are dropped.
const maxNotes = 200

// A dialogue reads the messages of one exchange.
type dialogue struct {
	log     *Log
	number  int
	server  *Server
	stdio   bool
	ask     framer // frames the client's side
	answer  framer // frames the server's side
	decided bool   // the framer of the server's side is known
	file    string // the file that contains the exchange
	scope   string // requests with the same scope share a set of ids
	url     string // URL of an exchange over HTTP
	version string // protocol version in the header of a request over HTTP; "" if there is none
	status  int    // status of the response over HTTP
	at      [2]time.Duration
	known   int32
	unread  int      // number of bytes of a request over HTTP that have not arrived; negative if it is unknown
	command *Request // the command of a shell; nil for a server

	endpoint *endpoint // endpoint of a session over HTTP+SSE; nil for other transports

	commandText []byte // text of command
	commandCut  bool   // bytes of the text are missing
}

// A framer cuts one side of an exchange into messages.
type framer interface {
	Write(p []byte, emit func(stream.Frame))
	Close(emit func(stream.Frame))
}

// Has reports whether the exchange with the given number belongs to the log.
func (l *Log) Has(number int) bool { return l.talks[number] != nil }

// Begin starts reading an exchange. The parameter h is the head of its request.
func (l *Log) Begin(number int, h *stream.Head) {
	if l.talks == nil {
		l.talks, l.endpoints = map[int]*dialogue{}, map[string]*endpoint{}
	}
	t := &dialogue{log: l, number: number, file: h.File, stdio: h.Method == Stdio, url: h.URL}
	name := strings.TrimPrefix(h.URL, "mcp:")
	if h.Method == Shell {
		t.beginShell(h)
		l.talks[number] = t
		return
	}
	if t.stdio {
		t.ask, t.answer, t.decided = new(lineFramer), new(lineFramer), true
		t.server = &Server{Name: name, Run: h.Run, FirstSeenAt: stream.NoTime, EndedAt: stream.NoTime}
		l.Servers = append(l.Servers, t.server)
	} else {
		name, _, _ = strings.Cut(name, "?")
		if t.ask = new(bodyFramer); h.Method == "GET" {
			t.ask = new(noMessages)
		}
		var err error
		if t.unread, err = strconv.Atoi(firstValue(h.Header["Content-Length"])); err != nil {
			t.unread = -1
		}
		t.scope = h.Run + " " + name + " " + firstValue(h.Header["Mcp-Session-Id"])
		if key := l.findEndpoint(h); key != "" {
			t.endpoint, t.scope = l.endpoints[key], key
			t.server = t.endpoint.server
		} else {
			t.server = l.serverOf(name, h.Run)
		}
		if v := firstValue(h.Header["Mcp-Protocol-Version"]); v != "" {
			t.server.Version, t.version = v, v
		}
	}
	l.talks[number] = t
}

// Stdio is the method of an exchange over standard streams.
const Stdio = "STDIO"

func firstValue(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// serverOf returns the server at a URL in a run. It adds the server if it is new.
func (l *Log) serverOf(name, run string) *Server {
	for _, s := range l.Servers {
		if s.Name == name && s.Run == run {
			return s
		}
	}
	s := &Server{Name: name, Run: run, FirstSeenAt: stream.NoTime, EndedAt: stream.NoTime}
	l.Servers = append(l.Servers, s)
	return s
}

// Write reads a record of an exchange that has begun. The parameter known is the number of model events so
// far.
func (l *Log) Write(r *stream.Record, known int32) {
	t := l.talks[r.Exchange]
	t.known = known
	if t.command != nil {
		t.readCommand(r)
		return
	}
	side := 0
	if r.Request {
		side = 1
	}
	t.at[side] = r.At
	if t.server.FirstSeenAt == stream.NoTime {
		t.server.FirstSeenAt = r.At
	}
	if r.Head != nil && !r.Request {
		t.readHead(r.Head)
	}
	t.readNote(r)
	if r.Lost > 0 {
		t.server.Gaps += r.Lost
		t.server.forgetOutputs()
		t.addGap(r.Request)
	}
	switch {
	case r.Request:
		t.ask.Write(r.Data, t.readClientFrame)
		if t.unread -= len(r.Data); t.unread == 0 {
			t.endRequest() // the tool may run for a long time before the response begins
		}
	default:
		if !t.stdio && len(r.Data)+len(r.Why) > 0 || r.End {
			t.endRequest()
		}
		if t.answer == nil {
			t.answer = new(bodyFramer)
		}
		t.answer.Write(r.Data, t.readServerFrame)
	}
	if r.End {
		t.end(r)
	}
}

// readHead reads the head of a response over HTTP. It chooses the framer according to the content type and the
// status.
func (t *dialogue) readHead(h *stream.Head) {
	t.endRequest()
	kind, _, _ := strings.Cut(firstValue(h.Header["Content-Type"]), ";")
	t.answer, t.decided = new(bodyFramer), true
	if strings.TrimSpace(kind) == "text/event-stream" {
		t.answer = new(stream.SSESplitter)
	}
	if t.status = h.Status; h.Status >= 400 {
		t.answer = new(noMessages)
	}
}

// endRequest closes the framer of the client's side. Over standard streams, it does nothing.
func (t *dialogue) endRequest() {
	if !t.stdio {
		t.ask.Close(t.readClientFrame)
	}
}

// addGap records missing bytes on one side. A message that began before the gap can't be read.
func (t *dialogue) addGap(request bool) {
	if f, is := t.ask.(*lineFramer); is && request {
		f.addGap()
	}
	if f, is := t.answer.(*lineFramer); is && !request {
		f.addGap()
	}
}

// end records that the exchange has ended.
func (t *dialogue) end(r *stream.Record) {
	if t.answer != nil {
		t.answer.Close(t.readServerFrame)
	}
	t.ask.Close(t.readClientFrame)
	if _, isStream := t.answer.(*stream.SSESplitter); isStream && t.endpoint != nil {
		// The event stream has ended without the responses to these requests.
		for _, c := range t.endpoint.cancelled {
			if c.request.State == Open {
				t.applyCancellation(c)
			}
		}
		t.endpoint.cancelled = nil
	}
	if t.stdio {
		t.server.Ended, t.server.EndedAt = r.Why, r.At
	}
}

// readClientFrame reads a message from the client; readServerFrame reads a message from the server.
func (t *dialogue) readClientFrame(f stream.Frame) { t.readFrame(f, false) }
func (t *dialogue) readServerFrame(f stream.Frame) { t.readFrame(f, true) }

func (t *dialogue) readFrame(f stream.Frame, fromServer bool) {
	at, side := t.at[1], stream.Own("client")
	if fromServer {
		at, side = t.at[0], "server"
	}
	if f.Kind == stream.FrameResidue && f.Why == oversizedMessage {
		t.server.noteLimit(at, "a message from the %s is longer than %d bytes: toolscope didn't read it", side, maxMessageBytes)
		t.server.forgetOutputs()
		t.loseResponses(!fromServer, !t.stdio)
		t.server.forgot = t.server.forgot || !fromServer
	}
	if f.Kind != stream.FrameData || len(bytes.TrimSpace(f.Data)) == 0 {
		return
	}
	if fromServer && string(f.Event) == "endpoint" {
		t.setEndpoint(string(f.Data))
		return
	}
	data := json.Value(f.Data) // one message, or a list of messages as in version 2025-03-26
	if data.Kind() == '[' {
		s := data.Scan()
		for ok := s.Array(); ok; ok = s.Element() {
			if one := s.Value(); one != nil {
				t.readMessage(one, fromServer, at, f.Truncated)
			}
		}
		if err := s.End(); err != nil {
			t.noteInvalid(data, fromServer, at, f.Truncated, err.Error())
		}
		return
	}
	t.readMessage(data, fromServer, at, f.Truncated)
}

// Close ends the log, because no more records arrive.
func (l *Log) Close() {
	for _, t := range l.talks {
		if t.answer != nil {
			t.answer.Close(func(stream.Frame) {})
		}
	}
}

// A Tool is a tool of a server, as the server published it.
type Tool struct {
	Name   string
	Schema json.Value // schema of the arguments; nil if there is none, or if it is longer than MaxKept
	Output json.Value // schema of the structured content; nil if there is none, or if it is too long or may be outdated

	scope  string              // scope of the request for the list
	output *schema.ValueSchema // Output, compiled; nil until it is needed
}

// maxTools is the maximum number of tools that are kept per server. It also limits the server's former tools.
const maxTools = 4096

// updateTools reads a list of tools, or one page of a list. Tools that are missing from the list or changed in it
// become former tools. A tool that is not in the pages so far may be in a later page, or in a page that was not
// captured.
func (s *Server) updateTools(result json.Value, r *Request) {
	complete := !r.continues || s.listing // no earlier page is missing
	if !r.continues || !complete {
		s.listed = nil
	}
	for one := range result.Get("tools").Elements() {
		t := Tool{Name: one.Get("name").Text(), scope: r.scope}
		if input := one.Get("inputSchema"); input.Kind() == '{' && len(input) <= MaxKept {
			t.Schema = bytes.Clone(input)
		}
		if output := one.Get("outputSchema"); output.Kind() == '{' && len(output) <= MaxKept && r.changes == s.Changes {
			t.Output = bytes.Clone(output)
		}
		switch {
		case t.Name == "":
		case len(s.listed) < maxTools:
			s.listed = append(s.listed, t)
		default:
			s.noteLimit(r.Answered, "the server has more than %d tools: toolscope doesn't keep the others", maxTools)
		}
	}
	more := result.Get("nextCursor").HasText()
	s.listing = complete && more
	tools := slices.Clone(s.listed)
	for _, t := range s.Tools {
		named := func(other Tool) bool { return other.Name == t.Name }
		same := func(other Tool) bool { return named(other) && bytes.Equal(other.Schema, t.Schema) }
		switch {
		case slices.ContainsFunc(s.listed, same):
		case (more || !complete) && !slices.ContainsFunc(s.listed, named):
			t.Output = nil // a later page may change it
			tools = append(tools, t)
		case len(s.FormerTools) < maxTools:
			s.FormerTools = append(s.FormerTools, t)
		}
	}
	s.Tools = tools
}

// Tool returns the server's tool with the given name, or nil if the server doesn't offer it.
func (s *Server) Tool(name string) *Tool {
	if i := slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == name }); i >= 0 {
		return &s.Tools[i]
	}
	return nil
}

// stderrNote is the beginning of a capture's note about the standard error output of a process.
const stderrNote = "stderr: "

// IsProcessNote reports whether a note in a capture begins like a note about a server's process. Any other note is
// about the source.
func IsProcessNote(note string) bool {
	return slices.ContainsFunc([]string{stderrNote, "argv: ", "signal: ", "input ended", "nobody reads"}, func(prefix string) bool {
		return strings.HasPrefix(note, prefix)
	})
}

// readNote reads the note in a record. If the record has a gap, the requests whose responses may be in the gap become
// Unseen.
func (t *dialogue) readNote(r *stream.Record) {
	if text, is := strings.CutPrefix(r.Note, stderrNote); is {
		for line := range strings.Lines(text) {
			t.server.addNote(ServerNote{At: r.At, Text: strings.TrimRight(line, "\r\n")})
		}
	}
	if r.Lost > 0 {
		t.loseResponses(r.Request, false)
	}
}

// loseResponses records that missed bytes may contain the responses to the open requests of one side. If the
// parameter here is set, only the requests in this exchange are affected.
func (t *dialogue) loseResponses(fromServer, here bool) {
	for _, open := range t.log.open {
		if open.Server == t.server && open.FromServer == fromServer && (!here || open.Exchange == t.number) {
			open.State = Unseen
		}
	}
}

// Unanswered returns the latest requests that wait for their responses.
func (l *Log) Unanswered() []*Request { return l.open }

// AddFinding adds a finding that another package made about the server.
func (s *Server) AddFinding(at time.Duration, d *stream.Diagnosis, format string, args ...any) {
	s.noteFinding(at, d, format, args...)
}

// noteFinding adds a finding. A finding that is repeated is added each time, up to maxNotes.
func (s *Server) noteFinding(at time.Duration, d *stream.Diagnosis, format string, args ...any) {
	f := d.Finding(format, args...)
	s.addNote(ServerNote{At: at, Finding: &f, Text: f.Message})
}

// noteLimit reports that toolscope didn't read or keep something because of a limit.
func (s *Server) noteLimit(at time.Duration, format string, args ...any) {
	s.noteOnce(at, limitExceeded, format, args...)
}

// noteOnce adds a finding, unless the server already has a finding with the same message.
func (s *Server) noteOnce(at time.Duration, d *stream.Diagnosis, format string, args ...any) {
	f := d.Finding(format, args...)
	if !slices.ContainsFunc(s.Notes, func(n ServerNote) bool { return n.Finding != nil && n.Text == f.Message }) {
		s.addNote(ServerNote{At: at, Finding: &f, Text: f.Message})
	}
}

func (s *Server) addNote(n ServerNote) {
	if s.Notes = append(s.Notes, n); len(s.Notes) > maxNotes {
		s.Notes = append(s.Notes[:0], s.Notes[1:]...)
	}
}

// Findings returns the findings among the server's notes, oldest first.
func (s *Server) Findings() (list []stream.Finding) {
	for _, n := range s.Notes {
		if n.Finding != nil {
			list = append(list, *n.Finding)
		}
	}
	return list
}

// Findings lists all diagnoses that this package makes.
var Findings = []*stream.Diagnosis{strayOutput, strayBody, strayAsk, strayAnswer, serverError, badResult, limitExceeded}

var (
	strayOutput = &stream.Diagnosis{
		Code: "MCP_STDOUT", Severity: stream.Error, By: stream.Server,
		Verdict: "bad MCP out",
		Meaning: "An MCP server wrote a line to standard output that is not a message. Only messages are allowed there, so some clients end the connection.",
		Advice:  "Make the server write its log to standard error.",
	}
	strayBody = &stream.Diagnosis{
		Code: "MCP_BODY", Severity: stream.Error, By: stream.Server,
		Verdict: "bad MCP body",
		Meaning: "An MCP server answered with data that is not an MCP message.",
		Advice:  "Find out what answers in the server's place, such as a gateway or a login page.",
	}
	strayAsk = &stream.Diagnosis{
		Code: "MCP_STDIN", Severity: stream.Error, By: stream.Client,
		Verdict: "bad MCP stdin",
		Meaning: "A client sent data that is not an MCP message to an MCP server.",
		Advice:  "Report the problem to the developers of the client. A server may exit when it receives such data.",
	}
	strayAnswer = &stream.Diagnosis{
		Code: "MCP_ANSWER", Severity: stream.Info, By: stream.Server,
		Meaning: "An MCP server answered a request that is not open: the request was already answered, was cancelled, or began before the capture.",
		Advice:  "Nothing, if the request was cancelled just before. Otherwise, look for two requests with the same id.",
	}
	serverError = &stream.Diagnosis{
		Code: "MCP_ERROR", Severity: stream.Warn, By: stream.Server,
		Verdict: "MCP error",
		Meaning: "An MCP server couldn't read a message from the client, so it reported an error without naming a request.",
		Advice:  "Check the message that the client sent just before the error.",
	}
	limitExceeded = &stream.Diagnosis{
		Code: "MCP_LIMIT", Severity: stream.Info, By: stream.Toolscope,
		Meaning: "toolscope didn't read or keep a part of the MCP traffic, because the part exceeds a limit. The traffic itself is unchanged.",
		Advice:  "Read the missing part in the log of the client or the server.",
	}
)

// A Request is a message that needs a response, together with its outcome.
type Request struct {
	Number     int // number in the log, from 0
	Server     *Server
	Exchange   int    // exchange that contains the request
	ID         string // id in the protocol, as JSON text
	Method     string
	FromServer bool   // the server sent it
	Tool       string // for tools/call, the name of the tool; for other methods, the name or URI in the request
	Args       json.Value
	ArgsSize   int    // size in bytes; if the arguments are longer than MaxKept, only their beginning is kept
	CallID     string // id of the model's call; "" if the client doesn't send it
	AskedAt    time.Duration
	Rounds     int // number of times that the client sent the request again with the input that the server asked for

	State          State
	Answered       time.Duration // time when the response arrived, or when the request was cancelled
	Failed         bool          // the tool reported a failure
	Exit           string        // reason why a shell command ended abnormally
	Error          string        // protocol error that arrived instead of a result
	Code           int64         // code of the error in Error
	Text           string        // the beginning of the result's text
	TextSize       int           // size of all text parts
	Media          int           // number of parts that are not text
	Structured     json.Value    // the structured content, or nil; only its beginning if it is longer than MaxKept
	StructuredSize int
	Size           int // size of the result as JSON
	Progress       int // number of progress notifications

	KnownAsked, KnownAnswered int32 // number of model events when the request and the response arrived
	token                     string
	scope                     string
	version                   string     // protocol version in which the request was sent; "" if it is unknown
	changes                   int        // value of Server.Changes when the request was sent
	output                    json.Value // for tools/call without a response, Tool.Output when the request was sent
	waits                     bool       // the server needs more input before it sends the result
	continues                 bool       // the request asks for a later page of a list
}

// MaxKept is the maximum number of bytes that are kept of each text.
const MaxKept = 64 << 10

// State is the state of a request.
type State uint8

// The values of State.
const (
	Open      State = iota // no response yet
	Done                   // has a response
	Refused                // the response is a protocol error
	Cancelled              // the sender cancelled it before the response
	Unseen                 // missing bytes may contain the response
)

func (s State) String() string {
	return [...]string{"no answer", "done", "refused", "cancelled", "unknown"}[s]
}

// Duration returns the time until the response or the cancellation. It returns -1 if there is neither, or if a time
// is unknown.
func (r *Request) Duration() time.Duration {
	if r.State == Open || r.State == Unseen || r.AskedAt < 0 || r.Answered < 0 {
		return -1
	}
	return r.Answered - r.AskedAt
}

// HasResult reports whether a result has arrived. A request for more input doesn't count as a result.
func (r *Request) HasResult() bool { return r.State == Done && !r.waits }

// IsCall reports whether the client called a tool of the server, or ran a command in a shell.
func (r *Request) IsCall() bool { return r.Method == "tools/call" && !r.FromServer || r.Shell() }

// AsOf returns the request as it was after the given number of model events. It returns nil if the request
// didn't exist then.
func (r *Request) AsOf(known int32) *Request {
	switch {
	case r.KnownAsked > known:
		return nil
	case r.State == Open, r.KnownAnswered <= known:
		return r
	}
	then := *r
	then.Exit = ""
	then.State, then.Failed, then.Error, then.Code, then.Text, then.TextSize, then.Media = Open, false, "", 0, "", 0, 0
	then.Structured, then.StructuredSize, then.Size, then.Progress = nil, 0, 0, 0
	return &then
}

func clipRaw(v json.Value) json.Value {
	if len(v) == 0 {
		return nil
	}
	return append(json.Value(nil), v[:min(len(v), MaxKept)]...)
}
