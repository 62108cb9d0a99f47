package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// geminiCLI reads the conversations that Gemini CLI keeps in ~/.gemini/tmp/<project>/chats. There are three
// kinds of lines. A line with a message is written again when the message changes. {"$set":…} has facts about
// the conversation, and may have all its messages. {"$rewindTo":id} means that the user took back this message
// and all later ones. Older versions wrote one object for the whole conversation.
var geminiCLI = capture.Format{
	Name:  "gemini-cli session",
	Title: "Gemini CLI: ~/.gemini/tmp/*/chats/session-*",
	Sniff: sniffGeminiCLI,
	New: func(in *capture.Input) capture.Reader {
		log := newSessionLog(in, "gemini-cli session", capture.NoDeltas, capture.LateTimes, capture.NoEnding, capture.Reencoded)
		g := &geminiReader{known: map[string]bool{}, sessionLog: log}
		walk := json.Walk{Paths: [][]string{{"sessionId"}, {"messages", "*"}}}
		return &jsonDocument{entryReader: entryReader{in: in, book: g}, walk: walk, found: g.found}
	},
}

func sniffGeminiCLI(first []byte, whole bool) capture.SniffResult {
	const why = "an object with sessionId and projectHash"
	s := sniffKeys(first, whole, "sessionId", "projectHash")
	s.Why = why
	return s
}

// geminiReader reads the messages of a conversation. The response with the latest message stays open, because
// the message may be written again with more content.
type geminiReader struct {
	*sessionLog
	id    string          // id of the message whose response is open
	last  []byte          // the latest entry of this message
	known map[string]bool // ids of messages that are complete
	waits bool            // the user is waiting for a response
}

func (g *geminiReader) found(recs []capture.Record, path int, value []byte) []capture.Record {
	g.recs = recs
	if path == 0 {
		g.session = nonEmptyText(value)
	} else {
		g.message(value)
	}
	return g.recs
}

func (g *geminiReader) entry(recs []capture.Record, line []byte) []capture.Record {
	g.recs = recs
	f := json.Pick(line, "$set", "$rewindTo", "sessionId", "messages", "id")
	set, back, session, messages, id := f[0], f[1], f[2], f[3], f[4]
	switch {
	case set != nil:
		for m := range json.Elements(json.Find(set, "messages")) {
			g.readCheckpoint(m)
		}
	case back != nil:
		// The user took messages back. Their exchanges stay, because the model has seen the messages.
		g.endMessage()
		g.finish()
		g.pending, g.waits = nil, false
		if n := len(g.recs); n > 0 { // before the first message, there is no record
			note := "the conversation was rewound to a point before message " + string(back)
			g.recs = append(g.recs, capture.Record{Exchange: g.recs[n-1].Exchange, At: capture.NoTime, Note: note})
		}
	case id != nil:
		g.message(line)
	case session != nil:
		g.session = line
	}
	for m := range json.Elements(messages) {
		g.message(m)
	}
	return g.recs
}

// readCheckpoint reads a message of a list that replaces all messages. After a compaction, and when a session is resumed,
// Gemini CLI makes the list from the history that it sends. Its messages may have new ids, but no model and no usage:
// they are not responses.
func (g *geminiReader) readCheckpoint(m []byte) {
	f := json.Pick(m, "id", "type", "model", "tokens")
	if id := string(f[0]); hasText(f[1], "gemini") && f[2] == nil && f[3] == nil && id != g.id && !g.known[id] {
		g.endMessage()
		g.known[id] = true
		g.addEntry(m, time.Time{}, false)
		return
	}
	g.message(m)
}

// hasCallResults reports whether the open message has the result of a call, which Gemini CLI sends to the model.
func (g *geminiReader) hasCallResults() (results bool) {
	for call := range json.Elements(json.Find(g.last, "toolCalls")) {
		results = results || hasGeminiResult(json.Find(call, "result"))
	}
	return results
}

// endMessage ends the open message of the model.
func (g *geminiReader) endMessage() {
	if g.last != nil {
		g.known[g.id] = true
		g.addEntry(g.last, time.Time{}, g.hasCallResults())
		g.open.at = capture.NoTime // the log has no time for the end of a response
	}
	g.id, g.last = "", nil
	g.endExchange("", "", "")
}

func (g *geminiReader) message(m []byte) {
	f := json.Pick(m, "id", "type", "content", "timestamp")
	id, kind, content, at := string(f[0]), f[1], f[2], parseLogTime(f[3])
	switch {
	case g.known[id]:
	case hasText(kind, "gemini"):
		if g.last == nil || g.id != id {
			g.endMessage()
			g.writeResponse(time.Time{}, at)
			g.id, g.waits = id, false
		}
		if !bytes.Equal(g.last, m) {
			g.open.add(g.input.RecordTime(at), m)
		}
		g.last = m
	case hasText(kind, "user"):
		g.endMessage()
		g.known[id] = id != ""
		if content != nil {
			g.addEntry(m, at, hasGeminiResult(content))
		}
		g.waits = true
	case hasText(kind, "info") && g.waits && (hasText(content, "Request cancelled.") || hasText(content, "User cancelled the request.")):
		g.endMessage()
		g.known[id] = id != ""
		g.beginRequest(time.Time{})
		g.endExchange(capture.EndCut, "the user cancelled the request", capture.Client)
		g.waits = false
	case hasText(kind, "error") && bytes.HasPrefix(content, []byte(`"[API Error`)) && (g.waits || g.hasCallResults()):
		g.endMessage()
		g.known[id] = id != ""
		g.writeResponse(time.Time{}, at, m)
		g.endExchange("", "", "")
		g.waits = false
	}
}

// hasGeminiResult reports whether parts of a message, or one part, contain the result of a call.
func hasGeminiResult(parts []byte) bool {
	for p := range json.Elements(parts) {
		if json.Find(p, "functionResponse") != nil {
			return true
		}
	}
	return json.Find(parts, "functionResponse") != nil
}

func (g *geminiReader) close(recs []capture.Record) []capture.Record {
	g.recs = recs
	g.endMessage()
	g.finish()
	return g.recs
}

// qwenCode reads the conversations that Qwen Code keeps in ~/.qwen/projects/<cwd>/chats. Each line has one
// message, as in Google's API, whatever the provider is.
var qwenCode = capture.Format{
	Name:  "qwen-code session",
	Title: "Qwen Code: ~/.qwen/projects/*/chats/*.jsonl",
	Sniff: sniffQwenCode,
	New: func(in *capture.Input) capture.Reader {
		log := newSessionLog(in, "qwen-code session", capture.NoDeltas, capture.LateTimes, capture.NoEnding, capture.Reencoded)
		return &entryReader{in: in, book: &qwenReader{sessionLog: log}}
	},
}

// sniffQwenCode looks for the first line that has a message. Lines of Claude Code look the same except for the
// message.
func sniffQwenCode(first []byte, whole bool) capture.SniffResult {
	for len(first) > 0 {
		line, rest, ended := bytes.Cut(first, []byte("\n"))
		if !ended && !whole && !isObject(line) {
			break
		}
		f := json.Pick(line, "uuid", "sessionId", "message")
		if f[0] == nil || f[1] == nil {
			return capture.SniffResult{}
		}
		if f[2] != nil {
			if kindOf(json.Find(f[2], "parts")) == '[' {
				return capture.SniffResult{Is: capture.Yes, Why: "lines with uuid, sessionId and a message with parts"}
			}
			return capture.SniffResult{}
		}
		first = rest
	}
	if whole {
		return capture.SniffResult{}
	}
	keys, open := topKeys(first)
	if open || len(keys) > 0 {
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{}
}

// qwenReader reads the lines of a conversation.
type qwenReader struct {
	*sessionLog
	waits    bool // the user is waiting for a response
	hasUsage bool // the open response has usage already
}

func (q *qwenReader) entry(recs []capture.Record, line []byte) []capture.Record {
	q.recs = recs
	f := json.Pick(line, "type", "message", "timestamp", "systemPayload", "agentId", "usageMetadata")
	kind, parts, at := f[0], json.Find(f[1], "parts"), parseLogTime(f[2])
	if !hasText(kind, "assistant") {
		q.endExchange("", "", "")
	}
	switch hasUsage := f[5] != nil; {
	case hasText(kind, "assistant"):
		if q.open != nil && !(q.hasUsage && hasUsage) { // a sub-agent's text and its calls are on separate lines
			q.open.add(q.input.RecordTime(at), line)
			q.hasUsage = q.hasUsage || hasUsage
		} else {
			q.writeResponse(time.Time{}, at, line)
			q.hasUsage = hasUsage
		}
		if f[4] == nil {
			q.endExchange("", "", "")
		}
		q.addEntry(line, at, false)
		q.waits = false
	case hasText(kind, "user"), hasText(kind, "tool_result"):
		if json.FirstElement(parts) != nil {
			q.addEntry(line, at, hasGeminiResult(parts))
		}
		q.waits = true
	case hasText(kind, "system") && q.waits && isQwenFailure(json.Find(f[3], "uiEvent")):
		said, results := q.pending, q.hasResults
		q.writeResponse(time.Time{}, at, line)
		q.endExchange("", "", "")
		q.waits = false
		q.pending, q.hasResults = said, results // the next request sends this entry again
	}
	return q.recs
}

// isQwenFailure reports whether an event has the reason why a request of the main agent failed. A failed
// request has no line of its own.
func isQwenFailure(event []byte) bool {
	f := json.Pick(event, "event.name", "error_message", "error", "subagent_name")
	return hasText(f[0], "qwen-code.api_error") && f[3] == nil && (nonEmptyText(f[1]) != nil || nonEmptyText(f[2]) != nil)
}
