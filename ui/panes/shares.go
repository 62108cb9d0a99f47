package panes

import (
	"toolscope/providers/price"
	"toolscope/stream"
)

// shares are what the turns of each lane and session have cost that have ended. Of very many, those
// that came first are forgotten.
type shares struct {
	lanes    map[int32]*share
	sessions map[string]*share
	order    []*stream.Ask // of the first turn of each lane, as they came
}

// share is what some turns cost.
type share struct {
	price.Sum
	turns int
}

// mostShares is how many lanes are remembered.
const mostShares = 1 << 12

// add adds a turn that has ended.
func (s *shares) add(o *openTurn) {
	if o.ask == nil || o.ask.Lane == 0 {
		return
	}
	if s.lanes == nil {
		s.lanes, s.sessions = map[int32]*share{}, map[string]*share{}
	}
	of := s.lanes[o.ask.Lane]
	if of == nil {
		of = new(share)
		s.lanes[o.ask.Lane] = of
		if s.sessions[o.ask.Session] == nil {
			s.sessions[o.ask.Session] = new(share)
		}
		s.remember(o.ask)
	}
	for _, to := range []*share{of, s.sessions[o.ask.Session]} {
		if to != nil {
			o.add(&to.Sum)
			to.turns++
		}
	}
}

// remember notes that a lane came, and forgets the first of too many.
func (s *shares) remember(a *stream.Ask) {
	s.order = append(s.order, a)
	if len(s.order) > mostShares {
		delete(s.lanes, s.order[0].Lane)
		delete(s.sessions, s.order[0].Session)
		s.order = s.order[1:]
	}
}

// OfLane is what the turns of a lane have cost so far.
func (b *Bill) OfLane(lane int32) price.Sum {
	return b.share(b.shares.lanes[lane], func(a *stream.Ask) bool { return a.Lane == lane }).Sum
}

// share adds to what has ended the turns that have not.
func (b *Bill) share(ended *share, is func(*stream.Ask) bool) (all share) {
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

// sharesOf is what the agent of a request and its session have cost so far, and in how many turns.
func (b *Bill) sharesOf(a *stream.Ask) (agent, session share) {
	agent = b.share(b.shares.lanes[a.Lane], func(of *stream.Ask) bool { return of.Lane == a.Lane })
	session = b.share(b.shares.sessions[a.Session], func(of *stream.Ask) bool { return of.Session == a.Session })
	return agent, session
}
