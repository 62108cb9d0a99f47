package formats

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// A Claude Code session is what the program keeps in ~/.claude/projects: an entry a line. Entries of
// the assistant have one content block of a message each, and share the message's id; results of
// tools may stand between them. Entries of the user are what the next request brings. Sub-agents
// work in files of their own, and in older versions beside the main agent, as sidechains. Newer
// versions log each request too: see claudeRequests.
//
// A message becomes an exchange. Its answer is put together as the events that would have brought
// it, so that a message may be read while it is written. Field names were read in files that Claude
// Code 2.1.330 wrote, and those of older versions in published readers of its logs.
var claudeSession = capture.Format{
	Name:  claudeSource.layer,
	Title: "Claude Code: ~/.claude/projects/*/*.jsonl, sub-agents too",
	Sniff: sniffClaude,
	New: func(in *capture.Input) capture.Reader {
		c := &claude{lanes: map[string]*claudeLane{}, chains: map[string]string{}}
		c.agentLog = agentLog{Input: in, take: c.entry}
		c.asks.keep = map[string][]byte{}
		return c
	},
}

var claudeSource = agentSource{
	layer: "claude-code session",
	lacks: []capture.Lack{capture.NoDeltas, capture.LateTimes, capture.Reencoded},
}

// claude reads a session.
type claude struct {
	agentLog
	lanes   map[string]*claudeLane
	order   []*claudeLane     // as they began
	chains  map[string]string // the agent of an entry of a sidechain, by the entry's uuid
	session string            // that was named last
	asks    claudeRequests
}

// claudeLane is what one agent says and is told.
type claudeLane struct {
	session, agent string
	said           [][]byte // messages that no request has taken yet
	asked          []*claudeAsked
	open           *claudeAnswer // nil between messages
	last           string        // id of the one that ended last
}

// claudeSynthetic is the model of messages that Claude Code wrote itself.
const claudeSynthetic = `"<synthetic>"`

// claudeAnswer is a message of the model that may go on.
type claudeAnswer struct {
	*composed
	id, asked   string // of the message, and of its request
	blocks      int
	calls       []string // their ids
	content     [][]byte // they as they are
	ended, used []byte   // stop_reason and usage as told last
	counted     bool     // its usage was told before
}

// maxChained is how many entries of sidechains are remembered; they follow each other closely.
const maxChained = 1 << 14

func (c *claude) entry(line []byte) bool {
	e, ok := readClaudeEntry(line)
	if !ok {
		return false
	}
	e.at, e.clock = c.stamp(e.time)
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

// lane returns the conversation of an entry's agent. A sidechain without a name consists of the entries that
// follow each other from its first one on.
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
		e.session = cmp.Or(c.session, c.File) // none names another
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

// assistant takes content blocks of a message.
func (c *claude) assistant(l *claudeLane, e *claudeEntry) {
	id := json.FindText(e.message, "id")
	switch {
	case e.failed:
		c.failure(l, e)
		return
	case string(json.Find(e.message, "model")) == claudeSynthetic: // what Claude Code says itself
		return
	case l.open == nil || l.open.id != id || id == "":
		c.finish(l)
		goesOn := id == l.last && id != ""
		l.open = c.begin(l, e)
		l.open.id, l.open.counted, l.last = id, goesOn, id
		l.open.say(e.at, eventHead("message_start")+`,"message":`+string(messageOpening(e.message, l.open.counted))+eventTail)
	}
	content := json.Find(e.message, "content")
	if text, ok := json.Text(content); ok && len(text) > 0 {
		l.open.text(e, content)
	}
	for block := range json.Elements(content) {
		l.open.block(e, block)
	}
	l.open.ended = json.Find(e.message, "stop_reason")
	if !l.open.counted {
		l.open.used = json.Find(e.message, "usage")
	}
	if l.open.isOver(content) {
		c.finish(l)
	}
}

// isOver reports whether a message is over as far as can be told: it waits for no tool, and has
// said its last words.
func (a *claudeAnswer) isOver(content []byte) bool {
	var last []byte
	for block := range json.Elements(content) {
		last = block
	}
	return !json.IsNull(a.ended) && string(a.ended) != `"tool_use"` && json.FindText(last, "type") == "text"
}

// messageOpening is the message that a message_start has.
func messageOpening(message []byte, counted bool) []byte {
	m := []byte(`{"type":"message","role":"assistant"`)
	names := []string{"id", "model", "usage"}
	if counted {
		names = names[:2]
	}
	for _, name := range names {
		m = append(m, withMember(name, json.Find(message, name))...)
	}
	return append(m, '}')
}

// begin begins the exchange of an answer, with what is known of its request.
func (c *claude) begin(l *claudeLane, e *claudeEntry) *claudeAnswer {
	head := capture.Head{Header: l.header(), Start: e.clock}
	if a := l.take(e.asked); a != nil {
		head.Incremental = a.from > 0
		return &claudeAnswer{composed: c.ask(&claudeSource, head, a.at, a.body()...), asked: a.id}
	}
	head.Incremental = true
	of := agentSource{claudeSource.layer, append([]capture.Lack{capture.Composed}, claudeSource.lacks...)}
	body := [][]byte{append([]byte(`{"messages":[`), bytes.Join(l.said, []byte(","))...), []byte("]")}
	if model := json.Find(e.message, "model"); string(model) != claudeSynthetic {
		body = append(body, withMember("model", model))
	}
	body = append(body, []byte("}"))
	l.said = nil
	return &claudeAnswer{composed: c.ask(&of, head, e.at, body...)}
}

// header says whose request it is, as Claude Code says it to the provider.
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

// eventHead is the beginning of a server-sent event of a type.
func eventHead(kind string) string { return "event: " + kind + "\ndata: {\"type\":\"" + kind + `"` }

const eventTail = "}\n\n"

// text adds a message that is a string and no list of blocks.
func (a *claudeAnswer) text(e *claudeEntry, content []byte) {
	a.say(e.at, a.event("content_block_start")+`,"content_block":{"type":"text","text":`)
	a.piece(e.at, e.line, content)
	a.stop(e, "}"+eventTail)
}

// event is the beginning of an event about the block that comes next.
func (a *claudeAnswer) event(kind string) string {
	return eventHead(kind) + `,"index":` + strconv.Itoa(a.blocks)
}

// stop ends the event and the block.
func (a *claudeAnswer) stop(e *claudeEntry, ending string) {
	a.say(e.at, ending+a.event("content_block_stop")+eventTail)
	a.blocks++
}

const argumentsDelta = `,"delta":{"type":"input_json_delta","partial_json":`

// block adds a content block. Of a call whose arguments were not JSON the log has their text in a
// wrapper; an input without members would be a placeholder where a block starts.
func (a *claudeAnswer) block(e *claudeEntry, block []byte) {
	id, input := json.FindText(block, "id"), json.Find(block, "input")
	if id != "" && slices.Contains(a.calls, id) {
		return // the entry was written twice
	}
	a.calls, a.content = append(a.calls, id), append(a.content, block)
	a.say(e.at, a.event("content_block_start")+`,"content_block":`)
	raw := json.Find(input, "__unparsedToolInput", "raw")
	switch {
	case raw != nil:
		head := []byte(`{"input":{}`)
		for _, name := range []string{"type", "id", "name"} {
			head = append(head, withMember(name, json.Find(block, name))...)
		}
		a.say(e.at, string(head)+"}"+eventTail+a.event("content_block_delta")+argumentsDelta)
		a.piece(e.at, e.line, raw)
		a.stop(e, "}"+eventTail)
		a.cutArguments(block, input, raw)
	case string(input) == "{}":
		a.piece(e.at, e.line, block)
		a.stop(e, eventTail+a.event("content_block_delta")+argumentsDelta+`"{}"}`+eventTail)
	default:
		a.piece(e.at, e.line, block)
		a.stop(e, eventTail)
	}
}

// cutArguments tells that the log has only the beginning of arguments that were not JSON.
func (a *claudeAnswer) cutArguments(block, input, raw []byte) {
	text, _ := json.Text(raw)
	if size := countOf(json.Find(input, "__unparsedToolInput", "len")); size > javaScriptLen(text) {
		a.note = fmt.Sprintf("the log has %d of the %d characters of the arguments of %s", javaScriptLen(text), size, json.FindText(block, "name"))
	}
}

// finish ends the message that is open.
func (c *claude) finish(l *claudeLane) {
	a := l.open
	if a == nil {
		return
	}
	l.open = nil
	delta := append([]byte(`,"delta":{"stop_sequence":null`), withMember("stop_reason", a.ended)...)
	delta = append(append(delta, '}'), withMember("usage", a.used)...)
	a.say(a.at, eventHead("message_delta")+string(delta)+eventTail+eventHead("message_stop")+eventTail)
	if json.IsNull(a.ended) && !json.IsNull(a.used) {
		a.note = "the log has the usage from the start of the message: its output count is too low"
	}
	a.end(capture.EndEOF, "", "")
	c.asks.spoken("assistant", bytes.Join([][]byte{[]byte("["), bytes.Join(a.content, []byte(",")), []byte("]")}, nil))
}

// user takes what the next request brings. Newer versions write a result while its message still
// goes on; what a person says ends it.
func (c *claude) user(l *claudeLane, e *claudeEntry) {
	if e.message == nil || json.Find(e.message, "content") == nil {
		return
	}
	if l.open != nil && !bringsResult(e.message) && !e.meta {
		c.finish(l)
	}
	l.said = append(l.said, e.message)
	c.asks.spoken("user", json.Find(e.message, "content"))
}

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
	c.recs = recs
	c.last()
	for _, l := range c.order {
		if a := l.open; a != nil && end == capture.EndCut {
			a.end(end, why, "")
		} else {
			c.finish(l)
		}
		if slices.ContainsFunc(l.said, bringsResult) { // what they are of is known, and no answer to them
			c.begin(l, &claudeEntry{at: capture.NoTime}).end(end, why, "")
		}
	}
	return c.done()
}
