package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/providers/toolrun"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
	units "toolscope/ui/screen"
)

// toolRunPrinter prints requests to MCP servers.
type toolRunPrinter interface {
	addRequest(file string, r *mcp.Request, a *toolrun.ToolRequest)
	notRun(file string, n *toolrun.CallWithoutRun)
	addServer(file string, s *mcp.Server)
}

// requestPrinter tracks the requests to servers that have been printed.
type requestPrinter struct {
	seen   int            // number of requests that have been examined
	waits  []*mcp.Request // requests that have not been printed yet
	notRun int            // number of printed calls without a tool run
}

// maxWaitingRequests is the maximum number of requests that wait until the model receives their results.
const maxWaitingRequests = 1 << 10

// isFinished reports whether all facts about a request are known. The request must have a response. If the request is
// a tool run and the source has turns, the model must have received the result too.
func isFinished(in *providers.Inspector, r *mcp.Request) bool {
	if r.State == mcp.Open {
		return false
	}
	a := in.ToolRun(r)
	return a == nil || a.ModelHasResult || len(in.Session().Turns) == 0
}

// printAnswered prints the finished requests, the oldest requests if too many are waiting, and new calls without a
// tool run. If all is true, it prints all requests, and then the servers.
func (p *requestPrinter) printAnswered(q *turnPrinter, to toolRunPrinter, all bool) {
	log := q.in.Executed()
	p.waits = append(p.waits, log.Requests[p.seen:]...)
	p.seen = len(log.Requests)
	left := p.waits[:0]
	for i, r := range p.waits {
		if !all && !isFinished(q.in, r) && len(p.waits)-i < maxWaitingRequests {
			left = append(left, r)
			continue
		}
		to.addRequest(q.fileOfAsked(r.Exchange), r, q.in.ToolRun(r))
	}
	for not := q.in.NotRun(); p.notRun < len(not); p.notRun++ {
		to.notRun(q.path, &not[p.notRun])
	}
	clear(p.waits[len(left):])
	if p.waits = left; all {
		for _, s := range log.Servers {
			to.addServer(q.path, s)
		}
	}
}

// addRequest writes a line for a request to a server.
func (p *jsonPrinter) addRequest(file string, r *mcp.Request, a *toolrun.ToolRequest) {
	o := new(jsonObject)
	o.text("type", ifElse(r.IsCall(), "executed", "mcp_request"))
	o.text("file", file)
	if a != nil && a.Call != nil {
		o.addCallRef(a.Call.Ref)
	}
	o.text("server", r.Server.Name)
	o.optionalText("from", textIf(r.FromServer, "server"))
	o.text("method", r.Method)
	o.optionalText(ifElse(r.IsCall() || r.Method == "tools/call", "tool", "about"), r.Tool)
	if o.optionalText("id", r.CallID); a != nil {
		o.addMatch(a)
	}
	o.int("exchange", r.Exchange)
	o.optionalText("request", r.ID)
	o.text("state", r.State.String())
	o.time("t_asked_ms", r.AskedAt)
	o.time("took_ms", r.Duration())
	if r.ArgsSize > 0 {
		o.int("arguments_bytes", r.ArgsSize)
		o.text("arguments_raw", string(r.Args))
	}
	p.addOutcome(o, r)
	if r.Progress > 0 {
		o.int("progress", r.Progress)
	}
	if r.Rounds > 0 {
		o.int("rounds", r.Rounds+1)
	}
	if a != nil {
		if a.ModelHasResult {
			o.int("model_got_bytes", a.ResultBytes)
			o.optionalText("result", string(a.Result))
		}
		o.addFindings(a.Findings)
	}
	p.writeObject(o)
}

// addCallRef writes the turn and the number of a call, as in the line of that call.
func (o *jsonObject) addCallRef(r stream.Ref) {
	o.int("turn", int(r.Turn)+1)
	o.int("call", int(r.Call))
}

// addMatch writes the call that a request runs, the basis for the match, the times, and the differences between the
// arguments. If the call is not certain, it writes the possible calls.
func (o *jsonObject) addMatch(a *toolrun.ToolRequest) {
	if a.Call == nil {
		if len(a.Candidates) > 0 {
			listOf(o, "may_be", a.Candidates, func(o *jsonObject, of *toolrun.Call) { o.addCallRef(of.Ref) })
		}
		o.flagIf("unasked", a.Unasked)
		return
	}
	if a.Request.CallID == "" {
		o.optionalText("id", a.Call.ID)
	}
	o.text("joined", a.Basis.String())
	o.int("of", a.EqualCalls)
	if d, ok := a.AfterSeal(); ok {
		o.signedTime("after_seal_ms", d)
	}
	if d, ok := a.AfterTurn(); ok {
		o.signedTime("after_turn_ms", d)
	}
	o.optionalText("args", a.Args)
	o.optionalText("differs", a.Path)
}

// signedTime writes a time that may be negative.
func (o *jsonObject) signedTime(name string, d time.Duration) {
	o.key(name)
	o.b = strconv.AppendFloat(o.b, float64(d.Microseconds())/1000, 'f', -1, 64)
}

// notRun writes a line for a call without a tool run.
func (p *jsonPrinter) notRun(file string, n *toolrun.CallWithoutRun) {
	o := new(jsonObject)
	o.text("type", "executed")
	o.text("file", file)
	o.addCallRef(n.Ref)
	o.text("server", n.Server)
	o.text("tool", n.Tool)
	o.optionalText("id", n.ID)
	o.text("state", "not executed")
	o.addFindings([]stream.Finding{n.Finding})
	p.writeObject(o)
}

// addOutcome writes the response to a request.
func (p *jsonPrinter) addOutcome(o *jsonObject, r *mcp.Request) {
	switch r.State {
	case mcp.Refused:
		o.int("error_code", int(r.Code))
		o.text("error", r.Error)
	case mcp.Done:
		if r.IsCall() {
			o.flag("is_error", r.Failed)
		}
		if r.Shell() {
			o.optionalText("exit", r.Exit)
			return
		}
		o.int("result_bytes", r.Size)
		if r.TextSize > 0 {
			o.int("text_bytes", r.TextSize)
			o.text("text", strings.ToValidUTF8(r.Text[:min(len(r.Text), stream.MaxResultBytes)], ""))
		}
		if r.StructuredSize > 0 {
			o.int("structured_bytes", r.StructuredSize)
		}
		if r.Media > 0 {
			o.int("media", r.Media)
		}
	}
}

// addServer writes a line for an MCP server.
func (p *jsonPrinter) addServer(file string, s *mcp.Server) {
	o := new(jsonObject)
	if s.Shell {
		return // a shell's commands have their own lines
	}
	o.text("type", "mcp_server")
	o.text("file", file)
	o.text("server", s.Name)
	o.optionalText("title", s.Title)
	o.optionalText("protocol", s.Version)
	o.int("calls", s.Calls)
	o.int("messages", s.Messages)
	if s.Gaps > 0 {
		o.int("unseen_bytes", int(s.Gaps))
	}
	o.optionalText("ended", s.Ended)
	o.addFindings(s.Findings())
	p.writeObject(o)
}

// addRequest writes a request to a server, with its arguments and outcome.
func (p *textPrinter) addRequest(file string, r *mcp.Request, a *toolrun.ToolRequest) {
	words := []string{file, "  ", r.Server.Name, "  ", textIf(r.FromServer, "asks "), r.Method}
	if r.Tool != "" {
		words = append(words, " ", r.Tool)
	}
	p.printLine("%s%s  %s", words[0], inBold(strings.Join(words[1:], "")), inMuted(strings.Join(requestOutcome(r), "  ")))
	if a != nil {
		p.writeMatch(a)
	}
	if r.ArgsSize > 0 {
		p.writeLongLine(argsIndent, display.CleanParts(r.Args))
	}
	switch text := r.Text; {
	case r.State == mcp.Refused:
		p.printLine("    %s  %d  %s", inInk(badInk, "error"), r.Code, r.Error)
	case r.Shell():
		if r.Exit != "" {
			p.printLine("    %s", r.Exit)
		}
	case r.State == mcp.Done && r.IsCall():
		const most = 512
		if n := min(most, len(text)); n < r.TextSize {
			text = strings.ToValidUTF8(text[:n], "") + "…"
		}
		is := ifElse(r.Failed, ofRole(units.Caution, "error result"), inMuted("result"))
		p.printLine("    %s  %s  %s", is, inMuted(resultSizes(r)), text)
	}
	if a == nil {
		return
	}
	if a.ModelHasResult {
		p.printLine("    %s   %s", inMuted("model"), joinDots(string(a.Result), fmt.Sprintf("it got %d B", a.ResultBytes)))
	}
	p.writeFindings(a.Findings)
}

// writeMatch writes the call that a request runs, the basis for the match, the times, and whether the arguments are
// the same. If the call is not certain, it writes the possible calls.
func (p *textPrinter) writeMatch(a *toolrun.ToolRequest) {
	if a.Call == nil {
		switch {
		case len(a.Candidates) > 0:
			calls := mapSlice(a.Candidates, func(of *toolrun.Call) string { return fmt.Sprintf("turn %d, call %d", of.Ref.Turn+1, of.Ref.Call) })
			p.printLine("    %s    unknown: may be %s", inMuted("call"), strings.Join(calls, ", or "))
		case a.Unasked:
			p.printLine("    %s    none: no recorded call asked for it", inMuted("call"))
		}
		return
	}
	words := []string{fmt.Sprintf("turn %d, call %d, %s", a.Call.Ref.Turn+1, a.Call.Ref.Call, a.Explain())}
	if d, ok := a.AfterSeal(); ok {
		words = append(words, beforeAfter(d)+" its arguments were final")
	}
	if d, ok := a.AfterTurn(); ok {
		words = append(words, beforeAfter(d)+" its turn ended")
	}
	if a.IsPrefix {
		words = append(words, fmt.Sprintf("only the first %d B of the arguments, as a JSON string", a.PrefixBytes))
	} else if a.Args == "altered" {
		words = append(words, "other arguments"+textIf(a.Path != "", " at "+a.Path))
	} else if a.Args != "" {
		words = append(words, "the same arguments")
	}
	p.printLine("    %s    %s", inMuted("call"), strings.Join(words, ", "))
}

// beforeAfter formats a time before or after an event.
func beforeAfter(d time.Duration) string {
	return fmt.Sprintf("%.1f ms %s", float64(d.Abs().Microseconds())/1000, ifElse(d < 0, "before", "after"))
}

// notRun writes a line for a call without a tool run, and the finding about it.
func (p *textPrinter) notRun(file string, n *toolrun.CallWithoutRun) {
	p.printLine("%s  %s  %s  not executed  %s", file, n.Server, inBold(n.Tool), inMuted(fmt.Sprintf("turn %d, call %d", n.Ref.Turn+1, n.Ref.Call)))
	p.writeFindings([]stream.Finding{n.Finding})
}

// requestOutcome describes the state, the duration, the rounds and the call of a request.
func requestOutcome(r *mcp.Request) (words []string) {
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

// resultSizes describes the size of a result.
func resultSizes(r *mcp.Request) string {
	words := []string{fmt.Sprintf("%d B", r.TextSize)}
	if r.StructuredSize > 0 {
		words = append(words, fmt.Sprintf("%d B structured", r.StructuredSize))
	}
	if r.Media > 0 {
		words = append(words, count.Of(r.Media, "part")+" without text")
	}
	return strings.Join(words, ", ")
}

// addServer writes an MCP server and its notes.
func (p *textPrinter) addServer(file string, s *mcp.Server) {
	if s.Shell {
		p.printLine("%s  shell  %s", file, count.Of(s.Calls, "command"))
		p.printLine("")
		return
	}
	about := joinDots(s.Title, textIf(s.Version != "", "protocol "+s.Version), count.Of(s.Calls, "tool call"), count.Of(s.Messages, "message"))
	p.printLine("%s  MCP server %s  %s", file, inBold(s.Name), inMuted(about))
	if s.Gaps > 0 {
		p.printLine("    %s missed", count.Of(int(s.Gaps), "byte"))
	}
	if s.Ended != "" {
		p.printLine("    %s  %s", inMuted("ended"), s.Ended)
	}
	for _, n := range s.Notes {
		if n.Finding == nil {
			p.printLine("    %s  %s", inMuted("wrote"), n.Text)
		}
	}
	p.writeFindings(s.Findings())
	p.printLine("")
}
