package providers

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/providers/schema"
	"toolscope/stream"
)

// schemaCheck checks the calls of one exchange against the tools that its request declares. Without declared
// tools, it checks nothing.
type schemaCheck struct {
	x           *Exchange
	set         *schema.Set
	requestSize int64 // size of the request from which set was made
	reported    bool  // it was already reported that Inspector.Request declares no tools
	watches     map[callKey]*schema.CallChecker
	waiting     []callKey // calls that became final without arguments, and wait for the finish reason
}

// callKey identifies the call that is currently in a slot.
type callKey struct{ turn, slot int32 }

// DeclaresTools reports whether any protocol finds tools in a request.
func DeclaresTools(request []byte) bool {
	for _, d := range All {
		if d.Tools != nil && len(d.Tools(request)) > 0 {
			return true
		}
	}
	return false
}

// RequestBody returns the body of the exchange's request. If no request was captured, it returns
// Inspector.Request. It returns nil if there is neither, or if bytes of the request were missed. For a
// session file, the body is derived from the entries.
func (x *Exchange) RequestBody() []byte {
	switch {
	case x.gap.requestBytes > 0:
		return nil // the bytes around a gap are not a body
	case x.Request.Size() == 0:
		return x.in.Request
	}
	body := x.Request.Bytes(0, x.Request.Size())
	if d := sessionOf(x.Head); d != nil && body[len(body)-1] == '\n' { // older captures contain the request itself
		return d.Request(body)
	}
	return body
}

// requestSize returns the number of request bytes that arrived or, if there are none, the size of Inspector.Request.
func (x *Exchange) requestSize() int64 {
	if size := x.Request.Size(); size > 0 {
		return size
	}
	return int64(len(x.in.Request))
}

// Path returns the path of the request's URL.
func (x *Exchange) Path() string { return pathOf(x.Head.URL) }

// declaredTools returns the tools that the request declares, or nil. The tools are only read when a call
// opens. So a response that has only text costs nothing, and the request is complete when it is read.
func (c *schemaCheck) declaredTools() *schema.Set {
	if c.x.gap.requestBytes > 0 {
		return nil
	}
	size := c.x.requestSize()
	if c.x.Protocol.Tools != nil && size != c.requestSize && c.x.past.heard == 0 {
		c.requestSize = size
		body := c.x.RequestBody()
		list, more, on := c.x.Protocol.Tools(body), false, c.x.past.on
		if !c.x.past.observed {
			on = readHistoryLink(body)
		}
		if on.thread {
			var kept []protocol.Tool
			kept, more = c.x.in.toolsAfter(on)
			list = joinTools(kept, list)
		}
		c.set = c.x.in.toolSet(list, more)
	}
	return c.set
}

// RequiredArgs returns an outline of the arguments for a call's tool, or "" if they are unknown.
func (x *exchangeContent) RequiredArgs(c *stream.Call) string {
	if x.check.set == nil || c.RunByProvider || c.Freeform() {
		return ""
	}
	return x.check.set.Outline(c.Namespace, c.Name)
}

// Required returns the keys that a call's tool requires. The result known is false if the keys are unknown.
func (x *exchangeContent) Required(c *stream.Call) (keys []string, known bool) {
	if x.check.set == nil || c.RunByProvider || c.Freeform() {
		return nil, false
	}
	return x.check.set.Required(c.Namespace, c.Name)
}

// maxRecentSets is the maximum number of kept lists of tools. An agent sends the same list with every request, and
// its sub-agents send their own lists.
const maxRecentSets = 8

// toolSet returns the Set of the given tools. The parameter more is true if other tools are possible. Where it can,
// toolSet reuses a kept Set, whose schemas are already compiled.
func (in *Inspector) toolSet(tools []protocol.Tool, more bool) *schema.Set {
	for _, s := range in.sets {
		if s.Is(tools, more) {
			return s
		}
	}
	s := schema.Compile(tools, more)
	if s != nil {
		in.sets = append(in.sets[max(0, len(in.sets)+1-maxRecentSets):], s)
	}
	return s
}

// afterEvent checks e, the latest event in the timeline, against the tools. It adds the findings.
func (c *schemaCheck) afterEvent(e *stream.Event) {
	if e.Kind != stream.CallOpen && len(c.watches) == 0 {
		return
	}
	key := callKey{e.Turn, e.Slot}
	if e.Turn != stream.NoTurn && c.x.in.Session().Turn(e.Turn).HasGap() {
		return // because bytes are missing, these are not the arguments that the tool received
	}
	switch e.Kind {
	case stream.CallOpen:
		delete(c.watches, key)
		c.followCall(*e)
	case stream.CallMeta, stream.Args, stream.Rewrite:
		if w := c.checkerOf(key); w != nil {
			c.addFindings(*e, e.Slot, w.Extend())
		}
	case stream.Seal:
		if w := c.checkerOf(key); w != nil && e.Code == stream.SealWithdrawn {
			w.Unseal()
		} else if w != nil {
			c.addFindings(*e, e.Slot, w.Seal())
			if w.Waiting() {
				c.waiting = append(c.waiting, key)
			}
		}
	case stream.Finish:
		c.judgeWaiting(*e)
	case stream.TurnClose:
		for k := range c.watches {
			if k.turn == e.Turn {
				delete(c.watches, k)
			}
		}
	}
}

// followCall begins to check the call that the event opened.
func (c *schemaCheck) followCall(e stream.Event) {
	set := c.declaredTools()
	if set == nil {
		if !c.reported && len(c.x.in.Request) != 0 && c.x.Request.Size() <= 0 {
			c.reported = true
			c.addFindings(e, stream.NoSlot, []stream.Finding{
				schema.Unchecked.Finding("the given request declares no tools in this protocol's form: calls are not checked"),
			})
		}
		return
	}
	calls := c.x.in.Session().Turn(e.Turn).Calls
	w := set.NewChecker(calls[len(calls)-1])
	if w == nil {
		return
	}
	if c.watches == nil {
		c.watches = map[callKey]*schema.CallChecker{}
	}
	c.watches[callKey{e.Turn, e.Slot}] = w
	c.addFindings(e, e.Slot, w.Extend())
}

// checkerOf returns the checker of a call, or nil.
func (c *schemaCheck) checkerOf(key callKey) *schema.CallChecker {
	w := c.watches[key]
	if w != nil {
		_, call := c.x.in.Session().Find(w.Call().Ref())
		w.SetCall(call)
	}
	return w
}

// judgeWaiting checks each call that waited for the finish reason e.
func (c *schemaCheck) judgeWaiting(e stream.Event) {
	c.waiting = slices.DeleteFunc(c.waiting, func(key callKey) bool {
		w := c.checkerOf(key)
		if w == nil || !w.Waiting() {
			return true
		}
		if key.turn != e.Turn || e.Slot != stream.AllChoices && e.Slot != w.Call().Choice {
			return false
		}
		found := w.Finish()
		if !c.x.isAtOwner() {
			for i := range found { // no byte arrived: the model wrote none, or a translation lost them
				found[i].By = stream.UnknownParty
			}
		}
		c.addFindings(e, key.slot, found)
		return true
	})
}

// addFindings adds findings after the event that caused them.
func (c *schemaCheck) addFindings(cause stream.Event, slot int32, found []stream.Finding) {
	for _, f := range found {
		c.x.in.Timeline.Append(stream.Event{
			Kind: stream.Found, At: cause.At, Frame: cause.Frame, Turn: cause.Turn, Slot: slot,
			What: &f,
		})
	}
}
