package formats

import (
	"bytes"
	"slices"
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
