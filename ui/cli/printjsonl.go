package cli

import (
	"encoding/base64"
	"iter"
	"strings"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
)

// jsonPrinter writes the machine contract: one JSON object a line, a turn's calls and then the
// turn. What cannot be told is left out.
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

// addLatency writes how long a call took to become what it is, where the source has times.
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

// addResult writes what a tool gave, as a request has it.
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

// returnLine begins a line about a call in a later request.
func returnLine(kind string, r *sentBackCall) *jsonObject {
	o := lineOf(kind, r.file, r.of.Turn)
	o.int("call", int(r.of.Call))
	o.text("id", r.id)
	o.optionalText("name", r.name)
	o.int("exchange", r.Exchange)
	return o
}

// sentBack writes a line a call that a later request has in its history, and one of what its tool
// gave, if the call's line does not say it.
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

// parsedArgs is the arguments as a JSON value, null when they are none.
func parsedArgs(c *stream.Call) iter.Seq[[]byte] {
	switch {
	case c.Status() == stream.NoArguments && len(c.Args()) == 0:
		return display.CompactParts([]byte("{}"))
	case c.Syntax() != stream.SyntaxObject, c.Status() == stream.Unseen:
		return display.CompactParts([]byte("null"))
	}
	return display.CompactParts(c.Args())
}

// addExchange writes which exchange a turn came in, whose it is, what its server said, and who ended
// the turn, as far as that is known.
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

// addRejectedCall is what the model wrote as a call and the provider threw away, as the provider tells it.
func (o *jsonObject) addRejectedCall(c *stream.Call) {
	o.text("name", c.Name)
	o.text("message", string(c.Args()))
}

// wireBytes is how many bytes of the wire the turn's frames are.
func wireBytes(x *providers.Exchange, t *stream.Turn) int {
	if x == nil || int(t.LastFrame) >= x.Response.Frames() {
		return 0
	}
	start, _ := x.Response.FrameSpan(t.FirstFrame)
	_, end := x.Response.FrameSpan(t.LastFrame)
	return int(end - start)
}

func usageJSON(u stream.Usage) []byte {
	var o jsonObject
	o.addCount("input", u.Input)
	o.addCount("cache_read", u.CacheRead)
	o.addCount("cache_write", u.CacheWrite)
	o.addCount("output", u.Output)
	o.addCount("reasoning", u.Reasoning)
	o.addCount("processed_input", u.SeenInput)
	o.addCount("processed_output", u.SeenOutput)
	return o.end()
}

func (o *jsonObject) addFinding(f stream.Finding) {
	o.text("code", f.Code)
	o.text("severity", f.Severity.String())
	o.text("by", f.By.String())
	o.text("message", f.Message)
	o.int("event", f.Event)
	if f.Offset != stream.NoOffset {
		o.int("offset", f.Offset)
	}
}

// others writes how many lines of a log are of no exchange, and the last of them.
func (p *jsonPrinter) others(file string, lines providers.OtherLines) {
	o := new(jsonObject)
	o.text("type", "other_lines")
	o.text("file", file)
	o.int("lines", int(lines.Count))
	o.texts("last", mapSlice(lastFew(lines), func(line []byte) string { return string(line) }))
	p.writeObject(o)
}
