package aisdk

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// call is a call and what must be remembered of it.
type call struct {
	*protocol.Call
	denied bool // somebody did not approve it, and that was said
}

// openCall begins a call, in a slot of its own even when its id was used before.
func (d *decoder) openCall(t *protocol.Turn) *call {
	info := stream.CallInfo{ID: d.chunk.callID.Text(), Name: d.chunk.name.Text(), Kind: "function"}
	if d.chunk.server.IsTrue() {
		info.Kind, info.RunByProvider = "server", true
	}
	k := &call{Call: t.OpenCall(int32(len(d.order)), info)}
	k.Keep()
	d.order = append(d.order, k)
	d.calls[info.ID] = k
	return k
}

// knownCall is the call that the chunk is about, of this message or an earlier one, or nil.
func (d *decoder) knownCall() *call { return d.calls[string(d.chunk.callID.OrDefault(nil))] }

// findCall is the call of the open message that the chunk is about, or nil.
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
		k.Find(stream.ProtocolViolation, "a delta came before tool-input-start: the SDK's client stops here")
	}
	k.Args(d.chunk.delta)
}

func (d *decoder) sealCall(t *protocol.Turn) {
	if k := d.setArguments(t, d.chunk.input); !k.Sealed {
		k.Seal()
	}
}

// rejectCall takes the input of a call that the SDK refused. If it is a string, it is what the model
// wrote and the SDK could not parse.
func (d *decoder) rejectCall(t *protocol.Turn) {
	k, why := d.setArguments(t, d.chunk.input.Append(nil)), d.chunk.errorText.Text()
	k.Reject(why)
	k.Find(inputRejected, "the SDK does not run this call: %s", why)
}

// setArguments takes the input as a whole. Without deltas before it text is the arguments.
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
			"the input as a whole is another than the one that was streamed, which is shown: the whole is %s", c.input.Clip())
	}
	return k
}

func (d *decoder) requestApproval() {
	k := d.knownCall()
	if k == nil {
		d.reportOrphan("an approval is asked for a call of an earlier response")
		return
	}
	d.approvals[d.chunk.approvalID.Text()] = k
	k.Find(approvalRequested, "the call waits for somebody's approval")
}

func (d *decoder) readApproval() {
	k := d.approvals[d.chunk.approvalID.Text()]
	if k == nil {
		d.reportOrphan("an approval is answered that an earlier response asked for")
		return
	}
	of, message := callApproved, "the call was approved"
	if !d.chunk.approved.IsTrue() {
		k.denied = true
		of, message = callDenied, "the call was not approved"
	}
	if why := d.chunk.reason.Text(); why != "" {
		message += ": " + why
	}
	k.Find(of, "%s", message)
}

// reportResult takes a tool's output, on the turn of its call.
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

// reportOrphan reports a chunk about a call that is not in this exchange: a call that waited for approval
// gets its result in the next response.
func (d *decoder) reportOrphan(message string) {
	d.ensureTurn().Find(protocol.OrphanResult, "%s", message)
}

// checkCalls judges the calls of a message that ended as if all were well.
func (d *decoder) checkCalls() {
	for _, k := range d.order {
		if !k.Sealed && d.calls[k.ID] == k {
			k.Find(protocol.NotSealed,
				"the message ended without tool-input-available: nothing says that the arguments are whole")
		}
	}
}
