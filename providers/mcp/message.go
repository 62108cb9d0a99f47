package mcp

import (
	"bytes"
	"cmp"
	"net/url"
	"regexp"
	"strings"
	"time"

	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/tag"
)

// A message is a JSON-RPC message, with the fields that could be read.
type message struct {
	version, id, method, params, result, fault json.Value
}

func (t *dialogue) readMessage(data json.Value, fromServer bool, at time.Duration, cut bool) {
	var m message
	err := json.Read(data,
		json.Field("jsonrpc", &m.version), json.Field("id", &m.id), json.Field("method", &m.method),
		json.Field("params", &m.params), json.Field("result", &m.result), json.Field("error", &m.fault))
	switch {
	case err != nil:
		t.noteInvalid(data, fromServer, at, cut, err.Error())
		return
	case !m.version.Is("2.0"):
		t.noteInvalid(data, fromServer, at, cut, stream.Own("not a JSON-RPC 2.0 message"))
		return
	}
	t.server.Messages++
	switch method := m.method.Text(); {
	case m.method.IsPresent() && m.id.IsPresent():
		t.addRequest(&m, method, fromServer, at)
	case m.method.IsPresent():
		t.readNotification(&m, method, fromServer, at)
	case m.id.IsPresent() && (m.result != nil || m.fault.IsPresent()):
		t.readResponse(&m, fromServer, at)
	case m.fault.IsPresent(): // response to a message that the other side could not read
		t.server.noteFinding(at, serverError, "an error that belongs to no request arrived: %s", oneLine(m.fault.Get("message").Text()))
	}
}

// noteInvalid reports data that is not a message. If the parameter why is toolscope's own text, its type is
// stream.Own.
func (t *dialogue) noteInvalid(data []byte, fromServer bool, at time.Duration, cut bool, why any) {
	switch {
	case cut: // the end of the exchange shows which party cut off the message
	case t.stdio && fromServer:
		t.server.noteFinding(at, strayOutput, "a line on standard output is not a message (%s): %s", why, oneLine(string(data[:min(len(data), 200)])))
	case fromServer && t.status == 202:
		t.noteAccepted(at)
	case fromServer:
		t.server.noteFinding(at, strayBody, "a response is not a message (%s)", why)
	default:
		t.server.noteFinding(at, strayAsk, "the client sent data that is not an MCP message (%s): %s", why, oneLine(string(data[:min(len(data), 200)])))
	}
}

// oneLine replaces each run of white space in a text with one space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func (t *dialogue) addRequest(m *message, method string, fromServer bool, at time.Duration) {
	r := &Request{
		Number: len(t.log.Requests), Server: t.server, Exchange: t.number, ID: string(m.id), Method: method, FromServer: fromServer,
		AskedAt: at, Answered: stream.NoTime, KnownAsked: t.known,
	}
	if !t.stdio { // ids are unique in a session over HTTP, or in a process
		r.scope = t.scope
	}
	meta := m.params.Get("_meta")
	r.token, r.continues = string(meta.Get("progressToken")), m.params.Get("cursor").IsPresent()
	r.Tool = m.params.Get("name").Text()
	if r.Tool == "" {
		r.Tool = m.params.Get("uri").Text()
	}
	if v := meta.Get("io.modelcontextprotocol/protocolVersion"); v.IsString() {
		t.server.Version = v.Text()
	}
	if args := m.params.Get("arguments"); args != nil {
		r.Args, r.ArgsSize = clipRaw(args), len(args)
	}
	for _, name := range []string{"claudecode/toolUseId", "callId"} {
		if id := meta.Get(name); id.IsString() && r.CallID == "" {
			r.CallID = id.Text()
		}
	}
	if m.params.Get("inputResponses").IsPresent() || m.params.Get("requestState").IsPresent() {
		if first := t.roundOf(r); first != nil {
			first.ID, first.Exchange, first.State, first.waits = r.ID, r.Exchange, Open, false
			first.Rounds++
			t.log.addWaiting(first)
			return
		}
	}
	r.version, r.changes = cmp.Or(t.version, t.server.Version), t.server.Changes
	if r.IsCall() {
		t.server.Calls++
		if tool := t.server.outputTool(r.Tool, r.scope); tool != nil {
			r.output = tool.Output
		}
	}
	t.log.add(r)
	t.log.countText(len(r.Args))
	// Match the request to a response that was read before it.
	if t.endpoint == nil || r.FromServer {
		return
	}
	if early, ok := t.endpoint.early[r.ID]; ok {
		delete(t.endpoint.early, r.ID)
		t.setResponse(r, &early.message, early.at, max(early.known, r.KnownAsked))
	} else if t.endpoint.forgot {
		r.State = Unseen
	}
}

// roundOf returns the latest request that r sends again as another round, or nil. In the previous round, the server
// needed more input: the resultType of its result was "input_required". The client then sends the request again under
// another id, with inputResponses, requestState, or both. See InputRequiredResult and InputResponseRequestParams in
// https://github.com/modelcontextprotocol/modelcontextprotocol/blob/main/schema/2026-07-28/schema.ts
func (t *dialogue) roundOf(r *Request) *Request {
	const latest = 256 // maximum number of requests to search
	for i := len(t.log.Requests) - 1; i >= max(0, len(t.log.Requests)-latest); i-- {
		old := t.log.Requests[i]
		if old.waits && old.Server == r.Server && old.Method == r.Method && old.Tool == r.Tool && string(old.Args) == string(r.Args) {
			return old
		}
	}
	return nil
}

// waitingRequest returns the waiting request that a message from the other side refers to, or nil if there is none.
// It prefers a request in the same exchange. If there is none in it, exactly one request in the same session must
// match.
func (t *dialogue) waitingRequest(fromServer bool, same func(*Request) bool) *Request {
	found, n := -1, 0
	for i, r := range t.log.open {
		switch {
		case r.FromServer != fromServer || !same(r):
		case r.Exchange == t.number:
			found, n = i, 1
		case !t.stdio && r.scope == t.scope && r.scope != "":
			if found < 0 || t.log.open[found].Exchange != t.number {
				found = i
				n++
			}
		}
	}
	if n != 1 {
		return nil
	}
	return t.log.open[found]
}

// stopWaiting removes a request from the waiting requests.
func (l *Log) stopWaiting(r *Request) {
	for i, o := range l.open {
		if o == r {
			l.open = append(l.open[:i], l.open[i+1:]...)
			return
		}
	}
}

func (t *dialogue) readResponse(m *message, fromServer bool, at time.Duration) {
	id := string(m.id)
	r := t.waitingRequest(!fromServer, func(r *Request) bool { return r.ID == id })
	switch {
	case r != nil:
		t.setResponse(r, m, at, t.known)
	case fromServer && t.endpoint != nil:
		// Keep a response whose request may still arrive, within the limits for the log.
		l, kept := t.log, message{result: bytes.Clone(m.result), fault: bytes.Clone(m.fault)}
		l.early, l.earlyBytes = l.early+1, l.earlyBytes+len(kept.result)+len(kept.fault)
		if l.early <= maxEarly && l.earlyBytes <= maxEarlyBytes {
			t.endpoint.early[string(m.id)] = earlyResponse{kept, at, t.known}
			return
		}
		t.endpoint.forgot = true
		t.server.noteLimit(at, "too many responses arrived before their requests: toolscope didn't keep all of them")
	case fromServer && t.server.Gaps == 0 && !t.server.forgot:
		t.server.noteFinding(at, strayAnswer, "the server answered request %s, which is not open", oneLine(id))
	}
}

// setResponse stores the result or the error in a response to a request, with the time and the number of
// model events.
func (t *dialogue) setResponse(r *Request, m *message, at time.Duration, known int32) {
	t.log.stopWaiting(r)
	r.Answered, r.KnownAnswered = at, known
	if m.fault.IsPresent() {
		r.State, r.Error = Refused, m.fault.Get("message").Text()
		r.Code, _ = m.fault.Get("code").Int()
		return
	}
	r.State = Done
	held := len(r.Text) + len(r.Structured) // size of the previous round's texts
	r.setResult(m.result)
	t.log.countText(len(r.Text) + len(r.Structured) - held)
	switch r.Method {
	case "tools/call":
		if !r.FromServer {
			t.checkResult(r, m.result)
		}
	case "initialize":
		t.server.Version = m.result.Get("protocolVersion").Text()
		t.server.Title = m.result.Get("serverInfo").Get("name").Text()
	case "tools/list":
		if !r.FromServer {
			t.server.updateTools(m.result, r)
			t.checkTools(r, m.result)
		}
	}
}

func (t *dialogue) readNotification(m *message, method string, fromServer bool, at time.Duration) {
	switch method {
	case "notifications/progress":
		token := string(m.params.Get("progressToken"))
		if r := t.waitingRequest(!fromServer, func(r *Request) bool { return r.token != "" && r.token == token }); r != nil {
			r.Progress++
		}
	case "notifications/cancelled":
		id := string(m.params.Get("requestId"))
		r := t.waitingRequest(fromServer, func(r *Request) bool { return r.ID == id })
		if r == nil { // the request already has its response: clients also cancel requests after the response
			return
		}
		if t.endpoint != nil {
			t.endpoint.cancelled = append(t.endpoint.cancelled, cancellation{r, at, t.known})
			return
		}
		t.applyCancellation(cancellation{r, at, t.known})
	case "notifications/tools/list_changed":
		t.server.Changes++
		t.server.forgetOutputs()
	}
}

// cancellation is a cancelled request, with the time of the cancellation and the number of model events at that time.
type cancellation struct {
	request *Request
	at      time.Duration
	known   int32
}

func (t *dialogue) applyCancellation(c cancellation) {
	t.log.stopWaiting(c.request)
	c.request.State, c.request.Answered, c.request.KnownAnswered = Cancelled, c.at, c.known
}

// maxMessageBytes is the maximum length of a message.
const maxMessageBytes = 16 << 20

// oversizedMessage is the Why text of a residue frame for a message that is longer than maxMessageBytes.
const oversizedMessage = "too long"

// residueOf returns the frame for a message that is too long or has missing bytes.
func residueOf(size int64, unequal bool) stream.Frame {
	f := stream.Frame{Kind: stream.FrameResidue, End: size, Truncated: unequal}
	if !unequal {
		f.Why = oversizedMessage
	}
	return f
}

// lineFramer frames a stream of messages, one per line. A line that is too long or has missing bytes becomes
// a residue frame.
type lineFramer struct {
	part    []byte
	size    int64 // bytes in the line so far
	lost    bool
	unequal bool // bytes of the line are missing
}

func (l *lineFramer) Write(p []byte, emit func(stream.Frame)) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		end := i >= 0
		if !end {
			i = len(p)
		}
		l.size += int64(i)
		if l.lost = l.lost || l.size > maxMessageBytes; l.lost {
			l.part = nil
		} else if len(l.part) > 0 || !end {
			l.part = append(l.part, p[:i]...)
		}
		if !end {
			return
		}
		line := l.part
		if len(line) == 0 {
			line = p[:i]
		}
		f := stream.Frame{Data: bytes.TrimSpace(line), End: l.size}
		if l.lost {
			f = residueOf(l.size, l.unequal)
		}
		*l = lineFramer{part: l.part[:0]}
		if len(f.Data) > 0 || f.Kind != stream.FrameData {
			emit(f)
		}
		p = p[i+1:]
	}
}

// addGap records missing bytes. The current line is incomplete.
func (l *lineFramer) addGap() { l.lost, l.unequal, l.part = true, true, nil }

// Close emits the last line if it has no line break.
func (l *lineFramer) Close(emit func(stream.Frame)) {
	last := *l
	*l = lineFramer{}
	switch {
	case last.lost && last.size > 0:
		emit(residueOf(last.size, last.unequal))
	case len(last.part) > 0 && !last.lost:
		emit(stream.Frame{Data: bytes.TrimSpace(last.part), End: last.size, Truncated: true})
	}
}

// bodyFramer frames a body that is one message or a list of messages. A body that is longer than
// maxMessageBytes becomes a residue frame.
type bodyFramer struct {
	body []byte
	size int64
}

func (w *bodyFramer) Write(p []byte, _ func(stream.Frame)) {
	if w.size += int64(len(p)); w.size > maxMessageBytes {
		w.body = nil
		return
	}
	w.body = append(w.body, p...)
}

func (w *bodyFramer) Close(emit func(stream.Frame)) {
	switch {
	case w.size > maxMessageBytes:
		emit(residueOf(w.size, false))
	case len(w.body) > 0:
		emit(stream.Frame{Data: w.body, End: w.size})
	}
	*w = bodyFramer{}
}

// noMessages ignores a body without messages: the body of a GET request, or of a response with an error
// status.
type noMessages struct{}

func (noMessages) Write([]byte, func(stream.Frame)) {}
func (noMessages) Close(func(stream.Frame))         {}

// Shell is the method of an exchange that is one command, run by a shell for an agent. The exchange is read as a
// request to run a tool, with the command as its argument. The response is the end of the command. The exchange
// doesn't contain the command's output.
const Shell = "SHELL"

// shellPrefix is the beginning of the URL of a command's exchange. After it comes the name under which the model
// calls the tool.
const shellPrefix = "shell:"

// Shell reports whether the request is a command that a shell ran.
func (r *Request) Shell() bool { return r.Method == shellMethod }

const shellMethod = "shell"

// beginShell begins the exchange of a command. All commands of a run belong to one Server, which is not a
// real server.
func (t *dialogue) beginShell(h *stream.Head) {
	t.server = t.log.serverOf(shellMethod, h.Run)
	t.server.Shell = true
	t.command = &Request{
		Number: len(t.log.Requests), Server: t.server, Exchange: t.number, Method: shellMethod, AskedAt: stream.NoTime, Answered: stream.NoTime,
		Tool: strings.TrimPrefix(h.URL, shellPrefix),
	}
}

// readCommand reads a record of a command. The first record contains the command's text, so readCommand adds the
// request when it arrives. If the redactor held back the end of the text, another record contains that end.
func (t *dialogue) readCommand(r *stream.Record) {
	c := t.command
	t.server.Gaps += r.Lost
	if r.Request && c.AskedAt < 0 {
		c.AskedAt, c.KnownAsked, c.Number = r.At, t.known, len(t.log.Requests)
		t.server.Calls++
		t.server.Messages++
		t.log.add(c)
	}
	t.commandCut = t.commandCut || r.Request && r.Lost > 0
	if r.Request && !t.commandCut && len(r.Data) > 0 {
		t.commandText = append(t.commandText, r.Data...)
		args := append(json.AppendQuoted(json.Value(`{"command":`), t.commandText), '}')
		t.log.countText(-len(c.Args))
		c.Args, c.ArgsSize = clipRaw(args), len(args)
		t.log.countText(len(c.Args))
	}
	if !r.End || c.AskedAt < 0 {
		return
	}
	t.log.stopWaiting(c)
	c.Answered, c.KnownAnswered, c.State = r.At, t.known, Done
	switch {
	case r.At < 0: // the capture ends before the command does
		c.State = Unseen
	case r.By == stream.Toolscope.String():
		c.State, c.Error = Refused, r.Why
	case r.Why != "":
		c.Failed, c.Exit = true, r.Why
	}
}

// In version 2024-11-05, the transport HTTP+SSE splits a session into several exchanges. The client opens an event
// stream. The first event, "endpoint", contains the URL for the client's messages. The server answers each message
// with status 202 and a word, and sends its own messages over the stream.

// EventStreamStart is the beginning of an event stream that contains the URL for messages, without spaces.
const EventStreamStart = "event:endpoint"

// endpoint is the state of the URL that an event stream announces for the client's messages.
type endpoint struct {
	server *Server
	early  map[string]earlyResponse // responses that were read before their requests, by id
	forgot bool                     // some of the early responses were not kept

	// The redactor may hold back the end of a response. A response may therefore have been sent before a cancellation
	// that is read first. A cancellation counts only if the stream ends without the response.
	cancelled []cancellation
}

// earlyResponse is a response that was read before its request. In an archive, the complete stream comes
// before the client's messages.
type earlyResponse struct {
	message
	at    time.Duration
	known int32
}

// Limits on the early responses in a log.
const (
	maxEarly      = 4096
	maxEarlyBytes = 16 << 20
)

// IsEndpoint reports whether an event stream announced the URL of the request as the URL for messages.
func (l *Log) IsEndpoint(h *stream.Head) bool { return l.findEndpoint(h) != "" }

// findEndpoint returns the key of the endpoint that a request was sent to, or "". The redactor replaces every session id
// in a URL, but in a stream only ids of at least 8 characters. A URL with a placeholder therefore fits an endpoint with
// a shorter id, if it is the only such endpoint of the run.
func (l *Log) findEndpoint(h *stream.Head) (key string) {
	if len(l.endpoints) == 0 {
		return ""
	}
	exact := endpointKey(h.Run, h.URL)
	if l.endpoints[exact] != nil {
		return exact
	}
	parts := placeholder.Split(exact, -1)
	if len(parts) == 1 {
		return ""
	}
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	fits := regexp.MustCompile("^" + strings.Join(parts, `[^&#/?=\[]{1,7}`) + "$")
	for other := range l.endpoints {
		switch {
		case !fits.MatchString(other):
		case key != "":
			return ""
		default:
			key = other
		}
	}
	return key
}

// endpointKey returns the key of an endpoint. If a session id was redacted in a capture, its placeholders in the
// stream and in the URL may have different labels, but they have the same digest.
func endpointKey(run, url string) string {
	return run + " " + redactedName.ReplaceAllString(url, tag.Start)
}

var placeholder = regexp.MustCompile(regexp.QuoteMeta(tag.Start) + `[0-9a-f]{4}\]`) // in a key of an endpoint

var redactedName = regexp.MustCompile(regexp.QuoteMeta(tag.Start) + `[a-z0-9_-]+:`)

// setEndpoint reads the event with the URL for messages. Clients resolve this URL against the stream's own
// URL.
func (t *dialogue) setEndpoint(text string) {
	base, err := url.Parse(t.url)
	if err != nil {
		return
	}
	to, err := base.Parse(strings.TrimSpace(text))
	if err != nil || len(t.log.endpoints) >= maxWaiting {
		return
	}
	t.scope = endpointKey(t.server.Run, to.String())
	if t.endpoint = t.log.endpoints[t.scope]; t.endpoint == nil {
		t.endpoint = &endpoint{server: t.server, early: map[string]earlyResponse{}}
		t.log.endpoints[t.scope] = t.endpoint
	}
}

// noteAccepted reports once that a server answered with status 202 and a body. According to the protocol, such a
// response has no body, and clients ignore a body. Over HTTP+SSE, a body is usual, so noteAccepted reports nothing.
func (t *dialogue) noteAccepted(at time.Duration) {
	if t.endpoint != nil {
		return
	}
	f := strayBody.Finding("a response with status 202 has a body that is not a message: clients ignore it")
	f.Severity = stream.Info
	for _, n := range t.server.Notes {
		if n.Finding != nil && n.Finding.Diagnosis == strayBody && n.Finding.Severity == stream.Info {
			return
		}
	}
	t.server.addNote(ServerNote{At: at, Finding: &f, Text: f.Message})
}
