package ollama

import (
	"fmt"

	"toolscope/providers/protocol"
)

// speaker writes the lines of a stream. Each call is contained in a single line and has no id.
var speaker = protocol.Speaker{
	Lines: true, Whole: true, WriteStep: writeStep,
	Body: func(model, text string) []byte {
		return fmt.Appendf(nil, `{"model":%s,"created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":%s}%s}`,
			protocol.Quote(model), protocol.Quote(text), spokenEnd("stop"))
	},
	ErrorBody: func(int) []byte { return []byte(`{"error":"try again later"}`) },
}

func writeStep(w *protocol.ScriptWriter, s *protocol.Step) {
	line := func(content, more, end string) {
		w.Add("", `{"model":%s,"created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":%s%s}%s}`,
			protocol.Quote(w.Model), protocol.Quote(content), more, end)
	}
	switch s.Kind {
	case protocol.TextStep:
		line(s.Text, "", `,"done":false`)
	case protocol.SealStep:
		args := w.Call.Args
		if len(args) == 0 {
			args = []byte("{}")
		}
		line("", fmt.Sprintf(`,"tool_calls":[{"function":{"name":%s,"arguments":%s}}]`, protocol.Quote(w.Call.Tool.Name), args), `,"done":false`)
	case protocol.NoiseStep:
		line("", "", fmt.Sprintf(`,"done":false,%s:[1,null]`, protocol.Quote(s.Text)))
	case protocol.FailStep:
		w.Add("", `{"error":"overloaded"}`)
	case protocol.EndStep:
		reason := "stop"
		if s.Text == protocol.EndLength {
			reason = "length"
		}
		line("", "", spokenEnd(reason))
	}
}

func spokenEnd(reason string) string {
	return `,"done_reason":"` + reason + `","done":true,"total_duration":1000000,"prompt_eval_count":50,"eval_count":20`
}
