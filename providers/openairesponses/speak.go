package openairesponses

import (
	"fmt"
	"strings"

	"toolscope/providers/protocol"
)

// speaker writes the event stream.
var speaker = protocol.Speaker{
	Seals: true, WriteStep: writeStep,
	Body: func(model, text string) []byte {
		return fmt.Appendf(nil, `{"id":"resp_1","object":"response","created_at":1700000000,"status":"completed","model":%s,"output":[%s],"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":55}}`,
			protocol.Quote(model), messageItem(0, text))
	},
	ErrorBody: func(status int) []byte {
		return fmt.Appendf(nil, `{"error":{"message":"Try again later","type":"server_error","param":null,"code":%q}}`, fmt.Sprint(status))
	},
}

// spokenItem returns the item for a call.
func spokenItem(c *protocol.ScriptCall, status string) string {
	space := ""
	if c.Tool.Namespace != "" {
		space = `,"namespace":` + protocol.Quote(c.Tool.Namespace)
	}
	args := c.Args
	if status == "in_progress" {
		args = nil
	}
	return fmt.Sprintf(`{"type":"function_call","id":"fc_%d_%s","call_id":%s,"name":%s%s,"arguments":%s,"status":"%s"}`,
		c.Number, strings.TrimPrefix(c.ID, "call_"), protocol.Quote(c.ID), protocol.Quote(c.Tool.Name), space, protocol.Quote(string(args)), status)
}

// messageItem returns the item for text.
func messageItem(index int, text string) string {
	return fmt.Sprintf(`{"type":"message","id":"msg_%d","role":"assistant","status":"completed","content":[{"type":"output_text","text":%s,"annotations":[]}]}`,
		index, protocol.Quote(text))
}

func writeStep(w *protocol.ScriptWriter, s *protocol.Step) {
	event := func(name, format string, args ...any) {
		w.Add(name, `{"type":"%s","sequence_number":%d,%s}`, name, w.Count, fmt.Sprintf(format, args...))
	}
	response := func(name, status, output, more string) {
		event(name, `"response":{"id":%s,"object":"response","created_at":1700000000,"status":"%s","model":%s,"output":[%s]%s}`,
			protocol.Quote(w.ID), status, protocol.Quote(w.Model), output, more)
	}
	item := func(name string, index int, item string) { event(name, `"output_index":%d,"item":%s`, index, item) }
	done := func(c *protocol.ScriptCall, status string) {
		event("response.function_call_arguments.done", `"item_id":"fc_%d_%s","output_index":%d,"name":%s,"arguments":%s`,
			c.Number, strings.TrimPrefix(c.ID, "call_"), c.Index, protocol.Quote(c.Tool.Name), protocol.Quote(string(c.Args)))
		item("response.output_item.done", c.Index, spokenItem(c, status))
	}
	if w.IsFirst() {
		response("response.created", "in_progress", "", "")
	}
	switch s.Kind {
	case protocol.TextStep:
		text, part := protocol.Quote(s.Text), fmt.Sprintf(`"item_id":"msg_%d","output_index":%d,"content_index":0`, w.Items, w.Items)
		item("response.output_item.added", w.Items, fmt.Sprintf(`{"type":"message","id":"msg_%d","role":"assistant","status":"in_progress","content":[]}`, w.Items))
		event("response.content_part.added", `%s,"part":{"type":"output_text","text":"","annotations":[]}`, part)
		event("response.output_text.delta", `%s,"delta":%s`, part, text)
		event("response.output_text.done", `%s,"text":%s`, part, text)
		event("response.content_part.done", `%s,"part":{"type":"output_text","text":%s,"annotations":[]}`, part, text)
		item("response.output_item.done", w.Items, messageItem(w.Items, s.Text))
	case protocol.CallStep:
		item("response.output_item.added", w.Call.Index, spokenItem(w.Call, "in_progress"))
	case protocol.ArgsStep:
		event("response.function_call_arguments.delta", `"item_id":"fc_%d_%s","output_index":%d,"delta":%s`,
			w.Call.Number, strings.TrimPrefix(w.Call.ID, "call_"), w.Call.Index, protocol.Quote(s.Text))
	case protocol.SealStep:
		done(w.Call, "completed")
	case protocol.NoiseStep:
		event("response."+s.Text, `"value":[1,null]`)
	case protocol.FailStep:
		response("response.failed", "failed", "", `,"error":{"code":"server_error","message":"Overloaded"}`)
	case protocol.EndStep:
		endResponse(w, s, done, response)
	}
}

// endResponse writes the end of a response. At the token limit, calls without an end are incomplete.
func endResponse(w *protocol.ScriptWriter, s *protocol.Step, done func(*protocol.ScriptCall, string), response func(name, status, output, more string)) {
	var output []string
	calls, texts := 0, w.Steps
	for i := range texts {
		switch texts[i].Kind {
		case protocol.TextStep:
			output = append(output, messageItem(len(output), texts[i].Text))
		case protocol.CallStep:
			c, status := w.Calls[calls], "completed"
			if calls++; c.Seals == 0 {
				status = "incomplete"
				done(c, status)
			}
			output = append(output, spokenItem(c, status))
		}
	}
	const usage = `,"usage":{"input_tokens":50,"input_tokens_details":{"cached_tokens":0},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":70}`
	items := strings.Join(output, ",")
	if s.Text == protocol.EndLength {
		response("response.incomplete", "incomplete", items, usage+`,"incomplete_details":{"reason":"max_output_tokens"}`)
		return
	}
	response("response.completed", "completed", items, usage)
}
