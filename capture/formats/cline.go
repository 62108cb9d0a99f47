package formats

import (
	"bytes"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// cline is the history of a task as Cline and those made of it, Roo Code and Kilo Code, keep it for
// the next request: Anthropic's messages, whatever provider they are for, in one array. What stands
// there is what is sent, so its blocks are passed on as they stand.
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

// sniffCline looks at the first message: it is the user's, and its content is a list of blocks, or
// text.
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
	f := json.Pick(message, "role", "content")
	content := hasText(f[0], "user") && (kindOf(f[1]) == '[' || kindOf(f[1]) == '"')
	keys, open := topKeys(message)
	mayBegin := len(keys) == 0 || slices.Contains(messageKeys, keys[0])
	if open && !whole && mayBegin && (f[0] == nil || len(keys) < 3 || hasText(f[0], "user")) {
		return capture.SniffResult{Is: capture.Maybe}
	}
	if content {
		return capture.SniffResult{Is: capture.Yes, Why: "an array of messages, the first by the user"}
	}
	return capture.SniffResult{}
}

// messageKeys are what a message may begin with.
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
		c.endExchange("", "", "")
		fallthrough
	case hasText(f[0], "user"):
		if nonEmptyText(f[1]) != nil || json.FirstElement(f[1]) != nil {
			c.addEntry(m, at, results)
		}
	}
	return c.recs
}
