package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/providers/executed"
	"toolscope/providers/mcp"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
)

// An executedPrinter prints what was asked of MCP servers, beside what models wrote.
type executedPrinter interface {
	executed(file string, r *mcp.Request, a *executed.ToolRequest)
	notRun(file string, n *executed.CallWithoutRun)
	server(file string, s *mcp.Server)
}

// servings are how far the requests to servers were printed.
type servings struct {
	seen  int            // of the log
	waits []*mcp.Request // of those, the ones that are not printed
	not   int            // calls that nobody ran
}

// mostAsked is how many requests may wait until the model was told what came of them.
const mostAsked = 1 << 10

// settled reports whether nothing more becomes known of a request: it was answered, and what the model
// was told is known, or no model is there.
func settled(in *providers.Inspector, r *mcp.Request) bool {
	if r.State == mcp.Open {
		return false
	}
	a := in.ToolRun(r)
	return a == nil || a.ModelHasResult || len(in.Session().Turns) == 0
}

// print prints the requests that were answered, or all, and at the end the servers.
func (p *servings) print(q *queue, to executedPrinter, all bool) {
	log := q.in.Executed()
	p.waits = append(p.waits, log.Requests[p.seen:]...)
	p.seen = len(log.Requests)
	left := p.waits[:0]
	for i, r := range p.waits {
		if !all && !settled(q.in, r) && len(p.waits)-i < mostAsked {
			left = append(left, r)
			continue
		}
		to.executed(q.fileOfAsked(r.Exchange), r, q.in.ToolRun(r))
	}
	for not := q.in.NotRun(); p.not < len(not); p.not++ {
		to.notRun(q.path, &not[p.not])
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
const mostGiven = stream.MaxResultBytes

func (p *jsonPrinter) executed(file string, r *mcp.Request, a *executed.ToolRequest) {
	o := new(object)
	o.text("type", either(r.IsCall(), "executed", "mcp_request"))
	o.text("file", file)
	if a != nil && a.Call != nil {
		o.ref(a.Call.Ref)
	}
	o.text("server", r.Server.Name)
	o.some("from", when(r.FromServer, "server"))
	o.text("method", r.Method)
	o.some(either(r.IsCall() || r.Method == "tools/call", "tool", "about"), r.Tool)
	if o.some("id", r.CallID); a != nil {
		o.joined(a)
	}
	o.int("exchange", r.Exchange)
	o.some("request", r.ID)
	o.text("state", r.State.String())
	o.time("t_asked_ms", r.AskedAt)
	o.time("took_ms", r.Duration())
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
	if a != nil {
		if a.ModelHasResult {
			o.int("model_got_bytes", a.ResultBytes)
			o.some("result", string(a.Result))
		}
		listOf(o, "findings", a.Findings, (*object).finding)
	}
	p.object(o)
}

// ref names a call as its own line does.
func (o *object) ref(r stream.Ref) {
	o.int("turn", int(r.Turn)+1)
	o.int("call", int(r.Call))
}

// joined writes how it is known which call a request is of, and what the tool got of it, and when.
func (o *object) joined(a *executed.ToolRequest) {
	if a.Call == nil {
		if len(a.Candidates) > 0 {
			listOf(o, "may_be", a.Candidates, func(o *object, of *executed.Call) { o.ref(of.Ref) })
		}
		o.yes("unasked", a.Unasked)
		return
	}
	if a.Request.CallID == "" {
		o.some("id", a.Call.ID)
	}
	o.text("joined", a.Basis.String())
	o.int("of", a.EqualCalls)
	if d, ok := a.AfterSeal(); ok {
		o.signed("after_seal_ms", d)
	}
	if d, ok := a.AfterTurn(); ok {
		o.signed("after_turn_ms", d)
	}
	o.some("args", a.Args)
	o.some("differs", a.Path)
}

// signed is time of what may be negative.
func (o *object) signed(name string, d time.Duration) {
	o.key(name)
	o.b = strconv.AppendFloat(o.b, float64(d.Microseconds())/1000, 'f', -1, 64)
}

func (p *jsonPrinter) notRun(file string, n *executed.CallWithoutRun) {
	o := new(object)
	o.text("type", "executed")
	o.text("file", file)
	o.ref(n.Ref)
	o.text("server", n.Server)
	o.text("tool", n.Tool)
	o.some("id", n.ID)
	o.text("state", "not executed")
	listOf(o, "findings", []stream.Finding{n.Finding}, (*object).finding)
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
		if r.Shell() {
			o.some("exit", r.Exit)
			return
		}
		o.int("result_bytes", r.Size)
		if r.TextSize > 0 {
			o.int("text_bytes", r.TextSize)
			o.text("text", strings.ToValidUTF8(r.Text[:min(len(r.Text), mostGiven)], ""))
		}
		if r.StructuredSize > 0 {
			o.int("structured_bytes", r.StructuredSize)
		}
		if r.Media > 0 {
			o.int("media", r.Media)
		}
	}
}

func (p *jsonPrinter) server(file string, s *mcp.Server) {
	o := new(object)
	if s.Shell {
		return // each command has said it
	}
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

func (p *textPrinter) executed(file string, r *mcp.Request, a *executed.ToolRequest) {
	words := []string{file, "  ", r.Server.Name, "  ", when(r.FromServer, "asks "), r.Method}
	if r.Tool != "" {
		words = append(words, " ", r.Tool)
	}
	p.linef("%s  %s", strings.Join(words, ""), strings.Join(becameOf(r), "  "))
	if a != nil {
		p.joined(a)
	}
	if r.ArgsSize > 0 {
		p.long(display.Lit("                "), display.CleanParts(r.Args))
	}
	switch text := r.Text; {
	case r.State == mcp.Refused:
		p.linef("    error  %d  %s", r.Code, r.Error)
	case r.Shell():
		if r.Exit != "" {
			p.linef("    %s", r.Exit)
		}
	case r.State == mcp.Done && r.IsCall():
		const most = 512
		if n := min(most, len(text)); n < r.TextSize {
			text = strings.ToValidUTF8(text[:n], "") + "…"
		}
		p.linef("    %s  %s  %s", either(r.Failed, "error result", "result"), gaveSizes(r), text)
	}
	if a == nil {
		return
	}
	if a.ModelHasResult {
		p.linef("    told    %s", joined(string(a.Result), fmt.Sprintf("the model got %d B", a.ResultBytes)))
	}
	p.findings(a.Findings)
}

// joined says which call a request is of, how that is known, and when it was made.
func (p *textPrinter) joined(a *executed.ToolRequest) {
	if a.Call == nil {
		switch {
		case len(a.Candidates) > 0:
			calls := each(a.Candidates, func(of *executed.Call) string { return fmt.Sprintf("turn %d, call %d", of.Ref.Turn+1, of.Ref.Call) })
			p.linef("    of      perhaps %s; nothing tells which of several is meant", strings.Join(calls, ", or "))
		case a.Unasked:
			p.linef("    of      no call of a model")
		}
		return
	}
	words := []string{fmt.Sprintf("turn %d, call %d, %s", a.Call.Ref.Turn+1, a.Call.Ref.Call, a.Explain())}
	if d, ok := a.AfterSeal(); ok {
		words = append(words, beforeAfter(d)+" its seal")
	}
	if d, ok := a.AfterTurn(); ok {
		words = append(words, beforeAfter(d)+" its turn's end")
	}
	if a.IsPrefix {
		words = append(words, fmt.Sprintf("the first %d B of what the model wrote, as a JSON string", a.PrefixBytes))
	} else if a.Args == "altered" {
		words = append(words, "other arguments"+when(a.Path != "", " at "+a.Path))
	} else if a.Args != "" {
		words = append(words, "the same arguments")
	}
	p.linef("    of      %s", strings.Join(words, ", "))
}

// beforeAfter is a time before or after something.
func beforeAfter(d time.Duration) string {
	return fmt.Sprintf("%.1f ms %s", float64(d.Abs().Microseconds())/1000, either(d < 0, "before", "after"))
}

func (p *textPrinter) notRun(file string, n *executed.CallWithoutRun) {
	p.linef("%s  %s  %s  not executed, of turn %d, call %d", file, n.Server, n.Tool, n.Ref.Turn+1, n.Ref.Call)
	p.findings([]stream.Finding{n.Finding})
}

// becameOf says what became of a request.
func becameOf(r *mcp.Request) (words []string) {
	words = append(words, r.State.String())
	if took := r.Duration(); took >= 0 {
		words = append(words, fmt.Sprintf("%.1f ms", float64(took.Microseconds())/1000))
	}
	if r.Rounds > 0 {
		words = append(words, "in "+count.Of(r.Rounds+1, "round"))
	}
	if r.CallID != "" {
		words = append(words, "for "+r.CallID)
	}
	return words
}

// gaveSizes says how much a tool gave.
func gaveSizes(r *mcp.Request) string {
	words := []string{fmt.Sprintf("%d B", r.TextSize)}
	if r.StructuredSize > 0 {
		words = append(words, fmt.Sprintf("%d B structured", r.StructuredSize))
	}
	if r.Media > 0 {
		words = append(words, count.Of(r.Media, "piece")+" that are no text")
	}
	return strings.Join(words, ", ")
}

func (p *textPrinter) server(file string, s *mcp.Server) {
	if s.Shell {
		p.linef("%s  shell  %s", file, count.Of(s.Calls, "command"))
		p.linef("")
		return
	}
	about := joined(s.Title, when(s.Version != "", "protocol "+s.Version), count.Of(s.Calls, "tool call"), count.Of(s.Messages, "message"))
	p.linef("%s  MCP server %s  %s", file, s.Name, about)
	if s.Gaps > 0 {
		p.linef("    %s not seen", count.Of(int(s.Gaps), "byte"))
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
