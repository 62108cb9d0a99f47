package anthropic

import (
	"fmt"

	"toolscope/providers/protocol"
)

// speaker writes the event stream.
var speaker = protocol.Speaker{
	Seals: true, WriteStep: writeStep,
	Body: func(model, text string) []byte {
		return fmt.Appendf(nil, `{"id":"msg_1","type":"message","role":"assistant","model":%s,"content":[{"type":"text","text":%s}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":50,"output_tokens":5}}`,
			protocol.Quote(model), protocol.Quote(text))
	},
	ErrorBody: func(status int) []byte {
		kind := map[int]string{429: "rate_limit_error", 529: "overloaded_error"}[status]
		if kind == "" {
			kind = "api_error"
		}
		return fmt.Appendf(nil, `{"type":"error","error":{"type":"%s","message":"Try again later"}}`, kind)
	},
}

// spokenReasons are the stop reasons for the endings of a script.
var spokenReasons = map[string]string{
	protocol.EndTool: "tool_use", protocol.EndStop: "end_turn", protocol.EndLength: "max_tokens",
}

func writeStep(w *protocol.ScriptWriter, s *protocol.Step) {
	const event = `{"type":"%s","index":%d,"%s":%s}`
	block := func(name string, index int, key, format string, args ...any) {
		w.Add(name, event, name, index, key, fmt.Sprintf(format, args...))
	}
	stop := func(index int) { w.Add("content_block_stop", `{"type":"content_block_stop","index":%d}`, index) }
	if w.IsFirst() {
		w.Add("message_start", `{"type":"message_start","message":{"id":%s,"type":"message","role":"assistant","model":%s,"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":50,"output_tokens":1}}}`,
			protocol.Quote(w.ID), protocol.Quote(w.Model))
	}
	switch s.Kind {
	case protocol.TextStep:
		block("content_block_start", w.Items, "content_block", `{"type":"text","text":""}`)
		block("content_block_delta", w.Items, "delta", `{"type":"text_delta","text":%s}`, protocol.Quote(s.Text))
		stop(w.Items)
	case protocol.CallStep:
		block("content_block_start", w.Call.Index, "content_block", `{"type":"tool_use","id":%s,"name":%s,"input":{}}`,
			protocol.Quote(s.ID), protocol.Quote(s.Tool.Name))
	case protocol.ArgsStep:
		block("content_block_delta", w.Call.Index, "delta", `{"type":"input_json_delta","partial_json":%s}`, protocol.Quote(s.Text))
	case protocol.SealStep:
		stop(w.Call.Index)
	case protocol.PingStep:
		w.Add("ping", `{"type":"ping"}`)
	case protocol.NoiseStep:
		w.Add(s.Text, `{"type":%s,"value":[1,null]}`, protocol.Quote(s.Text))
	case protocol.FailStep:
		w.Add("error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	case protocol.EndStep: // at the token limit, the last block has no stop event
		w.Add("message_delta", `{"type":"message_delta","delta":{"stop_reason":"%s","stop_sequence":null},"usage":{"output_tokens":20}}`, spokenReasons[s.Text])
		w.Add("message_stop", `{"type":"message_stop"}`)
	}
}
