package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// clineScreen is what Cline, Roo Code and Kilo Code have shown of a task: ui_messages.json beside
// the history. It has calls as the screen shows them, without ids, and what each request cost.
var clineScreen = capture.Format{
	Name:  "cline screen",
	Title: "Cline, Roo, Kilo: ui_messages.json",
	Sniff: sniffClineScreen,
	New: func(in *capture.Input) capture.Reader {
		c := &clineShown{talk: newTalk(in, geminiShape, "cline screen", capture.NoDeltas, capture.NoEnding, capture.Reencoded)}
		found := func(recs []capture.Record, _ int, value []byte) []capture.Record { return c.entry(recs, value) }
		return &jsonDocument{entryReader: entryReader{in: in, book: c}, walk: json.Walk{Paths: [][]string{{"*"}}}, found: found, decided: true, one: true}
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
		return capture.SniffResult{Is: capture.Yes, Why: "an array of say and ask entries, with ts"}
	case open && !whole && (len(keys) == 0 || keys[0] == "ts" || keys[0] == "type"):
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{}
}

// clineShown reads what was shown. A request begins where the screen says that one was sent.
type clineShown struct {
	*talk
	open  bool
	reply modelResponse
	asked time.Time
	at    time.Time
}

func (c *clineShown) close(recs []capture.Record) []capture.Record {
	return c.talk.close(c.flush(recs))
}

// flush tells the request that is open.
func (c *clineShown) flush(recs []capture.Record) []capture.Record {
	if c.open {
		recs = c.answer(recs, &c.reply, c.asked, c.at)
	}
	c.open, c.reply = false, modelResponse{}
	return recs
}

func (c *clineShown) entry(recs []capture.Record, m []byte) []capture.Record {
	f := json.Pick(m, "say", "ask", "text", "ts", "partial")
	what, _ := json.Text(f[0])
	if f[0] == nil {
		what, _ = json.Text(f[1])
	}
	at := parseLogTime(f[3])
	switch text := nonEmptyText(f[2]); string(what) {
	case "task", "user_feedback":
		recs = c.flush(recs)
		if text != nil {
			c.hear(theUser, []messagePart{{kind: textPart, text: text}}, at)
		}
	case "api_req_started":
		recs = c.flush(recs)
		c.open, c.asked, c.at = true, at, at
		c.told(text)
	case "error", "api_req_failed":
		if len(c.reply.parts) == 0 {
			c.reply.failure = text
		}
	default:
		if u := clinePart(string(what), text); u != nil && c.open && string(f[4]) != "true" {
			c.reply.parts, c.at = append(c.reply.parts, *u), at
		}
	}
	return recs
}

// told takes what the screen says of a request: what it cost, and why it broke off.
func (c *clineShown) told(text []byte) {
	of, _ := json.Text(text)
	f := json.Pick(of, "tokensIn", "tokensOut", "cacheReads", "cacheWrites", "cancelReason", "streamingFailedMessage")
	if f[0] != nil || f[1] != nil {
		n := func(v []byte) int { return int(parseNumber(v)) }
		c.reply.usage = objectOf(member{"promptTokenCount", intBytes(n(f[0]) + n(f[2]) + n(f[3]))}, member{"candidatesTokenCount", f[1]}, member{"cachedContentTokenCount", f[2]})
	}
	switch {
	case hasText(f[4], "user_cancelled"):
		c.reply.cut, c.reply.by, c.reply.why = true, capture.Client, quotedWord("the user cancelled it")
	case f[4] != nil && nonEmptyText(f[5]) != nil:
		c.reply.failure = f[5]
	}
}

func quotedWord(text string) []byte { return []byte(`"` + text + `"`) }

// clinePart is what an entry shows of an answer, nil if it is of none.
func clinePart(what string, text []byte) *messagePart {
	if text == nil {
		return nil
	}
	switch what {
	case "text":
		return &messagePart{kind: textPart, text: text}
	case "reasoning":
		return &messagePart{kind: thoughtPart, text: text}
	case "command":
		return &messagePart{kind: callPart, name: quotedWord("command"), args: objectOf(member{"command", text})}
	}
	shown, _ := json.Text(text)
	switch f := json.Pick(shown, "tool", "toolName", "arguments"); {
	case what == "tool" && f[0] != nil:
		return &messagePart{kind: callPart, name: f[0], args: shown}
	case what == "use_mcp_server" && f[1] != nil:
		args, isText := json.Text(f[2])
		if !isText || !isObject(args) {
			args = f[2]
		}
		return &messagePart{kind: callPart, name: f[1], args: args}
	}
	return nil
}
