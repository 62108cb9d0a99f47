package openaichat

import (
	"fmt"

	"toolscope/providers/protocol"
)

// speaker writes the chunks of a stream. No chunk marks the end of a call.
var speaker = protocol.Speaker{
	Slots: true, WriteStep: writeStep,
	Body: func(model, text string) []byte {
		return fmt.Appendf(nil, `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":%s,"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":50,"completion_tokens":5,"total_tokens":55}}`,
			protocol.Quote(model), protocol.Quote(text))
	},
	ErrorBody: func(status int) []byte {
		return fmt.Appendf(nil, `{"error":{"message":"Try again later","type":"server_error","param":null,"code":%q}}`, fmt.Sprint(status))
	},
}

// spokenReasons maps the endings of a script to the finish reasons.
var spokenReasons = map[string]string{
	protocol.EndTool: `"tool_calls"`, protocol.EndStop: `"stop"`, protocol.EndLength: `"length"`,
}

func writeStep(w *protocol.ScriptWriter, s *protocol.Step) {
	chunk := func(delta, finish, more string) {
		w.Add("", `{"id":%s,"object":"chat.completion.chunk","created":1700000000,"model":%s,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]%s}`,
			protocol.Quote(w.ID), protocol.Quote(w.Model), delta, finish, more)
	}
	call := func(head bool, args string) {
		index, of := w.Call.Number, ""
		if w.ZeroIndex {
			index = 0
		}
		if head || w.RepeatID {
			of = `"id":` + protocol.Quote(w.Call.ID) + `,"type":"function",`
			args = `"name":` + protocol.Quote(w.Call.Tool.Name) + `,` + args
		}
		chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,%s"function":{%s}}]}`, index, of, args), "null", "")
	}
	if w.IsFirst() && s.Kind != protocol.FailStep {
		chunk(`{"role":"assistant","content":null}`, "null", "")
	}
	switch s.Kind {
	case protocol.TextStep:
		chunk(`{"content":`+protocol.Quote(s.Text)+`}`, "null", "")
	case protocol.CallStep:
		call(true, `"arguments":""`)
	case protocol.ArgsStep:
		call(false, `"arguments":`+protocol.Quote(s.Text))
	case protocol.NullStep:
		call(false, `"arguments":null`)
	case protocol.NoiseStep:
		w.Add("", `{"id":%s,"object":"chat.completion.chunk","created":1700000000,"model":%s,"choices":[],%s:[1,null]}`,
			protocol.Quote(w.ID), protocol.Quote(w.Model), protocol.Quote(s.Text))
	case protocol.FailStep:
		w.Add("", `{"error":{"message":"Overloaded","type":"server_error","param":null,"code":"overloaded"}}`)
	case protocol.EndStep:
		chunk("{}", spokenReasons[s.Text], `,"usage":{"prompt_tokens":50,"completion_tokens":20,"total_tokens":70}`)
		w.Add("", "[DONE]")
	}
}
