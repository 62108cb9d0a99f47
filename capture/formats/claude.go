package formats

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/stream/lazyregexp"
)

// claudeSession reads the session files that Claude Code keeps in ~/.claude/projects, with one entry on each
// line. Each entry from the assistant has one content block of a message and the message's id. Tool results
// may be between these entries. Entries from the user belong to the next request. Sub-agents have their own
// files; in older versions, they are sidechains in the file of the main agent.
//
// The entries of a message become an exchange. Its request consists of the user's entries since the previous
// message. Newer versions log each request as well; see claudeRequests. The entries are decoded in
// providers/claudecode.
var claudeSession = capture.Format{
	Name:  claudeName,
	Title: "Claude Code: ~/.claude/projects/*/*.jsonl, and sub-agents",
	Sniff: sniffClaude,
	New: func(in *capture.Input) capture.Reader {
		c := &claude{lanes: map[string]*claudeLane{}, chains: map[string]string{}, tree: claudeChain{seed: maphash.MakeSeed()}}
		lacks := []capture.Lack{capture.NoDeltas, capture.LateTimes, capture.Reencoded}
		c.agentLog = agentLog{
			entryReader: entryReader{in: in, book: c, mixed: true},
			exchangeLog: exchangeLog{input: in, name: claudeName, lacks: lacks}, read: c.readEntry,
		}
		c.asks.keep = map[string][]byte{}
		return c
	},
}

const claudeName = "claude-code session"

// claude reads the session files of Claude Code.
type claude struct {
	agentLog
	lanes   map[string]*claudeLane
	order   []*claudeLane     // the conversations, in the order in which they began
	chains  map[string]string // agents of sidechain entries, by the uuid of the entry
	tree    claudeChain
	session string // latest session id
	stops   bool   // the log contains stop reasons
	asks    claudeRequests
}

// claudeLane is the conversation of one agent.
type claudeLane struct {
	session, agent string
	said           [][]byte // entries for the next request
	asked          []*claudeAsked
	open           *claudeMessage // nil between messages
	last           string         // id of the latest message
	compacted      bool           // the next request has a new history
}

// claudeSynthetic is the model of messages that Claude Code wrote itself.
const claudeSynthetic = `"<synthetic>"`

// claudeMessage is a message of the model that may continue.
type claudeMessage struct {
	*entryExchange
	id, asked   string          // ids of the message and of its request
	calls       map[string]bool // ids of the message's calls
	lines       [][]byte        // entries with blocks that no earlier entry has
	content     [][]byte        // these blocks
	ended, used []byte          // stop_reason and usage of the latest entry
	goesOn      bool            // an earlier exchange has the beginning of the message
}

// maxChained is the maximum number of sidechain entries that are remembered. Entries of one sidechain follow
// each other closely.
const maxChained = 1 << 14

func (c *claude) readEntry(line []byte) bool {
	e, ok := readClaudeEntry(line)
	if !ok {
		return false
	}
	e.at, e.clock = c.parseStamp(e.time)
	if !c.tree.addEntry(&e, c.number) {
		return true
	}
	l := c.lane(&e)
	switch e.kind {
	case "assistant":
		c.assistant(l, &e)
	case "user":
		c.user(l, &e)
	case "system":
		c.system(l, &e)
	case "cost-state", "summary":
		c.finish(l)
	case "api-request", "api-request-blob", "api-request-shape":
		c.requested(l, &e)
	}
	return true
}

// lane returns the conversation of an entry's agent. Entries of a sidechain without an agent name belong
// together if each names the previous entry as its parent.
func (c *claude) lane(e *claudeEntry) *claudeLane {
	agent := e.agent
	if agent == "" && e.sidechain {
		if agent = c.chains[e.parent]; agent == "" {
			agent = e.uuid
		}
		if len(c.chains) >= maxChained {
			clear(c.chains)
		}
		c.chains[e.uuid] = agent
	}
	if e.session == "" {
		e.session = cmp.Or(c.session, c.in.File) // the entry names no session
	}
	c.session = e.session
	l := c.lanes[e.session+"\n"+agent]
	if l == nil {
		l = &claudeLane{session: e.session, agent: agent}
		c.lanes[e.session+"\n"+agent] = l
		c.order = append(c.order, l)
	}
	return l
}

// assistant adds an entry with content blocks to its message.
func (c *claude) assistant(l *claudeLane, e *claudeEntry) {
	id := json.FindText(e.message, "id")
	switch {
	case e.failed:
		c.failure(l, e)
		return
	case string(json.Find(e.message, "model")) == claudeSynthetic: // Claude Code wrote the message itself
		return
	case l.open == nil || l.open.id != id || id == "":
		c.finish(l)
		goesOn := id == l.last && id != ""
		var lacks []capture.Lack
		if goesOn {
			lacks = []capture.Lack{capture.UsageBefore}
		}
		l.open = c.begin(l, e, lacks...)
		l.open.id, l.open.goesOn, l.last = id, goesOn, id
	}
	l.open.read(e)
	if l.open.isOver(json.Find(e.message, "content")) {
		c.finish(l)
	}
}

// read adds an entry and its new blocks to the message.
func (a *claudeMessage) read(e *claudeEntry) {
	a.add(e.at, e.line)
	before := len(a.content)
	for block := range json.Elements(json.Find(e.message, "content")) {
		id := json.FindText(block, "id")
		if id == "" || !a.calls[id] { // some entries are written twice
			a.content = append(a.content, block)
			// The log may have only the beginning of arguments that were not JSON.
			wrapped := json.Find(block, "input", "__unparsedToolInput")
			text, _ := json.Text(json.Find(wrapped, "raw"))
			if size := countOf(json.Find(wrapped, "len")); size > javaScriptLen(text) && json.Find(wrapped, "raw") != nil {
				a.note = fmt.Sprintf("the log has %d of the %d characters in the arguments of %s", javaScriptLen(text), size, json.FindText(block, "name"))
			}
		}
		a.calls[id] = true
	}
	if len(a.content) > before {
		a.lines = append(a.lines, e.line)
	}
	a.ended, a.used = json.Find(e.message, "stop_reason"), json.Find(e.message, "usage")
}

// isOver reports whether a message seems complete: the model ended it, and its last block is text. The stop reason
// alone doesn't show this: if the message is cut off, each of its entries may have it.
func (a *claudeMessage) isOver(content []byte) bool {
	var last []byte
	for block := range json.Elements(content) {
		last = block
	}
	return !json.IsNull(a.ended) && !slices.Contains(openStops, stringOf(a.ended)) && json.FindText(last, "type") == "text"
}

// openStops are the stop reasons of messages that may have more blocks after a text block.
var openStops = []string{"tool_use", "max_tokens", "pause_turn", "model_context_window_exceeded"}

// begin begins the exchange of a message with the known part of its request.
func (c *claude) begin(l *claudeLane, e *claudeEntry, lacks ...capture.Lack) *claudeMessage {
	head, at := capture.Head{Header: l.header(), Start: e.clock, Lacks: lacks}, e.at
	x, request := &claudeMessage{calls: map[string]bool{}}, l.said
	if a := l.take(e.asked); a != nil {
		head.Incremental, x.asked, at, request = a.from > 0, a.id, a.at, append([][]byte{a.line, a.shape}, a.tail...)
	} else {
		head.Incremental, head.Lacks = !l.compacted, append([]capture.Lack{capture.Composed}, lacks...)
	}
	if before := c.tree.messageBefore(e.parent, json.FindText(e.message, "id")); before != 0 && l.last != "" && before != c.tree.hashID(l.last) {
		head.Lacks = append(slices.Clip(head.Lacks), capture.Rewound)
	}
	l.said, l.compacted = nil, false
	x.entryExchange = c.beginExchange(head, at, request...)
	return x
}

// header returns the headers by which Claude Code identifies the session and the agent to the provider.
func (l *claudeLane) header() map[string][]string {
	h := map[string][]string{}
	if l.session != "" {
		h["X-Claude-Code-Session-Id"] = []string{l.session}
	}
	if l.agent != "" {
		h["X-Claude-Code-Agent-Id"] = []string{l.agent}
	}
	return h
}

// finish ends the open message.
func (c *claude) finish(l *claudeLane) { c.endMessage(l, capture.EndEOF, "", "") }

// endMessage ends the open message, and says how and why it ended.
func (c *claude) endMessage(l *claudeLane, end capture.End, why string, by capture.Party) {
	a := l.open
	if a == nil {
		return
	}
	l.open = nil
	c.stops = c.stops || !json.IsNull(a.ended)
	if json.IsNull(a.ended) && !json.IsNull(a.used) && !a.goesOn {
		a.note = "the log has the usage from the start of the message: the output token count is too low"
	}
	a.end(end, why, by)
	c.asks.spoken("assistant", arrayOf(a.content...), bytes.Join(a.lines, []byte("\n")))
}

// user adds an entry to the next request. Newer versions may write a result before the message with the call
// is complete. Text from the user ends the open message.
func (c *claude) user(l *claudeLane, e *claudeEntry) {
	if e.message == nil || json.Find(e.message, "content") == nil {
		return
	}
	switch words := interruptionText(e); {
	case words == claudeInterrupted || words == claudeToolStopped && !l.hasCall():
		c.endInterrupted(l, e)
	case l.open != nil && !bringsResult(e.message) && !e.meta:
		c.finish(l)
	}
	l.said = append(l.said, e.line)
	c.asks.spoken("user", json.Find(e.message, "content"), e.line)
}

// Claude Code writes these words if the user stops a response or its tools. While tools run, the response is complete.
const (
	claudeInterrupted = "[Request interrupted by user]"
	claudeToolStopped = "[Request interrupted by user for tool use]"
)

// interruptionText returns the text of an entry that consists of one text block, as Claude Code writes it if the user
// interrupts it. Text that the user entered may be a string.
func interruptionText(e *claudeEntry) string {
	content := json.Find(e.message, "content")
	block := json.FirstElement(content)
	if json.FindText(block, "type") != "text" || !json.Same(content, arrayOf(block)) {
		return ""
	}
	return json.FindText(block, "text")
}

// endInterrupted reads an entry that says that the user interrupted the request. The request's response is the open
// message, unless the message is complete. In that case, the response to the entries after it never began.
func (c *claude) endInterrupted(l *claudeLane, e *claudeEntry) {
	const why = "the user interrupted the request"
	if a := l.open; a != nil && json.IsNull(a.ended) && (c.stops || !slices.ContainsFunc(l.said, wasRun)) {
		c.endMessage(l, capture.EndCut, why, capture.Client)
		return
	}
	c.finish(l)
	if n := len(l.asked); n > 0 {
		e.asked = l.asked[n-1].id
	} else if c.asks.logged {
		return // the log has no request without a response
	}
	if slices.ContainsFunc(l.said, isAsked) {
		c.begin(l, e).end(capture.EndCut, why, capture.Client)
	}
}

// hasCall reports whether the open message has a call.
func (l *claudeLane) hasCall() bool {
	for id := range cmp.Or(l.open, &claudeMessage{}).calls {
		if id != "" {
			return true
		}
	}
	return false
}

// isAsked reports whether a request follows an entry: the entry is from the user, or is the result of a tool that ran.
func isAsked(line []byte) bool {
	return string(json.Find(line, "isMeta")) != "true" && (!bringsResult(json.Find(line, "message")) || wasRun(line))
}

// wasRun reports whether a tool that ran returned the result in an entry. If the user stops a response, Claude Code writes a
// result of its own for each call.
func wasRun(line []byte) bool {
	for block := range json.Elements(json.Find(line, "message", "content")) {
		if json.FindText(block, "type") != "tool_result" {
			continue
		}
		content := json.Find(block, "content")
		text, ok := json.Text(content)
		if !ok {
			text = []byte(json.FindText(json.FirstElement(content), "text"))
		}
		if string(json.Find(block, "is_error")) != "true" || !ownResult().Match(text) {
			return true
		}
	}
	return false
}

// ownResult matches the results that Claude Code writes for calls that did not run.
var ownResult = lazyregexp.New(`(?i)^(<tool_use_error>)?(\[?(Request )?interrupted by user|The user doesn't want to |Cancelled: parallel tool call )`)

func bringsResult(message []byte) bool {
	for block := range json.Elements(json.Find(message, "content")) {
		if json.FindText(block, "type") == "tool_result" {
			return true
		}
	}
	return false
}

// Close ends the open messages.
func (c *claude) Close(recs []capture.Record, end capture.End, why string, _ time.Duration) []capture.Record {
	c.recs = c.takeLast(recs)
	for _, l := range c.order {
		if a := l.open; a != nil && end == capture.EndCut {
			a.end(end, why, "")
		} else {
			c.finish(l)
		}
		if slices.ContainsFunc(l.said, func(line []byte) bool { return bringsResult(json.Find(line, "message")) }) { // results without a response
			c.begin(l, &claudeEntry{at: capture.NoTime}).end(end, why, "")
		}
	}
	if n := c.tree.copies; n > 0 {
		note := count.WasWere(n, "entry") + " written again with the same uuid: the first copy counts"
		c.recs = c.addNote(c.recs, capture.Record{At: capture.NoTime, Note: note})
	}
	if note, broken := c.tree.brokenNote(); broken {
		c.recs = c.addNote(c.recs, note)
	}
	return c.recs
}
