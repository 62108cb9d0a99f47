package providers

import (
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/providers/textcall"
	"toolscope/stream"
)

// textCalls finds calls that the provider's parser missed in the text or the reasoning of a turn.
type textCalls struct {
	x        *Exchange
	reported []int32 // the decoder's numbers of open turns for which a call was reported
}

// beforeEvent replaces the finding that a call was lost, if the call is in the text, and reports a call in
// the text when the turn closes. It must be called before an event of the decoder is added to the timeline.
func (c *textCalls) beforeEvent(e *stream.Event) {
	switch e.Kind {
	case stream.Found:
		if stream.PayloadOf[stream.Finding](*e).Diagnosis != protocol.FinishWithoutCall {
			return
		}
		if f, ok := c.findIn(e.Turn, protocol.TextToolCall.WithSeverity(stream.Error)); ok {
			c.reported = append(c.reported, e.Turn)
			e.What = &f
		}
	case stream.TurnClose:
		t := c.turnOf(e.Turn)
		hasFinish := t != nil && t.Finish != ""
		if i := slices.Index(c.reported, e.Turn); i >= 0 {
			c.reported = slices.Delete(c.reported, i, i+1)
		} else if c.x.closing && (c.x.cutShort() || c.x.cutByUnknown() || e.Code == stream.CloseCut && !hasFinish) {
			return // the text may continue, or the same call may follow
		} else if f, ok := c.findIn(e.Turn, protocol.TextToolCall); ok {
			c.x.emit(stream.Event{Kind: stream.Found, Turn: e.Turn, Slot: stream.NoSlot, What: &f})
		}
	}
}

// turnOf returns the turn with the decoder's number, or nil.
func (c *textCalls) turnOf(number int32) *stream.Turn {
	if number < 0 || int(number) >= len(c.x.turns) {
		return nil
	}
	return c.x.in.Session().Turn(c.x.turns[number])
}

// findIn returns a finding about the call at the end of a turn's text or reasoning. The result ok is false if
// there is none.
func (c *textCalls) findIn(number int32, d *stream.Diagnosis) (f stream.Finding, ok bool) {
	t := c.turnOf(number)
	if t == nil || !isDecoded(c.x.Protocol) || t.HasGap() || t.Failure != "" {
		return f, false
	}
	otherCalls := slices.ContainsFunc(t.Calls, func(call *stream.Call) bool { return !call.RunByProvider })
	for _, place := range [...]struct {
		name string
		text []byte
	}{{"text", t.Text}, {"reasoning", t.Thinking}} {
		found, is := textcall.Find(place.text, c.declaredTools, otherCalls)
		if !is || slices.ContainsFunc(t.Calls, func(call *stream.Call) bool { return call.Name == found.Tool }) {
			continue
		}
		if found.Form == "antml" && c.isClaude(t) {
			d = d.WithCause(stream.Model)
		}
		f = d.Finding("the %s ends with a call to %s in %s (byte %d, %s), but no client ran this call",
			stream.OwnFact(place.name), stream.Fact(found.Tool), stream.Own(found.Title), found.Offset, found.Opening)
		f.InText = &stream.InText{Form: found.Form, Tool: found.Tool, In: place.name, Offset: found.Offset}
		return f, true
	}
	return f, false
}

// declaredTools returns the tools that the request declares.
func (c *textCalls) declaredTools() textcall.Tools {
	body := c.x.RequestBody()
	if len(body) == 0 || c.x.Protocol.Tools == nil || c.x.Head.Reconstructed {
		return textcall.Tools{}
	}
	set := c.x.check.declaredTools()
	if set == nil {
		return textcall.Tools{Known: true, Has: func(string) bool { return false }}
	}
	list, more := set.Tools()
	return textcall.Tools{Known: !more, Has: func(name string) bool {
		return slices.ContainsFunc(list, func(t protocol.Tool) bool { return t.Name == name })
	}}
}

// isClaude reports whether the response probably comes from one of Claude's own hosts. These hosts don't need
// to parse calls out of text.
func (c *textCalls) isClaude(t *stream.Turn) bool {
	if !strings.Contains(t.Model, "claude") {
		return false
	}
	switch url := c.x.Head.URL; {
	case strings.Contains(url, "anthropic"), strings.Contains(url, "amazonaws.com"):
		return true
	default:
		return !strings.Contains(url, "://") && t.Protocol != "openai-chat"
	}
}
