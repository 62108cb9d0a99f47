package providers

import (
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolscope/stream"
)

// partKind is the kind of a wirePart.
type partKind uint8

const (
	textPart partKind = iota
	reasoningPart
	callPart
	resultPart
	rawPart // its text is the JSON text of the block
)

// A wirePart is a part of a message in a generated request.
type wirePart struct {
	kind           partKind
	id, name, text string // text is also the text of a result, and the JSON text of a call's arguments
	signature      string // of reasoning, or of a call in Gemini's protocol
	isError        bool
	asObject       bool // the arguments are an object, even if the target requires a string
}

// A wireMessage is a message in a generated request.
type wireMessage struct {
	model bool
	parts []wirePart
}

// A requestForm writes generated conversations as requests of one target.
type requestForm struct {
	name     string // "mistral"
	protocol string
	own      string // URL at the target's own host
	other    string // URL at an unknown host
	ids      func(style, n int) string
}

// requestForms lists the targets of the generated requests. DeepSeek is an unknown host with plain reasoning.
var requestForms = []requestForm{
	{"anthropic", "anthropic", ownHost, otherHost, prefixedIDs("toolu_01", "call_", "toolu-bdrk_")},
	{"bedrock", "bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", "https://models.example/model/m/converse", prefixedIDs("tooluse_", "call.", "functions:")},
	{"chat", "openai-chat", "https://api.openai.com/v1/chat/completions", "https://models.example/v1/chat/completions", prefixedIDs("call_", "chatcmpl-tool-", "functions.f:")},
	{"responses", "openai-responses", "https://api.openai.com/v1/responses", "https://models.example/v1/responses", prefixedIDs("call_", "tooluse-", "c.")},
	{"gemini", "gemini", "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent", "https://models.example/v1beta/models/m:generateContent", func(int, int) string { return "" }},
	{"mistral", "openai-chat", "https://api.mistral.ai/v1/chat/completions", "", func(style, n int) string { return fmt.Sprintf("aB%d%06d", style, n) }},
	{"deepseek", "openai-chat", "https://api.deepseek.com/v1/chat/completions", "https://models.example/v1/chat/completions", prefixedIDs("call_00_", "call_", "tool.")},
}

// formNamed returns the form with the given name.
func formNamed(name string) *requestForm {
	return &requestForms[slices.IndexFunc(requestForms, func(f requestForm) bool { return f.name == name })]
}

// prefixedIDs returns a function that makes ids with one of several prefixes.
func prefixedIDs(prefixes ...string) func(style, n int) string {
	return func(style, n int) string { return fmt.Sprintf("%sx9f%03d", prefixes[style], n) }
}

// quote returns s as a JSON text.
func quote(s string) string {
	text, err := stdjson.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// orNull returns the JSON text of s, or null if s is empty.
func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return quote(s)
}

// A requestText is a generated request with the paths of its messages and parts.
type requestText struct {
	items   []string // elements of the list of messages
	at      []string // path of each message
	partAt  [][]string
	methods *requestForm
}

// write returns a conversation as elements of a request.
func (f *requestForm) write(messages []wireMessage) *requestText {
	w := &requestText{methods: f}
	for i := range messages {
		w.at, w.partAt = append(w.at, ""), append(w.partAt, nil)
		switch f.protocol {
		case "openai-chat":
			w.addChat(i, &messages[i])
		case "openai-responses":
			for _, p := range messages[i].parts {
				w.addItem(i, fmt.Sprintf("input[%d]", len(w.items)), responsesItem(&p, messages[i].model))
			}
			if len(w.partAt[i]) > 0 {
				w.at[i] = w.partAt[i][0]
			}
		default:
			w.addBlocks(i, &messages[i])
		}
	}
	return w
}

// addItem adds an element that is a part of message i.
func (w *requestText) addItem(i int, path, text string) {
	w.items = append(w.items, text)
	w.partAt[i] = append(w.partAt[i], path)
}

// addBlocks adds a message whose parts are blocks.
func (w *requestText) addBlocks(i int, m *wireMessage) {
	list, key, role, block := "messages", "content", "user", anthropicBlock
	switch w.methods.protocol {
	case "bedrock":
		block = bedrockBlock
	case "gemini":
		list, key, block = "contents", "parts", geminiPart
	}
	if m.model {
		role = map[bool]string{false: "assistant", true: "model"}[list == "contents"]
	}
	var blocks []string
	w.at[i] = fmt.Sprintf("%s[%d]", list, len(w.items))
	for j := range m.parts {
		blocks = append(blocks, block(&m.parts[j]))
		w.partAt[i] = append(w.partAt[i], fmt.Sprintf("%s.%s[%d]", w.at[i], key, j))
	}
	w.items = append(w.items, fmt.Sprintf(`{"role":%q,%q:[%s]}`, role, key, strings.Join(blocks, ",")))
}

// addChat adds a message of Chat Completions. Each result is a message.
func (w *requestText) addChat(i int, m *wireMessage) {
	text, reasoning, calls := "", "", []string{}
	w.at[i] = fmt.Sprintf("messages[%d]", len(w.items))
	for _, p := range m.parts {
		path := fmt.Sprintf("messages[%d]", len(w.items))
		switch p.kind {
		case resultPart:
			w.addItem(i, path, fmt.Sprintf(`{"role":"tool","tool_call_id":%s,"name":%s,"content":%s}`, quote(p.id), quote(p.name), quote(p.text)))
			continue
		case textPart:
			text += p.text
		case reasoningPart:
			reasoning += p.text
		case callPart:
			path += fmt.Sprintf(".tool_calls[%d]", len(calls))
			calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quote(p.id), quote(p.name), argumentsText(&p)))
		}
		w.partAt[i] = append(w.partAt[i], path)
	}
	switch {
	case m.model:
		w.items = append(w.items, chatAnswer(text, reasoning, calls))
	case text != "":
		w.items = append(w.items, `{"role":"user","content":`+quote(text)+`}`)
	}
}

// argumentsText returns the arguments of a call as a JSON string, or as an object.
func argumentsText(p *wirePart) string {
	if p.asObject {
		return p.text
	}
	return quote(p.text)
}

// chatAnswer returns the model's message in Chat Completions.
func chatAnswer(text, reasoning string, calls []string) string {
	m := `{"role":"assistant","content":` + orNull(text)
	if reasoning != "" {
		m += `,"reasoning_content":` + quote(reasoning)
	}
	if len(calls) > 0 {
		m += `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	return m + "}"
}

func anthropicBlock(p *wirePart) string {
	switch p.kind {
	case reasoningPart:
		return fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":%s}`, quote(p.text), quote(p.signature))
	case callPart:
		return fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quote(p.id), quote(p.name), p.text)
	case resultPart:
		return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%s,"content":%s,"is_error":%t}`, quote(p.id), quote(p.text), p.isError)
	case rawPart:
		return p.text
	}
	return `{"type":"text","text":` + quote(p.text) + `}`
}

func bedrockBlock(p *wirePart) string {
	switch p.kind {
	case reasoningPart:
		return fmt.Sprintf(`{"reasoningContent":{"reasoningText":{"text":%s,"signature":%s}}}`, quote(p.text), quote(p.signature))
	case callPart:
		return fmt.Sprintf(`{"toolUse":{"toolUseId":%s,"name":%s,"input":%s}}`, quote(p.id), quote(p.name), p.text)
	case resultPart:
		return fmt.Sprintf(`{"toolResult":{"toolUseId":%s,"content":[{"text":%s}]}}`, quote(p.id), quote(p.text))
	case rawPart:
		return p.text
	}
	return `{"text":` + quote(p.text) + `}`
}

func geminiPart(p *wirePart) string {
	signature := ""
	if p.signature != "" {
		signature = `,"thoughtSignature":` + quote(p.signature)
	}
	switch p.kind {
	case reasoningPart:
		return `{"text":` + quote(p.text) + `,"thought":true}`
	case callPart:
		return fmt.Sprintf(`{"functionCall":{"name":%s,"args":%s}%s}`, quote(p.name), p.text, signature)
	case resultPart:
		return fmt.Sprintf(`{"functionResponse":{"name":%s,"response":{"output":%s}}}`, quote(p.name), quote(p.text))
	case rawPart:
		return p.text
	}
	return `{"text":` + quote(p.text) + signature + `}`
}

// responsesItem returns a part as an item of the Responses protocol. The signature of reasoning is its encrypted
// content, and the id is the item's id.
func responsesItem(p *wirePart, model bool) string {
	switch p.kind {
	case reasoningPart:
		return fmt.Sprintf(`{"type":"reasoning","id":%s,"summary":[],"encrypted_content":%s}`, orNull(p.id), quote(p.signature))
	case callPart:
		return fmt.Sprintf(`{"type":"function_call","id":%s,"call_id":%s,"name":%s,"arguments":%s}`, quote("fc_"+p.id), quote(p.id), quote(p.name), argumentsText(p))
	case resultPart:
		return fmt.Sprintf(`{"type":"function_call_output","call_id":%s,"output":%s}`, quote(p.id), quote(p.text))
	case rawPart:
		return p.text
	}
	if model {
		return `{"type":"message","role":"assistant","content":[{"type":"output_text","text":` + quote(p.text) + `}]}`
	}
	return `{"type":"message","role":"user","content":[{"type":"input_text","text":` + quote(p.text) + `}]}`
}

// request returns the body of a request. The parameter fields contains other fields of the body, e.g.
// `"store":false,`.
func (w *requestText) request(fields string, tools ...string) string {
	var list []string
	form := map[string]string{
		"anthropic": `{"name":%s,"input_schema":{"type":"object"}}`, "bedrock": `{"toolSpec":{"name":%s,"inputSchema":{"json":{"type":"object"}}}}`,
		"openai-chat":      `{"type":"function","function":{"name":%s,"parameters":{"type":"object"}}}`,
		"openai-responses": `{"type":"function","name":%s,"parameters":{"type":"object"}}`, "gemini": `{"name":%s,"parameters":{"type":"OBJECT"}}`,
	}[w.methods.protocol]
	for _, name := range tools {
		list = append(list, fmt.Sprintf(form, quote(name)))
	}
	declared, body := strings.Join(list, ","), "["+strings.Join(w.items, ",")+"]"
	switch w.methods.protocol {
	case "anthropic":
		return `{"model":"m","max_tokens":9,` + fields + `"tools":[` + declared + `],"messages":` + body + `}`
	case "bedrock":
		return `{` + fields + `"messages":` + body + `,"toolConfig":{"tools":[` + declared + `]}}`
	case "gemini":
		return `{` + fields + `"contents":` + body + `,"tools":[{"functionDeclarations":[` + declared + `]}]}`
	case "openai-responses":
		return `{"model":"m",` + fields + `"input":` + body + `,"tools":[` + declared + `]}`
	}
	return `{"model":"m",` + fields + `"messages":` + body + `,"tools":[` + declared + `]}`
}

// toolPath returns the path of the name of a declared tool.
func (f *requestForm) toolPath(n int) string {
	return fmt.Sprintf(map[string]string{
		"anthropic": "tools[%d].name", "bedrock": "toolConfig.tools[%d].toolSpec.name", "openai-chat": "tools[%d].function.name",
		"openai-responses": "tools[%d].name", "gemini": "tools[0].functionDeclarations[%d].name",
	}[f.protocol], n)
}

// response returns a response of the model.
func (f *requestForm) response(parts ...wirePart) string {
	w := f.write([]wireMessage{{model: true, parts: parts}})
	hasCalls := slices.ContainsFunc(parts, func(p wirePart) bool { return p.kind == callPart })
	end := func(calls, none string) string {
		if hasCalls {
			return calls
		}
		return none
	}
	all := strings.Join(w.items, ",")
	switch f.protocol {
	case "anthropic":
		return strings.TrimSuffix(all, "}") + `,"id":"msg_1","type":"message","model":"m","stop_reason":"` + end("tool_use", "end_turn") + `","usage":{"input_tokens":1,"output_tokens":1}}`
	case "bedrock":
		return `{"output":{"message":` + all + `},"stopReason":"` + end("tool_use", "end_turn") + `","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`
	case "gemini":
		return `{"candidates":[{"content":` + all + `,"finishReason":"STOP","index":0}],"modelVersion":"m","responseId":"r"}`
	case "openai-responses":
		return `{"object":"response","id":"resp_1","model":"m","output":[` + all + `],"status":"completed"}`
	}
	return `{"object":"chat.completion","id":"c","model":"m","choices":[{"index":0,"message":` + all + `,"finish_reason":"` + end("tool_calls", "stop") + `"}]}`
}

// refusal returns a provider's error with the given message.
func (f *requestForm) refusal(message string) string {
	switch f.name {
	case "anthropic":
		return `{"type":"error","error":{"type":"invalid_request_error","message":` + quote(message) + `}}`
	case "bedrock":
		return `{"__type":"ValidationException","message":` + quote(message) + `}`
	case "gemini":
		return `{"error":{"code":400,"message":` + quote(message) + `,"status":"INVALID_ARGUMENT"}}`
	case "mistral":
		return `{"object":"error","message":` + quote(message) + `,"type":"invalid_request_error","param":null,"code":"3230"}`
	}
	return `{"error":{"message":` + quote(message) + `,"type":"invalid_request_error","param":null,"code":null}}`
}

// writeUnanswered writes a request whose response is not seen.
func writeUnanswered(in *Inspector, exchange int, url, request string) {
	in.Write(stream.Record{Exchange: exchange, Request: true, Data: []byte(request), Head: &stream.Head{Method: "POST", URL: url}})
	in.Write(stream.Record{Exchange: exchange, End: true})
}

// A requestFinding is a finding in a session, with its place in the request.
type requestFinding struct {
	stream.Finding
	path string
}

// requestFindings returns all findings of a session: about turns, calls and frames.
func requestFindings(in *Inspector) (all []requestFinding) {
	add := func(list []stream.Finding) {
		for _, f := range list {
			found := requestFinding{Finding: f}
			if f.Detail != nil && f.Detail.Name == "illegal" {
				found.path = fmt.Sprint(f.Detail.Value("path"))
			}
			all = append(all, found)
		}
	}
	add(in.Session().Findings)
	for _, t := range in.Session().Turns {
		add(t.Findings)
		for _, c := range t.Calls {
			add(c.Findings)
		}
	}
	return all
}

// describeFindings returns the findings of a session with at least the given severity, and findings about rules of
// any severity.
func describeFindings(in *Inspector, least stream.Severity) string {
	var said []string
	for _, f := range requestFindings(in) {
		if f.Severity >= least || f.path != "" {
			said = append(said, strings.TrimSpace(fmt.Sprint(f.Code, " ", f.Severity, " ", f.By, " ", f.path)))
		}
	}
	return strings.Join(said, ", ")
}

// dotted returns a path in the form that Anthropic uses in errors: messages.1.content.0.
func dotted(path string) string {
	return strings.NewReplacer("[", ".", "]", "").Replace(path)
}

// TestGeneratedRequests checks that the paths of generated parts are those of the parts in the request.
func TestGeneratedRequests(t *testing.T) {
	messages := []wireMessage{
		{parts: []wirePart{{text: "go"}}},
		{model: true, parts: []wirePart{{text: "hm"}, {kind: callPart, id: "a_1", name: "ls", text: "{}"}, {kind: callPart, id: "a_2", name: "cat", text: "{}"}}},
		{parts: []wirePart{{kind: resultPart, id: "a_2", name: "cat", text: "two"}, {kind: resultPart, id: "a_1", name: "ls", text: "one"}}},
	}
	want := map[string]string{
		"anthropic": "messages[1].content[2] messages[2].content[1]", "bedrock": "messages[1].content[2] messages[2].content[1]",
		"openai-chat": "messages[1].tool_calls[1] messages[3]", "openai-responses": "input[3] input[5]", "gemini": "contents[1].parts[2] contents[2].parts[1]",
	}
	for i := range requestForms {
		f := &requestForms[i]
		w := f.write(messages)
		if got := w.partAt[1][2] + " " + w.partAt[2][1]; got != want[f.protocol] || !stdjson.Valid([]byte(w.request("", "ls"))) || !stdjson.Valid([]byte(f.response(messages[1].parts...))) {
			t.Errorf("%s: %s, %s, %s", f.name, got, w.request("", "ls"), f.response(messages[1].parts...))
		}
	}
}

// withNumber returns words with a number at the end.
func withNumber(words string, n int) string { return words + " " + strconv.Itoa(n) }
