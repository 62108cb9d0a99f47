package host

import (
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// seen returns an exchange as an inspector reads it.
func seen(t *testing.T, url, request, response string) *providers.Exchange {
	t.Helper()
	var in providers.Inspector
	if request != "" {
		in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(request), Head: &stream.Head{Method: "POST", URL: url}})
	}
	in.Write(stream.Record{Exchange: 1, Data: []byte(response), Head: &stream.Head{Method: "POST", URL: url, Status: 200}, End: true})
	return in.Exchange(1)
}

// TestCapture checks that the captured request of an exchange is returned, or an error with the reason why it can't
// be resent.
func TestCapture(t *testing.T) {
	const chat = "https://api.openai.com/v1/chat/completions"
	answer := `{"id":"1","object":"chat.completion","model":"gpt-4.1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}`
	c, err := Capture(seen(t, chat, chatRequest, answer))
	if err != nil || c.Protocol.Name != "openai-chat" || c.From.Protocol != "openai-chat" || c.Path != "/v1/chat/completions" || string(c.Body) != chatRequest ||
		len(c.History) == 0 || c.Model() != "gpt-4.1" {
		t.Errorf("%+v, %v", c, err)
	}
	for request, says := range map[string]string{
		"": "was not captured", "{}": "no readable conversation", "nonsense": "no readable conversation", `{"messages":[]}`: "no readable conversation",
	} {
		if _, err := Capture(seen(t, chat, request, answer)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", request, err)
		}
	}
	if _, err := Capture(nil); err == nil {
		t.Error("of nothing")
	}
	unanswered, err := Capture(seen(t, "", chatRequest, ""))
	if err != nil || unanswered.Protocol.Name != "openai-chat" {
		t.Errorf("without an answer: %+v, %v", unanswered.Protocol, err)
	}
}

// TestAsItIs checks that a single body is sent unchanged to hosts with the same protocol.
func TestAsItIs(t *testing.T) {
	c, err := Capture(seen(t, "", chatRequest, ""))
	if err != nil {
		t.Fatal(err)
	}
	for i := range All {
		h := &All[i]
		if got, want := h.AsItIs(c), h.HistoryTarget().Protocol == "openai-chat"; got != want {
			t.Errorf("%s: %t", h.Name, got)
		}
	}
	two, err := Capture(seen(t, "", chatRequest+"\n"+chatRequest, ""))
	if err == nil && All[2].AsItIs(two) {
		t.Error("two requests are one")
	}
}

// TestOrigin checks that the host is found by its address, or otherwise by its protocol.
func TestOrigin(t *testing.T) {
	for _, test := range []struct{ dialect, url, want string }{
		{"openai-chat", "https://api.openai.com/v1/chat/completions", "openai-chat"},
		{"openai-responses", "https://api.openai.com/v1/responses", "openai"},
		{"openai-chat", "https://api.groq.com/openai/v1/chat/completions", "groq"},
		{"openai-chat", "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", "gemini-chat"},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta/models/x:streamGenerateContent", "gemini"},
		{"bedrock", "https://bedrock-runtime.eu-west-1.amazonaws.com/model/x/converse-stream", "bedrock"},
		{"openai-chat", "http://127.0.0.1:8080/v1/chat/completions", "llama.cpp"},
		{"openai-chat", "https://api.openai.com.evil.example/v1/chat/completions", "openai-chat"},
		{"anthropic", "http://127.0.0.1:5000/v1/messages", "anthropic"},
		{"anthropic", "", "anthropic"},
		{"anthropic", "::", "anthropic"},
		{"aistudio", "https://alkalimakersuite-pa.clients6.google.com/$rpc/x", ""},
	} {
		d, err := providers.FindProtocol(test.dialect)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if h := Origin(CapturedRequest{Protocol: d}, test.url); h != nil {
			got = h.Name
		}
		if got != test.want {
			t.Errorf("%s at %s: %q, want %q", test.dialect, test.url, got, test.want)
		}
	}
	if Origin(CapturedRequest{}, "https://api.openai.com/v1") != nil {
		t.Error("of no protocol")
	}
}

// TestAnswer checks that a turn and its results can be added to a captured request for every host, in the host's own
// form. The captured request must not change.
func TestAnswer(t *testing.T) {
	c, err := Capture(seen(t, "", chatRequest, ""))
	if err != nil {
		t.Fatal(err)
	}
	before := len(c.History)
	again := c
	turn := protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{
		{Kind: protocol.CallPart, ID: "call_9", Name: "get_weather", ToolKind: "function", Args: []byte(`{"city":"Lima"}`)},
	}}
	c.ContinueFrom(turn, []Result{{Call: &stream.Call{ID: "call_9", Name: "get_weather"}, Text: "no \"such\" city", Failed: true}})
	if len(c.History) != before+2 || len(again.History) != before {
		t.Fatalf("%d and %d messages of %d", len(c.History), len(again.History), before)
	}
	for i := range All {
		h := &All[i]
		out, err := h.Resend(c, "m-1", &replay.Policies[0])
		if err != nil {
			t.Errorf("%s: %v", h.Name, err)
			continue
		}
		_, body := h.Build(out.Request, "http://host.test")
		history, err := h.HistoryTarget().Decode(body)
		if err != nil {
			t.Fatalf("%s: %v", h.Name, err)
		}
		last := history[len(history)-1]
		if len(last.Parts) != 1 || last.Parts[0].Kind != protocol.ResultPart || !strings.Contains(string(last.Parts[0].Text), `such`) || strings.Contains(string(body), replay.Pending) {
			t.Errorf("%s ends with %+v", h.Name, last)
		}
	}
}
