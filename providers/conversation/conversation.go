// Package conversation finds the client, session, agent and purpose of a request.
//
// A session is the client's own id for a piece of work. An agent is a client that runs tools in a loop; a
// call may start a sub-agent. A conversation is the requests of one agent in one session, in order.
// Clients put these facts in headers and bodies, each in its own way. The tables of this package list the
// places. The package never guesses a client, a session or an agent: a fact that a client doesn't send stays
// empty.
//
// The functions are pure: they derive facts from headers and bytes. Values may be placeholders that
// redaction left. Equal values have equal placeholders, and the package doesn't interpret the text of
// ids.
package conversation

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// ClientFacts are the facts that a request contains about its sender.
type ClientFacts struct {
	Client           string // the client's name in providers/client
	Session          string // the client's id for the session
	Agent            string // the id of the agent; "" for the main agent, or if the client's agents have no ids
	Name             string // the client's name for the agent, such as "/root/sub_job"
	Parent           string // the id of the agent that started this one
	StartedBy        string // the session that started this one, if each agent has a session of its own
	IsSubagent       bool   // the client states that a sub-agent sent the request
	Kind             string // the client's own word for the purpose of the request
	PreviousResponse string // the id of the response that the request continues
	Warms            bool   // the request only warms a cache: nothing is generated
}

// Empty reports whether the session and the agent are unknown.
func (f *ClientFacts) Empty() bool {
	return f.Session == "" && f.Agent == "" && f.Name == "" && f.StartedBy == ""
}

// Main is the name of the agent that works for the user.
const Main = "main"

// add fills empty fields with the facts in g.
func (f *ClientFacts) add(g ClientFacts) {
	for _, s := range [...]struct{ to, from *string }{
		{&f.Client, &g.Client}, {&f.Session, &g.Session}, {&f.Agent, &g.Agent}, {&f.Name, &g.Name},
		{&f.Parent, &g.Parent}, {&f.StartedBy, &g.StartedBy}, {&f.Kind, &g.Kind}, {&f.PreviousResponse, &g.PreviousResponse},
	} {
		if *s.to == "" {
			*s.to = *s.from
		}
	}
	f.IsSubagent, f.Warms = f.IsSubagent || g.IsSubagent, f.Warms || g.Warms
}

// ReadFacts combines the facts from the headers and the body of a request. The body may be cut off.
func ReadFacts(header ClientFacts, body *RequestBody) ClientFacts {
	f := header
	switch f.Client {
	case "codex":
		ofCodex(&f, body)
	case "opencode":
		f.add(ClientFacts{Session: body.CacheKey})
	}
	f.add(ClientFacts{Session: sessionOfUser(body.User), PreviousResponse: body.Before, Warms: body.Warms})
	f.add(ClientFacts{Session: body.Conversation, Agent: body.Agent})
	return f
}

// sessionOfUser returns the session in Anthropic's metadata.user_id as Claude Code writes it: a JSON
// text, or in older versions user_HASH_account_ID_session_ID.
func sessionOfUser(user json.Value) string {
	text := user.Unquoted()
	if inner := json.Value(text).Get("session_id"); inner.HasText() {
		return inner.Text()
	}
	_, rest, _ := strings.Cut(string(text), "_session_")
	return rest
}

// A RequestShape contains hashes of the parts of a request that must stay the same in the next request of
// its conversation. It ignores differences without meaning: cache marks, and whether a text is a string
// or a list.
type RequestShape struct {
	System, Tools, Model uint64
	Messages             []uint64 // hashes of the messages after the system prompt
	lead                 int      // number of messages that form the system prompt
}

// ShapeOf returns the shape of a request.
func ShapeOf(seed maphash.Seed, messages []protocol.Message, b *RequestBody) RequestShape {
	s := RequestShape{System: hashRaw(seed, b.System), Tools: hashRaw(seed, b.Tools), Model: hashRaw(seed, b.Model)}
	lead := 0
	for lead < len(messages) && messages[lead].Role == protocol.System {
		lead++
	}
	if b.System == nil {
		s.lead = lead
		for i := range lead {
			s.System = bits.RotateLeft64(s.System, 7) ^ hashMessage(seed, &messages[i])
		}
	}
	s.Messages = make([]uint64, len(messages)-lead)
	for i := range s.Messages {
		s.Messages[i] = hashMessage(seed, &messages[lead+i])
	}
	return s
}

func hashMessage(seed maphash.Seed, m *protocol.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_ = h.WriteByte(byte(m.Role))
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != protocol.TextPart {
			_ = h.WriteByte(byte(p.Kind) + 1)
			_, _ = h.WriteString(p.ID + "\x00" + p.Name + "\x00")
		}
		if p.Signature != "" || p.Item != "" || p.Failed || p.SignatureOnly {
			_, _ = h.WriteString("\x00" + p.Signature + "\x00" + p.Item + "\x00")
			flags := byte(0)
			if p.Failed {
				flags |= 1
			}
			if p.SignatureOnly {
				flags |= 2
			}
			_ = h.WriteByte(flags)
		}
		_, _ = h.Write(p.Text)
		_, _ = h.Write(p.Args)
		if p.Kind == protocol.OtherPart {
			writeUnmarked(&h, p.Raw)
		}
	}
	return h.Sum64()
}

// hashRaw returns the hash of a value, or 0 if there is no value.
func hashRaw(seed maphash.Seed, v json.Value) uint64 {
	if !v.IsPresent() {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(seed)
	writeUnmarked(&h, v)
	return h.Sum64()
}

var cacheMark = []byte(`"cache_control":{`)

// writeUnmarked hashes a value without its cache marks. It doesn't recognise marks with spaces in them. This is safe,
// because a client always writes its marks in the same way.
func writeUnmarked(h *maphash.Hash, v []byte) {
	for {
		at := bytes.Index(v, cacheMark)
		if at < 0 {
			_, _ = h.Write(v)
			return
		}
		_, _ = h.Write(bytes.TrimSuffix(v[:at], []byte(",")))
		end := bytes.IndexByte(v[at:], '}')
		if end < 0 {
			return
		}
		v = bytes.TrimPrefix(v[at+end+1:], []byte(","))
	}
}

// PrefixHashes are hashes of the beginnings of a list of messages: element n is the hash of the first n
// messages.
type PrefixHashes []uint64

// Prefixes returns the hashes of the beginnings of the request's messages.
func (s *RequestShape) Prefixes() PrefixHashes {
	p := make(PrefixHashes, len(s.Messages)+1)
	for i, m := range s.Messages {
		p[i+1] = bits.RotateLeft64(p[i]*0x9e3779b97f4a7c15, 29) ^ m
	}
	return p
}

// ChangeFrom returns the changes since the previous request of the conversation.
func (s *RequestShape) ChangeFrom(was *RequestShape) (c stream.RequestChange) {
	most := min(len(was.Messages), len(s.Messages))
	for c.Same < most && was.Messages[c.Same] == s.Messages[c.Same] {
		c.Same++
	}
	for i := c.Same; i < most; i++ {
		if was.Messages[i] != s.Messages[i] {
			c.Altered++
		}
	}
	c.Added, c.Removed = len(s.Messages)-most, len(was.Messages)-most
	c.Same += s.lead
	c.System, c.Tools, c.Model = was.System != s.System, was.Tools != s.Tools, was.Model != s.Model
	return c
}

// RequestBody contains the fields of a request's body that identify its sender and purpose. The values are
// slices of the body.
type RequestBody struct {
	Model, System, Tools json.Value
	Schema               json.Value // the schema that the response must follow
	User                 json.Value // Anthropic's metadata.user_id
	Meta                 json.Value // OpenAI's client_metadata
	CacheKey, Before     string
	Conversation         string
	Agent                string // the agent of the conversation, in session files
	MaxTokens            int64  // maximum number of tokens in the response, 0 if not set
	Warms                bool
}

// ReadBody reads a body up to the first byte that is not JSON.
func ReadBody(body []byte) *RequestBody {
	b := new(RequestBody)
	s := json.Scan(body)
	for ok := s.Object(); ok; ok = s.Member() {
		b.readField(string(s.Key()), &s)
	}
	return b
}

// readField reads a field of any protocol. This works because a field's name has one meaning in all
// protocols.
func (b *RequestBody) readField(name string, s *json.Scanner) {
	switch name {
	case "model":
		b.Model = s.Value()
	case "system", "instructions", "systemInstruction", "system_instruction":
		b.System = s.Value()
	case "tools":
		b.Tools = s.Value()
	case "metadata":
		b.User = s.Value().Get("user_id")
	case "client_metadata":
		b.Meta = s.Value()
	case "prompt_cache_key":
		b.CacheKey = s.Value().Text()
	case "previous_response_id", "previous_interaction_id":
		b.Before = s.Value().Text()
	case "conversation":
		v := s.Value()
		if b.Conversation = v.Text(); v.Kind() == '{' {
			b.Conversation, b.Agent = v.Get("id").Text(), v.Get("agent").Text()
		}
	case "generate":
		b.Warms = string(s.Value()) == "false"
	case "max_tokens", "max_output_tokens", "max_completion_tokens":
		b.MaxTokens, _ = s.Value().Int()
	case "output_config", "output_format", "response_format", "text", "format":
		v := s.Value() // asks for structured output, with a schema
		b.setFirst(&b.Schema, v.Get("format").Get("schema"), v.Get("json_schema").Get("schema"), v.Get("schema"))
		if b.Schema == nil && v.Get("properties").IsPresent() {
			b.Schema = v
		}
	case "generationConfig", "generation_config":
		v := s.Value()
		b.setFirst(&b.Schema, v.Get("responseJsonSchema"), v.Get("responseSchema"), v.Get("response_schema"))
		b.MaxTokens, _ = v.Get("maxOutputTokens").Int()
	}
}

func (*RequestBody) setFirst(to *json.Value, values ...json.Value) {
	for _, v := range values {
		if *to == nil && v.IsPresent() {
			*to = v
		}
	}
}

// asksForKeys reports whether the response must be an object with exactly these keys.
func (b *RequestBody) asksForKeys(names ...string) bool {
	n := 0
	s := b.Schema.Get("properties").Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		found := false
		for _, name := range names {
			found = found || string(s.Key()) == name
		}
		if !found {
			return false
		}
		n++
	}
	return n == len(names)
}

// HasTools reports whether the request declares tools.
func (b *RequestBody) HasTools() bool {
	s := b.Tools.Scan()
	return s.Kind() == '[' && s.Array()
}

// maxWords is the maximum length of a clipped text, in bytes.
const maxWords = 120

// LatestContent returns the beginning of the latest content of a request. If the request ends with results, it
// returns the tool of the first result, followed by the number of other results, and the text of the first result.
// Otherwise it returns no tools, and the user's last text. The parameter called finds the tool name of a call that is
// not in the messages by the call's id. It returns "" for an unknown call.
func LatestContent(messages []protocol.Message, called func(id string) string) (tools, words string) {
	from, to := lastUserRange(messages)
	var first *protocol.Part
	results := 0
	for i := from; i < to; i++ {
		for j := range messages[i].Parts {
			if p := &messages[i].Parts[j]; p.Kind == protocol.ResultPart {
				if results++; first == nil {
					first = p
				}
			}
		}
	}
	if first == nil {
		return "", userWords(messages[from:to])
	}
	if tools = nameOf(first, messages[:from]); tools == "" && first.ID != "" {
		tools = called(first.ID)
	}
	if tools == "" {
		tools = "result"
	}
	if results > 1 {
		tools += " +" + strconv.Itoa(results-1)
	}
	return tools, Clip(first.Text)
}

// lastUserRange returns the range of messages that ends with the user's last message. The range begins
// after the model's last message before that one.
func lastUserRange(messages []protocol.Message) (from, to int) {
	to = len(messages)
	for to > 0 && messages[to-1].Role != protocol.User {
		to--
	}
	for from = to; from > 0 && messages[from-1].Role != protocol.Assistant; from-- {
	}
	return from, to
}

// nameOf returns the name of a result's tool, or "" if the messages don't contain it.
func nameOf(result *protocol.Part, before []protocol.Message) string {
	if result.Name != "" {
		return result.Name
	}
	for _, m := range slices.Backward(before) {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == protocol.CallPart && p.ID == result.ID && p.ID != "" {
				return p.Name
			}
		}
	}
	return ""
}

// userWords returns the last text that a person may have written. It prefers texts without a leading tag,
// because agents add notes in tags.
func userWords(messages []protocol.Message) (words string) {
	for _, m := range messages {
		if m.Role != protocol.User {
			continue
		}
		for i := range m.Parts {
			p := &m.Parts[i]
			text := bytes.TrimSpace(p.Text)
			if p.Kind == protocol.TextPart && len(text) > 0 && (text[0] != '<' || words == "") {
				words = Clip(text)
			}
		}
	}
	return words
}

// FirstUserText returns the first text of the user, or nil if there is none.
func FirstUserText(messages []protocol.Message) []byte {
	for i := range messages {
		for j := range messages[i].Parts {
			if p := &messages[i].Parts[j]; messages[i].Role == protocol.User && p.Kind == protocol.TextPart && len(p.Text) > 0 {
				return p.Text
			}
		}
	}
	return nil
}

// Clip returns the beginning of text as one line.
func Clip(text []byte) string {
	text = bytes.TrimSpace(text)
	cut := len(text) > maxWords
	words := string(bytes.Join(bytes.Fields(text[:min(len(text), maxWords)]), []byte(" ")))
	if cut {
		words += "…"
	}
	return words
}

// DeclaredTool is an entry in a request's list of tools.
type DeclaredTool struct {
	Name   string     // "" if the entry has no name, such as a whole MCP server or a tool of the provider
	Server string     // the MCP server of the tool; "" if the tool has none
	Raw    json.Value // the entry
}

// DeclaredTools returns the tools in a request's list of tools, in order. Entries that contain a list of tools
// are replaced by that list.
func DeclaredTools(tools json.Value) (list []DeclaredTool) {
	for entry := range tools.Elements() {
		list = appendDeclared(list, entry, "")
	}
	return list
}

// appendDeclared adds an entry of a list of tools. The parameter space is the namespace around the entry.
func appendDeclared(list []DeclaredTool, entry json.Value, space string) []DeclaredTool {
	name := ""
	for _, v := range []json.Value{entry.Get("name"), entry.Get("function").Get("name"), entry.Get("toolSpec").Get("name")} {
		name = cmp.Or(name, v.Text())
	}
	if space == "" {
		for _, key := range []string{"functionDeclarations", "function_declarations", "tools"} {
			inner := entry.Get(key)
			for nested := range inner.Elements() {
				list = appendDeclared(list, nested, cmp.Or(name, key))
			}
			if inner.Kind() == '[' {
				return list
			}
		}
	}
	server := cmp.Or(entry.Get("server_label").Text(), entry.Get("mcp_server_name").Text(), ServerOfTool(name), ServerOfTool(space))
	return append(list, DeclaredTool{name, server, entry})
}

// ServerOfTool returns the MCP server in a tool name of the form mcp__SERVER__TOOL, which most clients use. It
// returns "" for other names.
func ServerOfTool(name string) string {
	rest, found := strings.CutPrefix(name, "mcp__")
	if !found {
		return ""
	}
	server, _, _ := strings.Cut(rest, "__")
	return server
}
