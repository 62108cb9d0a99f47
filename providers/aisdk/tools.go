package aisdk

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// call is a call with its approval state.
type call struct {
	*protocol.Call
	denied bool // its denial was reported
}

// openCall begins a call in a slot of its own, even if its id was used before.
func (d *decoder) openCall(t *protocol.Turn) *call {
	info := stream.CallInfo{ID: d.chunk.callID.Text(), Name: d.chunk.name.Text(), Kind: "function"}
	if d.chunk.server.IsTrue() {
		info.Kind, info.RunByProvider = "server", true
	}
	k := &call{Call: t.OpenCall(int32(len(d.order)), info)}
	if !k.IsCounted() {
		k.Keep()
		d.order = append(d.order, k)
		d.calls[info.ID] = k
	}
	return k
}

// knownCall returns the call of the chunk, in this message or an earlier one, or nil.
func (d *decoder) knownCall() *call { return d.calls[string(d.chunk.callID.OrDefault(nil))] }

// findCall returns the call of the chunk in the open message, or nil.
func (d *decoder) findCall(t *protocol.Turn) *call {
	if k := d.knownCall(); k != nil && k.Turn() == t {
		return k
	}
	return nil
}

func (d *decoder) readDelta(t *protocol.Turn) {
	k := d.findCall(t)
	if k == nil {
		k = d.openCall(t)
		k.Find(stream.ProtocolViolation, "a delta arrived before tool-input-start: the SDK's client stops here")
	}
	k.Args(d.chunk.delta)
}

func (d *decoder) sealCall(t *protocol.Turn) {
	if k := d.setArguments(t, d.chunk.input); !k.Sealed {
		k.Seal()
	}
}

// rejectCall reports a call that the SDK refused. A string input is the text of the model that the SDK
// could not parse.
func (d *decoder) rejectCall(t *protocol.Turn) {
	k, why := d.setArguments(t, d.chunk.input.Append(nil)), d.chunk.errorText.Text()
	k.Reject(why)
	k.Find(inputRejected, "the SDK doesn't run this call: %s", why)
}

// setArguments reads the complete input. Without deltas before it, text is the arguments.
func (d *decoder) setArguments(t *protocol.Turn, text []byte) *call {
	c, k := &d.chunk, d.findCall(t)
	if k == nil {
		k = d.openCall(t)
	} else if name := c.name.Text(); k.Name == "" && name != "" {
		k.Meta(stream.CallInfo{Name: name})
	}
	switch {
	case len(c.input) == 0:
	case k.Bytes == 0 && !k.Sealed:
		k.ArgsText(text, nil)
	case !k.Matches(c.input):
		k.Find(protocol.DoneMismatch,
			"the complete input differs from the streamed one, which is shown: %s", c.input.Clip())
	}
	return k
}

func (d *decoder) requestApproval() {
	k := d.knownCall()
	if k == nil {
		d.reportOrphan("an approval request is for a call of an earlier response")
		return
	}
	d.approvals[d.chunk.approvalID.Text()] = k
	k.Find(approvalRequested, "the call waits for approval")
}

func (d *decoder) readApproval() {
	k := d.approvals[d.chunk.approvalID.Text()]
	if k == nil {
		d.reportOrphan("an approval is for a call of an earlier response")
		return
	}
	of, message := callApproved, stream.Messagef("the call was approved")
	if !d.chunk.approved.IsTrue() {
		k.denied = true
		of, message = callDenied, stream.Messagef("the call was not approved")
	}
	if why := d.chunk.reason.Text(); why != "" {
		message = stream.Messagef("%s: %s", message, why)
	}
	k.Find(of, "%s", message)
}

// reportResult reports a tool's output on the turn of its call.
func (d *decoder) reportResult(kind string) {
	if kind == "tool-output-available" && d.chunk.preliminary.IsTrue() {
		return
	}
	k := d.knownCall()
	if k == nil {
		d.reportOrphan("a result is for a call of an earlier response")
		return
	}
	k.Turn().AddResult(k.ID, "", kind != "tool-output-available")
	if kind == "tool-output-denied" && !k.denied {
		k.Find(callDenied, "the call was not approved and did not run")
	}
}

// reportOrphan reports a chunk about a call that is not in this exchange: a call that waits for approval
// gets its result in the next response.
func (d *decoder) reportOrphan(message string) {
	d.ensureTurn().Find(protocol.OrphanResult, "%s", stream.Own(message))
}

// checkCalls checks the calls of a message that ended without an error.
func (d *decoder) checkCalls() {
	for _, k := range d.order {
		if !k.Sealed && d.calls[k.ID] == k {
			k.Find(protocol.NotSealed,
				"the message ended without tool-input-available: nothing says that the arguments are complete")
		}
	}
}
