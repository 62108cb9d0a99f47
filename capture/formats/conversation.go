package formats

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// conversations reads conversations and pairs of input and output anywhere in JSON, or on the lines of a file. A file
// without either is read as a log.
var conversations = capture.Format{
	Name:  "conversation",
	Title: "messages with tool calls anywhere in JSON",
	Sniff: sniffConversation,
	New:   func(in *capture.Input) capture.Reader { return &conversationReader{in: in} },
}

// sniffConversation looks for a conversation in the first bytes. If there are several values, it decides after the
// first one, so that live input isn't held back.
func sniffConversation(first []byte, whole bool) capture.SniffResult {
	text := afterSpace(bytes.TrimPrefix(first, []byte(bom)))
	if len(text) == 0 {
		return sniffMaybe(whole)
	}
	value, decided := text, whole
	element := afterSpace(text[1:])
	if isArray(element) { // a list of conversations
		element = afterSpace(element[1:])
	}
	switch {
	case text[0] == '{':
		if n, closed := json.ValueLen(text); closed {
			value, decided = text[:n], true
		}
	case text[0] != '[' || len(element) > 0 && element[0] != '{':
		return capture.SniffResult{}
	default:
		keys, _ := topKeys(element)
		decided = decided || isWhole(text) || len(keys) > 0 && slices.Contains(chunkKeys, keys[0])
	}
	if !decided && len(text) < minLongPair && (!hasCallWord(text) || !bytes.ContainsAny(text[len(text)-1:], "}]\n")) {
		return sniffMaybe(whole) // search the text only once it has a call
	}
	var f talkFinder
	f.searchValue(value, "", 0)
	switch {
	case len(f.found) > 0 || decided && f.long:
		return capture.SniffResult{Is: capture.Yes, Why: "JSON with messages that have tool calls"}
	case decided:
		return capture.SniffResult{}
	}
	return sniffMaybe(whole)
}

// chunkKeys are the keys that may come first in the elements of a list of chunks, as in a stream from Gemini.
var chunkKeys = []string{"candidates", "error", "modelVersion", "usageMetadata", "responseId", "promptFeedback"}

// conversationReader holds the text until it is complete.
type conversationReader struct {
	in   *capture.Input
	body []byte
	log  capture.Reader // reads text that is too long or has no conversation
}

func (r *conversationReader) Write(recs []capture.Record, p []byte, at time.Duration) ([]capture.Record, error) {
	if r.log == nil && len(r.body)+len(p) > maxLineBytes {
		return r.readAsLog(recs, p)
	}
	if r.log != nil {
		return r.log.Write(recs, p, at)
	}
	r.body = append(r.body, p...)
	return recs, nil
}

func (r *conversationReader) readAsLog(recs []capture.Record, p []byte) ([]capture.Record, error) {
	r.log, r.body, p = newLineReader(r.in), nil, append(r.body, p...)
	return r.log.Write(recs, p, capture.NoTime)
}

func (r *conversationReader) Close(recs []capture.Record, end capture.End, why string, at time.Duration) []capture.Record {
	if r.log == nil {
		found, cut := r.findAll()
		if len(found) > 0 {
			recs = writeTalks(r.in, recs, found)
			o := recordWriter{in: r.in, current: 1}
			if cut {
				o.addNote(true, "the file ends inside a value, or isn't JSON: a conversation may be incomplete")
			}
			if why != "" {
				o.addNote(false, "%s", why)
			}
			return o.takeWritten(recs)
		}
		recs, _ = r.readAsLog(recs, nil)
	}
	return r.log.Close(recs, end, why, at)
}

// findAll returns the conversations in the values of the text. The result cut reports that the text ends inside
// a value or isn't JSON.
func (r *conversationReader) findAll() (found []foundTalk, cut bool) {
	var f talkFinder
	for text := afterSpace(bytes.TrimPrefix(r.body, []byte(bom))); len(text) > 0; text = afterSpace(text) {
		n, closed := json.ValueLen(text)
		f.searchValue(text[:max(n, 1)], "", 0)
		if !closed || n == 0 {
			return f.keepLongest(), true
		}
		text = text[n:]
	}
	return f.keepLongest(), false
}

// writeTalks writes the exchanges of conversations and pairs.
func writeTalks(in *capture.Input, recs []capture.Record, found []foundTalk) []capture.Record {
	o := recordWriter{in: in, recs: recs}
	for _, t := range found {
		var path []string
		if t.path != "" {
			path = []string{"JSON", t.path}
		}
		if t.pair != nil {
			o.writePair(t.pair, path)
			continue
		}
		log := newMessageLog(in, t.form, path)
		log.recs = o.recs
		for i, m := range t.messages {
			log.sent = i < t.sent
			log.addMessage(m)
		}
		o.recs = log.close(log.recs)
	}
	return o.recs
}

// messageLog makes exchanges from the messages of a conversation.
type messageLog struct {
	*sessionLog
	items [][]byte // the items of the open response, as in OpenAI Responses
	sent  bool     // the messages are the history of a request, so none is a response
}

func newMessageLog(in *capture.Input, form string, path []string) messageLog {
	log := newSessionLog(in, form, capture.NoDeltas, capture.NoTimes, capture.NoEnding)
	log.path = path
	return messageLog{sessionLog: log}
}

// addMessage adds a message to the next request. Before that, it writes a message from the model as a
// response.
func (l *messageLog) addMessage(m []byte) {
	f := json.Pick(m, "role", "type", "lc", "Agent")
	role := stringOf(f[0])
	byModel := role == "assistant" || role == "model"
	if kind := stringOf(f[1]); l.name == responseItems {
		if byModel || slices.Contains(itemCalls, kind) || kind == "reasoning" {
			l.items = append(l.items, m)
		} else {
			l.endItems()
			l.addEntry(m, time.Time{}, strings.HasSuffix(kind, "_call_output"))
		}
		return
	}
	if f[0] == nil {
		byModel = f[3] != nil || hasText(f[1], "ai") || hasText(f[1], "AIMessageChunk")
		for class := range json.Elements(json.Find(m, "id")) { // the class that a LangChain message names as its constructor
			byModel = f[2] != nil && strings.HasPrefix(stringOf(class), "AI")
		}
	}
	if byModel && !l.sent {
		l.writeResponse(time.Time{}, time.Time{}, m)
		l.endExchange("", "", "")
	}
	results := bytes.Contains(m, []byte(`"tool_call_id"`)) || formOfMessage(m) != ""
	if byModel { // messages from the AI SDK and from Zed contain the results of their calls
		results = bytes.Contains(m, []byte(`"output-`)) || f[3] != nil && bytes.Contains(m, []byte(`"tool_use_id"`))
	}
	l.addEntry(m, time.Time{}, results)
}

// endItems writes the items of the open response.
func (l *messageLog) endItems() {
	if len(l.items) == 0 {
		return
	}
	l.writeResponse(time.Time{}, time.Time{}, l.items...)
	l.endExchange("", "", "")
	for _, item := range l.items {
		l.addEntry(item, time.Time{}, false)
	}
	l.items = nil
}

// close writes the open response and the entries after it.
func (l *messageLog) close(recs []capture.Record) []capture.Record {
	l.recs = recs
	l.endItems()
	return l.sessionLog.close(l.recs)
}

// messageLines reads files with one message on each line. Some programs write their history or their output
// in this way.
var messageLines = capture.Format{
	Name:  "message lines",
	Title: "a message with its role on each line, as Kimi CLI prints them",
	Sniff: sniffMessageLines,
	New: func(in *capture.Input) capture.Reader {
		return &entryReader{in: in, book: &messageLineReader{in: in}}
	},
}

// sniffMessageLines accepts lines that each have a role, except that the first may lack one. One line must have a
// call or a result.
func sniffMessageLines(first []byte, whole bool) capture.SniffResult {
	n := 0
	s := eachFirstLine(first, whole, func(line []byte, ended bool) capture.SniffResult {
		n++
		keys, open := topKeys(line)
		role := slices.Contains(keys, "role")
		switch {
		case line[0] != '{' && n == 1:
			return capture.SniffResult{}
		case len(keys) == 0 && open && !ended, open && !role && !ended && n > 1:
			return capture.SniffResult{Is: capture.Maybe}
		case !role && (n > 1 || ended && !isObject(line) || slices.ContainsFunc(keys, isNoSessionKey)):
			return capture.SniffResult{}
		case role && isObject(line) && messageIn(line, 2) != nil && formOfMessage(line) != "":
			return capture.SniffResult{Is: capture.Yes, Why: "lines of messages, each with its role"}
		}
		return capture.SniffResult{Is: capture.Maybe}
	})
	if s.Is == capture.Maybe && whole {
		return capture.SniffResult{}
	}
	return s
}

// isNoSessionKey reports whether a key shows that the first line doesn't describe a session.
func isNoSessionKey(key string) bool {
	return slices.Contains([]string{"type", "object", "choices", "candidates", "jsonrpc", "message", "event", "error", "messages"}, key)
}

// messageLineReader reads the lines. It holds them until one line shows their form.
type messageLineReader struct {
	in   *capture.Input
	held [][]byte
	log  *messageLog
}

func (r *messageLineReader) entry(recs []capture.Record, line []byte) []capture.Record {
	if messageIn(line, 2) == nil {
		return recs
	}
	if r.log == nil {
		r.held = append(r.held, bytes.Clone(line))
		form := formOfMessage(line)
		if form == "" {
			return recs
		}
		log := newMessageLog(r.in, form, nil)
		r.log = &log
	} else {
		r.held = [][]byte{line}
	}
	r.log.recs = recs
	for _, m := range r.held {
		r.log.addMessage(m)
	}
	r.held = nil
	return r.log.recs
}

func (r *messageLineReader) close(recs []capture.Record) []capture.Record {
	if r.log == nil {
		return recs
	}
	return r.log.close(recs)
}
