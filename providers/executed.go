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
	in       *Inspector
	log      mcp.Log
	matcher  *toolrun.Matcher
	may      map[int]stream.Record // heads of requests that may go to an MCP server
	chains   map[int]*coding.Chain // codings of responses
	stops    map[int][]offsetAt
	compared []*schema.Set // tools of requests that were compared with those of servers
}

// toolTraffic returns the traffic with MCP servers.
func (in *Inspector) toolTraffic() *mcpTraffic {
	if in.executed == nil {
		e := &mcpTraffic{in: in}
		e.matcher, in.executed = toolrun.NewMatcher(e, &e.log), e
	}
	return in.executed
}

// writeRecord handles a record if it belongs to an MCP server, and reports whether it does.
func (m *mcpTraffic) writeRecord(r stream.Record) (taken bool) {
	in := m.in
	if m.log.Has(r.Exchange) {
		m.feed(r)
		return true
	}
	head, waits := m.may[r.Exchange]
	switch {
	case waits:
		delete(m.may, r.Exchange)
		if r.Request && speaksRPC(r.Data) {
			m.open(head)
			m.feed(r)
			return true
		}
		in.writeModelRecord(head)
		return false
	case r.Head == nil || !r.Request || in.alone || in.byNumber[r.Exchange] != nil || in.forcedFor(r.Exchange) != nil:
		return false
	case isServer(r.Head), asksServer(r.Head) && speaksRPC(r.Data):
		m.open(r)
		return true
	case asksServer(r.Head) && len(r.Data) == 0:
		if m.may == nil {
			m.may = map[int]stream.Record{}
		}
		m.may[r.Exchange] = r
		return true
	}
	return false
}

// open begins to read an exchange as one with an MCP server.
func (m *mcpTraffic) open(r stream.Record) {
	first := len(m.log.Servers) == 0
	m.log.Begin(r.Exchange, r.Head)
	if first {
		m.matchEarlier()
	}
	m.feed(r)
}

// feed passes a record to the log of MCP traffic, with codings decoded.
func (m *mcpTraffic) feed(r stream.Record) {
	in := m.in
	in.log.addWithBytes(r)
	m.noteOffset(&r, in.nextEvent())
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

// trimHeads returns the heads of requests without further records.
func (m *mcpTraffic) trimHeads() {
	for _, number := range slices.Sorted(maps.Keys(m.may)) {
		m.in.writeModelRecord(m.may[number])
	}
	m.may = nil
	m.log.Close()
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
func (v *View) Servers() []*mcp.Server { return v.in.toolTraffic().log.Servers }

// Executed returns the log of the traffic with MCP servers.
func (in *Inspector) Executed() *mcp.Log { return &in.toolTraffic().log }

// Executed returns the requests to and from MCP servers, in the order in which they were sent, as of the
// moment of the view.
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

// offsetAt is the offset in an exchange with a server when there were so many events.
type offsetAt struct {
	known int32
	ExchangeOffset
}

// noteOffset notes the offset after a record.
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

// stopsAt adds the offsets in exchanges with servers when there were so many events.
func (m *mcpTraffic) stopsAt(all map[int]ExchangeOffset, known int32) {
	for number, list := range m.stops {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].known <= known+1 {
				all[number] = list[i].ExchangeOffset
				break
			}
		}
	}
}
