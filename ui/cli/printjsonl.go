package cli

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
)

// jsonPrinter writes the machine contract: one JSON object a line, a turn's
// calls and then the turn. What cannot be told is left out.
type jsonPrinter struct {
	w      *bufio.Writer
	prices *price.Table
}

func (p *jsonPrinter) flush() error { return p.w.Flush() }

func (p *jsonPrinter) turn(file string, x *providers.Exchange, t *stream.Turn) {
	for _, c := range t.Calls {
		if !c.Attempt {
			_, _ = p.w.Write(callLine(file, x, t, c))
		}
	}
	_, _ = p.w.Write(turnLine(file, x, t, costOf(p.prices, x, t)))
}

// sentBack writes a line a call that a later request has in its history.
func (p *jsonPrinter) sentBack(calls []returned) {
	for _, r := range calls {
		var o object
		o.text("type", "sent_back")
		o.text("file", r.file)
		o.int("turn", int(r.turn.Number)+1)
		o.int("call", r.call.Number)
		o.text("id", r.call.ID)
		o.text("name", r.call.Name)
		o.int("exchange", r.Exchange)
		o.text("as", r.As)
		o.texts("policies", r.policies())
		o.text("result", r.result())
		o.raw("findings", findingList(r.findings))
		_, _ = p.w.Write(o.line())
	}
}

func callLine(file string, x *providers.Exchange, t *stream.Turn, c *stream.Call) []byte {
	var o object
	o.text("type", "call")
	o.text("file", file)
	o.int("turn", int(t.Number)+1)
	o.int("call", c.Number)
	o.text("dialect", t.Dialect)
	o.text("id", c.ID)
	o.text("name", c.Name)
	o.text("kind", c.Kind)
	executor := "client"
	if c.Server {
		executor = "server"
	}
	o.text("executor", executor)
	o.text("phase", c.Phase().String())
	o.text("syntax", c.Syntax().String())
	o.text("status", c.Status().String())
	o.b = slices.Grow(o.b, 2*len(c.Args())+1<<10)
	o.key("arguments_raw")
	o.b = display.AppendJSON(o.b, c.Args())
	if !utf8.Valid(c.Args()) {
		o.text("arguments_raw_base64", base64.StdEncoding.EncodeToString(c.Args()))
	}
	o.raw("arguments", parsed(c))
	o.int("deltas", len(c.Deltas()))
	o.time("t_open_ms", c.OpenedAt)
	o.time("t_first_arg_ms", c.FirstArgAt)
	o.time("t_sealed_ms", c.SealedAt)
	o.exchange(x, t)
	o.raw("findings", findingList(c.Findings))
	return o.line()
}

// parsed is the arguments as a JSON value, null when they are none.
func parsed(c *stream.Call) []byte {
	switch {
	case c.Status() == stream.NoArguments && len(c.Args()) == 0:
		return []byte("{}")
	case c.Syntax() != stream.SyntaxObject, c.Status() == stream.Unseen:
		return []byte("null")
	}
	var compact bytes.Buffer
	compact.Grow(len(c.Args()))
	if json.Compact(&compact, c.Args()) != nil {
		return []byte("null") // cannot be: the lexer has read it
	}
	return compact.Bytes()
}

func turnLine(file string, x *providers.Exchange, t *stream.Turn, cost price.Figure) []byte {
	var o object
	o.text("type", "turn")
	o.text("file", file)
	o.int("turn", int(t.Number)+1)
	o.text("dialect", t.Dialect)
	if t.Model != "" {
		o.text("model", t.Model)
	}
	o.text("phase", t.Phase().String())
	o.text("finish", t.Finish)
	o.int("text_bytes", len(t.Text))
	o.int("thinking_bytes", len(t.Thinking))
	rejected, n := rejectedCalls(t)
	o.int("calls", len(t.Calls)-n)
	if n > 0 {
		o.raw("rejected_calls", rejected)
	}
	o.int("events", t.Events)
	o.int("frames", int(t.LastFrame-t.FirstFrame)+1)
	o.int("bytes", wireBytes(x, t))
	o.exchange(x, t)
	o.raw("usage", usage(t.Usage))
	if t.Usage.Tier != "" {
		o.text("service_tier", t.Usage.Tier)
	}
	o.cost(cost)
	o.raw("findings", findingList(t.Findings))
	return o.line()
}

// exchange writes which exchange a turn came in, what its server said, and who
// ended the turn, as far as that is known.
func (o *object) exchange(x *providers.Exchange, t *stream.Turn) {
	o.int("exchange", t.Exchange)
	if x != nil && x.Head.Status != 0 {
		o.int("http_status", x.Head.Status)
	}
	if t.EndedBy != 0 {
		o.text("ended_by", t.EndedBy.String())
	}
}

// rejectedCalls lists what is no call of the wire: what the model wrote as one
// and the provider threw away, as the provider tells it.
func rejectedCalls(t *stream.Turn) (list []byte, n int) {
	for _, c := range t.Calls {
		if !c.Attempt {
			continue
		}
		if n++; n > 1 {
			list = append(list, ',')
		}
		var o object
		o.text("name", c.Name)
		o.text("message", string(c.Args()))
		list = append(list, o.end()...)
	}
	return append(append([]byte{'['}, list...), ']'), n
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

func usage(u stream.Usage) []byte {
	var o object
	o.count("input", u.Input)
	o.count("cache_read", u.CacheRead)
	o.count("cache_write", u.CacheWrite)
	o.count("output", u.Output)
	o.count("reasoning", u.Reasoning)
	o.count("processed_input", u.SeenInput)
	o.count("processed_output", u.SeenOutput)
	return o.end()
}

func findingList(list []stream.Finding) []byte {
	b := []byte{'['}
	for i, f := range list {
		if i > 0 {
			b = append(b, ',')
		}
		var o object
		o.text("code", f.Code)
		o.text("severity", f.Severity.String())
		o.text("by", f.By.String())
		o.text("message", f.Message)
		o.int("event", f.Event)
		if f.Offset != stream.NoOffset {
			o.int("offset", f.Offset)
		}
		b = append(b, o.end()...)
	}
	return append(b, ']')
}
