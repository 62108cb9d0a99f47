package protocol

import (
	"time"

	"toolscope/stream"
	"toolscope/stream/json"
)

// Calls maps ids to the calls of an exchange, for protocols whose frames contain the id of the call.
type Calls map[string]*Call

// Ensure returns the call with the id in info. If the call is new, Ensure opens it in t. The name may arrive
// in a later frame than the id.
func (k Calls) Ensure(t *Turn, info stream.CallInfo) *Call {
	c := k[info.ID]
	if c == nil {
		if c = t.NextCall(info); !c.IsCounted() {
			c.Keep()
			k[info.ID] = c
		}
	} else if c.Name == "" && info.Name != "" {
		c.Meta(stream.CallInfo{Name: info.Name})
	}
	return c
}

// SealWhole makes the arguments final with their complete value, which is a JSON value or a string that
// contains one. It returns false if earlier deltas differ from the value. The call then keeps the deltas.
func (c *Call) SealWhole(whole json.Value) (same bool) {
	if c.Sealed {
		return !whole.IsPresent() || c.Matches(whole)
	}
	same = true
	switch {
	case !whole.IsPresent():
	case c.Bytes == 0:
		c.Args(whole)
	default:
		same = c.Matches(whole)
	}
	c.Seal()
	return same
}

// Clock converts the time of each frame to the time since the first frame, for Out.Stamp.
type Clock struct{ first time.Time }

// StampAt sets the time of the current frame from an RFC 3339 time, the format that JavaScript writes.
func (k *Clock) StampAt(o *Out, text json.Value) {
	var at time.Time
	if at.UnmarshalText(text.OrDefault(nil)) != nil {
		return
	}
	if k.first.IsZero() {
		k.first = at
	}
	o.Stamp(max(o.LastStamp(), at.Sub(k.first)))
}

// Findings of protocols that report the work of an agent.
var (
	NoModelWords = &stream.Diagnosis{
		Code: "NO_MODEL_WORDS", Severity: stream.Info, By: stream.Client,
		Meaning: "The source reports an agent's actions, not the model's output. The agent may have parsed and rewritten the arguments, and calls that it could not parse are missing.",
		Advice:  "To see the model's output, record the agent's requests with toolscope run.",
	}
	AgentError = &stream.Diagnosis{
		Code: "AGENT_ERROR", Severity: stream.Info, By: stream.Client,
		Meaning: "The agent reported an error to its user.",
		Advice:  "Read the message. If calls follow, the agent continued.",
	}
	CallDenied = &stream.Diagnosis{
		Code: "PERMISSION_DENIED", Severity: stream.Info, By: stream.Client, ExplainsState: true,
		Meaning: "The agent had no permission to run the call.",
		Advice:  "Allow the tool if it should run. The model receives the refusal as the result of the call.",
	}
)
