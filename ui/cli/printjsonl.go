package cli

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/filter"
	"toolscope/ui/present"
)

// jsonPrinter writes the stable format for scripts. It writes one JSON object per line: first the calls of a
// turn, and then the turn. Unknown values are left out.
type jsonPrinter struct {
	lineWriter
	prices *price.Table
	facts  present.Facts // memory for the facts of a line
}

// lineOf begins the object for a line about a turn.
func lineOf(kind, file string, turn int32) *jsonObject {
	o := lineObjects.Get().(*jsonObject)
	o.b, o.begun = o.b[:0], false
	o.text("type", kind)
	o.text("file", file)
	o.int("turn", int(turn)+1)
	return o
}

// addTurn writes the lines of a turn's calls, and then the line of the turn.
func (p *jsonPrinter) addTurn(v *providers.View, file string, t *stream.Turn) {
	calls, _ := present.Calls(t)
	for _, c := range calls {
		p.writeCall(v, file, t, c)
	}
	p.writeFacts(lineOf("turn", file, t.Number), present.AppendTurn(p.facts[:0], v, p.prices, t))
}

// writeCall writes the line of a call.
func (p *jsonPrinter) writeCall(v *providers.View, file string, t *stream.Turn, c *stream.Call) {
	o := lineOf("call", file, t.Number)
	o.int("call", c.Number)
	p.writeFacts(o, present.AppendCall(p.facts[:0], v, p.prices, t, c))
}

// writeFacts writes facts as the remaining part of an object and ends the line.
func (p *jsonPrinter) writeFacts(o *jsonObject, facts present.Facts) {
	for _, f := range facts {
		if parts, is := f.JSON.(iter.Seq[[]byte]); is {
			o.streamValue(f.Key, parts, p.lineWriter)
		} else {
			o.addFact(f)
		}
	}
	p.writeObject(o)
	clear(facts) // they keep the turn in memory
	p.facts = facts
}

// returnLine begins the object for a line about a call that a later request sends back.
func returnLine(kind string, r *sentBackCall) *jsonObject {
	o := lineOf(kind, r.file, r.of.Turn)
	o.int("call", int(r.of.Call))
	o.text("id", r.id)
	o.optionalText("name", r.name)
	o.int("exchange", r.Exchange)
	return o
}

// sentBack writes a line for each call that a later request carries. If the line about the call does not have
// the result, it also writes a line for the result.
func (p *jsonPrinter) sentBack(calls []sentBackCall) {
	for i := range calls {
		r := &calls[i]
		o := returnLine("sent_back", r)
		o.text("as", r.Outcome)
		o.optionalText("reasoning", r.Reasoning)
		o.optionalText("signature", r.Signature)
		o.flagIf("kept", r.KeptByProvider)
		o.texts("policies", r.policyNames())
		o.text("result", r.resultWord())
		o.addFindings(r.findings)
		p.writeObject(o)
		if r.late {
			o := returnLine("result", r)
			o.addObject("result", present.ResultFacts(&r.SentBackCall))
			p.writeObject(o)
		}
	}
}

// others writes the number of log lines that belong to no exchange, and the last of these lines.
func (p *jsonPrinter) others(file string, lines providers.OtherLines) {
	o := new(jsonObject)
	o.text("type", "other_lines")
	o.text("file", file)
	o.int("lines", int(lines.Count))
	o.texts("last", mapSlice(lastFew(lines), func(line []byte) string { return string(line) }))
	p.writeObject(o)
}

// jqPrinter writes the results of an expression, one per line. The expression runs on the arguments of each call,
// or on each line of print --format jsonl.
type jqPrinter struct {
	lineWriter
	app    *app
	expr   *filter.JQExpr
	as     *jsonPrinter // nil if the expression runs on arguments
	buffer *bytes.Buffer
}

// newJQPrinter returns the printer for --jq.
func (pr *printing) newJQPrinter(prices *price.Table) (printer, error) {
	expr, err := filter.ParseJQ(pr.jq)
	if err != nil {
		return nil, usageErrorf("--jq %s", err)
	}
	p := &jqPrinter{lineWriter: pr.app.stdout.withBuffer(), app: pr.app, expr: expr, buffer: new(bytes.Buffer)}
	if pr.format == "jsonl" {
		p.as = &jsonPrinter{lineWriter: lineWriter{to: p.buffer}, prices: prices}
	}
	return p, nil
}

// addTurn runs the expression on the calls of a turn, or on their lines.
func (p *jqPrinter) addTurn(v *providers.View, file string, t *stream.Turn) {
	if p.as != nil {
		p.as.addTurn(v, file, t)
		p.runBuffered()
		return
	}
	calls, _ := present.Calls(t)
	for _, c := range calls {
		p.runExpr(fmt.Sprintf("%s turn %d call %d", file, t.Number+1, c.Number), c.Args())
	}
}

// sentBack runs the expression on the lines of calls that were sent back.
func (p *jqPrinter) sentBack(calls []sentBackCall) {
	if p.as != nil {
		p.as.sentBack(calls)
		p.runBuffered()
	}
}

// others runs the expression on the line about the log lines that belong to no exchange.
func (p *jqPrinter) others(file string, lines providers.OtherLines) {
	if p.as != nil {
		p.as.others(file, lines)
		p.runBuffered()
	}
}

// runBuffered runs the expression on the buffered lines.
func (p *jqPrinter) runBuffered() {
	for line := range bytes.Lines(p.buffer.Bytes()) {
		p.runExpr("a line", line)
	}
	p.buffer.Reset()
}

// runExpr writes the results for one text. If the expression fails, it prints the error and sets the exit code. If
// the text is not JSON, it only prints a note.
func (p *jqPrinter) runExpr(of string, text []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), filter.JQTimeout)
	defer cancel()
	for value, err := range p.expr.Run(ctx, text) {
		if err == nil {
			p.writeParts(display.CompactParts(value))
			continue
		}
		p.app.printNote("--jq %s: %s: %s", p.app.jq, of, err)
		if !filter.IsNotJSON(err) {
			p.app.code = max(p.app.code, 1)
		}
	}
}

// waitingLines writes a JSON line when an open exchange starts to wait, starts to wait for something else, or
// ends. It checks once a second, so it writes few lines about quick responses.
type waitingLines struct {
	to   *jsonPrinter
	file string
	last map[int]waitingLine // latest line, by exchange

	requests int            // number of requests to MCP servers and shells that were read
	runs     []*mcp.Request // tool runs that have not ended
}

// waitingLine is the latest line about an exchange.
type waitingLine struct {
	state   providers.TurnState
	stalled bool
	at      time.Time
}

const (
	waitingTime = time.Second      // interval between two checks
	stalledTime = 30 * time.Second // interval between two lines about a stall
)

// writeDue writes the lines that are due.
func (w *waitingLines) writeDue(in *providers.Inspector, now time.Time) {
	v := in.View()
	for _, x := range v.Exchanges() {
		last, known := w.last[x.Number]
		clock, timed := v.WallClock(x.Number, x.LastRecordAt())
		wait, waits := v.WaitingAt(x, x.LastRecordAt()+now.Sub(clock))
		if t := v.LatestOf(x.Number); known && (x.Ended || !waits && t != nil && t.Closed()) {
			delete(w.last, x.Number)
			o := w.beginLine(v, x, "client")
			o.text("state", ifElse(t != nil && providers.AwaitsApproval(t), "approval", "client"))
			w.to.writeObject(o)
		}
		if !timed || !waits {
			continue
		}
		same := known && last.state == wait.State && last.stalled == wait.Stalled
		if same && (!wait.Stalled || now.Sub(last.at) < stalledTime) {
			continue
		}
		w.last[x.Number] = waitingLine{wait.State, wait.Stalled, now}
		w.writeLine(v, x, &wait)
	}
	w.writeToolRuns(in, now)
}

// writeToolRuns writes a line about each tool run that has begun, and about each that has ended, since the last check.
// It writes nothing about a tool run that began and ended between two checks.
func (w *waitingLines) writeToolRuns(in *providers.Inspector, now time.Time) {
	v := in.View()
	write := func(r *mcp.Request, on string) {
		o := new(jsonObject)
		o.text("type", "waiting")
		o.text("file", w.file)
		o.int("exchange", r.Exchange)
		if a := in.ToolRun(r); a != nil && a.Call != nil {
			o.addCallRef(a.Call.Ref)
		}
		o.text("on", on)
		o.text("state", on)
		o.optionalText("tool", r.Tool)
		if began, timed := v.WallClock(r.Exchange, r.AskedAt); timed && on == "tool" {
			o.time("since_ms", now.Sub(began))
		}
		w.to.writeObject(o)
	}
	w.runs = slices.DeleteFunc(w.runs, func(r *mcp.Request) (ended bool) {
		if ended = !v.IsRunning(r); ended {
			write(r, "client")
		}
		return ended
	})
	all := v.Executed()
	for _, r := range all[w.requests:] {
		if v.IsRunning(r) {
			w.runs = append(w.runs, r)
			write(r, "tool")
		}
	}
	w.requests = len(all)
}

// beginLine begins a line about an exchange. The parameter on is the party for which the exchange is waiting.
func (w *waitingLines) beginLine(v *providers.View, x *providers.Exchange, on string) *jsonObject {
	o := new(jsonObject)
	o.text("type", "waiting")
	o.text("file", w.file)
	o.int("exchange", x.Number)
	if t := v.LatestOf(x.Number); t != nil {
		o.int("turn", int(t.Number)+1)
		if on != "client" && len(t.Calls) > 0 && t.Calls[len(t.Calls)-1].MayGrow() {
			o.int("call", len(t.Calls))
		}
		if t.Request != nil {
			o.optionalText("session", t.Request.Session)
			o.optionalText("agent", t.Request.Agent)
		}
	}
	o.text("on", on)
	return o
}

// writeLine writes the party for which an open exchange is waiting.
func (w *waitingLines) writeLine(v *providers.View, x *providers.Exchange, wait *providers.Waiting) {
	on := "provider"
	switch wait.State {
	case providers.SendingRequest:
		on = "client"
	case providers.Held:
		on = "toolscope"
	}
	o := w.beginLine(v, x, on)
	o.text("state", strings.ReplaceAll(wait.State.String(), " ", "_"))
	o.time("since_ms", wait.For)
	if wait.Gaps > 0 {
		o.time("usual_ms", wait.Usual)
		o.time("longest_ms", wait.Longest)
		o.int("of", wait.Gaps)
	}
	o.flagIf("stalled", wait.Stalled)
	w.to.writeObject(o)
}
