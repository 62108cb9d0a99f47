package formats

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"toolscope/stream/json"
)

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
