package gemini

import (
	"fmt"

	"toolscope/providers/protocol"
)

// speaker writes the responses of a stream. Each call is contained in a single response.
var speaker = protocol.Speaker{
	Whole: true, WriteStep: writeStep,
	Body: func(model, text string) []byte {
		return fmt.Appendf(nil, `{"candidates":[{"content":{"role":"model","parts":[{"text":%s}]},"finishReason":"STOP","index":0}],"usageMetadata":%s,"modelVersion":%s,"responseId":"r1"}`,
			protocol.Quote(text), spokenUsage, protocol.Quote(model))
	},
	ErrorBody: func(status int) []byte {
		word := map[int]string{429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}[status]
		if word == "" {
			word = "UNAVAILABLE"
		}
		return fmt.Appendf(nil, `{"error":{"code":%d,"message":"Try again later","status":"%s"}}`, status, word)
	},
}

func writeStep(w *protocol.ScriptWriter, s *protocol.Step) {
	candidate := func(parts, more string) {
		w.Add("", `{"candidates":[{"content":{"role":"model","parts":[%s]},"index":0%s}],"modelVersion":%s,"responseId":%s}`,
			parts, more, protocol.Quote(w.Model), protocol.Quote(w.ID))
	}
	switch s.Kind {
	case protocol.TextStep:
		candidate(`{"text":`+protocol.Quote(s.Text)+`}`, "")
	case protocol.SealStep:
		args := ""
		if len(w.Call.Args) > 0 {
			args = `,"args":` + string(w.Call.Args)
		}
		candidate(fmt.Sprintf(`{"functionCall":{"id":%s,"name":%s%s}}`, protocol.Quote(w.Call.ID), protocol.Quote(w.Call.Tool.Name), args), "")
	case protocol.NoiseStep:
		w.Add("", `{"modelVersion":%s,"responseId":%s,%s:[1,null]}`, protocol.Quote(w.Model), protocol.Quote(w.ID), protocol.Quote(s.Text))
	case protocol.FailStep:
		w.Add("", `{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}`)
	case protocol.EndStep:
		reason := "STOP"
		if s.Text == protocol.EndLength {
			reason = "MAX_TOKENS"
		}
		w.Add("", `{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"%s","index":0}],"usageMetadata":%s,"modelVersion":%s,"responseId":%s}`,
			reason, spokenUsage, protocol.Quote(w.Model), protocol.Quote(w.ID))
	}
}

const spokenUsage = `{"promptTokenCount":50,"candidatesTokenCount":20,"totalTokenCount":70}`
