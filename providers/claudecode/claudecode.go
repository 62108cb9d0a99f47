// Package claudecode decodes what Claude Code prints with claude -p --output-format stream-json:
// one JSON object a line. With the flag include-partial-messages the events of the model's own
// stream are among them.
//
// Wire facts are from the public documentation of the Agent SDK (its message types are these lines)
// and from programs that read them. A turn is one message of the model. The main agent and each
// sub-agent are lanes, told apart by parent_tool_use_id; their lines alternate, so several turns
// may be open at once. A stream_event line holds an event of the inner protocol, and every lane has
// a decoder of it. An assistant line repeats one content block of a message as a whole: it confirms
// what was streamed, or, where nothing was, it is handed to the inner decoder as the events that
// would have brought it. So slot and seal are the inner protocol's. A user line brings the tools'
// results, and a result line ends what was asked.
package claudecode

import (
	"toolscope/providers/dialect"
)

// Protocol is Claude Code's stream-json around the protocol its model speaks.
func Protocol(inner dialect.Protocol) dialect.Protocol {
	return dialect.Protocol{
		Name:          "claude-code",
		Title:         "Claude Code stream-json",
		Sniff:         sniffFrame,
		Findings:      findings,
		ParallelTurns: true,
		New: func(o *dialect.Out) dialect.Decoder {
			d := &decoder{
				Out: o, inner: inner.New,
				byParent: map[string]*agent{}, calls: map[string]*dialect.Call{}, streamed: map[string]bool{},
			}
			d.line.bindShape()
			return d
		},
	}
}

func sniffFrame(e dialect.SniffInput) dialect.SniffScore {
	var named, subtype, session, uuid, parent, event, message dialect.Raw
	if dialect.Read(e.Data,
		dialect.Value("type", &named), dialect.Value("subtype", &subtype), dialect.Value("session_id", &session),
		dialect.Value("uuid", &uuid), dialect.Value("parent_tool_use_id", &parent),
		dialect.Value("event", &event), dialect.Value("message", &message)) != nil {
		return dialect.SniffScore{}
	}
	ofSession := session.IsString() || parent != nil
	switch kind := named.Text(); kind {
	case "stream_event":
		if event.Kind() == '{' {
			return dialect.SniffScore{Points: dialect.Sure, Why: "a stream_event line"}
		}
	case "assistant", "user":
		if message.Kind() == '{' && ofSession {
			return dialect.SniffScore{Points: dialect.Sure, Why: "a line with a message of the " + kind}
		}
	case "system", "result":
		if subtype.IsString() && ofSession {
			return dialect.SniffScore{Points: dialect.Sure, Why: "a " + kind + " line"}
		}
	case "":
	default:
		if session.IsString() && uuid.IsString() {
			return dialect.SniffScore{Points: dialect.Likely, Why: "a line of a session"}
		}
	}
	return dialect.SniffScore{}
}
