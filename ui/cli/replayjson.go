package cli

import (
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
)

// previewJSON writes one JSON object per preview. Empty values are left out, except the losses and the body.
type previewJSON struct{ lineWriter }

// writeHeading writes nothing.
func (p previewJSON) writeHeading(*previewSubject) {}

// writePreview writes a preview.
func (p previewJSON) writePreview(s *previewSubject, v *replay.Preview) {
	o := lineOf("replay", s.file, s.turn.Number)
	if s.scope == replay.OneCall {
		o.int("call", s.calls[0].Number)
	} else {
		o.text("scope", s.scope.String())
	}
	o.flagIf("one_by_one", s.oneByOne)
	o.text("from", s.sourceProtocol())
	o.text("to", v.To.Name)
	o.text("policy", v.Policy.Name)
	o.text("outcome", v.Outcome.String())
	if a := v.Acceptance; a.Verdict != replay.Unproven {
		o.flag("accepted", a.Verdict == replay.Accepted)
		o.text("accepted_by", a.By.String())
	}
	listOf(o, "losses", v.Losses, s.addLoss)
	o.raw("body", oneOrMore(v.Body))
	if len(v.Results) > 0 {
		o.raw("results", jsonArray(v.Results))
	}
	o.optionalText("refused", v.Refused)
	if s.scope == replay.OneCall {
		for _, c := range v.Calls {
			o.sentArgs(v, &c)
		}
	} else if len(v.Calls) > 0 {
		listOf(o, "calls", v.Calls, func(o *jsonObject, c replay.Sent) {
			o.int("call", s.callNumber(c.Call))
			o.text("id", c.ID)
			o.text("name", c.Name)
			o.text("outcome", c.Outcome.String())
			o.optionalText("refused", c.Refused)
			o.sentArgs(v, &c)
		})
	}
	p.writeObject(o)
}

// oneOrMore returns one message as it is, several as an array, and none as null.
func oneOrMore(texts [][]byte) []byte {
	switch len(texts) {
	case 0:
		return []byte("null")
	case 1:
		return texts[0]
	}
	return jsonArray(texts)
}

// addLoss writes a loss.
func (s *previewSubject) addLoss(o *jsonObject, l replay.Loss) {
	o.text("code", l.Code)
	o.text("severity", l.Severity.String())
	o.addMessage(l.Message, l.Quoted)
	if l.Call > 0 && s.scope != replay.OneCall {
		o.int("call", s.callNumber(l.Call))
	}
	if l.End > 0 {
		o.int("start", l.Start)
		o.int("end", l.End)
	}
}

// sentArgs writes the arguments of a call as they are sent, and how they differ from what the model wrote.
func (o *jsonObject) sentArgs(v *replay.Preview, c *replay.Sent) {
	if !isSent(v, c) {
		return
	}
	if c.Form == protocol.TextForm {
		o.text("arguments_sent", string(c.Args))
	} else {
		o.raw("arguments_sent", c.Args)
	}
	o.optionalText("encoded", c.Encoded)
	if edits := replay.Diff(c.Original, c.Args); len(edits) > 0 {
		listOf(o, "diff", edits, func(o *jsonObject, e replay.Edit) {
			o.int("start", e.Start)
			o.int("end", e.End)
			o.text("from", string(c.Original[e.Start:e.End]))
			o.text("to", string(e.To))
		})
	}
}

// isSent reports whether a call is in the body that would be sent.
func isSent(v *replay.Preview, c *replay.Sent) bool { return len(v.Body) > 0 && c.Args != nil }
