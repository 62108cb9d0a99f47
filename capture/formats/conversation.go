package formats

import (
	"bytes"
	"slices"
	"strconv"
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

// foundTalk is a conversation in a JSON text, or a request's history with its response.
type foundTalk struct {
	path     string // path of the value in the text: .run.steps[0].messages
	form     string // form of the messages, as named in providers/transcript
	messages [][]byte
	sent     int          // number of messages that were sent in a request; 0 if the conversation is the only record of it
	pair     *messagePair // set instead of messages for a history with its response
}

// talkFinder looks for conversations in a JSON text, which may be cut off. An array is a conversation if at least
// four out of five elements are messages, and one of them has a call or a result as a provider or an agent writes it.
type talkFinder struct {
	found []foundTalk
	nodes int
	long  bool // an incomplete list has at least two messages, but no call so far
}

const (
	maxTalkDepth = 40
	maxTalkNodes = 2 << 20
	maxTalks     = 200
)

// findTalks returns the conversations in a text. If there are more than maxTalks, it leaves out the shortest
// ones.
func findTalks(text []byte) []foundTalk {
	var f talkFinder
	f.searchValue(afterSpace(text), "", 0)
	return f.keepLongest()
}

func (f *talkFinder) keepLongest() []foundTalk {
	if len(f.found) > maxTalks {
		slices.SortStableFunc(f.found, func(a, b foundTalk) int { return len(b.messages) - len(a.messages) })
		f.found = f.found[:maxTalks]
	}
	return f.found
}

func (f *talkFinder) searchValue(v []byte, path string, depth int) {
	if f.nodes++; len(v) == 0 || depth > maxTalkDepth || f.nodes > maxTalkNodes {
		return
	}
	switch v[0] {
	case '[':
		f.searchList(v, path, depth)
	case '{':
		all, _, whole := json.AppendFields(nil, v)
		if p := pairIn(all); p != nil && whole {
			f.found = append(f.found, foundTalk{path: path, pair: p})
			return
		}
		if form, messages := messagesOfRun(v); form != "" && whole {
			f.found = append(f.found, foundTalk{path: path, form: form, messages: messages, sent: len(messages) - 1})
			return
		}
		for _, m := range all {
			if key := string(m.Key); !slices.Contains(responseLists, key) {
				f.searchValue(m.Value, path+"."+key, depth+1)
			}
		}
	case '"':
		if len(v) > minTalkText && hasCallWord(v) {
			if text, ok := json.Text(v); ok && (isArray(afterSpace(text)) || opensObject(afterSpace(text))) {
				f.searchValue(afterSpace(text), path+" › text", depth+1)
			}
		}
	}
}

// messagesOfRun returns the messages of a run as LangSmith exports it: those that were sent, and the one in its
// generations. The form is empty if the value isn't such a run, or if no message has a call or a result.
func messagesOfRun(run []byte) (form string, messages [][]byte) {
	list, last := json.Find(run, "inputs", "messages"), json.FirstElement(json.Find(run, "outputs", "generations"))
	if first := json.FirstElement(list); isArray(first) {
		list = first
	}
	if isArray(last) {
		last = json.FirstElement(last)
	}
	add := func(e []byte) {
		if m := messageIn(e, 0); m != nil {
			if messages = append(messages, m); form == "" {
				form = formOfMessage(m)
			}
		}
	}
	for e := range json.Elements(list) {
		add(e)
	}
	if before := len(messages); before > 0 {
		if add(json.Find(last, "message")); len(messages) > before {
			return form, messages
		}
	}
	return "", nil
}

// responseLists are the keys of lists in responses whose elements are alternatives, not the messages of a
// conversation.
var responseLists = []string{"choices", "candidates", "generations"}

const minTalkText = 30

// callWords are the words to look for: every conversation with calls contains at least one of them.
var callWords = [][]byte{
	[]byte("tool_call"), []byte("tool_use"), []byte("tool-"), []byte("toolCall"), []byte("functionCall"), []byte("toolUse"),
	[]byte("toolRequest"), []byte("function_call"), []byte("ToolUse"),
	[]byte("shell_call"), []byte("computer_call"), []byte("patch_call"),
}

func hasCallWord(text []byte) bool {
	return slices.ContainsFunc(callWords, func(word []byte) bool { return bytes.Contains(text, word) })
}

// searchList adds a list if it is a conversation. Otherwise, it searches the list's elements.
func (f *talkFinder) searchList(list []byte, path string, depth int) {
	var elements, messages [][]byte
	form, open := "", false
	for e := range json.Elements(list) {
		elements = append(elements, e)
		if open = !isWhole(e); open {
			break
		}
		if m := messageIn(e, 0); m != nil {
			if messages = append(messages, m); form == "" {
				form = formOfMessage(m)
			}
		}
	}
	whole := len(elements)
	if open {
		whole--
	}
	if len(messages) > 0 && 5*len(messages) >= 4*whole {
		if form != "" && (form != responseItems || slices.ContainsFunc(messages, isFromClient)) {
			f.found = append(f.found, foundTalk{path: path, form: form, messages: messages})
			return
		}
		f.long = f.long || open && len(messages) > 1
	}
	for i, e := range elements {
		f.searchValue(e, path+"["+strconv.Itoa(i)+"]", depth+1)
	}
}

var (
	messageRoles = []string{"user", "assistant", "system", "developer", "tool", "model", "function", "toolResult"}
	// langChainTypes are the types of LangChain's messages.
	langChainTypes = []string{"human", "ai", "AIMessageChunk", "tool", "system"}
)

// messageIn returns the message that an element of a conversation is or wraps, or nil if there is none.
func messageIn(e []byte, depth int) []byte {
	if !opensObject(e) || depth > 2 {
		return nil
	}
	f := json.Pick(e, "role", "type", "content", "parts", "tool_calls", "toolCalls", "finish_reason", "kwargs", "data", "done")
	role, kind := stringOf(f[0]), stringOf(f[1])
	switch {
	case f[6] != nil, f[9] != nil:
		return nil // a choice of a response, or a chunk from Ollama
	case slices.Contains(messageRoles, role) && (f[2] != nil || f[3] != nil || f[4] != nil || f[5] != nil):
		return e
	case f[0] == nil && slices.Contains(langChainTypes, kind) && (f[2] != nil || opensObject(f[8])):
		return e
	case opensObject(f[7]) && string(json.Find(e, "lc")) == "1":
		return e
	case f[0] == nil && isResponseItem(e, kind):
		return e
	case f[0] == nil && (isArray(json.Find(e, "Agent", "content")) || isArray(json.Find(e, "User", "content"))):
		return e // a message from Zed
	}
	for _, inner := range json.Pick(e, "message", "data") {
		if m := messageIn(inner, depth+1); m != nil {
			return m
		}
	}
	return nil
}

// responseItems is the form of conversations that consist of items of OpenAI Responses.
const responseItems = "Responses items"

// isResponseItem reports whether a value is an item of OpenAI Responses with a call, a result or reasoning.
func isResponseItem(e []byte, kind string) bool {
	f := json.Pick(e, "call_id", "name", "arguments", "output", "summary", "input", "action", "operation")
	call, isResult := strings.CutSuffix(kind, "_output")
	switch {
	case kind == "reasoning":
		return isArray(f[4])
	case !slices.Contains(itemCalls, call) || kindOf(f[0]) != '"':
		return false
	case isResult:
		return f[3] != nil
	case call == "function_call":
		return kindOf(f[1]) == '"' && kindOf(f[2]) == '"'
	case call == "custom_tool_call":
		return kindOf(f[1]) == '"' && kindOf(f[5]) == '"'
	}
	return opensObject(f[6]) || opensObject(f[7])
}

// itemCalls are the types of items in which the model calls a tool of the client. The type of the item with the
// result has the suffix _output.
var itemCalls = []string{"function_call", "custom_tool_call", "local_shell_call", "shell_call", "computer_call", "apply_patch_call"}

// isFromClient reports whether an item comes from the client. The output of a response has no such items. The output of
// a shell doesn't count, because the provider's own shell has it too.
func isFromClient(item []byte) bool {
	kind := stringOf(json.Find(item, "type"))
	return strings.HasSuffix(kind, "_call_output") && kind != "shell_call_output" || hasText(json.Find(item, "role"), "user")
}

// formOfMessage returns the form of a message that has a call or a result, or "" for any other message.
func formOfMessage(m []byte) string {
	for _, key := range []string{"kwargs", "data"} {
		if inner := json.Find(m, key); opensObject(inner) && json.Find(m, "role") == nil {
			m = inner
		}
	}
	f := json.Pick(m, "role", "tool_calls", "toolCalls", "tool_call_id", "toolCallId", "content", "parts", "type", "Agent")
	if kind := stringOf(f[7]); strings.Contains(kind, "_call") && isResponseItem(m, kind) {
		return responseItems
	}
	for block := range json.Elements(json.Find(f[8], "content")) {
		if kindOf(json.Find(block, "ToolUse", "raw_input")) == '"' {
			return "Zed thread"
		}
	}
	for c := range json.Elements(f[1]) {
		switch {
		case kindOf(json.Find(c, "function", "name")) == '"':
			return "OpenAI messages"
		case kindOf(json.Find(c, "name")) == '"' && json.Find(c, "args") != nil:
			return "LangChain messages"
		}
	}
	for c := range json.Elements(json.Find(m, "invalid_tool_calls")) { // calls whose arguments LangChain could not parse
		if kindOf(json.Find(c, "args")) == '"' {
			return "LangChain messages"
		}
	}
	for c := range json.Elements(f[2]) {
		if kindOf(json.Find(c, "function", "name")) == '"' {
			return "Continue history"
		}
	}
	switch {
	case hasText(f[0], "tool") && kindOf(f[3]) == '"':
		return "OpenAI messages"
	case hasText(f[0], "tool") && kindOf(f[4]) == '"' && !isArray(f[5]):
		return "Continue history"
	}
	for _, list := range [][]byte{f[5], f[6]} {
		for block := range json.Elements(list) {
			if form := formOfBlock(block); form != "" {
				return form
			}
		}
	}
	return ""
}

// formOfBlock returns the form of a block that is a call or a result, or "" for any other block.
func formOfBlock(block []byte) string {
	f := json.Pick(block, "type", "id", "name", "tool_use_id", "toolCallId", "toolName", "state", "toolCall", "data")
	has := func(i int) bool { return kindOf(f[i]) == '"' }
	switch kind := stringOf(f[0]); {
	case kind == "tool_use" && has(1) && has(2), kind == "tool_result" && has(3):
		return "Anthropic messages"
	case kind == "tool-call" && has(4) && has(5), kind == "tool-result" && has(4):
		return "AI SDK messages"
	case (strings.HasPrefix(kind, "tool-") || kind == "dynamic-tool") && has(4) && has(6):
		return "AI SDK UI messages"
	case kind == "toolRequest" && has(1) && opensObject(f[7]), kind == "toolResponse" && has(1):
		return "goose messages"
	case kind == "toolCall" && has(1) && has(2):
		return "pi messages"
	case kind == "tool_call" && kindOf(json.Find(f[8], "id")) == '"':
		return "crush messages"
	case kindOf(json.Find(block, "functionCall", "name")) == '"', opensObject(json.Find(block, "functionResponse")):
		return "Gemini contents"
	case kindOf(json.Find(block, "toolUse", "toolUseId")) == '"', kindOf(json.Find(block, "toolResult", "toolUseId")) == '"':
		return "Bedrock messages"
	}
	return ""
}
