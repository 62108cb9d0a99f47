package cli

import (
	"fmt"
	"strings"

	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/stream"
	"toolscope/ui/display"
)

// An executedPrinter prints what was asked of MCP servers, beside what models wrote.
type executedPrinter interface {
	executed(file string, r *mcp.Request)
	server(file string, s *mcp.Server)
}

// servings are how far the requests to servers were printed.
type servings struct {
	seen  int            // of the log
	waits []*mcp.Request // of those, the ones that are not printed
}

// print prints the requests that were answered, or all, and at the end the servers.
func (p *servings) print(q *queue, to executedPrinter, all bool) {
	log := q.in.Executed()
	p.waits = append(p.waits, log.Requests[p.seen:]...)
	p.seen = len(log.Requests)
	left := p.waits[:0]
	for _, r := range p.waits {
		if !all && r.State == mcp.Open {
			left = append(left, r)
			continue
		}
		to.executed(q.path, r)
	}
	clear(p.waits[len(left):])
	if p.waits = left; all {
		for _, s := range log.Servers {
			to.server(q.path, s)
		}
	}
}

// isServed reports whether something was said to an MCP server.
func isServed(in *providers.Inspector) bool { return len(in.Executed().Servers) > 0 }

// mostGiven is how much of what a tool gave is printed for scripts.
const mostGiven = stream.MostResult

func (p *jsonPrinter) executed(file string, r *mcp.Request) {
	o := new(object)
	o.text("type", either(r.IsCall(), "executed", "mcp_request"))
	o.text("file", file)
	o.text("server", r.Server.Name)
	o.some("from", when(r.FromServer, "server"))
	o.text("method", r.Method)
	o.some(either(r.Method == "tools/call", "tool", "about"), r.Tool)
	o.some("id", r.Call)
	o.int("exchange", r.Exchange)
	o.text("request", r.ID)
	o.text("state", r.State.String())
	o.time("t_asked_ms", r.Asked)
	o.time("took_ms", r.Took())
	if r.ArgsSize > 0 {
		o.int("arguments_bytes", r.ArgsSize)
		o.text("arguments_raw", string(r.Args))
	}
	p.answer(o, r)
	if r.Progress > 0 {
		o.int("progress", r.Progress)
	}
	if r.Rounds > 0 {
		o.int("rounds", r.Rounds+1)
	}
	p.object(o)
}

// answer writes what came of a request.
func (p *jsonPrinter) answer(o *object, r *mcp.Request) {
	switch r.State {
	case mcp.Refused:
		o.int("error_code", int(r.Code))
		o.text("error", r.Error)
	case mcp.Done:
		if r.IsCall() {
			o.flag("is_error", r.Failed)
		}
		o.int("result_bytes", r.Size)
		if r.TextSize > 0 {
			o.int("text_bytes", r.TextSize)
			o.text("text", strings.ToValidUTF8(r.Text[:min(len(r.Text), mostGiven)], ""))
		}
		if r.ShapeSize > 0 {
			o.int("structured_bytes", r.ShapeSize)
		}
		if r.Media > 0 {
			o.int("media", r.Media)
		}
	}
}

func (p *jsonPrinter) server(file string, s *mcp.Server) {
	o := new(object)
	o.text("type", "mcp_server")
	o.text("file", file)
	o.text("server", s.Name)
	o.some("title", s.Title)
	o.some("protocol", s.Version)
	o.int("calls", s.Calls)
	o.int("messages", s.Messages)
	if s.Gaps > 0 {
		o.int("unseen_bytes", int(s.Gaps))
	}
	o.some("ended", s.Ended)
	listOf(o, "findings", s.Findings(), (*object).finding)
	p.object(o)
}

func (p *textPrinter) executed(file string, r *mcp.Request) {
	words := []string{file, "  ", r.Server.Name, "  ", when(r.FromServer, "asks "), r.Method}
	if r.Tool != "" {
		words = append(words, " ", r.Tool)
	}
	p.linef("%s  %s", strings.Join(words, ""), strings.Join(becameOf(r), "  "))
	if r.ArgsSize > 0 {
		p.long(display.Lit("                "), display.CleanParts(r.Args))
	}
	switch text := r.Text; {
	case r.State == mcp.Refused:
		p.linef("    error  %d  %s", r.Code, r.Error)
	case r.State == mcp.Done && r.IsCall():
		const most = 512
		if n := min(most, len(text)); n < r.TextSize {
			text = strings.ToValidUTF8(text[:n], "") + "…"
		}
		p.linef("    %s  %s  %s", either(r.Failed, "error result", "result"), gaveSizes(r), text)
	}
}

// becameOf says what became of a request.
func becameOf(r *mcp.Request) (words []string) {
	words = append(words, r.State.String())
	if took := r.Took(); took >= 0 {
		words = append(words, fmt.Sprintf("%.1f ms", float64(took.Microseconds())/1000))
	}
	if r.Rounds > 0 {
		words = append(words, fmt.Sprintf("in %d rounds", r.Rounds+1))
	}
	if r.Call != "" {
		words = append(words, "for "+r.Call)
	}
	return words
}

// gaveSizes says how much a tool gave.
func gaveSizes(r *mcp.Request) string {
	words := []string{fmt.Sprintf("%d B", r.TextSize)}
	if r.ShapeSize > 0 {
		words = append(words, fmt.Sprintf("%d B structured", r.ShapeSize))
	}
	if r.Media > 0 {
		words = append(words, plural(r.Media, "piece")+" that are no text")
	}
	return strings.Join(words, ", ")
}

func (p *textPrinter) server(file string, s *mcp.Server) {
	about := joined(s.Title, when(s.Version != "", "protocol "+s.Version), plural(s.Calls, "tool call"), plural(s.Messages, "message"))
	p.linef("%s  MCP server %s  %s", file, s.Name, about)
	if s.Gaps > 0 {
		p.linef("    %s not seen", plural(int(s.Gaps), "byte"))
	}
	if s.Ended != "" {
		p.linef("    ended  %s", s.Ended)
	}
	for _, n := range s.Notes {
		if n.Finding == nil {
			p.linef("    said   %s", n.Text)
		}
	}
	p.findings(s.Findings())
	p.linef("")
}
