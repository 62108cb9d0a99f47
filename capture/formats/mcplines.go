package formats

import (
	"strings"

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
