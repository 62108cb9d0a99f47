package anthropic

import (
	"strings"

	"toolscope/providers/dialect"
)

// target is where Anthropic's history goes. Rules and refusals are those of
// the Messages API as its documentation, its SDKs' issue trackers and its own
// error messages state them (anthropics/claude-code#6696 and #1237,
// anthropics/anthropic-sdk-typescript#648); 64 is what clients cut ids to.
var target = dialect.Target{
	Name: "anthropic", Title: "Anthropic Messages", Dialect: "anthropic",
	Form:      dialect.ObjectForm,
	IDs:       dialect.IDRule{Class: "a-zA-Z0-9_-", Most: 64, Required: true, Unique: true},
	Names:     dialect.NameRule{Class: "a-zA-Z0-9_-", Most: 128},
	Reasoning: dialect.SignedReasoning,
	ErrorFlag: true, Media: true, Together: true,
	Refusal: dialect.Refusal{
		Args:       "messages.N.content.M.tool_use.input: Input should be a valid dictionary",
		ID:         "messages.N.content.M.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
		SameID:     "messages.N.content.M: `tool_use` ids must be unique",
		Name:       "tools.N.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
		LoneCall:   "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		LoneResult: "messages.N.content.M: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
	},
	Encode:  encode,
	Request: ask,
	Decode:  decode,
}

func encode(messages []dialect.Message) (out [][]byte) {
	for _, m := range messages {
		if m.Role == dialect.System {
			continue // it stands beside the messages
		}
		var w dialect.Writer
		w.Open('{').Member("role", m.Role.String()).Key("content").Open('[')
		for i := range m.Parts {
			writeBlock(&w, &m.Parts[i])
		}
		out = append(out, w.Close(']').Close('}').Text)
	}
	return out
}

func writeBlock(w *dialect.Writer, p *dialect.Part) {
	switch {
	case p.Raw != nil:
		w.Raw(p.Raw)
	case p.Kind == dialect.TextPart:
		w.Open('{').Member("type", "text").Key("text").Bytes(p.Text).Close('}')
	case p.Kind == dialect.ReasoningPart && p.Hidden:
		w.Open('{').Member("type", "redacted_thinking").Member("data", p.Signature).Close('}')
	case p.Kind == dialect.ReasoningPart:
		w.Open('{').Member("type", "thinking").Key("thinking").Bytes(p.Text).Member("signature", p.Signature).Close('}')
	case p.Kind == dialect.CallPart:
		kind := "tool_use"
		if p.Server {
			kind = "server_tool_use"
		}
		w.Open('{').Member("type", kind).Member("id", p.ID).Member("name", p.Name).Key("input").Raw(p.Args)
		if p.Parent != "" {
			w.Key("caller").Open('{').Member("type", callerType).Member("tool_id", p.Parent).Close('}')
		}
		w.Close('}')
	case p.Kind == dialect.ResultPart:
		w.Open('{').Member("type", "tool_result").Member("tool_use_id", p.ID).Key("content").Bytes(p.Text)
		if p.Failed {
			w.Key("is_error").Raw([]byte("true"))
		}
		w.Close('}')
	}
}

// callerType is the caller of a call that code in the code execution tool made.
const callerType = "code_execution_20250825"

func decode(request []byte) (messages []dialect.Message, err error) {
	s := dialect.Scan(request)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "system":
			if system := (dialect.Message{Role: dialect.System, Parts: readBlocks(s.Value())}); len(system.Parts) > 0 {
				messages = append([]dialect.Message{system}, messages...)
			}
		case "messages":
			for ok := s.Array(); ok; ok = s.Element() {
				messages = append(messages, readMessage(s.Value()))
			}
		}
	}
	return messages, s.End()
}

func readMessage(v dialect.Raw) (m dialect.Message) {
	m.Role = dialect.User
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "role":
			if s.Value().Is("assistant") {
				m.Role = dialect.Assistant
			}
		case "content":
			m.Parts = readBlocks(s.Value())
		}
	}
	return m
}

// readBlocks are the parts of a content: a string, or a list of blocks.
func readBlocks(content dialect.Raw) (parts []dialect.Part) {
	if content.IsString() {
		return []dialect.Part{{Kind: dialect.TextPart, Text: content.Append(nil)}}
	}
	s := content.Scan()
	for ok := s.Array(); ok; ok = s.Element() {
		parts = append(parts, readBlock(s.Value()))
	}
	return parts
}

func readBlock(v dialect.Raw) dialect.Part {
	p := dialect.Part{Kind: dialect.OtherPart, Raw: v}
	var kind, content dialect.Raw
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "type":
			kind = s.Value()
		case "text", "thinking":
			p.Text = s.Value().Append(nil)
		case "signature", "data":
			p.Signature = s.Value().Text()
		case "id", "tool_use_id":
			p.ID = s.Value().Text()
		case "name":
			p.Name = s.Value().Text()
		case "input":
			p.Args = s.Value()
		case "caller":
			p.Parent = s.Value().Get("tool_id").Text()
		case "content":
			content = s.Value()
		case "is_error":
			p.Failed = string(s.Value()) == "true"
		}
	}
	switch name := kind.Text(); {
	case name == "text":
		p.Kind = dialect.TextPart
	case name == "thinking":
		p.Kind = dialect.ReasoningPart
	case name == "redacted_thinking":
		p.Kind, p.Hidden = dialect.ReasoningPart, true
	case toolBlocks[name].CallKind != "":
		p.Kind, p.Form, p.Tool, p.Server = dialect.CallPart, dialect.ObjectForm, toolBlocks[name].CallKind, toolBlocks[name].Server
		if dialect.Raw(p.Args).IsString() {
			p.Form, p.Args = dialect.TextForm, dialect.Raw(p.Args).Append(nil)
		}
	case strings.HasSuffix(name, "tool_result"):
		p.Kind, p.Server = dialect.ResultPart, name != "tool_result"
		p.Text, p.Media = dialect.ResultText(content)
	}
	return p
}
