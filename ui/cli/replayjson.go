package cli

import (
	"bufio"

	"toolscope/providers/dialect"
	"toolscope/providers/replay"
)

// previewJSON writes one JSON object a preview. What is empty is left out, but
// for the losses and the body.
type previewJSON struct{ w *bufio.Writer }

func (p previewJSON) flush() error { return p.w.Flush() }

func (p previewJSON) begin(*subject) {}

func (p previewJSON) preview(s *subject, v *replay.Preview) {
	var o object
	o.text("type", "replay")
	o.text("file", s.file)
	o.int("turn", int(s.turn.Number)+1)
	if s.scope == replay.OneCall {
		o.int("call", s.calls[0].Number)
	} else {
		o.text("scope", s.scope.String())
	}
	if s.oneByOne {
		o.raw("one_by_one", []byte("true"))
	}
	o.text("from", s.from())
	o.text("to", v.To.Name)
	o.text("policy", v.Policy.Name)
	o.text("outcome", v.Outcome.String())
	o.raw("losses", lossList(s, v.Losses))
	o.raw("body", oneOrMore(v.Body))
	if len(v.Results) > 0 {
		o.raw("results", array(v.Results))
	}
	o.some("refused", v.Refused)
	if s.scope == replay.OneCall {
		for i := range v.Calls {
			o.sent(v, &v.Calls[i])
		}
	} else if len(v.Calls) > 0 {
		o.raw("calls", sentList(s, v))
	}
	_, _ = p.w.Write(o.line())
}

// oneOrMore is a message by itself, several as an array, and none as null.
func oneOrMore(texts [][]byte) []byte {
	switch len(texts) {
	case 0:
		return []byte("null")
	case 1:
		return texts[0]
	}
	return array(texts)
}

func lossList(s *subject, losses []replay.Loss) []byte {
	var all [][]byte
	for _, l := range losses {
		var o object
		o.text("code", l.Code)
		o.text("severity", l.Severity.String())
		o.text("message", l.Message)
		if l.Call > 0 && s.scope != replay.OneCall {
			o.int("call", s.number(l.Call))
		}
		if l.End > 0 {
			o.int("start", l.Start)
			o.int("end", l.End)
		}
		all = append(all, o.end())
	}
	return array(all)
}

// sentList is what becomes of each call of a turn or conversation.
func sentList(s *subject, v *replay.Preview) []byte {
	var all [][]byte
	for i := range v.Calls {
		c := &v.Calls[i]
		var o object
		o.int("call", s.number(c.Call))
		o.text("id", c.ID)
		o.text("name", c.Name)
		o.text("outcome", c.Outcome.String())
		o.some("refused", c.Refused)
		o.sent(v, c)
		all = append(all, o.end())
	}
	return array(all)
}

// sent writes the arguments of a call as they are sent, and how they differ from
// what the model wrote.
func (o *object) sent(v *replay.Preview, c *replay.Sent) {
	if !isSent(v, c) {
		return
	}
	if c.Form == dialect.TextForm {
		o.text("arguments_sent", string(c.Args))
	} else {
		o.raw("arguments_sent", c.Args)
	}
	o.some("encoded", c.Encoded)
	var edits [][]byte
	for _, e := range replay.Diff(c.Original, c.Args) {
		var o object
		o.int("start", e.Start)
		o.int("end", e.End)
		o.text("from", string(c.Original[e.Start:e.End]))
		o.text("to", string(e.To))
		edits = append(edits, o.end())
	}
	if len(edits) > 0 {
		o.raw("diff", array(edits))
	}
}

// isSent reports whether a call is in what would be sent.
func isSent(v *replay.Preview, c *replay.Sent) bool { return len(v.Body) > 0 && c.Args != nil }
