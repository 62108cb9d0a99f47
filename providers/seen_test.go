package providers

import (
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
)

// TestSeen checks that protocols that are recognised but not decoded are named at once, shown as they
// arrived, and reported. Other streams must not be recognised as such.
func TestSeen(t *testing.T) {
	for _, test := range []struct{ name, wire, want string }{
		{"assistants by event", "event: thread.run.created\ndata: {\"id\":\"run_1\",\"object\":\"thread.run\"}\n\n", "openai-assistants"},
		{"assistants by object", `{"id":"msg_1","object":"thread.message.delta","delta":{"content":[]}}` + "\n", "openai-assistants"},
		{"data stream", "f:{\"messageId\":\"m\"}\n0:\"Hi\"\n9:{\"toolCallId\":\"c\",\"toolName\":\"f\",\"args\":{}}\n", "ai-sdk-data"},
		{"data stream, text first", "0:\"Hi\"\nd:{\"finishReason\":\"stop\"}\n", "ai-sdk-data"},
		{"data stream, data first", "2:[{\"a\":1}]\n", "ai-sdk-data"},
		{"harmony", "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>", "harmony"},
		{"harmony, the start was left out", "<|channel|>analysis<|message|>Weather.<|end|>\n", "harmony"},
		{"Cohere's first version", `{"is_finished":false,"event_type":"stream-start","generation_id":"g"}` + "\n", "cohere-v1"},
		{"JSON-RPC", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}` + "\n", "json-rpc"},

		{"an event of Responses with an id", `{"type":"response.created","event_id":"e","sequence_number":0,"response":{"object":"response","id":"resp_1"}}` + "\n", "openai-responses"},
		{"like managed agents", "event: message\ndata: {\"type\":\"agent.custom_tool_use\",\"id\":\"sevt_1\",\"name\":\"f\",\"input\":{}}\n\n", "unknown"},
		{"like managed agents, a status", "data: {\"type\":\"session.status_idle\",\"id\":\"sevt_1\"}\n\n", "unknown"},
		{"like managed agents, a result", "data: {\"type\":\"user.tool_result\",\"id\":\"sevt_1\"}\n\n", "unknown"},
		{"a clock", "0:15\n", "unknown"},
		{"a list", "a: \"b\" c\n", "unknown"},
		{"a session of something else", `{"type":"session.created"}` + "\n", "unknown"},
		{"an object of nothing", `{"toolCall":{}}` + "\n", "unknown"},
		{"text that speaks of harmony", `{"text":"<|start|>"}` + "\n", "unknown"},
		{"a chunk with it in it", `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"<|start|>"},"finish_reason":"stop"}]}` + "\n", "openai-chat"},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Data: []byte(test.wire)})
		if x := in.Exchange(0); x.Protocol == nil && test.want != "unknown" && strings.HasSuffix(test.wire, "\n") {
			t.Errorf("%s: not known at once", test.name)
		}
		in.Close()
		x := in.Exchange(0)
		if x.Protocol.Name != test.want {
			t.Errorf("%s: %s (%s), want %s", test.name, x.Protocol.Name, x.Why, test.want)
		}
		checkKept(t, in, []byte(test.wire))
		text := dump(in)
		seen := !slices.Contains([]string{"unknown", "openai-chat", "openai-responses"}, test.want)
		if strings.Contains(text, "DIALECT_SEEN warn") != seen || strings.Contains(text, "DIALECT_UNKNOWN") != (test.want == "unknown") {
			t.Errorf("%s:\n%s", test.name, text)
		}
		if seen && (!strings.Contains(x.Protocol.Title, "not decoded") || in.Session().Turns[0].Protocol != test.want || x.Why == "") {
			t.Errorf("%s: title %q, turn of %q, because %q", test.name, x.Protocol.Title, in.Session().Turns[0].Protocol, x.Why)
		}
	}
}

// TestSeenEvents checks that the frames of a protocol that is recognised but not decoded keep their names.
func TestSeenEvents(t *testing.T) {
	in := inspect([]byte("event: thread.created\ndata: {\"id\":\"t\",\"object\":\"thread\"}\n\nevent: done\ndata: [DONE]\n\n"))
	want := "turn open turn=0\nunknown turn=0 \"thread.created\"\nunknown turn=0 \"done\"\nfinding turn=0 slot=-1 DIALECT_SEEN (warn)\n"
	if got := eventLines(in); got != want {
		t.Errorf("got:\n%s", got)
	}
	in = inspect([]byte(`{"id":"m","object":"thread.message.delta","type":"delta"}` + "\n"))
	if got := eventLines(in); !strings.Contains(got, `unknown turn=0 "delta"`) {
		t.Errorf("got:\n%s", got)
	}
}

// TestDataStreamAtChat checks that the AI SDK's data stream isn't read as Ollama's lines because the paths of both often end
// with /api/chat.
func TestDataStreamAtChat(t *testing.T) {
	for body, want := range map[string]string{
		"f:{\"messageId\":\"m\"}\n0:\"Hi\"\nd:{\"finishReason\":\"stop\"}\n":             "ai-sdk-data",
		`{"model":"m","message":{"role":"assistant","content":"Hi"},"done":true}` + "\n": "ollama",
	} {
		in, _ := play("http://localhost:3000/api/chat", asked{`{"messages":[{"role":"user","content":"hi"}]}`, body, 200})
		if got := in.Session().Turns[0].Protocol; got != want {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
}
