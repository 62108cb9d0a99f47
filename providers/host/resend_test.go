package host

import (
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
)

// captured returns the request of an exchange.
func captured(t *testing.T, dialectName, path, body string) CapturedRequest {
	t.Helper()
	d, err := providers.FindProtocol(dialectName)
	if err != nil {
		t.Fatal(err)
	}
	from := providers.TargetOf(dialectName)
	history, err := from.Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return CapturedRequest{Protocol: d, Path: path, Body: []byte(body), History: history, From: from}
}

const chatRequest = `{"model":"gpt-4.1","max_completion_tokens":300,"stream":true,"messages":[
	{"role":"system","content":"Be brief."},{"role":"user","content":"Weather?"},
	{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Oslo\"}"}}]},
	{"role":"tool","tool_call_id":"call_1","content":"4 C"},
	{"role":"system","content":"Now in French."},{"role":"user","content":"And tomorrow?"}],
	"tools":[{"type":"function","function":{"name":"get_weather","description":"W","strict":true,"parameters":` + weatherSchema + `}},
		{"type":"web_search_preview","function":{"name":"search"}}]}`

// TestResend checks that a conversation in one protocol can be sent to hosts with all other protocols. The
// hosts' own readers read the result.
func TestResend(t *testing.T) {
	policy, err := replay.FindPolicy("preserve")
	if err != nil {
		t.Fatal(err)
	}
	c := captured(t, "openai-chat", "/v1/chat/completions", chatRequest)
	for i := range All {
		h := &All[i]
		model := ""
		if h.Model == "" {
			model = "m-1"
		}
		out, err := h.Resend(c, model, policy)
		if err != nil {
			t.Errorf("%s: %v", h.Name, err)
			continue
		}
		_, body := h.Build(out.Request, "http://host.test")
		to := h.HistoryTarget()
		history, err := to.Decode(body)
		if err != nil {
			t.Fatalf("%s: %v in %s", h.Name, err, body)
		}
		got := outline(history)
		for _, piece := range []string{"Be brief.", "Weather?", `get_weather{"city":"Oslo"}`, "=4 C", "Now in French.", "And tomorrow?"} {
			if strings.Count(got, piece) != 1 {
				t.Errorf("%s: %q is there %d times: %s", h.Name, piece, strings.Count(got, piece), got)
			}
		}
		if !strings.HasPrefix(got, "system:Be brief.") {
			t.Errorf("%s: begins with %s", h.Name, got)
		}
		inPlace := strings.Contains(got, "system:Now in French.")
		if (out.Moved == 1) == inPlace {
			t.Errorf("%s: moved %d instructions: %s", h.Name, out.Moved, got)
		}
		if got := limitOf(body); got != 300 {
			t.Errorf("%s: the limit is %d", h.Name, got)
		}
		d, _ := providers.FindProtocol(to.Protocol)
		tools := d.Tools(body)
		if len(tools) == 0 || tools[0].Name != "get_weather" || tools[0].Description != "W" {
			t.Errorf("%s: tools %v", h.Name, tools)
		}
		if own := h.Target == "openai-chat"; own != (len(out.Undeclared) == 0) || own != strings.Contains(string(body), `"strict":true`) {
			t.Errorf("%s: left out %v of %s", h.Name, out.Undeclared, body)
		}
	}
}

// TestResendModel checks that the model stays the same if the host has it.
func TestResendModel(t *testing.T) {
	policy := &replay.Policies[0]
	for _, test := range []struct{ dialect, path, body, host, model, want string }{
		{"openai-chat", "", `{"model":"gpt-4.1","messages":[]}`, "openai", "", "gpt-4.1"},
		{"openai-chat", "", `{"model":"gpt-4.1","messages":[]}`, "anthropic", "", "claude-sonnet-5"},
		{"openai-chat", "", `{"model":"gpt-4.1","messages":[]}`, "anthropic", "claude-opus-5", "claude-opus-5"},
		{"openai-chat", "", `{"model":"gpt-4.1","messages":[]}`, "groq", "", "openai/gpt-oss-120b"},
		{"openai-chat", "", `{"model":"my-own","messages":[]}`, "vllm", "", "my-own"},
		{"anthropic", "", `{"model":"claude-x","messages":[]}`, "vllm", "", ""},
		{"anthropic", "", `{"model":"claude-x","messages":[]}`, "ollama", "", ""},
		{"ollama", "", `{"model":"qwen3","messages":[]}`, "ollama", "", "qwen3"},
		{"gemini", "/v1beta/models/gemini-2.5-pro:streamGenerateContent", `{"contents":[]}`, "gemini", "", "gemini-2.5-pro"},
		{"bedrock", "/model/amazon.nova-pro-v1%3A0/converse-stream", `{"messages":[]}`, "bedrock", "", "amazon.nova-pro-v1:0"},
	} {
		h, err := Find(test.host)
		if err != nil {
			t.Fatal(err)
		}
		out, err := h.Resend(captured(t, test.dialect, test.path, test.body), test.model, policy)
		if out.Request.Model != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s of %s to %s: %q, %v", test.body, test.dialect, test.host, out.Request.Model, err)
		}
	}
}

// TestResendPolicy checks that a call whose arguments don't parse is sent according to the policy.
func TestResendPolicy(t *testing.T) {
	body := strings.Replace(chatRequest, `"{\"city\":\"Oslo\"}"`, `"{\"city\":"`, 1)
	c := captured(t, "openai-chat", "", body)
	anthropic, openai := &All[0], &All[2]
	for _, test := range []struct {
		host   *Host
		policy string
		want   replay.Outcome
		sent   string
	}{
		{anthropic, "empty", replay.Emptied, `"input":{}`},
		{anthropic, "wrap", replay.Wrapped, `"INVALID_JSON"`},
		{openai, "preserve", replay.Verbatim, `"arguments":"{\"city\":"`},
	} {
		policy, err := replay.FindPolicy(test.policy)
		if err != nil {
			t.Fatal(err)
		}
		out, err := test.host.Resend(c, "", policy)
		if err != nil {
			t.Fatal(err)
		}
		_, sent := test.host.Build(out.Request, "http://host.test")
		if out.Preview.Outcome != test.want || !strings.Contains(string(sent), test.sent) {
			t.Errorf("%s to %s: %s\n%s", test.policy, test.host.Name, out.Preview.Outcome, sent)
		}
	}
	strict, _ := replay.FindPolicy("strict")
	if _, err := anthropic.Resend(c, "", strict); err == nil || !strings.Contains(err.Error(), "strict") {
		t.Errorf("strict: %v", err)
	}
}

// TestResendMore checks that a turn and results that were added to a captured history are sent.
func TestResendMore(t *testing.T) {
	c := captured(t, "openai-chat", "", `{"model":"gpt-4.1","messages":[{"role":"user","content":"Weather?"}]}`)
	c.History = append(c.History,
		protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{{Kind: protocol.CallPart, ID: "c1", Name: "f", ToolKind: "function", Args: []byte(`{}`)}}},
		protocol.Message{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.ResultPart, ID: "c1", Name: "f", Text: []byte("typed in")}}})
	for _, h := range []*Host{&All[0], &All[1], &All[2], &All[3]} {
		out, err := h.Resend(c, "", &replay.Policies[0])
		if err != nil {
			t.Fatal(err)
		}
		_, body := h.Build(out.Request, "http://host.test")
		history, _ := h.HistoryTarget().Decode(body)
		if got, want := outline(history), "user:Weather? assistant:f{} user:=typed in "; got != want {
			t.Errorf("%s: %s in %s", h.Name, got, body)
		}
	}
}
