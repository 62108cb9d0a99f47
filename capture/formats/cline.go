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
		c := &clineTask{newTalk(in, anthropicShape, "cline task", capture.NoDeltas, capture.NoEnding, capture.Reencoded)}
		found := func(recs []capture.Record, _ int, value []byte) []capture.Record { return c.message(recs, value) }
		return &jsonDocument{entryReader: entryReader{in: in, book: c}, walk: json.Walk{Paths: [][]string{{"*"}}}, found: found, decided: true, one: true}
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
	if keys, open := topKeys(message); open && !whole && (len(keys) == 0 || slices.Contains(messageKeys, keys[0])) && (f[0] == nil || len(keys) < 3 || hasText(f[0], "user")) {
		return capture.SniffResult{Is: capture.Maybe}
	}
	if content {
		return capture.SniffResult{Is: capture.Yes, Why: "an array of messages, the first by the user"}
	}
	return capture.SniffResult{}
}

// messageKeys are what a message may begin with.
var messageKeys = []string{"role", "content", "ts", "id"}

// clineTask reads the messages of a task.
type clineTask struct{ *talk }

func (c *clineTask) entry(recs []capture.Record, line []byte) []capture.Record {
	return c.message(recs, line)
}

func (c *clineTask) message(recs []capture.Record, m []byte) []capture.Record {
	f := json.Pick(m, "role", "content", "ts", "modelInfo", "metrics", "id")
	parts, at := blocks(f[1]), parseLogTime(f[2])
	switch {
	case hasText(f[0], "assistant"):
		model := json.Pick(f[3], "modelId")[0]
		recs = c.answer(recs, &modelResponse{model: model, id: nonEmptyText(f[5]), parts: parts, usage: clineUsage(f[4])}, time.Time{}, at)
	case hasText(f[0], "user"):
		c.hear(theUser, parts, at)
	}
	return recs
}

// blocks are the blocks of a content in Anthropic's form, each as it stands.
func blocks(content []byte) (parts []messagePart) {
	if text := nonEmptyText(content); text != nil {
		return []messagePart{{kind: textPart, text: text}}
	}
	for b := range json.Elements(content) {
		u := messagePart{raw: b}
		if f := json.Pick(b, "type", "input"); hasText(f[0], "tool_result") {
			u.kind = resultPart
		} else if hasText(f[0], "tool_use") {
			u.kind, u.args = callPart, f[1]
		}
		parts = append(parts, u)
	}
	return parts
}

// clineUsage is Cline's counts by Anthropic's names. Its prompt counts what was cached too.
func clineUsage(metrics []byte) []byte {
	f := json.Pick(json.Find(metrics, "tokens"), "prompt", "completion", "cached")
	if f[0] == nil && f[1] == nil {
		return nil
	}
	if f[0] != nil {
		f[0] = intBytes(max(0, int(parseNumber(f[0])-parseNumber(f[2]))))
	}
	return objectOf(member{"input_tokens", f[0]}, member{"output_tokens", f[1]}, member{"cache_read_input_tokens", f[2]})
}
