package host

import (
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

const weatherSchema = `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`

func weather() []protocol.Tool {
	return []protocol.Tool{
		{Name: "get_weather", Kind: "function", Description: "Weather of a \"city\"", Schema: json.Value(weatherSchema)},
		{Name: "ping", Kind: "function"},
		{Name: "web_search", Kind: "server"},
	}
}

func userSays(text string) []protocol.Message {
	return []protocol.Message{{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.TextPart, Text: []byte(text)}}}}
}

// value returns a JSON text as Go values.
func value(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := stdjson.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func environment(pairs ...string) func(string) string {
	all := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return all[name] }
}

const chatTools = `[{"type":"function","function":{"name":"get_weather","description":"Weather of a \"city\"","parameters":` + weatherSchema + `}},
	{"type":"function","function":{"name":"ping","parameters":{"type":"object","properties":{}}}}]`

const chatMessages = `[{"role":"system","content":"Be brief."},{"role":"user","content":"Oslo?"}]`

// TestBodies checks each field of the request for each kind of host.
func TestBodies(t *testing.T) {
	for _, test := range []struct{ host, model, path, body string }{
		{"anthropic", "claude-sonnet-4-5", "/v1/messages", `{"model":"claude-sonnet-4-5","max_tokens":21333,"stream":true,
			"cache_control":{"type":"ephemeral"},"system":"Be brief.",
			"messages":[{"role":"user","content":[{"type":"text","text":"Oslo?"}]}],
			"tools":[{"name":"get_weather","description":"Weather of a \"city\"","input_schema":` + weatherSchema + `},
				{"name":"ping","input_schema":{"type":"object","properties":{}}}]}`},
		{"openai", "gpt-5.4-mini", "/v1/responses", `{"model":"gpt-5.4-mini","stream":true,"store":false,
			"include":["reasoning.encrypted_content"],"prompt_cache_key":"s1","instructions":"Be brief.",
			"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Oslo?"}]}],
			"tools":[{"type":"function","name":"get_weather","description":"Weather of a \"city\"","parameters":` + weatherSchema + `,"strict":false},
				{"type":"function","name":"ping","parameters":{"type":"object","properties":{}},"strict":false}]}`},
		{"openai-chat", "gpt-4.1", "/v1/chat/completions", `{"model":"gpt-4.1","stream":true,"stream_options":{"include_usage":true},
			"store":false,"prompt_cache_key":"s1","messages":` + chatMessages + `,"tools":` + chatTools + `}`},
		{"gemini", "gemini-2.5-pro", "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", `{
			"contents":[{"role":"user","parts":[{"text":"Oslo?"}]}],"systemInstruction":{"parts":[{"text":"Be brief."}]},
			"tools":[{"functionDeclarations":[{"name":"get_weather","description":"Weather of a \"city\"",
				"parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING"}},"required":["city"]}},{"name":"ping"}]}]}`},
		{"ollama", "qwen3:8b", "/api/chat", `{"model":"qwen3:8b","stream":true,"messages":` + chatMessages + `,"tools":` + chatTools + `}`},
		{"cohere", "command-a-03-2025", "/v2/chat", `{"model":"command-a-03-2025","stream":true,"messages":` + chatMessages + `,"tools":` + chatTools + `}`},
		{"bedrock", "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.x", "/model/arn:aws:bedrock:eu-west-1:1:inference-profile%2Feu.x/converse-stream", `{
			"system":[{"text":"Be brief."}],"messages":[{"role":"user","content":[{"text":"Oslo?"}]}],
			"toolConfig":{"tools":[{"toolSpec":{"name":"get_weather","description":"Weather of a \"city\"","inputSchema":{"json":` + weatherSchema + `}}},
				{"toolSpec":{"name":"ping","inputSchema":{"json":{"type":"object","properties":{}}}}}]}}`},
		{"mistral", "mistral-large-latest", "/v1/chat/completions", `{"model":"mistral-large-latest","stream":true,"messages":` + chatMessages + `,"tools":` + chatTools + `}`},
		{"deepseek", "deepseek-chat", "/v1/chat/completions", `{"model":"deepseek-chat","stream":true,"stream_options":{"include_usage":true},
			"messages":` + chatMessages + `,"tools":` + chatTools + `}`},
	} {
		t.Run(test.host, func(t *testing.T) {
			h, err := Find(test.host)
			if err != nil {
				t.Fatal(err)
			}
			address, err := h.ResolveAddress("", environment("AWS_REGION", "eu-west-1"))
			if err != nil {
				t.Fatal(err)
			}
			url, body := h.Build(protocol.Request{
				Model: test.model, System: "Be brief.", Messages: userSays("Oslo?"), Tools: weather(), Session: "s1",
			}, address)
			if !strings.HasPrefix(url, "http") || !strings.HasSuffix(url, test.path) || strings.Count(url, "/v1/") > 1 {
				t.Errorf("goes to %s, wanted %s", url, test.path)
			}
			if diff := cmp.Diff(value(t, []byte(test.body)), value(t, body)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestReadBack checks that a protocol reads back the content that was written to a request.
func TestReadBack(t *testing.T) {
	for i := range All {
		h := &All[i]
		to := h.HistoryTarget()
		if to == nil || to.Request == nil {
			t.Errorf("%s: no requests to %s", h.Name, h.Target)
			continue
		}
		d, err := providers.FindProtocol(to.Protocol)
		if err != nil {
			t.Fatal(err)
		}
		history := append(userSays("Oslo?"),
			protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{{
				Kind: protocol.CallPart, ID: "call12345", Name: "get_weather", ToolKind: "function", Args: []byte(`{"city":"Oslo"}`), Form: to.Form,
			}}},
			protocol.Message{Role: protocol.User, Parts: []protocol.Part{{
				Kind: protocol.ResultPart, ID: "call12345", Name: "get_weather", ToolKind: "function", Text: []byte("4 C"),
			}}})
		url, body := h.Build(protocol.Request{Model: "m-1", System: "Be brief.", Messages: history, Tools: weather(), MaxTokens: 77}, "http://host.test")
		if !stdjson.Valid(body) {
			t.Fatalf("%s: not JSON: %s", h.Name, body)
		}
		if got := modelOf(d, url, body); got != "m-1" {
			t.Errorf("%s: the model is %q in %s %s", h.Name, got, url, body)
		}
		if got := limitOf(body); got != 77 {
			t.Errorf("%s: the limit is %d in %s", h.Name, got, body)
		}
		tools := d.Tools(body)
		if len(tools) != 2 || tools[0].Name != "get_weather" || tools[0].Description != weather()[0].Description || tools[1].Name != "ping" {
			t.Errorf("%s: tools are %v in %s", h.Name, tools, body)
		} else if got, want := value(t, tools[0].Schema), value(t, []byte(weatherSchema)); !cmp.Equal(got, want) {
			t.Errorf("%s: the schema came back as %s", h.Name, tools[0].Schema)
		}
		messages, err := to.Decode(body)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := outline(messages), "system:Be brief. user:Oslo? assistant:get_weather{\"city\":\"Oslo\"} user:=4 C "; got != want {
			t.Errorf("%s: the history is %s\nof %s", h.Name, got, body)
		}
		if protocolOf(body) != to.Protocol && to.Protocol != "ollama" && to.Protocol != "cohere" { // the bodies of these protocols have no fields of their own
			t.Errorf("%s: recognised as %q: %s", h.Name, protocolOf(body), body)
		}
	}
}

func outline(messages []protocol.Message) (text string) {
	for _, m := range messages {
		text += m.Role.String() + ":"
		for _, p := range m.Parts {
			switch p.Kind {
			case protocol.CallPart:
				text += p.Name + string(p.Args)
			case protocol.ResultPart:
				if s := json.Value(p.Text).Get("output"); s != nil {
					p.Text = s.Append(nil)
				}
				text += "=" + string(p.Text)
			default:
				text += string(p.Text)
			}
		}
		text += " "
	}
	return text
}

// TestQuirks checks that fields that a host refuses are omitted, and that the other fields are present.
func TestQuirks(t *testing.T) {
	for name, want := range map[string]struct{ in, out string }{
		"openai":      {"store max_output_tokens prompt_cache_key prompt_cache_retention include", "max_tokens stream_options prompt_cache_options cache_control"},
		"openai-chat": {"store stream_options max_completion_tokens prompt_cache_key prompt_cache_retention", "max_tokens prompt_cache_options include"},
		"anthropic":   {"max_tokens cache_control", "store stream_options prompt_cache_key"},
		"mistral":     {"max_tokens", "store stream_options max_completion_tokens prompt_cache_key cache_control"},
		"groq":        {"stream_options max_completion_tokens", "store max_tokens prompt_cache_key"},
		"deepseek":    {"stream_options max_tokens", "store max_completion_tokens prompt_cache_key"},
		"xai":         {"stream_options max_tokens", "store prompt_cache_key"},
		"cerebras":    {"stream_options max_completion_tokens", "store prompt_cache_key"},
		"azure":       {"stream_options max_completion_tokens", "store"},
		"vllm":        {"stream_options max_tokens", "store"},
		"cohere":      {"max_tokens", "store stream_options prompt_cache_key"},
	} {
		h, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		_, body := h.Build(protocol.Request{Model: "gpt-5.4", Messages: userSays("x"), MaxTokens: 50, Session: "s", LongCache: true}, "http://host.test")
		for _, member := range strings.Fields(want.in) {
			if !json.Value(body).Get(member).IsPresent() {
				t.Errorf("%s: no %s in %s", name, member, body)
			}
		}
		for _, member := range strings.Fields(want.out) {
			if json.Value(body).Get(member) != nil {
				t.Errorf("%s: %s in %s", name, member, body)
			}
		}
	}
}

// TestTable checks that every host is complete, and that the prices of its models are known.
func TestTable(t *testing.T) {
	seen, prices := map[string]bool{}, price.Embedded()
	for i := range All {
		h := &All[i]
		switch {
		case seen[h.Name], h.Name == "", strings.ContainsAny(h.Name, "/, "), h.Title == "":
			t.Errorf("the name %q", h.Name)
		case h.HistoryTarget() == nil:
			t.Errorf("%s: no target %s", h.Name, h.Target)
		case len(h.Keys) == 0 && !h.Keyless:
			t.Errorf("%s: no key", h.Name)
		case h.Keyless != (h.Address != "" && Loopback(h.Address)):
			t.Errorf("%s: answers without a key from %s", h.Name, h.Address)
		case h.Address == "" && h.Variable == "":
			t.Errorf("%s: no address", h.Name)
		case !h.Keyless && h.Address != "" && !strings.HasPrefix(h.Address, "https://"):
			t.Errorf("%s: its key would be sent in the clear", h.Name)
		case h.Model != "" && len(h.Models) > 0 && !h.Has(h.Model):
			t.Errorf("%s: %s is not one of its models", h.Name, h.Model)
		}
		seen[h.Name] = true
		if h.Model == "" || h.Keyless {
			continue
		}
		address, _, _ := strings.Cut(strings.TrimPrefix(h.Address, "https://"), "/")
		if p := prices.Lookup(h.HistoryTarget().Protocol, strings.ReplaceAll(address, regionMark, "eu-west-1"), h.Model); p.Why != "" {
			t.Errorf("%s: %s", h.Name, p.Why)
		}
	}
	if _, err := Find("aistudio"); err == nil || !strings.Contains(err.Error(), "never calls it") {
		t.Errorf("AI Studio: %v", err)
	}
	for i := range All {
		if All[i].Target == "aistudio" {
			t.Errorf("%s asks AI Studio", All[i].Name)
		}
	}
	if aistudio, err := providers.FindTarget("aistudio"); err != nil || aistudio.Request != nil {
		t.Errorf("requests to AI Studio can be made: %v", err)
	}
}
