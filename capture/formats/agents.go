package formats

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// cline reads the history of a task that Cline, Roo Code and Kilo Code keep for the next request. The history is one
// array of messages as in Anthropic's API, whatever the provider is. The programs send the messages exactly as in the
// file, so their blocks are passed on unchanged.
var cline = capture.Format{
	Name:  "cline task",
	Title: "Cline, Roo, Kilo: api_conversation_history.json",
	Sniff: sniffCline,
	New: func(in *capture.Input) capture.Reader {
		c := &clineReader{newSessionLog(in, "cline task", capture.NoDeltas, capture.NoEnding, capture.Reencoded)}
		found := func(recs []capture.Record, _ int, value []byte) []capture.Record { return c.entry(recs, value) }
		entries := entryReader{in: in, book: c}
		return &jsonDocument{entryReader: entries, walk: json.Walk{Paths: [][]string{{"*"}}}, found: found, decided: true, one: true}
	},
}

// sniffCline checks the first message: it is from the user, its content is text or a list of blocks, and it
// has a time or the tags that these programs write around the task.
func sniffCline(first []byte, whole bool) capture.SniffResult {
	p := bytes.TrimLeft(first, " \t\r\n")
	if len(p) == 0 && !whole {
		return capture.SniffResult{Is: capture.Maybe}
	}
	if len(p) == 0 || p[0] != '[' {
		return capture.SniffResult{}
	}
	message := afterSpace(p[1:])
	if len(message) == 0 && !whole {
		return capture.SniffResult{Is: capture.Maybe}
	}
	if len(message) == 0 || message[0] != '{' {
		return capture.SniffResult{}
	}
	f := json.Pick(message, "role", "content", "ts")
	marked := f[2] != nil || bytes.Contains(f[1], []byte("<task>")) || bytes.Contains(f[1], []byte("<environment_details>"))
	content := hasText(f[0], "user") && (kindOf(f[1]) == '[' || kindOf(f[1]) == '"') && marked
	keys, open := topKeys(message)
	mayBegin := len(keys) == 0 || slices.Contains(messageKeys, keys[0])
	if open && !whole && mayBegin && (f[0] == nil || len(keys) < 3 || hasText(f[0], "user")) {
		return capture.SniffResult{Is: capture.Maybe}
	}
	if content {
		return capture.SniffResult{Is: capture.Yes, Why: "an array of messages, the first with the user's task"}
	}
	return capture.SniffResult{}
}

// messageKeys are the keys that a message may begin with.
var messageKeys = []string{"role", "content", "ts", "id"}

// clineReader reads the messages of a task.
type clineReader struct{ *sessionLog }

func (c *clineReader) entry(recs []capture.Record, m []byte) []capture.Record {
	c.recs = recs
	f := json.Pick(m, "role", "content", "ts")
	at, results := parseLogTime(f[2]), false
	for block := range json.Elements(f[1]) {
		results = results || hasText(json.Find(block, "type"), "tool_result")
	}
	switch model := hasText(f[0], "assistant"); {
	case model:
		c.writeResponse(time.Time{}, at, m)
		end := clineEnds[clineInterrupter(f[1])]
		c.endExchange(end.End, end.Why, end.By)
		fallthrough
	case hasText(f[0], "user"):
		if nonEmptyText(f[1]) != nil || json.FirstElement(f[1]) != nil {
			c.addEntry(m, at, results)
		}
	}
	return c.recs
}

// clineInterrupted matches the end of a response that was interrupted. The programs stop a response if the user cancels it
// or rejects its call. Older versions also stop it after its first call.
var clineInterrupted = lazyregexp.New(`\n\n\[Response interrupted by (user|user feedback|API Error|a tool use result)\b[^\]\n]*\]$`)

// clineEnds are the ends of responses, by what interrupted them.
var clineEnds = map[string]capture.Record{
	"user":              {End: capture.EndCut, Why: "the user interrupted the response", By: capture.Client},
	"user feedback":     {End: capture.EndCut, Why: "the user rejected a call of the response", By: capture.Client},
	"a tool use result": {End: capture.EndCut, Why: "the client stopped the response after its first call", By: capture.Client},
	"API Error":         {End: capture.EndCut, Why: "the stream of the response failed", By: capture.Network},
}

// clineInterrupter returns what interrupted a response, or "" for a complete response.
func clineInterrupter(content []byte) string {
	words, _ := json.Text(content)
	for block := range json.Elements(content) {
		words = []byte(json.FindText(block, "text"))
	}
	if m := clineInterrupted().FindSubmatch(words); m != nil {
		return string(m[1])
	}
	return ""
}

// clineScreen reads ui_messages.json, in which Cline, Roo Code and Kilo Code keep the screen content of a
// task. The file is in the same folder as the history. It has the calls as the screen showed them, without
// ids, and the cost of each request.
var clineScreen = capture.Format{
	Name:  "cline screen",
	Title: "Cline, Roo, Kilo: ui_messages.json",
	Sniff: sniffClineScreen,
	New: func(in *capture.Input) capture.Reader {
		log := newSessionLog(in, "cline screen", capture.NoDeltas, capture.NoEnding, capture.Reencoded)
		c := &clineScreenReader{sessionLog: log}
		found := func(recs []capture.Record, _ int, value []byte) []capture.Record { return c.entry(recs, value) }
		entries := entryReader{in: in, book: c}
		return &jsonDocument{entryReader: entries, walk: json.Walk{Paths: [][]string{{"*"}}}, found: found, decided: true, one: true}
	},
}

func sniffClineScreen(first []byte, whole bool) capture.SniffResult {
	p := bytes.TrimLeft(first, " \t\r\n")
	if len(p) > 0 && p[0] != '[' {
		return capture.SniffResult{}
	}
	message := afterSpace(p[min(1, len(p)):])
	f := json.Pick(message, "ts", "type", "say", "ask")
	keys, open := topKeys(message)
	switch {
	case f[0] != nil && (hasText(f[1], "say") && f[2] != nil || hasText(f[1], "ask") && f[3] != nil):
		return capture.SniffResult{Is: capture.Yes, Why: `an array of "say" and "ask" entries with "ts"`}
	case open && !whole && (len(keys) == 0 || keys[0] == "ts" || keys[0] == "type"):
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{}
}

// clineScreenReader reads the entries of the file. A request begins at an entry that reports its start.
type clineScreenReader struct {
	*sessionLog
	response [][]byte // entries of the open response
	asked    time.Time
	at       time.Time // time of the latest entry in response
}

func (c *clineScreenReader) close(recs []capture.Record) []capture.Record {
	c.recs = recs
	c.endResponse()
	c.finish()
	return c.recs
}

// endResponse writes the open response.
func (c *clineScreenReader) endResponse() {
	if c.response == nil {
		return
	}
	c.writeResponse(c.asked, c.at, c.response...)
	about, _ := json.Text(json.Find(c.response[0], "text"))
	if hasText(json.Find(about, "cancelReason"), "user_cancelled") {
		c.endExchange(capture.EndCut, "the user cancelled it", capture.Client)
	}
	c.endExchange("", "", "")
	for _, entry := range c.response[1:] {
		c.addEntry(entry, c.at, false)
	}
	c.response = nil
}

func (c *clineScreenReader) entry(recs []capture.Record, m []byte) []capture.Record {
	c.recs = recs
	f := json.Pick(m, "say", "ask", "text", "ts", "partial")
	at, kind := parseLogTime(f[3]), stringOf(f[0])
	if f[0] == nil {
		kind = stringOf(f[1])
	}
	switch hasText := nonEmptyText(f[2]) != nil; kind {
	case "task", "user_feedback":
		c.endResponse()
		if hasText {
			c.addEntry(m, at, false)
		}
	case "api_req_started":
		c.endResponse()
		c.response, c.asked, c.at = [][]byte{m}, at, at
	case "text", "reasoning", "command", "tool", "use_mcp_server", "error", "api_req_failed":
		if c.response != nil && hasText && string(f[4]) != "true" {
			c.response, c.at = append(c.response, m), at
		}
	}
	return c.recs
}

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

// droidSession reads the conversations that Factory droid keeps in ~/.factory/sessions.
var droidSession = capture.Format{
	Name:  "droid session",
	Title: "Factory droid: ~/.factory/sessions/*/*.jsonl",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		return sniffType(first, whole, "session_start", "a header of type session_start", "id", "cwd")
	},
	New: func(in *capture.Input) capture.Reader {
		l := newSessionLog(in, "droid session", capture.NoDeltas, capture.LateTimes, capture.NoEnding, capture.Reencoded)
		return &entryReader{in: in, book: &sessionBook{sessionLog: l, read: readDroidEntry}}
	},
}

func readDroidEntry(d *sessionLog, line []byte) {
	f := json.Pick(line, "type", "timestamp", "message")
	at := parseLogTime(f[1])
	switch {
	case hasText(f[0], "session_start"):
		d.session = line
	case !hasText(f[0], "message"):
	case hasText(json.Find(f[2], "role"), "assistant"):
		d.writeResponse(time.Time{}, at, line)
		d.endExchange("", "", "")
		d.addEntry(line, at, false)
	default:
		d.addEntry(line, at, bytes.Contains(f[2], []byte(`"tool_use_id"`)))
	}
}

// kimiSession reads the wire.jsonl that Kimi Code keeps for each agent of a session.
var kimiSession = capture.Format{
	Name:  "kimi session",
	Title: "Kimi Code: ~/.kimi-code/sessions/*/*/agents/*/wire.jsonl",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		return sniffType(first, whole, "metadata", "a line of type metadata with a protocol_version", "protocol_version", "created_at")
	},
	New: func(in *capture.Input) capture.Reader {
		k := &kimiStep{sessionLog: newSessionLog(in, "kimi session", capture.NoDeltas, capture.LateTimes, capture.Reencoded)}
		return &entryReader{in: in, book: &sessionBook{sessionLog: k.sessionLog, read: k.readEntry, end: k.cutStep}}
	},
}

// kimiStep is the open step of an agent, which is one response. Its tools may run before its end.
type kimiStep struct {
	*sessionLog
	step, results [][]byte
}

func (k *kimiStep) readEntry(_ *sessionLog, line []byte) {
	f := json.Pick(line, "type", "time", "event")
	at := parseLogTime(f[1])
	switch kind := stringOf(json.Find(f[2], "type")); {
	case hasText(f[0], "context.append_message"), hasText(f[0], "llm.request"):
		k.addEntry(line, at, false)
	case !hasText(f[0], "context.append_loop_event"), kind == "step.begin":
	case kind == "tool.result":
		k.results = append(k.results, line)
	default:
		if k.open == nil {
			k.beginRequest(time.Time{})
		}
		k.open.add(k.input.RecordTime(at), line)
		k.step = append(k.step, line)
		if kind == "step.end" {
			k.endStep("", "", "")
		}
	}
}

// endStep ends the response. The next request contains its calls and their results.
func (k *kimiStep) endStep(end capture.End, why string, by capture.Party) {
	k.endExchange(end, why, by)
	for _, entry := range k.step {
		k.addEntry(entry, time.Time{}, false)
	}
	for _, entry := range k.results {
		k.addEntry(entry, time.Time{}, true)
	}
	k.step, k.results = nil, nil
}

// cutStep ends the open step because the file ends inside it.
func (k *kimiStep) cutStep() {
	if k.open != nil {
		k.endStep(capture.EndCut, "the file ends inside a step", capture.Client)
	}
}

// piSession reads the conversations that pi, and agents based on it, keep in ~/.pi/agent/sessions/--<cwd>--. pi
// keeps the messages of all providers in its own form.
var piSession = capture.Format{
	Name:  "pi session",
	Title: "pi, OpenClaw: ~/.pi/agent/sessions/*/*.jsonl",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		s := sniffType(first, whole, "session", "a header of type session", "id", "timestamp", "cwd")
		if s.Is == capture.Yes { // the output of pi also begins like a session
			_, second, _ := bytes.Cut(first, []byte("\n"))
			if second = afterSpace(second); !whole && !isWhole(second) {
				s.Is = capture.Maybe
			} else if kind := stringOf(json.Find(second, "type")); len(second) > 0 && strings.Contains(kind, "_") && json.Find(second, "id") == nil {
				s.Is = capture.No
			}
		}
		return s
	},
	New: func(in *capture.Input) capture.Reader {
		l := newSessionLog(in, "pi session", capture.NoDeltas, capture.LateTimes, capture.Reencoded)
		return &entryReader{in: in, book: &sessionBook{sessionLog: l, read: new(piReader).readPiEntry}}
	},
}

// piReader reads the entries of a conversation. Each entry names the entry that it follows. If that isn't the previous
// one, the user went back to an earlier entry.
type piReader struct {
	model []byte    // the latest entry about a change of the model
	path  []piPoint // the latest response and the entries after it, except those that the user left
}

// piPoint is an entry to which the user may go back.
type piPoint struct {
	id      string
	pending int // number of pending entries after it
}

func (r *piReader) readPiEntry(p *sessionLog, line []byte) {
	f := json.Pick(line, "type", "timestamp", "message", "usage", "id", "parentId")
	id := stringOf(f[4])
	inTree := id != "" && !hasText(f[0], "session")
	if inTree {
		r.leaveBranch(p, stringOf(f[5]))
	}
	at := parseLogTime(f[1])
	m := json.Pick(f[2], "role", "content", "stopReason", "errorMessage", "timestamp")
	hasContent := nonEmptyText(m[1]) != nil || json.FirstElement(m[1]) != nil
	switch {
	case hasText(f[0], "session"):
		p.session = line
	case hasText(f[0], "model_change"):
		r.model = line
	case hasText(f[0], "compaction"), hasText(f[0], "branch_summary"):
		if !json.IsNull(f[3]) { // the model wrote the summary, not an extension
			p.writeAside(at, r.model, line)
		}
	case !hasText(f[0], "message"):
	case hasText(m[0], "assistant"):
		asked := parseLogTime(m[4]) // a message has the time of its request
		if asked.After(at) {
			asked = time.Time{}
		}
		p.writeResponse(asked, at, line)
		r.path = r.path[:0]
		if hasText(m[2], "aborted") {
			p.endExchange(capture.EndCut, stringOf(m[3]), capture.Client)
		} else {
			p.endExchange("", "", "")
		}
		if hasContent && !hasText(m[2], "aborted") && !hasText(m[2], "error") { // pi doesn't send back a message that failed
			p.addEntry(line, at, false)
		}
	case hasText(m[0], "toolResult"):
		p.addEntry(line, at, true)
	case hasText(m[0], "user") && hasContent:
		p.addEntry(line, at, false)
	}
	if inTree {
		r.path = append(r.path, piPoint{id, len(p.pending)})
	}
}

// leaveBranch removes the entries that the next entry doesn't follow. The parameter parent is the id of the entry that
// it follows.
func (r *piReader) leaveBranch(p *sessionLog, parent string) {
	n := len(r.path)
	for len(r.path) > 0 && r.path[len(r.path)-1].id != parent {
		r.path = r.path[:len(r.path)-1]
	}
	switch {
	case len(r.path) == n: // it follows the previous entry, or is the first one
	case len(r.path) == 0:
		p.rewindPending(-1)
	default:
		p.rewindPending(r.path[len(r.path)-1].pending)
	}
}
