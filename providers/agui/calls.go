package agui

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// openCall begins a call in a slot of its own, even if its id was used before.
func (d *decoder) openCall(t *protocol.Turn) *protocol.Call {
	c := t.OpenCall(int32(len(d.order)), stream.CallInfo{
		ID: d.ev.callID.Text(), Name: d.ev.name.Text(), Kind: "function",
	})
	if !c.IsCounted() {
		c.Keep()
		d.calls[c.ID] = c
		d.order = append(d.order, c)
	}
	return c
}

// knownCall returns the latest call with that id, nil if there is none.
func (d *decoder) knownCall(id protocol.Raw) *protocol.Call {
	return d.calls[string(id.OrDefault(nil))]
}

// ensureCall returns the run's call of an event. It opens a call that never started, so that nothing is
// lost.
func (d *decoder) ensureCall(t *protocol.Turn, event string) *protocol.Call {
	if c := d.knownCall(d.ev.callID); c != nil && c.Turn() == t {
		return c
	}
	c := d.openCall(t)
	c.Find(stream.ProtocolViolation, "%s arrived without TOOL_CALL_START: clients stop here", stream.OwnFact(event))
	return c
}

// endCall seals a call. TanStack AI repeats the input in the event, and adds the result if the server
// ran the tool.
func (d *decoder) endCall(c *protocol.Call) {
	if whole := d.ev.input; whole.IsPresent() {
		switch {
		case c.Bytes == 0 && !c.Sealed:
			c.Args(whole)
		case !c.Matches(whole):
			reportMismatch(c, whole)
		}
	}
	sealOnce(c)
	if d.ev.result.IsPresent() {
		d.reportResult(c.Turn())
	}
}

func sealOnce(c *protocol.Call) {
	if !c.Sealed {
		c.Seal()
	}
}

// readCallChunk reads a chunk of a call. A chunk with a new id starts a call; one without an id
// continues the last call.
func (d *decoder) readCallChunk(t *protocol.Turn) {
	id, c := d.ev.callID, d.chunkedCall
	if c == nil || id.IsString() && !id.Is(c.ID) {
		d.endChunks()
		c = d.openCall(t)
		d.chunkedCall = c
		if c.Name == "" || !id.IsString() {
			c.Find(stream.ProtocolViolation, "the first chunk of a call has no id or no name: clients stop here")
		}
	}
	if name := d.ev.name.Text(); c.Name == "" && name != "" {
		c.Meta(stream.CallInfo{Name: name})
	}
	if d.ev.delta.IsString() {
		c.Args(d.ev.delta)
	}
}

// endChunks seals the call that arrived in chunks: it has no end of its own on the wire.
func (d *decoder) endChunks() {
	if d.chunkedCall != nil {
		sealOnce(d.chunkedCall)
		d.chunkedCall = nil
	}
}

// reportResult reports a tool's result on the turn of its call.
func (d *decoder) reportResult(t *protocol.Turn) {
	c := d.knownCall(d.ev.callID)
	if c == nil {
		t.Find(protocol.OrphanResult, "a result is for a call of an earlier response")
		return
	}
	c.Turn().AddResult(c.ID, "", false)
}

// checkSnapshot compares the calls of a history with the streamed calls. The other calls are from earlier
// runs, or from an agent that doesn't stream.
func (d *decoder) checkSnapshot(t *protocol.Turn) {
	others := 0
	list := d.ev.messages.Scan()
	for ok := list.Array(); ok; ok = list.Element() {
		message := list.Value()
		calls := message.Get("toolCalls")
		if calls == nil {
			calls = message.Get("tool_calls")
		}
		each := calls.Scan()
		for ok := each.Array(); ok; ok = each.Element() {
			call := each.Value()
			c, whole := d.knownCall(call.Get("id")), call.Get("function").Get("arguments")
			switch {
			case c == nil:
				others++
			case c.Sealed && c.Bytes > 0 && !c.Matches(whole):
				reportMismatch(c, whole)
			}
		}
	}
	if others > 0 {
		t.Find(snapshotOnly,
			"MESSAGES_SNAPSHOT contains calls that were not streamed (%d), usually calls of earlier runs", others)
	}
}

func reportMismatch(c *protocol.Call, whole protocol.Raw) {
	c.Find(protocol.DoneMismatch,
		"the complete arguments differ from the streamed ones, which are shown: %s", whole.Clip())
}

// checkCalls checks the calls of a run that finished without an error.
func (d *decoder) checkCalls() {
	for _, c := range d.order {
		if !c.Sealed {
			c.Find(protocol.NotSealed,
				"the run finished without TOOL_CALL_END: nothing says that the arguments are complete; clients stop here")
		}
	}
}
