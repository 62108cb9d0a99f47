package providers

import "toolscope/providers/replay"

// CarriedCalls returns the calls of the history that the request carries. A call that is previewed alone must
// not have the id of one of them. The messages are freed again.
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
			x.past.dropMessages()
		}
	}
	return x.past.names
}
