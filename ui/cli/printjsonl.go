package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/jq"
)

// jsonPrinter writes the stable format for scripts: one JSON object per line, the calls of a turn and then
// the turn. Unknown values are left out.
type jsonPrinter struct {
	lineWriter
	prices *price.Table
}

// lineOf begins a line about a turn.
func lineOf(kind, file string, turn int32) *jsonObject {
	o := new(jsonObject)
	o.text("type", kind)
	o.text("file", file)
	o.int("turn", int(turn)+1)
	return o
}

// addTurn writes the calls of a turn, and the turn.
func (p *jsonPrinter) addTurn(v *providers.View, file string, t *stream.Turn) {
	x := v.Exchange(t.Exchange)
	calls, thrown := wireCalls(t)
	for _, c := range calls {
		p.writeCall(v, file, t, c)
	}
	o := lineOf("turn", file, t.Number)
	o.text("dialect", t.Protocol)
	o.optionalText("model", t.Model)
	o.text("phase", t.Phase().String())
	o.optionalText("finish", t.Finish)
	o.int("text_bytes", len(t.Text))
	o.int("thinking_bytes", len(t.Thinking))
	o.int("calls", len(calls))
	if len(thrown) > 0 {
		listOf(o, "rejected_calls", thrown, (*jsonObject).addRejectedCall)
	}
	o.int("events", t.Events)
	o.int("frames", int(t.LastFrame-t.FirstFrame)+1)
	o.int("bytes", wireBytes(x, t))
	o.addExchange(x, t)
	if x != nil {
		o.optionalText("peeled", x.Head.Wrappers)
		if len(x.Head.Lacks) > 0 {
			o.texts("lacks", x.Head.Lacks)
		}
	}
	if t.Request != nil {
		o.optionalText("purpose", t.Request.Purpose)
	}
	o.raw("usage", usageJSON(t.Usage))
	o.optionalText("service_tier", t.Usage.Tier)
	o.addCost(costOf(p.prices, x, t))
	listOf(o, "findings", t.Findings, (*jsonObject).addFinding)
	p.writeObject(o)
}

// writeCall writes a call.
func (p *jsonPrinter) writeCall(v *providers.View, file string, t *stream.Turn, c *stream.Call) {
	o := lineOf("call", file, t.Number)
	o.int("call", c.Number)
	o.text("dialect", t.Protocol)
	o.text("id", c.ID)
	o.optionalText("name", c.Name)
	o.optionalText("kind", c.Kind)
	o.text("executor", ifElse(c.RunByProvider, "server", "client"))
	o.text("phase", c.Phase().String())
	o.text("syntax", c.Syntax().String())
	o.text("status", c.Status().String())
	o.streamValue("arguments_raw", display.JSONParts(c.Args()), p.lineWriter)
	if !utf8.Valid(c.Args()) {
		o.text("arguments_raw_base64", base64.StdEncoding.EncodeToString(c.Args()))
	}
	o.streamValue("arguments", parsedArgs(c), p.lineWriter)
	o.int("deltas", c.Deltas())
	o.time("t_open_ms", c.OpenedAt)
	o.time("t_first_arg_ms", c.FirstArgAt)
	o.time("t_sealed_ms", c.SealedAt)
	o.addLatency(v, t, c)
	if r := c.LatestResult(); r != nil {
		o.addResult(r)
	}
	o.addExchange(v.Exchange(t.Exchange), t)
	listOf(o, "findings", ownFindings(c), (*jsonObject).addFinding)
	p.writeObject(o)
}

// addLatency writes when a call reached each of its phases, if the source has times.
func (o *jsonObject) addLatency(v *providers.View, t *stream.Turn, c *stream.Call) {
	l := v.Latency(t, c)
	if l.From < 0 {
		return
	}
	var took jsonObject
	took.text("since", ifElse(l.RequestSeen, "request", "response"))
	for _, m := range l.TimePoints() {
		took.time(strings.ReplaceAll(m.Name, " ", "_")+"_ms", m.At)
	}
	took.time("silence_ms", l.Gap)
	if l.Stalls > 0 {
		took.int("stalls", l.Stalls)
	}
	took.optionalText("arrives", l.Arrival.String())
	o.raw("latency", took.end())
}

// addResult writes the result of a call, as a request carries it.
func (o *jsonObject) addResult(r *stream.SentBackCall) {
	var gave jsonObject
	gave.flag("error", r.ResultCode == stream.ResultFailed)
	gave.int("bytes", r.Result.Bytes)
	if r.Result.Media > 0 {
		gave.int("media", r.Result.Media)
	}
	gave.text("text", r.Result.Text)
	o.raw("result", gave.end())
}

// returnLine begins a line about a call that a later request sends back.
func returnLine(kind string, r *sentBackCall) *jsonObject {
	o := lineOf(kind, r.file, r.of.Turn)
	o.int("call", int(r.of.Call))
	o.text("id", r.id)
	o.optionalText("name", r.name)
	o.int("exchange", r.Exchange)
	return o
}

// sentBack writes a line for each call that a later request carries, and one for its result if the line of
// the call doesn't have it.
func (p *jsonPrinter) sentBack(calls []sentBackCall) {
	for i := range calls {
		r := &calls[i]
		o := returnLine("sent_back", r)
		o.text("as", r.Outcome)
		o.flagIf("kept", r.KeptByProvider)
		o.texts("policies", r.policyNames())
		o.text("result", r.resultWord())
		listOf(o, "findings", r.findings, (*jsonObject).addFinding)
		p.writeObject(o)
		if r.late {
			o := returnLine("result", r)
			o.addResult(&r.SentBackCall)
			p.writeObject(o)
		}
	}
}

// parsedArgs returns the arguments as a JSON value, null if they are not a complete object.
func parsedArgs(c *stream.Call) iter.Seq[[]byte] {
	switch {
	case c.Status() == stream.NoArguments && len(c.Args()) == 0:
		return display.CompactParts([]byte("{}"))
	case c.Syntax() != json.SyntaxObject, c.Status() == stream.Unseen:
		return display.CompactParts([]byte("null"))
	}
	return display.CompactParts(c.Args())
}

// addExchange writes the exchange of a turn, its session and agent, the HTTP status, and which party ended
// the turn, if known.
func (o *jsonObject) addExchange(x *providers.Exchange, t *stream.Turn) {
	o.int("exchange", t.Exchange)
	if ask := t.Request; ask != nil {
		o.optionalText("session", ask.Session)
		o.optionalText("agent", ask.Agent)
		o.optionalText("parent_agent", ask.Parent)
	}
	if x != nil && x.Head.Status != 0 {
		o.int("http_status", x.Head.Status)
	}
	o.optionalText("ended_by", t.EndedBy.String())
}

// addRejectedCall writes a call that the provider discarded, as the provider reports it.
func (o *jsonObject) addRejectedCall(c *stream.Call) {
	o.text("name", c.Name)
	o.text("message", string(c.Args()))
}

// wireBytes returns the size of a turn's frames on the wire.
func wireBytes(x *providers.Exchange, t *stream.Turn) int {
	if x == nil || int(t.LastFrame) >= x.Response.Frames() {
		return 0
	}
	start, _ := x.Response.FrameSpan(t.FirstFrame)
	_, end := x.Response.FrameSpan(t.LastFrame)
	return int(end - start)
}

// usageJSON returns the token counts that were reported, as an object.
func usageJSON(u stream.Usage) []byte {
	var o jsonObject
	o.addCount("input", u.Input)
	o.addCount("cache_read", u.CacheRead)
	o.addCount("cache_write", u.CacheWrite)
	o.addCount("output", u.Output)
	o.addCount("reasoning", u.Reasoning)
	o.addCount("processed_input", u.SeenInput)
	o.addCount("processed_output", u.SeenOutput)
	o.addCount("input_audio", u.InputAudio)
	o.addCount("cache_read_audio", u.CacheReadAudio)
	o.addCount("output_audio", u.OutputAudio)
	o.addCount("web_searches", u.WebSearches)
	return o.end()
}

// addFinding writes a finding.
func (o *jsonObject) addFinding(f stream.Finding) {
	o.text("code", f.Code)
	o.text("severity", f.Severity.String())
	o.text("by", f.By.String())
	o.addMessage(f.Message, f.Quoted)
	o.int("event", f.Event)
	if f.Offset != stream.NoOffset {
		o.int("offset", f.Offset)
	}
}

// others writes how many lines of a log belong to no exchange, and the last of them.
func (p *jsonPrinter) others(file string, lines providers.OtherLines) {
	o := new(jsonObject)
	o.text("type", "other_lines")
	o.text("file", file)
	o.int("lines", int(lines.Count))
	o.texts("last", mapSlice(lastFew(lines), func(line []byte) string { return string(line) }))
	p.writeObject(o)
}

// jqPrinter writes the results of an expression, one per line: on each call's arguments, or on each line of
// print --format jsonl.
type jqPrinter struct {
	lineWriter
	app    *app
	expr   *jq.Expr
	as     *jsonPrinter // nil if the expression runs on arguments
	buffer *bytes.Buffer
}

// newJQPrinter returns the printer of --jq.
func (pr *printing) newJQPrinter(prices *price.Table) (printer, error) {
	expr, err := jq.Parse(pr.jq)
	if err != nil {
		return nil, usageErrorf("--jq %s", err)
	}
	p := &jqPrinter{lineWriter: pr.app.stdout.withBuffer(), app: pr.app, expr: expr, buffer: new(bytes.Buffer)}
	if pr.format == "jsonl" {
		p.as = &jsonPrinter{lineWriter{p.buffer}, prices}
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
	calls, _ := wireCalls(t)
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

// others runs the expression on the line about other lines.
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

// runExpr writes the results for one text. An error of the expression is printed and sets the exit code; text
// that is not JSON is only a note.
func (p *jqPrinter) runExpr(of string, text []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), jq.Timeout)
	defer cancel()
	for value, err := range p.expr.Run(ctx, text) {
		if err == nil {
			p.writeParts(display.CompactParts(value))
			continue
		}
		p.app.printNote("--jq %s: %s: %s", p.app.jq, of, err)
		if !jq.IsNotJSON(err) {
			p.app.code = max(p.app.code, 1)
		}
	}
}
