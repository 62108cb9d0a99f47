package bedrock

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// target describes how Bedrock's Converse accepts history. The rules are from AWS's service model (ToolUseBlock in
// botocore's bedrock-runtime). The refusals are error messages that were reported in strands-agents/harness-sdk#1435,
// genkit-ai/aws-bedrock-js-plugin#664, vercel/ai#19023, double16/Cyber-AutoAgent-ng#27 and
// NousResearch/hermes-agent#90008. Rules of single models are not part of the protocol. For example, only some models
// accept signed reasoning, and Mistral's models require other ids.
var target = protocol.Target{
	Name: "bedrock", Title: "Bedrock Converse", Protocol: "bedrock",
	Form:      protocol.ObjectForm,
	IDs:       protocol.IDRule{Class: "a-zA-Z0-9_.:-", Max: 64, Required: true, Unique: true},
	Names:     protocol.NameRule{Class: "a-zA-Z0-9_-", Max: 64},
	Reasoning: protocol.SignedReasoning,
	ErrorFlag: true, Media: true, ResultsFollow: true,
	Refusal: protocol.Refusal{
		Args:          "The format of the value at messages.N.content.M.toolUse.input is invalid. Provide a json object for the field and try again.",
		SameID:        "The toolUse blocks at messages.N.content contain duplicate Ids: {id}",
		Name:          "1 validation error detected: Value at 'messages.N.member.content.M.member.toolUse.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
		LoneCall:      "Expected toolResult blocks at messages.N.content for the following Ids: {id}",
		LoneResult:    "The number of toolResult blocks at messages.N.content exceeds the number of toolUse blocks of previous turn.",
		SecondResult:  "The number of toolResult blocks at messages.N.content exceeds the number of toolUse blocks of previous turn.",
		LateResult:    "Did not find 1 tool_result block(s) at the beginning of this message. Messages following `tool_use` blocks must begin with a matching number of `tool_result` blocks.",
		Unsigned:      "messages.N.content.M: Invalid `signature` in `thinking` block",
		CacheMarks:    "The model returned the following errors: A maximum of 4 blocks with cache_control may be provided. Found 5.",
		TrailingSpace: "The model returned the following errors: messages: final assistant content cannot end with trailing whitespace",
		EmptyText:     "The text field in the ContentBlock object at messages.N.content.M is blank. Add text to the text field, and try again.",
	},
	Hosts:   []string{".amazonaws.com"},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

// encodeHistory writes messages. It joins consecutive messages of the same role if they have no Raw, because the
// roles user and assistant must alternate. The system prompt has a separate place in the request.
func encodeHistory(messages []protocol.Message) (out [][]byte) {
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if m.Role == protocol.System {
			continue
		}
		m.Parts = slices.Clip(m.Parts) // appending makes a copy, so the caller's array doesn't change
		for m.Raw == nil && i+1 < len(messages) && messages[i+1].Role == m.Role && messages[i+1].Raw == nil {
			i++
			m.Parts = append(m.Parts, messages[i].Parts...)
		}
		var w json.Writer
		w.Open('[')
		for j := range m.Parts {
			writeBlock(&w, &m.Parts[j])
		}
		w.Close(']')
		out = append(out, json.ReplaceMembers(m.Raw, m.RoleMember(), json.Member{Name: "content", Value: w.Text}))
	}
	return out
}

// writeBlock writes a content block. The block is a union: the name of its only field is its kind.
func writeBlock(w *json.Writer, p *protocol.Part) {
	if p.Raw != nil {
		w.Raw(p.Raw)
		return
	}
	switch p.Kind {
	case protocol.TextPart:
		w.Open('{').Key("text").Bytes(p.Text).Close('}')
	case protocol.ReasoningPart:
		w.Open('{').Key("reasoningContent").Open('{')
		if p.SignatureOnly {
			w.Member("redactedContent", p.Signature)
		} else {
			w.Key("reasoningText").Open('{').Key("text").Bytes(p.Text).MemberIfSet("signature", p.Signature).Close('}')
		}
		w.Close('}').Close('}')
	case protocol.CallPart:
		protocol.WriteArgs(w.Open('{').Key("toolUse").Open('{').Member("toolUseId", p.ID).Member("name", p.Name).Key("input"), p)
		if p.RunByProvider {
			w.Member("type", serverToolUse)
		}
		w.Close('}').Close('}')
	case protocol.ResultPart:
		w.Open('{').Key("toolResult").Open('{').Member("toolUseId", p.ID)
		w.Key("content").Open('[').Open('{').Key("text").Bytes(p.Text).Close('}').Close(']')
		if p.Failed { // the status is written only for an error, because not every model accepts a status
			w.Member("status", "error")
		}
		if p.RunByProvider {
			w.MemberIfSet("type", p.ToolKind)
		}
		w.Close('}').Close('}')
	}
}

// decodeHistory reads the history of a request. The system prompt is the first message.
func decodeHistory(request []byte) ([]protocol.Message, error) {
	return protocol.ReadSystemAndMessages(request, readMessage, readBlocks)
}

func readMessage(v json.Value) protocol.Message {
	m := protocol.Message{Role: protocol.User, Raw: v, Parts: readBlocks(v.Get("content"))}
	if v.Get("role").Is("assistant") {
		m.Role = protocol.Assistant
	}
	return m
}

func readBlocks(content json.Value) (parts []protocol.Part) {
	for v := range content.Elements() {
		parts = append(parts, readBlock(v))
	}
	return parts
}

func readBlock(v json.Value) protocol.Part {
	p := protocol.Part{Kind: protocol.OtherPart, Raw: v}
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "text":
			p.Kind, p.Text = protocol.TextPart, s.Value().Unquoted()
		case "citationsContent": // text together with its sources
			p.Kind = protocol.TextPart
			p.Text, _ = protocol.ResultText(s.Value().Get("content"))
		case "reasoningContent":
			p.Kind = protocol.ReasoningPart
			reasoning := s.Value()
			shown := reasoning.Get("reasoningText")
			p.Text, p.Signature = shown.Get("text").Unquoted(), shown.Get("signature").Text()
			if redacted := reasoning.Get("redactedContent").Text(); redacted != "" {
				p.Signature, p.SignatureOnly = redacted, true
			}
		case "toolUse":
			use := s.Value()
			p.Kind, p.ToolKind = protocol.CallPart, "function"
			p.ID, p.Name = use.Get("toolUseId").Text(), use.Get("name").Text()
			if use.Get("type").Is(serverToolUse) {
				p.ToolKind, p.RunByProvider = "server", true
			}
			p.SetArgs(use.Get("input"))
		case "toolResult":
			readResult(&p, s.Value())
		}
	}
	return p
}

// readResult reads a result. JSON in the result is kept as the exact text. Only results of tools that the provider
// runs have a type.
func readResult(p *protocol.Part, result json.Value) {
	p.Kind, p.ID = protocol.ResultPart, result.Get("toolUseId").Text()
	p.Failed = result.Get("status").Is("error")
	p.ToolKind = result.Get("type").Text()
	p.RunByProvider = p.ToolKind != ""
	for block := range result.Get("content").Elements() {
		if value := block.Get("json"); value != nil {
			p.Text = append(p.Text, value...)
		} else if text := block.Get("text"); text.IsString() {
			p.Text = text.Append(p.Text)
		} else {
			p.Media++
		}
	}
}
