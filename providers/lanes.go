package providers

import (
	"fmt"
	"hash/maphash"
	"path"

	"toolscope/providers/dialect"
	"toolscope/providers/lane"
	"toolscope/stream"
)

// lanes are the lanes of all requests so far. What is kept of a lane does not grow with its
// requests, but for one hash a message; and of lanes, only the latest are kept.
type lanes struct {
	seed     maphash.Seed
	count    int32
	named    recent[laneName, *laneOf] // by what clients call them
	agents   recent[laneName, *laneOf] // by the agent alone: session and client are those of its name
	paths    recent[uint64, *laneOf]   // by all messages of a request
	answered recent[string, *laneOf]   // by the id of a response
	ordered  recent[uint64, start]     // by what an agent is told
}

// How much is remembered of each.
const (
	mostLanes   = 1 << 12
	mostAnswers = 1 << 13
)

// laneName is a lane as its client names it.
type laneName struct{ client, session, agent string }

// start is a call that starts an agent.
type start struct {
	by    stream.Ref
	of    *laneOf // the lane of the turn that has the call
	id    string
	title string
}

// laneOf is one lane.
type laneOf struct {
	number                        int32
	session, agent, parent, title string
	by                            stream.Ref
	sub                           bool
	unnamed                       bool        // session is our word, and not the client's
	come                          int         // how many messages the latest request had
	shape                         *lane.Shape // of the latest request
	exchange                      int         // that it was in
	calls                         []called    // of the turn that ended last
	cached                        int64       // tokens that were in the provider's cache behind it, -1 while unknown
}

// request is what lanes are told by.
type request struct {
	exchange int
	messages []dialect.Message
	shape    lane.Shape
	way      lane.Path
	side     bool
}

// of is the lane of a request, nil where there is nothing to tell it by.
func (ls *lanes) of(f *lane.Facts, r *request) *laneOf {
	l := ls.find(f, r)
	if l != nil && !r.side && len(r.messages) > 0 {
		ls.paths.put(r.way[len(r.way)-1], l, 2*mostLanes)
		l.come = len(r.way) - 1
	}
	return l
}

// begun is the seed of all hashes.
func (ls *lanes) begun() maphash.Seed {
	if ls.seed == (maphash.Seed{}) {
		ls.seed = maphash.MakeSeed()
	}
	return ls.seed
}

func (ls *lanes) find(f *lane.Facts, r *request) *laneOf {
	if l := ls.answered.get(f.Before); l != nil && f.Before != "" && f.Empty() {
		return l
	}
	switch {
	case f.Of != "":
		return ls.apart(f, r)
	case f.Agent != "":
		return ls.subAgent(f, r)
	case f.Session != "" && saysAgents[f.Client]:
		return ls.main(f)
	case f.Session != "":
		return ls.inSession(f, r)
	case r.side || len(r.messages) == 0:
		return nil
	}
	return ls.byHistory(f, r)
}

// saysAgents are the clients that say when a sub-agent asks: what they do not say so of is the main
// agent's.
var saysAgents = map[string]bool{"claude-code": true, "codex": true, "opencode": true}

// main is the main agent of a session.
func (ls *lanes) main(f *lane.Facts) *laneOf {
	name := laneName{f.Client, f.Session, ""}
	l := ls.named.get(name)
	if l == nil {
		l = ls.add(&laneOf{session: f.Session, agent: lane.Main})
		ls.named.put(name, l, mostLanes)
	}
	if f.Name != "" {
		l.agent = f.Name
	}
	return l
}

// subAgent is one that the client names.
func (ls *lanes) subAgent(f *lane.Facts, r *request) *laneOf {
	name := laneName{f.Client, f.Session, f.Agent}
	l := ls.named.get(name)
	if l == nil {
		l = ls.add(&laneOf{session: f.Session, sub: true})
		ls.named.put(name, l, mostLanes)
		ls.agents.put(laneName{client: f.Client, agent: f.Agent}, l, mostLanes)
	}
	ls.started(l, r, f)
	l.agent = firstOf(f.Name, f.Agent)
	parent := ls.named.get(laneName{f.Client, f.Session, f.Parent})
	switch {
	case parent != nil && parent != l:
		l.parent = parent.agent
	case f.Parent != "":
		l.parent = f.Parent
	case l.parent == "":
		l.parent = lane.Main
	}
	return l
}

// apart is a sub-agent that has a session of its own.
func (ls *lanes) apart(f *lane.Facts, r *request) *laneOf {
	home := laneName{client: f.Client, agent: f.Of}
	as := *f
	as.Agent, as.Session, as.Of, as.Sub = f.Session, f.Of, "", true
	if of := ls.agents.get(home); of != nil {
		as.Session, as.Parent = of.session, f.Of
	}
	return ls.subAgent(&as, r)
}

// inSession is a lane of a session that the client names without saying which agent asks.
func (ls *lanes) inSession(f *lane.Facts, r *request) *laneOf {
	if l := ls.walk(r); l != nil && l.session == f.Session && l.sub {
		return l
	}
	if s, ok := ls.order(r); ok && s.of != nil && s.of.session == f.Session && !r.side {
		return ls.begin(&s, r)
	}
	return ls.main(f)
}

// byHistory is the lane that a request goes on with, or begins.
func (ls *lanes) byHistory(f *lane.Facts, r *request) *laneOf {
	if l := ls.walk(r); l != nil {
		return l
	}
	if s, ok := ls.order(r); ok {
		return ls.begin(&s, r)
	}
	return ls.add(&laneOf{session: fmt.Sprintf("conversation-%d", r.exchange), unnamed: true, agent: lane.Main})
}

// begin is the lane of an agent that a call started.
func (ls *lanes) begin(s *start, r *request) *laneOf {
	l := &laneOf{session: fmt.Sprintf("conversation-%d", r.exchange), unnamed: true, parent: lane.Main, by: s.by, sub: true, title: s.title}
	if s.of != nil {
		l.session, l.unnamed, l.parent = s.of.session, s.of.unnamed, s.of.agent
	}
	ls.add(l)
	l.agent = firstOf(s.id, fmt.Sprintf("agent-%d", l.number))
	return l
}

func (ls *lanes) add(l *laneOf) *laneOf {
	ls.count++
	l.number, l.cached = ls.count, -1
	return l
}

// walk is the lane that the messages go on with: they begin with those of one of its requests. All
// of an earlier one that was answered and gone on from is where another conversation begins.
func (ls *lanes) walk(r *request) *laneOf {
	for n := len(r.way) - 1; n > 0; n-- {
		if l := ls.paths.get(r.way[n]); l != nil {
			if n == len(r.way)-1 && l.come > n {
				return nil
			}
			return l
		}
	}
	return nil
}

// follow takes the next request of the lane, and tells what it changes.
func (l *laneOf) follow(exchange int, s lane.Shape) (c stream.RequestChange) {
	if l.shape != nil {
		c = s.Since(l.shape)
		c.Comparable, c.PreviousExchange = true, l.exchange
	}
	l.shape, l.exchange = &s, exchange
	return c
}

// started finds the call that started an agent, as long as none is known.
func (ls *lanes) started(l *laneOf, r *request, f *lane.Facts) {
	if l.by.Call != 0 {
		return
	}
	s, ok := ls.ordered.of(ls.hash("task", f.Session, f.Name))
	if !ok && !r.side {
		s, ok = ls.order(r)
	}
	if ok {
		l.by, l.title = s.by, s.title
		if s.of != nil {
			l.parent = s.of.agent
		}
	}
}

// order is the call that told an agent what a conversation begins with.
func (ls *lanes) order(r *request) (s start, ok bool) {
	for _, text := range lane.Opening(r.messages) {
		if s, ok = ls.ordered.of(ls.hash("", "", string(text))); ok {
			return s, true
		}
	}
	return s, false
}

// starts notes a call whose arguments are final, if it starts an agent.
func (x *Exchange) starts(c *stream.Call) {
	if c == nil || !lane.Starts(c.Name) || c.RunByProvider {
		return
	}
	ls, o := &x.in.lanes, lane.OrdersOf(c.Args())
	s := start{by: c.Ref(), of: x.laneOf(c.Turn), id: c.ID, title: o.Title}
	if x.asks.ask == nil && c.ID != "" {
		if x.asks.orders == nil {
			x.asks.orders = map[string]start{}
		}
		x.asks.orders[c.ID] = s
	}
	if len(o.Prompt) > 0 {
		ls.ordered.put(ls.hash("", "", string(o.Prompt)), s, mostLanes)
	}
	if o.Task != "" && s.of != nil {
		ls.ordered.put(ls.hash("task", s.of.session, path.Join(s.of.agent, o.Task)), s, mostLanes)
	}
}

func (ls *lanes) hash(kind, session, text string) uint64 {
	return maphash.String(ls.begun(), kind+"\x00"+session+"\x00"+text)
}

// firstOf is the first text there is.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
