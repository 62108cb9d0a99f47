package providers

import (
	"bytes"
	"slices"
	"strings"

	"toolscope/providers/protocol"
)

// undecoded is a protocol that is recognised but not decoded. Its frames are shown as they arrived, under
// its name.
type undecoded struct {
	name, title string
	known       func(protocolMarks) bool // recognises one frame
}

// protocolMarks are the parts of a frame by which undecoded protocols are recognised.
type protocolMarks struct {
	event string // SSE event type
	kind  string // field type
	data  protocol.Raw
}

func (s protocolMarks) has(members ...string) bool {
	return slices.ContainsFunc(members, func(m string) bool { return s.data.Get(m) != nil })
}

// startsWith reports whether text begins with one of the prefixes.
func startsWith(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// allUndecoded are tried in this order if no protocol claims a frame. Sources: the event lists of OpenAI's
// and Anthropic's SDKs, the references of the Realtime and the Live API, the AI SDK's guide to version 4,
// OpenAI's description of gpt-oss's own format, and JSON-RPC 2.0.
var allUndecoded = []undecoded{
	{"openai-assistants", "OpenAI Assistants events", func(s protocolMarks) bool {
		return startsWith(s.event, "thread.") || startsWith(s.data.Get("object").Text(), "thread.") && s.has("id")
	}},
	{"openai-realtime", "OpenAI Realtime events", func(s protocolMarks) bool {
		return s.has("event_id") &&
			startsWith(s.kind, "session.", "conversation.", "response.", "input_audio_buffer.", "output_audio_buffer.", "rate_limits.")
	}},
	{"anthropic-agents", "Anthropic managed-agents events", func(s protocolMarks) bool {
		return startsWith(s.kind, "agent.", "span.", "session.status", "session.error", "session.deleted", "session.thread",
			"user.message", "user.interrupt", "user.tool_", "user.custom_tool_")
	}},
	{"gemini-live", "Gemini Live messages", func(s protocolMarks) bool {
		return s.has("setupComplete", "serverContent", "toolCallCancellation", "sessionResumptionUpdate") ||
			s.data.Get("toolCall").Get("functionCalls") != nil
	}},
	{"ai-sdk-data", "AI SDK data stream lines (version 4)", func(s protocolMarks) bool {
		if len(s.data) < 4 || s.data[1] != ':' || !strings.ContainsRune("0123456789abcdefghijk", rune(s.data[0])) {
			return false
		}
		value := protocol.Scan(s.data[2:])
		return strings.ContainsRune(`"[{`, rune(value.Kind())) && value.Value() != nil && value.End() == nil
	}},
	{"cohere-v1", "Cohere v1 events", func(s protocolMarks) bool {
		return s.has("is_finished") && s.data.Get("event_type").IsString()
	}},
	{"harmony", "Harmony text (gpt-oss)", func(s protocolMarks) bool {
		return s.data.Kind() != '{' && (bytes.Contains(s.data, []byte("<|start|>")) || bytes.Contains(s.data, []byte("<|channel|>")))
	}},
	{"json-rpc", "JSON-RPC messages (MCP, ACP)", func(s protocolMarks) bool {
		return s.data.Get("jsonrpc").Is("2.0")
	}},
}

// seenIn returns the undecoded protocol of a frame, or nil.
func seenIn(e protocol.SniffInput) *protocol.Protocol {
	if len(e.Data) == 0 {
		return nil
	}
	s := protocolMarks{string(e.Event), protocol.Raw(e.Data).Get("type").Text(), e.Data}
	for i := range allUndecoded {
		if known := &allUndecoded[i]; known.known(s) {
			return &protocol.Protocol{
				Name:  known.name,
				Title: known.title + ", not decoded",
				New:   func(o *protocol.Out) protocol.Decoder { return newUnknown(o, known.title) },
			}
		}
	}
	return nil
}
