// Package agentlines decodes the output of agents that print their work as JSON lines. Each agent has its own file
// and an entry in the list agents.
package agentlines

import (
	"cmp"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// agents lists the agents whose output this package reads.
var agents = []*agent{&copilot, &pi, &gemini, &droid, &cursor}

// agent describes the output of one agent: how to recognise its lines, and how to read them.
type agent struct {
	name, title string   // name and title of the protocol
	client      string   // name of the client, if each client has its own lines
	who         string   // the agent's name in findings, if a turn is one run with any number of responses
	last        string   // type of the line that ends a turn
	quiet       []string // types of lines that are ignored if the decoder doesn't read them, because they contain nothing about calls
	sniff       func(kind string, e protocol.SniffInput) int
	read        func(r *run, kind string, line json.Value) (known bool)

	// subAgent returns the id of the sub-agent that a line is about, and the id of the call that started the
	// sub-agent. Both are empty for the main agent. The field is nil if the lines don't distinguish agents.
	subAgent func(kind string, line json.Value) (id, call string)
}

// Protocols returns a protocol for each agent.
func Protocols() (all []protocol.Protocol) {
	for _, a := range agents {
		all = append(all, protocol.Protocol{
			Name:          a.name,
			Title:         a.title,
			Quiet:         a.quiet,
			ParallelTurns: a.subAgent != nil,
			ByAgent:       true,
			Client:        a.client,
			Sniff:         a.sniffFrame,
			New:           func(o *protocol.Out) protocol.Decoder { return &run{Out: o, agent: a, calls: protocol.Calls{}} },
		})
	}
	return all
}

func (a *agent) sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind := e.Get("type").Text()
	if points := a.sniff(kind, e); points > 0 {
		return protocol.SniffScore{Points: points, Why: "a line of type " + kind}
	}
	return protocol.SniffScore{}
}

// run decodes the output of one agent in one run of the program.
type run struct {
	*protocol.Out
	agent   *agent
	clock   protocol.Clock
	turn    *protocol.Turn
	calls   protocol.Calls
	id      string // id of the response whose turn opens next
	model   string
	hasText bool // whether text deltas have arrived in the turn
	failed  bool // whether the agent reported an error in the turn

	startedBy string          // id of the call that started this agent, if it is a sub-agent
	subAgents map[string]*run // by id
	subOrder  []*run          // in the order in which they began
}

// Frame reads one line. Before the first turn, lines that are not JSON objects are treated as messages to the user.
func (r *run) Frame(f stream.Frame) error {
	line := json.Value(f.Data)
	if line.Kind() != '{' && r.turn == nil {
		r.Heartbeat()
		return nil
	}
	if err := json.Read(line); err != nil {
		return err
	}
	r.clock.StampAt(r.Out, line.Get("timestamp"))
	kind := line.Get("type").Text()
	if !r.agent.read(r.ensureAgent(kind, line), kind, line) {
		r.Unknown(kind)
	}
	return nil
}

// ensureAgent returns the run of the agent that a line is about. If it is a new sub-agent, ensureAgent adds it.
func (r *run) ensureAgent(kind string, line json.Value) *run {
	if r.agent.subAgent == nil {
		return r
	}
	id, call := r.agent.subAgent(kind, line)
	if id == "" {
		return r
	}
	sub := r.subAgents[id]
	if sub == nil {
		sub = &run{Out: r.Out, agent: r.agent, calls: protocol.Calls{}, model: r.model}
		if r.subAgents == nil {
			r.subAgents = map[string]*run{}
		}
		r.subAgents[id], r.subOrder = sub, append(r.subOrder, sub)
	}
	sub.startedBy = cmp.Or(sub.startedBy, call)
	return sub
}

// Close cuts off the turns that have not ended.
func (r *run) Close() {
	for _, sub := range r.subOrder {
		sub.Close()
	}
	r.turn.Cut("the lines ended without " + r.agent.last)
}

func (r *run) openTurn() *protocol.Turn {
	r.turn, r.hasText, r.failed = r.Open(stream.Opening{ID: r.id, Model: r.model, Parent: r.startedBy}), false, false
	if r.agent.who != "" {
		r.Once(protocol.NoModelWords, r.agent.who+" reports its own work: one turn may contain several responses, and the arguments are those that the agent parsed")
	}
	return r.turn
}

// ensureTurn returns the open turn. If no turn is open, it opens one.
func (r *run) ensureTurn() *protocol.Turn {
	if r.turn.IsOpen() {
		return r.turn
	}
	return r.openTurn()
}

// lastTurn returns the latest turn, which may have ended, because tools run after the response. If there is no turn,
// it opens one.
func (r *run) lastTurn() *protocol.Turn {
	if r.turn == nil {
		r.openTurn()
	}
	return r.turn
}

// hasEnded reports whether the latest turn has ended. In that case, another end of the turn is ignored.
func (r *run) hasEnded() bool { return r.turn != nil && !r.turn.IsOpen() }

func (r *run) ensureCall(id, name json.Value) *protocol.Call {
	return r.calls.Ensure(r.ensureTurn(), stream.CallInfo{ID: id.Text(), Name: name.Text(), Kind: "function"})
}

// addResult adds the result of a call. If the call failed, the error message replaces the result.
func (r *run) addResult(t *protocol.Turn, id json.Value, failed bool, result, message json.Value) {
	if failed && message.IsPresent() {
		result = message
	}
	t.AddResultContent(id.Text(), failed, result)
}

// usageOf reads token counts under the keys that an agent uses. The key "" means that the agent doesn't
// report the count.
func usageOf(u json.Value, input, output, cacheRead, cacheWrite string) stream.Usage {
	return stream.Usage{
		Input: protocol.CountOf(u.Get(input)), Output: protocol.CountOf(u.Get(output)),
		CacheRead: protocol.CountOf(u.Get(cacheRead)), CacheWrite: protocol.CountOf(u.Get(cacheWrite)),
	}
}
