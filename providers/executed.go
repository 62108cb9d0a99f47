package providers

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"

	"toolscope/providers/coding"
	"toolscope/providers/mcp"
	"toolscope/providers/schema"
	"toolscope/providers/toolrun"
	"toolscope/stream"
)

// mcpTraffic is the traffic with MCP servers, which belongs to no turn.
type mcpTraffic struct {
	log      mcp.Log
	may      map[int]stream.Record // heads of requests that may go to an MCP server
	chains   map[int]*coding.Chain // codings of responses
	join     toolrun.Join
	stops    map[int][]offsetAt
	compared []*schema.Set // tools of requests that were compared with those of servers
}

// routeMCP handles a record if it belongs to an MCP server, and reports whether it does.
func (in *Inspector) routeMCP(r stream.Record) (taken bool) {
	e := &in.executed
	if e.log.Has(r.Exchange) {
		in.feedMCP(r)
		return true
	}
	head, waits := e.may[r.Exchange]
	switch {
	case waits:
		delete(e.may, r.Exchange)
		if r.Request && speaksRPC(r.Data) {
			in.openMCP(head)
			in.feedMCP(r)
			return true
		}
		in.writeModelRecord(head)
		return false
	case r.Head == nil || !r.Request || in.alone || in.byNumber[r.Exchange] != nil || in.forcedFor(r.Exchange) != nil:
		return false
	case isServer(r.Head), asksServer(r.Head) && speaksRPC(r.Data):
		in.openMCP(r)
		return true
	case asksServer(r.Head) && len(r.Data) == 0:
		if e.may == nil {
			e.may = map[int]stream.Record{}
		}
		e.may[r.Exchange] = r
		return true
	}
	return false
}

// openMCP begins to read an exchange as one with an MCP server.
func (in *Inspector) openMCP(r stream.Record) {
	first := len(in.executed.log.Servers) == 0
	in.executed.log.Begin(r.Exchange, r.Head)
	if first {
		in.matchEarlier()
	}
	in.feedMCP(r)
}

// feedMCP passes a record to the log of MCP traffic, with codings decoded.
func (in *Inspector) feedMCP(r stream.Record) {
	e := &in.executed
	in.log.addWithBytes(r)
	e.noteOffset(&r, in.nextEvent())
	if r.Head != nil && !r.Request && len(r.Head.Header["Content-Encoding"]) > 0 {
		if chain, err := coding.New(r.Head.Header); err == nil && chain != nil {
			if e.chains == nil {
				e.chains = map[int]*coding.Chain{}
			}
			e.chains[r.Exchange] = chain
		}
	}
	if chain := e.chains[r.Exchange]; chain != nil && !r.Request {
		plain, err := chain.Write(r.Data)
		r.Data = bytes.Clone(plain)
		if err == nil && r.End {
			rest, _ := chain.Close()
			r.Data = append(r.Data, rest...)
		}
		if err != nil || r.End {
			delete(e.chains, r.Exchange)
		}
	}
	e.log.Write(&r, in.eventCount())
	if r.At >= 0 {
		in.matcher().Heard(e.log.RunOf(r.Exchange), r.At)
	}
}

// trimHeads returns the heads of requests without further records.
func (e *mcpTraffic) trimHeads(back func(stream.Record)) {
	for _, number := range slices.Sorted(maps.Keys(e.may)) {
		back(e.may[number])
	}
	e.may = nil
	e.log.Close()
}

// isServer reports whether a request can only go to an MCP server.
func isServer(h *stream.Head) bool {
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

// asksServer reports whether a request may go to an MCP server: a request without a session must accept
// the response in either of two forms.
func asksServer(h *stream.Head) bool {
	accepts := strings.Join(h.Header["Accept"], ",")
	return h.Method == "POST" && strings.Contains(accepts, "application/json") && strings.Contains(accepts, "text/event-stream")
}

// speaksRPC reports whether a body begins like a JSON-RPC message, or a list of messages.
func speaksRPC(body []byte) bool { return rpc.Match(body[:min(len(body), 64)]) }

var rpc = regexp.MustCompile(`^\s*(\[\s*)?\{\s*"(jsonrpc|method|id|params|result|error)"`)

// Servers returns the MCP servers that were seen.
func (v *View) Servers() []*mcp.Server { return v.in.executed.log.Servers }

// Executed returns the log of the traffic with MCP servers.
func (in *Inspector) Executed() *mcp.Log { return &in.executed.log }

// Executed returns the requests to and from MCP servers, in the order in which they were sent, as of the
// moment of the view.
func (v *View) Executed() []*mcp.Request {
	all := v.in.executed.log.Requests
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

// offsetAt is the offset in an exchange with a server when there were so many events.
type offsetAt struct {
	known int32
	ExchangeOffset
}

// noteOffset notes the offset after a record.
func (e *mcpTraffic) noteOffset(r *stream.Record, known int32) {
	if e.stops == nil {
		e.stops = map[int][]offsetAt{}
	}
	all := e.stops[r.Exchange]
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
	e.stops[r.Exchange] = append(all, next)
}

// stopsAt adds the offsets in exchanges with servers when there were so many events.
func (e *mcpTraffic) stopsAt(all map[int]ExchangeOffset, known int32) {
	for number, list := range e.stops {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].known <= known+1 {
				all[number] = list[i].ExchangeOffset
				break
			}
		}
	}
}
