package formats

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// mcpLines reads the messages between a client and an MCP server on standard streams. The file has the messages of
// both directions, one on each line. The lines don't name their sender, but the specification of the protocol
// (2025-11-25) says which side sends each method. A response goes in the opposite direction of its request.
var mcpLines = capture.Format{
	Name:  "mcp messages",
	Title: "MCP messages between a client and a server, one per line",
	Sniff: sniffMCPLines,
	New: func(in *capture.Input) capture.Reader {
		return &entryReader{in: in, book: &mcpDialogue{asked: map[string]capture.Side{}}}
	},
}

// mcpVersion is a version of the protocol. The versions of ACP, whose sessions also begin with initialize, are numbers.
var mcpVersion = lazyregexp.New(`^20\d\d-\d\d-\d\d$`)

func sniffMCPLines(first []byte, whole bool) capture.SniffResult {
	text, ok := objectText(first)
	switch {
	case !ok:
		return capture.SniffResult{}
	case len(text) == 0:
		return sniffMaybe(whole)
	}
	all, _, closed := json.AppendFields(nil, text)
	if len(all) > 0 && string(all[0].Key) != "jsonrpc" && string(all[0].Key) != "id" && string(all[0].Key) != "method" {
		return capture.SniffResult{}
	}
	f := json.Pick(text, "jsonrpc", "method", "params")
	switch {
	case !closed:
		return sniffMaybe(whole)
	case !hasText(f[0], "2.0"):
	case hasText(f[1], "initialize") && mcpVersion().MatchString(stringOf(json.Find(f[2], "protocolVersion"))),
		hasText(f[1], "tools/call") && stringOf(json.Find(f[2], "name")) != "", hasText(f[1], "tools/list"):
		return capture.SniffResult{Is: capture.Yes, Why: "an MCP JSON-RPC message"}
	}
	return capture.SniffResult{}
}

// mcpDialogue assigns the messages of one file to the client and the server.
type mcpDialogue struct {
	begun bool
	asked map[string]capture.Side // the side that sent the latest request with each id
}

func (d *mcpDialogue) entry(recs []capture.Record, line []byte) []capture.Record {
	if !d.begun {
		d.begun = true
		recs = append(recs, capture.Record{Exchange: 1, Side: capture.Request, At: capture.NoTime, Head: &capture.Head{
			Method: capture.Stdio, URL: "mcp:server", Lacks: []capture.Lack{capture.NoTimes},
		}})
	}
	return append(recs, capture.Record{Exchange: 1, Side: d.sideOf(line), At: capture.NoTime, Data: append(line, '\n')})
}

// sideOf returns the side that sent a message, which is Request for the client. It keeps the sender of each request
// until the response arrives.
func (d *mcpDialogue) sideOf(line []byte) capture.Side {
	f := json.Pick(line, "method", "id", "params")
	method, id := stringOf(f[0]), string(f[1])
	if method == "" {
		if asked, known := d.asked[id]; known {
			delete(d.asked, id)
			if asked == capture.Request {
				return capture.Response
			}
			return capture.Request
		}
		return capture.Response // most responses are from the server
	}
	side := capture.Request
	switch {
	case method == "notifications/cancelled": // only the sender of a request may cancel it
		if asked, known := d.asked[string(json.Find(f[2], "requestId"))]; known {
			side = asked
		}
	case method == "notifications/initialized", method == "notifications/roots/list_changed":
	case strings.HasPrefix(method, "notifications/"), strings.HasPrefix(method, "sampling/"),
		strings.HasPrefix(method, "elicitation/"), method == "roots/list":
		side = capture.Response
	}
	if id != "" {
		d.asked[id] = side
	}
	return side
}

func (d *mcpDialogue) close(recs []capture.Record) []capture.Record {
	if d.begun {
		recs = append(recs, capture.Record{Exchange: 1, At: capture.NoTime, End: capture.EndEOF})
	}
	return recs
}

// mcpLog reads Claude Desktop's logs of MCP servers, mcp.log and mcp-server-NAME.log. A line with a message has its
// time, the name of the server and the sender. Source: the log in
// https://github.com/modelcontextprotocol/typescript-sdk/issues/179.
var mcpLog = capture.Format{
	Name:  "mcp log",
	Title: "Claude Desktop: mcp.log, mcp-server-NAME.log",
	Sniff: sniffMCPLog,
	New: func(in *capture.Input) capture.Reader {
		return &mcpLogReader{recordWriter: recordWriter{in: in}, servers: map[string]int{}}
	},
}

var (
	mcpLogLine = lazyregexp.New(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) \[([^\]]{1,100})\] \[\w+\] (?:Message from (client|server): )?`)
	mcpLogPart = lazyregexp.New(`^[\dT:.-]{0,23}(?:Z ?(?:\[[^\]]{0,100}(?:\] ?(?:\[\w*\]?)?)?)?)?$`) // the beginning of a line
)

// maxMCPLogLines is the maximum number of lines before the first message.
const maxMCPLogLines = 200

func sniffMCPLog(first []byte, whole bool) capture.SniffResult {
	text := bytes.TrimPrefix(first, []byte(bom))
	for n := range maxMCPLogLines {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		switch m := mcpLogLine().FindSubmatch(line); {
		case m != nil && len(m[3]) > 0:
			return capture.SniffResult{Is: capture.Yes, Why: "a line has a message of an MCP client or server"}
		case n == 0 && m == nil && (ended || !mcpLogPart().Match(line)):
			return capture.SniffResult{}
		case !ended:
			return sniffMaybe(whole)
		}
		text = rest
	}
	return capture.SniffResult{}
}

// mcpLogReader reads a log. Each process of a server is an exchange, which begins with the message initialize.
type mcpLogReader struct {
	recordWriter
	jsonLines
	servers map[string]int // the open exchange of each server
	others  otherLines
}

func (r *mcpLogReader) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	r.write(p, r.readLine)
	return r.takeWritten(recs), nil
}

// readLine reads one line. A line without a complete message counts as another line.
func (r *mcpLogReader) readLine(line []byte) {
	m := mcpLogLine().FindSubmatch(line)
	var message []byte
	if m != nil && len(m[3]) > 0 {
		var span json.ValueScanner
		if n, done := span.Write(line[len(m[0]):]); done && isObject(line[len(m[0]):][:n]) {
			message = append(bytes.Clone(line[len(m[0]):][:n]), '\n')
		}
	}
	if message == nil {
		r.others.addLine(1, line)
		return
	}
	at, _ := time.Parse(time.RFC3339Nano, string(m[1]))
	name, side := string(m[2]), capture.Response
	if string(m[3]) == "client" {
		side = capture.Request
	}
	exchange, open := r.servers[name]
	if begins := side == capture.Request && hasText(json.Find(message, "method"), "initialize"); open && begins {
		r.writeFor(exchange, capture.Record{At: r.in.RecordTime(at), End: capture.EndEOF})
		open = false
	}
	if !open {
		exchange = r.in.NextExchange()
		r.servers[name] = exchange
		head := r.in.NewHead([]string{"mcp log"})
		head.Method, head.URL, head.Start = capture.Stdio, "mcp:"+name, at
		r.writeFor(exchange, capture.Record{Side: capture.Request, At: r.in.RecordTime(at), Head: head})
	}
	r.writeFor(exchange, capture.Record{Side: side, At: r.in.RecordTime(at), Data: message})
}

func (r *mcpLogReader) Close(recs []capture.Record, _ capture.End, why string, _ time.Duration) []capture.Record {
	if len(r.held) > 0 {
		r.readLine(r.held)
	}
	for _, exchange := range slices.Sorted(maps.Values(r.servers)) {
		r.writeFor(exchange, capture.Record{At: capture.NoTime, End: capture.EndEOF})
	}
	if why != "" {
		r.addNote(false, "%s", why)
	}
	if r.current == 0 {
		r.current = r.in.NextExchange()
	}
	if r.others.count > 0 {
		r.writeRecord(capture.Record{At: capture.NoTime, Others: r.others.count, OtherLines: r.others.last})
	}
	return r.close(recs)
}
