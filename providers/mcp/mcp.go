// Package mcp reads what agents and servers of the Model Context Protocol say to each other: JSON-RPC
// messages, one a line over standard streams, or one a request over HTTP with what answers it in a
// body or an event stream. It knows the versions 2025-06-18, 2025-11-25 and 2026-07-28, see
// https://modelcontextprotocol.io/specification.
//
//	records ─▶ Talk, one an exchange ─▶ messages ─▶ Log: requests, each with its answer
//
// Words. A server is who offers tools; its client asks for them, and may be asked itself. A request
// is a message that wants an answer, a notification one that does not.
//
// What always holds:
//   - It is no turn of a model: nothing here tells what a model wrote.
//   - Whatever comes is read or said to be unreadable; nothing that comes stops the reading.
//   - What an answer belongs to is told by its id and direction, never by its place.
package mcp

import (
	"bytes"
	"strings"
	"time"

	"toolscope/stream"
)

// A Log is all that was said to servers, in the order in which it came. The zero value is ready.
type Log struct {
	Servers  []*Server
	Requests []*Request     // in the order in which they were sent
	News     func(*Request) // is told of each when it is asked, or nil

	talks map[int]*dialogue
	open  []*Request // that wait for their answer
	bytes int        // of texts that are kept
	bare  int        // requests before that one have none any more
}

// The most that is kept: of texts, and of requests that wait.
const (
	maxTextBytes = 64 << 20
	maxWaiting   = 4096
)

// add adds a request, which waits for its answer.
func (l *Log) add(r *Request) {
	l.Requests = append(l.Requests, r)
	l.addWaiting(r)
	if l.News != nil {
		l.News(r)
	}
}

// FileOf is what the exchange of that number was recorded in, "" where that is not known.
func (l *Log) FileOf(number int) string {
	if t := l.talks[number]; t != nil {
		return t.file
	}
	return ""
}

// RunOf is the run that the exchange of that number is of.
func (l *Log) RunOf(number int) string {
	if t := l.talks[number]; t != nil {
		return t.server.Run
	}
	return ""
}

// addWaiting has a request wait. Of very many that nobody answers the oldest is taken for lost.
func (l *Log) addWaiting(r *Request) {
	if l.open = append(l.open, r); len(l.open) > maxWaiting {
		l.open = append(l.open[:0], l.open[1:]...)
	}
}

// countText counts the texts of a request, and lets go of those of the oldest where they are too many.
func (l *Log) countText(bytes int) {
	for l.bytes += bytes; l.bytes > maxTextBytes && l.bare < len(l.Requests)-1; l.bare++ {
		r := l.Requests[l.bare]
		l.bytes -= len(r.Args) + len(r.Text) + len(r.Structured)
		r.Args, r.Text, r.Structured = nil, "", nil
	}
}

// A Server is who is spoken with: one process, or one URL.
type Server struct {
	Name        string       // as the recording or the URL has it
	Run         string       // of the recordings that tell of it, see stream.Head
	Shell       bool         // it is no server: commands of a shell
	Title       string       // what it calls itself, "" where it was not asked
	Version     string       // of the protocol, as agreed or as the messages say
	Calls       int          // tools that were called
	Messages    int          // of both sides, read
	Gaps        int64        // bytes that were not seen
	Notes       []ServerNote // what was found, and what it said beside the protocol
	Ended       string       // why it ended, where that was not as it should be
	Changes     int          // how often it said that its tools are others now
	Tools       []Tool       // as it told them last
	FormerTools []Tool       // others, as it told them before that

	FirstSeenAt time.Duration // when it was first heard of
	EndedAt     time.Duration // when its process ended, stream.NoTime before and where that was not seen

	listing bool // more of the list is to come
}

// A ServerNote is one thing to know of a server.
type ServerNote struct {
	At      time.Duration
	Finding *stream.Finding // nil for what the server itself wrote to standard error
	Text    string
}

// maxNotes is how many notes a server has at most; of standard error the latest.
const maxNotes = 200

// A dialogue is what is said in one exchange.
type dialogue struct {
	log     *Log
	number  int
	server  *Server
	stdio   bool
	ask     framer // of the client's side
	answer  framer
	decided bool   // how the answer is framed
	file    string // it was recorded in
	scope   string // requests of one scope share their ids
	at      [2]time.Duration
	known   int32
	command *Request // of a shell, nil where a server is spoken with
}

// A framer cuts one side into messages.
type framer interface {
	Write(p []byte, emit func(stream.Frame))
	Close(emit func(stream.Frame))
}

// Has reports whether the exchange of that number is one of the log.
func (l *Log) Has(number int) bool { return l.talks[number] != nil }

// Begin has an exchange be read, of which this is known of the request.
func (l *Log) Begin(number int, h *stream.Head) {
	if l.talks == nil {
		l.talks = map[int]*dialogue{}
	}
	t := &dialogue{log: l, number: number, file: h.File, stdio: h.Method == Stdio}
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
		t.ask, t.scope = new(bodyFramer), h.Run+" "+name+" "+firstValue(h.Header["Mcp-Session-Id"])
		t.server = l.serverOf(name, h.Run)
		if v := firstValue(h.Header["Mcp-Protocol-Version"]); v != "" {
			t.server.Version = v
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

// serverOf is the server at a URL, as it was in a run.
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

// Write takes a record of an exchange that was begun, when so many events of models were known.
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
		t.addGap(r.Request)
	}
	switch {
	case r.Request:
		t.ask.Write(r.Data, t.readClientFrame)
	default:
		if !t.stdio && len(r.Data)+len(r.Why) > 0 || r.End {
			t.endRequest()
		}
		t.feedResponse(r.Data)
	}
	if r.End {
		t.end(r)
	}
}

// readHead takes the head of an answer over HTTP.
func (t *dialogue) readHead(h *stream.Head) {
	t.endRequest()
	kind, _, _ := strings.Cut(firstValue(h.Header["Content-Type"]), ";")
	t.answer, t.decided = new(bodyFramer), true
	if strings.TrimSpace(kind) == "text/event-stream" {
		t.answer = new(stream.SSE)
	}
	if h.Status >= 400 {
		t.answer = new(noMessages)
	}
}

// endRequest says that the request has come.
func (t *dialogue) endRequest() {
	if !t.stdio {
		t.ask.Close(t.readClientFrame)
	}
}

func (t *dialogue) feedResponse(p []byte) {
	if t.answer == nil {
		t.answer = new(bodyFramer)
	}
	t.answer.Write(p, t.readServerFrame)
}

// addGap says that bytes of a side are missing: what was begun there cannot be read.
func (t *dialogue) addGap(request bool) {
	if f, is := t.ask.(*lineFramer); is && request {
		f.addGap()
	}
	if f, is := t.answer.(*lineFramer); is && !request {
		f.addGap()
	}
}

// end says that nothing more comes of the exchange.
func (t *dialogue) end(r *stream.Record) {
	if t.answer != nil {
		t.answer.Close(t.readServerFrame)
	}
	t.ask.Close(t.readClientFrame)
	if t.stdio {
		t.server.Ended, t.server.EndedAt = r.Why, r.At
	}
}

// readClientFrame takes a message of the client, answered one of the server.
func (t *dialogue) readClientFrame(f stream.Frame) { t.readFrame(f, false) }
func (t *dialogue) readServerFrame(f stream.Frame) { t.readFrame(f, true) }

func (t *dialogue) readFrame(f stream.Frame, fromServer bool) {
	if f.Kind != stream.FrameData || len(bytes.TrimSpace(f.Data)) == 0 {
		return
	}
	at := t.at[1]
	if fromServer {
		at = t.at[0]
	}
	t.readMessages(f, fromServer, at)
}

// Close says that nothing more comes at all.
func (l *Log) Close() {
	for _, t := range l.talks {
		if t.answer != nil {
			t.answer.Close(func(stream.Frame) {})
		}
	}
}
