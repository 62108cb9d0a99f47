package formats

import (
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// copilotSession reads the events that GitHub Copilot CLI keeps in
// ~/.copilot/session-state/<session>/events.jsonl. The CLI keeps the messages of all providers in its own
// form. Sub-agents are in the file of the main agent.
var copilotSession = capture.Format{
	Name:  "copilot session",
	Title: "GitHub Copilot CLI: ~/.copilot/session-state/*/events.jsonl",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		s := sniffKeys(first, whole, "type", "data", "id", "timestamp")
		data := json.Find(first, "data")
		isStart := hasText(json.Find(first, "type"), "session.start") && (json.Find(data, "copilotVersion") != nil || json.Find(data, "producer") != nil)
		if s.Why = "a session.start event from Copilot"; s.Is == capture.Yes && !isStart {
			s.Is = capture.No
		}
		return s
	},
	New: func(in *capture.Input) capture.Reader {
		return &entryReader{in: in, book: &copilotReader{in: in, logs: map[string]*sessionLog{}, waiting: map[*sessionLog]bool{}}}
	},
}

// copilotReader reads the events of a session.
type copilotReader struct {
	in      *capture.Input
	session []byte // the event with the id of the session
	logs    map[string]*sessionLog
	waiting map[*sessionLog]bool // conversations that wait for a response
	order   []*sessionLog        // the conversations, in the order in which they began
}

// logOf returns the conversation of an agent, and creates it if necessary.
func (c *copilotReader) logOf(agent string) *sessionLog {
	l := c.logs[agent]
	if l == nil {
		l = newSessionLog(c.in, "copilot session", capture.NoDeltas, capture.LateTimes, capture.NoEnding, capture.Reencoded)
		c.logs[agent], c.order = l, append(c.order, l)
	}
	l.session = c.session
	return l
}

func (c *copilotReader) entry(recs []capture.Record, line []byte) []capture.Record {
	f := json.Pick(line, "type", "timestamp", "data", "agentId")
	at, agent := parseLogTime(f[1]), stringOf(f[3])
	if started := json.FindText(f[2], "parentToolCallId"); started != "" {
		agent = started
	}
	l := c.logOf(agent)
	l.recs = recs
	switch stringOf(f[0]) {
	case "session.start", "session.resume":
		c.session = line
	case "assistant.turn_start":
		c.waiting[l] = true
	case "abort":
		for _, of := range c.order { // the user stops all agents
			if c.waiting[of] {
				of.recs, l.recs = l.recs, nil
				of.beginRequest(time.Time{})
				of.endExchange(capture.EndCut, "the user aborted the request", capture.Client)
				l.recs = of.recs
			}
		}
		clear(c.waiting)
	case "assistant.message":
		delete(c.waiting, l)
		l.writeResponse(time.Time{}, at, line)
		l.endExchange("", "", "")
		l.addEntry(line, at, false)
	case "session.compaction_complete":
		if tokens := json.Find(f[2], "compactionTokensUsed"); !json.IsNull(tokens) {
			l.writeAside(at, nil, line)
		}
	case "session.error":
		delete(c.waiting, l)
		l.writeResponse(time.Time{}, at, line)
		l.endExchange("", "", "")
	case "user.message":
		l.addEntry(line, at, false)
	case "tool.execution_complete":
		l.addEntry(line, at, true)
	}
	return l.recs
}

func (c *copilotReader) close(recs []capture.Record) []capture.Record {
	for _, l := range c.order {
		recs = l.close(recs)
	}
	return recs
}
