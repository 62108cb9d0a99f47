package providers

import "toolscope/providers/replay"

// Names are the calls of the conversation that the request carries: a call that is looked at alone
// must not have the id of one of them. The messages are let go of again.
func (x *Exchange) Names() []replay.Named {
	if x == nil {
		return nil
	}
	if size := x.requestSize(); size != x.past.namesRead {
		kept := x.past.messages != nil
		messages, _ := x.History()
		x.mind()
		x.past.names, x.past.namesRead = replay.Names(messages), size
		if !kept {
			x.forget()
		}
	}
	return x.past.names
}
