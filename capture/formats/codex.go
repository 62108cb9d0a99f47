package formats

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// codexRollout reads the session files that Codex keeps in ~/.codex/sessions. Each line is an entry with a
// type and a payload. Response items are the complete items of the conversation, as in OpenAI Responses.
// Their arguments are the text that the model wrote. Events report usage and aborted turns. In two older
// versions, the items have no wrapper and follow a line about the session. The items of one response become
// an exchange. Its request consists of the preceding items that the model didn't write. Responses are
// separated only by the entries between them: usage, tool results and messages from the user. The entries are
// decoded in providers/codexexec. The types are from codex-rs/protocol/src/protocol.rs in openai/codex, and
// were compared with files from Codex 0.169.0.
var codexRollout = capture.Format{
	Name:  codexName,
	Title: "Codex: ~/.codex/sessions/*/*/*/rollout-*.jsonl",
	Sniff: sniffCodex,
	New: func(in *capture.Input) capture.Reader {
		c := &codex{}
		lacks := []capture.Lack{capture.Composed, capture.NoDeltas, capture.LateTimes, capture.NoEnding}
		c.agentLog = agentLog{
			entryReader: entryReader{in: in, book: c, mixed: true},
			exchangeLog: exchangeLog{input: in, name: codexName, lacks: lacks}, read: c.readEntry,
		}
		return c
	},
}

const codexName = "codex rollout"

// codex reads a rollout.
type codex struct {
	agentLog
	header  map[string][]string
	session []byte            // the entry with the instructions, until the first request
	context []byte            // the latest entry with a model
	said    [][]byte          // entries for the next request
	brings  bool              // the entries in said contain results
	failed  map[string][]byte // events about calls that failed and have no result yet, by the id of the call
	begins  bool              // the entries in said begin with a history that replaces the previous one
	rewound bool              // the user went back before the entries in said
	open    *codexResponse
	total   string // latest total token count of all responses
	fork    codexFork
}

// codexResponse is an open response: more items may follow.
type codexResponse struct {
	*entryExchange
	isCall bool // its latest item is a call
}

// codexEntry is an entry of a rollout. Its values are JSON as in the line.
type codexEntry struct {
	line, item []byte // item is the payload, or the line if it has no wrapper
	kind, of   string // types of the entry and of the payload
	at         time.Duration
	clock      time.Time
}

func readCodexEntry(line []byte) (e codexEntry, stamp []byte) {
	e.line = line
	for key, v := range json.Members(line) {
		switch key {
		case "type":
			e.kind = stringOf(v)
		case "timestamp":
			stamp = v
		case "payload":
			e.item = v
		}
	}
	if e.item == nil { // an older version of Codex, which writes no wrapper
		e.item, e.of = line, e.kind
		if e.kind != "" {
			e.kind = "response_item"
		}
		return e, stamp
	}
	e.of = json.FindText(e.item, "type")
	return e, stamp
}

func (c *codex) readEntry(line []byte) bool {
	e, stamp := readCodexEntry(line)
	e.at, e.clock = c.parseStamp(stamp)
	if c.fork.copies {
		if !c.fork.isOwn(&e) && c.fork.size < maxCodexCopied {
			c.fork.held, c.fork.size = append(c.fork.held, line), c.fork.size+len(line)
			return true
		}
		c.endCopy(c.fork.size < maxCodexCopied)
	}
	switch e.kind {
	case "session_meta":
		c.meta(line, e.item)
	case "turn_context":
		c.finish()
		c.context = line
	case "response_item":
		c.responseItem(&e)
	case "compacted":
		c.finish()
		c.said, c.brings, c.begins = [][]byte{line}, false, true
	case "token_usage_record":
		c.used(&e, json.Find(e.item, "usage"), string(json.Find(e.item, "thread_token_usage", "total_tokens")))
	case "event_msg":
		c.event(&e)
	case "":
		if json.Find(line, "record_type") == nil && json.Find(line, "id") == nil {
			return false
		}
		if json.FindText(line, "id") != "" {
			c.meta(line, line)
		}
	}
	return true
}

// meta reads the first line, which describes the session. A rollout that continues another one repeats that
// rollout's first line as well; meta ignores it, except that a copied history may begin there.
func (c *codex) meta(line, of []byte) {
	if c.header != nil {
		c.fork.copies = c.fork.from != "" && !c.fork.ended && json.FindText(of, "id") != c.fork.thread
		return
	}
	thread := json.FindText(of, "id")
	session := cmp.Or(json.FindText(of, "session_id"), thread)
	c.header = map[string][]string{"Originator": {cmp.Or(json.FindText(of, "originator"), "codex_cli_rs")}, "Session-Id": {session}, "Thread-Id": {thread}}
	agent := json.Find(of, "source", "subagent")
	if parent := cmp.Or(json.FindText(of, "parent_thread_id"), json.FindText(agent, "thread_spawn", "parent_thread_id")); parent != "" {
		c.header["X-Codex-Parent-Thread-Id"] = []string{parent}
	}
	c.fork = readCodexFork(of, thread, json.FindText(agent, "thread_spawn", "parent_thread_id"))
	if word, ok := json.Text(agent); ok {
		c.header["X-Openai-Subagent"] = []string{string(word)}
	} else if json.Find(agent, "thread_spawn") != nil {
		c.header["X-Openai-Subagent"] = []string{"collab_spawn"}
	}
	c.session = line
}

// codexFork describes the copy of another session's history at the beginning of a rollout. Codex copies the history
// when a session or a sub-agent is forked from another session. The copied responses were made and paid for in the
// other session, so they are part of the first request of this one.
type codexFork struct {
	thread, from string    // ids of this session and of the session with the history
	start        int       // ordinal of the first entry that isn't copied; 0 if unknown
	since        time.Time // time of the fork
	copies       bool      // the entries are copied
	ended        bool      // the copied entries are over
	held         [][]byte  // the copied entries
	size         int       // their size in bytes
	note         string    // note for the first response after the copied entries
}

// maxCodexCopied is the maximum size of a copied history in bytes. A longer history is read like entries of the
// session itself.
const maxCodexCopied = 64 << 20

// readCodexFork reads the description of a fork in the payload of a session's first line.
func readCodexFork(meta []byte, thread, spawner string) codexFork {
	f := codexFork{thread: thread, since: parseLogTime(json.Find(meta, "timestamp")).Truncate(time.Second)}
	f.from = cmp.Or(json.FindText(meta, "forked_from_id"), json.FindText(meta, "parent_thread_id"), spawner)
	f.start = countOf(json.Find(meta, "subagent_history_start_ordinal"))
	f.copies = f.start > 1 && f.from != ""
	return f
}

// isOwn reports whether an entry is the first one that isn't copied. Without a known ordinal, this is the entry that
// begins a turn after the fork. The time of an entry doesn't show this, because Codex writes a new time into copied
// entries.
func (f *codexFork) isOwn(e *codexEntry) bool {
	if ordinal := json.Find(e.line, "ordinal"); f.start > 0 && ordinal != nil {
		return countOf(ordinal) >= f.start
	}
	if e.of == "task_started" || e.of == "turn_started" {
		return !f.since.IsZero() && !parseLogTime(json.Find(e.item, "started_at")).Before(f.since)
	}
	return e.kind == "inter_agent_communication_metadata"
}

// endCopy ends the copied history. If no entry shows where the session's own entries begin, all of them are read as
// its own.
func (c *codex) endCopy(known bool) {
	held := c.fork.held
	if !c.fork.copies {
		return
	}
	c.fork.copies, c.fork.ended, c.fork.held = false, true, nil
	if !known {
		for _, line := range held {
			c.readEntry(line)
		}
		return
	}
	for _, line := range held {
		e, _ := readCodexEntry(line)
		switch {
		case e.kind == "turn_context":
			c.context = line
		case e.kind == "compacted":
			c.said = [][]byte{line}
		case e.kind == "token_usage_record":
			c.total = string(json.Find(e.item, "thread_token_usage", "total_tokens"))
		case e.of == "token_count":
			c.total = cmp.Or(string(json.Find(e.item, "info", "total_token_usage", "total_tokens")), c.total)
		case slices.Contains(codexOutcomes, e.of):
			c.addOutcome(&e)
		case e.kind == "response_item" && !slices.Contains(codexNotes, e.of):
			c.addResult(&e)
			c.begins = true
		}
	}
	c.fork.note = fmt.Sprintf("%s copied from session %s: they are in the request, not turns of this session", count.WasWere(len(held), "entry"), c.fork.from)
}

// codexNotes are items that the model neither wrote nor received.
var codexNotes = []string{"ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger", "context_compaction", "other"}

// codexOutcomes are events that say whether a call failed.
var codexOutcomes = []string{"mcp_tool_call_end", "patch_apply_end", "exec_command_end", "dynamic_tool_call_response"}

// responseItem adds an item to the response, or to the next request if the model didn't write it.
func (c *codex) responseItem(e *codexEntry) {
	role := json.FindText(e.item, "role")
	switch {
	case slices.Contains(codexNotes, e.of):
	case e.of == "message" && role != "assistant", role == "developer", role == "user":
		if role == "user" {
			c.finish()
		}
		c.said = append(c.said, e.line)
	case strings.HasSuffix(e.of, "_output"):
		c.addResult(e)
		c.brings = true
	default:
		if c.open != nil && c.brings {
			c.finish()
		}
		if c.open == nil {
			c.begin(e)
		}
		c.open.add(e.at, e.line)
		c.open.isCall = strings.HasSuffix(e.of, "_call")
	}
}

func (c *codex) begin(e *codexEntry) { c.open = &codexResponse{entryExchange: c.asked(e)} }

// addResult adds a result to the next request, after the event that says that its call failed, if there is one.
func (c *codex) addResult(e *codexEntry) {
	id := json.FindText(e.item, "call_id")
	if event := c.failed[id]; event != nil {
		c.said = append(c.said, event)
		delete(c.failed, id)
	}
	c.said = append(c.said, e.line)
}

// addOutcome holds an event that says that a call failed, until the result of the call follows. Codex doesn't write
// into the result whether the call failed.
func (c *codex) addOutcome(e *codexEntry) {
	result := json.Find(e.item, "result")
	exit := json.Find(e.item, "exit_code")
	switch {
	case json.Find(result, "Err") != nil:
	case string(json.Find(result, "Ok", "isError")) == "true", string(json.Find(result, "Ok", "is_error")) == "true":
	case string(json.Find(e.item, "success")) == "false", !json.IsNull(exit) && string(exit) != "0":
	default:
		return
	}
	if c.failed == nil {
		c.failed = map[string][]byte{}
	}
	c.failed[json.FindText(e.item, "call_id")] = e.line
}

// asked begins an exchange with the new entries of its request.
func (c *codex) asked(e *codexEntry) *entryExchange {
	if c.header == nil {
		c.header = map[string][]string{"Originator": {"codex_cli_rs"}, "Session-Id": {c.in.File}}
	}
	request := append([][]byte{c.session, c.context}, c.said...)
	head := capture.Head{Header: c.header, Incremental: !c.begins, Start: e.clock}
	if c.rewound {
		head.Lacks = []capture.Lack{capture.Rewound}
	}
	c.said, c.brings, c.begins, c.rewound, c.session, c.failed = nil, false, false, false, nil, nil
	x := c.beginExchange(head, e.at, request...)
	x.note, c.fork.note = c.fork.note, ""
	return x
}

// event reads an entry that is not part of the conversation.
func (c *codex) event(e *codexEntry) {
	if slices.Contains(codexOutcomes, e.of) {
		c.addOutcome(e)
		return
	}
	switch e.of {
	case "token_count":
		info := json.Find(e.item, "info")
		if json.Find(info, "model") != nil {
			c.context = e.line
		}
		c.used(e, json.Find(info, "last_token_usage"), string(json.Find(info, "total_token_usage", "total_tokens")))
	case "task_complete", "turn_complete":
		c.finish()
	case "thread_rolled_back":
		c.finish()
		c.rewound = true
	case "turn_aborted":
		// The user stopped the turn. Codex writes an item when the item is complete. So if the latest item is a call,
		// the user stopped its tool. Otherwise, the user stopped the response.
		why := "the turn was aborted: " + json.FindText(e.item, "reason")
		switch a := c.open; {
		case a == nil && len(c.said) > 0 && (!c.begins || len(c.said) > 1):
			c.asked(e).end(capture.EndCut, why, capture.Client)
		case a == nil || a.isCall:
			c.finish()
		default:
			c.open = nil
			a.end(capture.EndCut, why, capture.Client)
		}
	case "error":
		// An error ended the turn.
		if c.open == nil {
			c.begin(e)
		}
		c.open.add(e.at, e.line)
		c.finish()
	}
}

// used reads the usage of a response, and ends the response. The log may report the usage twice, in two kinds
// of entries, and also for a response without other entries.
func (c *codex) used(e *codexEntry, usage []byte, total string) {
	if json.IsNull(usage) || total != "" && total == c.total {
		return
	}
	c.total = total
	if c.open == nil {
		c.begin(e)
	}
	c.open.add(e.at, e.line)
	c.finish()
}

// finish ends the open response. Only the usage shows how the response ended.
func (c *codex) finish() {
	if a := c.open; a != nil {
		c.open = nil
		a.end(capture.EndEOF, "", "")
	}
}

// Close ends the open response.
func (c *codex) Close(recs []capture.Record, end capture.End, why string, _ time.Duration) []capture.Record {
	c.recs = c.takeLast(recs)
	c.endCopy(false)
	if end == capture.EndCut && c.open != nil {
		c.open.end(end, why, "")
	} else {
		c.finish()
	}
	if c.brings { // results without a response
		c.asked(&codexEntry{at: capture.NoTime}).end(end, why, "")
	}
	return c.recs
}

// codexTypes are the types of a rollout's entries.
var codexTypes = []string{
	"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "inter_agent_communication", "token_usage_record",
}

// sniffCodex checks the first line. The instructions in this line may be incomplete.
func sniffCodex(first []byte, whole bool) capture.SniffResult {
	return eachFirstLine(first, whole, func(line []byte, ended bool) capture.SniffResult {
		yes := func(why string) capture.SniffResult { return capture.SniffResult{Is: capture.Yes, Why: why} }
		e, stamp := readCodexEntry(line)
		switch {
		case len(line) == 0 || line[0] != '{', ended && !isObject(line):
			return capture.SniffResult{}
		case stamp != nil && slices.Contains(codexTypes, e.kind) && bytes.HasPrefix(e.item, []byte("{")) && len(e.item) < len(line):
			return yes("an entry of type " + e.kind + " with a payload")
		case stringOf(json.Find(line, "record_type")) == "state":
			return yes(`an entry with the record_type "state"`)
		case stamp != nil && json.FindText(line, "id") != "" && json.Find(line, "instructions") != nil:
			return yes("a session with its instructions")
		case isBareItem(line, e.of):
			return yes("a response item without a wrapper")
		case !ended:
			return capture.SniffResult{Is: capture.Maybe}
		}
		return capture.SniffResult{}
	})
}

// isBareItem reports whether a line is an item as in OpenAI Responses, and not a body from Anthropic.
func isBareItem(line []byte, kind string) bool {
	switch kind {
	case "message":
		for block := range json.Elements(json.Find(line, "content")) {
			of := json.FindText(block, "type")
			return of == "input_text" || of == "output_text"
		}
	case "function_call":
		return json.Find(line, "call_id") != nil && json.Find(line, "arguments") != nil && json.Find(line, "output_index") == nil
	}
	return false
}
