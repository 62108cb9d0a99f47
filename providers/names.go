package providers

import "toolscope/providers/replay"

// CarriedCalls are the calls of the conversation that the request carries: a call that is looked at alone
// must not have the id of one of them. The messages are let go of again.
func (x *Exchange) CarriedCalls() []replay.UnsentCall {
	if x == nil {
		return nil
	}
	if size := x.requestSize(); size != x.past.namesRead {
		kept := x.past.messages != nil
		messages, _ := x.History()
		x.ensureContent()
		x.past.names, x.past.namesRead = replay.Names(messages), size
		if !kept {
			x.dropHistory()
		}
	}
	return x.past.names
}
