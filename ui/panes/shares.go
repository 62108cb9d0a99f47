package panes

import (
	"toolscope/providers/price"
	"toolscope/stream"
)

// sessionCosts are the costs of the ended turns of each conversation and session. If there are too many
// conversations, the oldest are dropped.
type sessionCosts struct {
	conversations map[int32]*turnCosts
	sessions      map[string]*turnCosts
	order         []*stream.RequestInfo // first turn of each conversation, in order
}

// turnCosts is the cost of some turns.
type turnCosts struct {
	price.Sum
	turns int
}

// maxConversations is the maximum number of conversations that are kept.
const maxConversations = 1 << 12

// addTurn adds a turn that has ended.
func (s *sessionCosts) addTurn(o *openTurn) {
	if o.ask == nil || o.ask.Conversation == 0 {
		return
	}
	if s.conversations == nil {
		s.conversations, s.sessions = map[int32]*turnCosts{}, map[string]*turnCosts{}
	}
	of := s.conversations[o.ask.Conversation]
	if of == nil {
		of = new(turnCosts)
		s.conversations[o.ask.Conversation] = of
		if s.sessions[o.ask.Session] == nil {
			s.sessions[o.ask.Session] = new(turnCosts)
		}
		s.trackConversation(o.ask)
	}
	for _, to := range []*turnCosts{of, s.sessions[o.ask.Session]} {
		if to != nil {
			o.addTo(&to.Sum)
			to.turns++
		}
	}
}

// trackConversation adds a new conversation, and drops the oldest of too many.
func (s *sessionCosts) trackConversation(a *stream.RequestInfo) {
	s.order = append(s.order, a)
	if len(s.order) > maxConversations {
		delete(s.conversations, s.order[0].Conversation)
		delete(s.sessions, s.order[0].Session)
		s.order = s.order[1:]
	}
}

// ConversationCost returns the cost of a conversation so far.
func (b *Costs) ConversationCost(lane int32) price.Sum {
	return b.costWithOpen(b.shares.conversations[lane], func(a *stream.RequestInfo) bool { return a.Conversation == lane }).Sum
}

// costWithOpen adds the open turns to the cost of the ended ones.
func (b *Costs) costWithOpen(ended *turnCosts, is func(*stream.RequestInfo) bool) (all turnCosts) {
	if ended != nil {
		all = *ended
	}
	for i := range b.open {
		if o := &b.open[i]; o.ask != nil && is(o.ask) {
			o.addOpen(&all.Sum)
			all.turns++
		}
	}
	return all
}

// requestCosts returns the cost so far, and the number of turns, of a request's agent and session.
func (b *Costs) requestCosts(a *stream.RequestInfo) (agent, session turnCosts) {
	agent = b.costWithOpen(b.shares.conversations[a.Conversation], func(of *stream.RequestInfo) bool { return of.Conversation == a.Conversation })
	session = b.costWithOpen(b.shares.sessions[a.Session], func(of *stream.RequestInfo) bool { return of.Session == a.Session })
	return agent, session
}
