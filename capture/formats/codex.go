package formats

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// A Codex rollout is what the program keeps in ~/.codex/sessions: an entry a line, of a type and
// with a payload. Response items are the conversation as Responses has it, whole, with the text of
// arguments as the model wrote it; events tell what was used, and that a turn was aborted. Two older
// generations have the items bare, after a line about the session.
//
// The items of one response become an exchange: its answer is put together as the events that would
// have brought them. Which belong together the log tells only by what stands between: usage, results
// of tools, words of the user. Types are those of openai/codex, codex-rs/protocol/src/protocol.rs;
// files that Codex 0.169.0 wrote were read.
var codexRollout = capture.Format{
	Name:  codexSource.layer,
	Title: "Codex: ~/.codex/sessions/*/*/*/rollout-*.jsonl",
	Sniff: sniffCodex,
	New: func(in *capture.Input) capture.Reader {
		c := &codex{}
		c.agentLog = agentLog{Input: in, take: c.entry}
		return c
	},
}

var codexSource = agentSource{
	layer: "codex rollout",
	lacks: []capture.Lack{capture.Composed, capture.NoDeltas, capture.LateTimes, capture.NoEnding},
}

// codex reads a rollout.
type codex struct {
	agentLog
	header map[string][]string
	model  []byte
	told   []byte   // the instructions, until the first request has taken them
	said   [][]byte // items that no request has taken yet
	brings bool     // results are among them
	open   *codexAnswer
	total  string // tokens of all responses, as told last
}

// codexAnswer is a response that may go on.
type codexAnswer struct {
	*composed
	items  int
	isCall bool // the last of them is one
}

// codexEntry is an entry of a rollout. Values stand as they are in the line.
type codexEntry struct {
	line, item []byte // the payload, or the line
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
	if e.item == nil { // of an older generation
		e.item, e.of = line, e.kind
		if e.kind != "" {
			e.kind = "response_item"
		}
		return e, stamp
	}
	e.of = json.FindText(e.item, "type")
	return e, stamp
}

func (c *codex) entry(line []byte) bool {
	e, stamp := readCodexEntry(line)
	e.at, e.clock = c.parseStamp(stamp)
	switch e.kind {
	case "session_meta":
		c.meta(e.item)
	case "turn_context":
		c.finish(nil, nil)
		c.model = json.Find(e.item, "model")
	case "response_item":
		c.responseItem(&e)
	case "compacted":
		c.finish(nil, nil)
		c.said, c.brings = nil, false
	case "token_usage_record":
		c.used(&e, json.Find(e.item, "usage"), string(json.Find(e.item, "thread_token_usage", "total_tokens")))
	case "event_msg":
		c.event(&e)
	case "":
		if json.Find(line, "record_type") == nil && json.Find(line, "id") == nil {
			return false
		}
		if json.FindText(line, "id") != "" {
			c.meta(line)
		}
	}
	return true
}

// meta takes what the first line says of the session. A rollout that goes on from another repeats
// that one's, too.
func (c *codex) meta(of []byte) {
	if c.header != nil {
		return
	}
	thread := json.FindText(of, "id")
	session := cmp.Or(json.FindText(of, "session_id"), thread)
	c.header = map[string][]string{"Originator": {cmp.Or(json.FindText(of, "originator"), "codex_cli_rs")}, "Session-Id": {session}, "Thread-Id": {thread}}
	agent := json.Find(of, "source", "subagent")
	if parent := cmp.Or(json.FindText(of, "parent_thread_id"), json.FindText(agent, "thread_spawn", "parent_thread_id")); parent != "" {
		c.header["X-Codex-Parent-Thread-Id"] = []string{parent}
	}
	if word, ok := json.Text(agent); ok {
		c.header["X-Openai-Subagent"] = []string{string(word)}
	} else if json.Find(agent, "thread_spawn") != nil {
		c.header["X-Openai-Subagent"] = []string{"collab_spawn"}
	}
	c.told = json.Find(of, "base_instructions", "text")
	if c.told == nil {
		c.told = json.Find(of, "instructions")
	}
}

// codexNotes are items that are neither the model's nor told to it.
var codexNotes = []string{"ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger", "context_compaction", "other"}

// responseItem takes an item: the model's, or what the next request brings.
func (c *codex) responseItem(e *codexEntry) {
	role := json.FindText(e.item, "role")
	switch {
	case slices.Contains(codexNotes, e.of):
	case e.of == "message" && role != "assistant":
		if role == "user" {
			c.finish(nil, nil)
		}
		c.said = append(c.said, e.item)
	case strings.HasSuffix(e.of, "_output"):
		c.said, c.brings = append(c.said, e.item), true
	default:
		if c.open != nil && c.brings {
			c.finish(nil, nil)
		}
		if c.open == nil {
			c.begin(e)
		}
		c.open.item(e)
	}
}

// begin begins a response.
func (c *codex) begin(e *codexEntry) {
	c.open = &codexAnswer{composed: c.asked(e)}
	c.open.say(e.at, eventHead("response.created")+`,"response":{"object":"response"`+string(withMember("model", c.model))+"}"+eventTail)
}

// asked begins an exchange with what the log has of its request: no more than what is new.
func (c *codex) asked(e *codexEntry) *composed {
	if c.header == nil {
		c.header = map[string][]string{"Originator": {"codex_cli_rs"}, "Session-Id": {c.File}}
	}
	body := [][]byte{append([]byte(`{"input":[`), bytes.Join(c.said, []byte(","))...), []byte("]")}
	body = append(body, withMember("model", c.model), withMember("instructions", c.told), []byte("}"))
	head := capture.Head{Header: c.header, Incremental: true, Start: e.clock}
	c.said, c.brings, c.told = nil, false, nil
	return c.ask(&codexSource, head, e.at, body...)
}

// codexNames are what an item has from its beginning on.
var codexNames = []string{"type", "id", "call_id", "name", "namespace", "server_label", "caller", "execution", "environment"}

// item adds an item of the model: that it begins, and that it is done.
func (a *codexAnswer) item(e *codexEntry) {
	at := `,"output_index":` + strconv.Itoa(a.items) + `,"item":`
	news := []byte(`{"status":"in_progress"`)
	for _, name := range codexNames {
		news = append(news, withMember(name, json.Find(e.item, name))...)
	}
	a.say(e.at, eventHead("response.output_item.added")+at+string(news)+"}"+eventTail+eventHead("response.output_item.done")+at)
	a.piece(e.at, e.line, e.item)
	a.say(e.at, eventTail)
	a.items++
	a.isCall = strings.HasSuffix(e.of, "_call")
}

// event takes what happened beside the conversation.
func (c *codex) event(e *codexEntry) {
	switch e.of {
	case "token_count":
		info := json.Find(e.item, "info")
		if model := json.Find(info, "model"); model != nil {
			c.model = model
		}
		c.used(e, json.Find(info, "last_token_usage"), string(json.Find(info, "total_token_usage", "total_tokens")))
	case "task_complete", "turn_complete":
		c.finish(nil, nil)
	case "turn_aborted":
		c.aborted(e)
	case "error":
		c.failed(e)
	}
}
