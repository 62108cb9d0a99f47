package host

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// TestReadTools checks that a tool is read from every form of declaration.
func TestReadTools(t *testing.T) {
	const s = weatherSchema
	for _, test := range []struct{ name, text, dialect string }{
		{"anthropic, a list", `[{"name":"f","description":"D","input_schema":` + s + `}]`, "anthropic"},
		{"anthropic, one", `{"name":"f","description":"D","input_schema":` + s + `}`, "anthropic"},
		{"anthropic, a request", `{"model":"m","messages":[],"tools":[{"name":"f","description":"D","input_schema":` + s + `}]}`, "anthropic"},
		{"chat", `[{"type":"function","function":{"name":"f","description":"D","parameters":` + s + `}}]`, "openai-chat"},
		{"chat, a request", `{"messages":[],"tools":[{"type":"function","function":{"name":"f","description":"D","parameters":` + s + `}}]}`, "openai-chat"},
		{"chat, functions", `{"functions":[{"name":"f","description":"D","parameters":` + s + `}]}`, "openai-chat"},
		{"responses", `[{"type":"function","name":"f","description":"D","parameters":` + s + `,"strict":false}]`, "openai-responses"},
		{"gemini", `[{"functionDeclarations":[{"name":"f","description":"D","parametersJsonSchema":` + s + `}]}]`, "gemini"},
		{"gemini, snake case", `{"tools":[{"function_declarations":[{"name":"f","description":"D","parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING"}},"required":["city"]}}]}]}`, "gemini"},
		{"gemini, one declaration", `{"name":"f","description":"D","parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING"}},"required":["city"]}}`, "gemini"},
		{"bedrock", `{"toolConfig":{"tools":[{"toolSpec":{"name":"f","description":"D","inputSchema":{"json":` + s + `}}}]}}`, "bedrock"},
		{"bedrock, a list", `[{"toolSpec":{"name":"f","description":"D","inputSchema":{"json":` + s + `}}}]`, "bedrock"},
		{"MCP", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"f","description":"D","inputSchema":` + s + `}]}}`, mcp},
		{"with a mark at its beginning", "\xef\xbb\xbf" + ` [ {"name":"f","description":"D","input_schema":` + s + "} ]\n", "anthropic"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ReadTools([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if got.Protocol != test.dialect || len(got.List) != 1 {
				t.Fatalf("%s: %v", got.Protocol, got.List)
			}
			f := got.List[0]
			if f.Name != "f" || f.Description != "D" || f.Kind != "function" || !cmp.Equal(value(t, f.Schema), value(t, []byte(s))) {
				t.Errorf("%+v", f)
			}
			for i := range All { // every host can declare the tools
				h := &All[i]
				r := protocol.Request{Model: "m", Messages: userSays("x")}
				if left := got.Declare(&r, h.HistoryTarget()); left != nil {
					t.Errorf("%s: left out %v", h.Name, left)
				}
				_, body := h.Build(r, "http://host.test")
				again, err := ReadTools(body)
				if err != nil || len(again.List) != 1 || again.List[0].Name != "f" || again.List[0].Description != "D" {
					t.Errorf("%s: %v %v in %s", h.Name, again, err, body)
				}
			}
		})
	}
}

func TestReadNoTools(t *testing.T) {
	for _, text := range []string{"", "[", "{}", "[]", "7", `"tools"`, `{"tools":[]}`, `{"tools":7}`, `[[[]]]`, `[7,null]`, `{"name":"f"}`, `[{"x":1}] trailing`} {
		if got, err := ReadTools([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// TestDeclare checks that a tool that the provider runs is sent to no other provider. A provider with the
// same protocol must receive its tools without a loss.
func TestDeclare(t *testing.T) {
	const list = `[{"type":"web_search_20250305","name":"web_search","max_uses":2},{"name":"f","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}]`
	tools, err := ReadTools([]byte(list))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"anthropic": "[] ", "openai": "[web_search] f", "mistral": "[web_search] f", "gemini": "[web_search] f"} {
		h, _ := Find(name)
		r := protocol.Request{Model: "m", Messages: userSays("x")}
		left := tools.Declare(&r, h.HistoryTarget())
		_, body := h.Build(r, "http://host.test")
		if name == "anthropic" {
			if got := string(json.Value(body).Get("tools")); got != list {
				t.Errorf("to its own protocol: %s", got)
			}
			continue
		}
		again, err := ReadTools(body)
		if err != nil || len(again.List) != 1 {
			t.Fatalf("%s: %v in %s", name, err, body)
		}
		if got := fmt.Sprint(left, " ", again.List[0].Name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestRecognise(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"claude-sonnet-5","max_tokens":5,"messages":[]}`:                                                        "anthropic",
		`{"model":"x","max_tokens":5,"system":"s","messages":[]}`:                                                         "anthropic",
		`{"model":"x","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"4 C"}]}]}`: "anthropic",
		`{"model":"x","messages":[],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`:                             "anthropic",
		`{"model":"gpt-5.4","messages":[]}`:                                                                               "openai-chat",
		`{"model":"grok-4.3","messages":[]}`:                                                                              "xai",
		`{"model":"mistral-large-latest","messages":[]}`:                                                                  "mistral",
		`{"model":"anthropic/claude-x","messages":[]}`:                                                                    "openrouter",
		`{"model":"unheard-of","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`:                      "openai-chat",
		`{"model":"gpt-5.4","input":"x"}`:                                                                                 "openai",
		`{"contents":[{"parts":[{"text":"x"}]}]}`:                                                                         "gemini",
		`{"messages":[{"role":"user","content":[{"text":"x"}]}],"inferenceConfig":{"maxTokens":5}}`:                       "bedrock",
		`{"model":"qwen3","messages":[],"keep_alive":"5m"}`:                                                               "ollama",
		`{"model":"command-r","messages":[]}`:                                                                             "cohere",
		`{"hello":1}`:                                                                                                     "", `[]`: "", ``: "", `{"model":`: "",
	} {
		got := ""
		if h := Recognise([]byte(body)); h != nil {
			got = h.Name
		}
		if got != want {
			t.Errorf("%s: %q, wanted %q", body, got, want)
		}
	}
}

func TestRawRequest(t *testing.T) {
	for _, test := range [][5]string{ // host, body, given model, URL, requested model
		{"anthropic", `{"model":"claude-x"}`, "", "https://api.anthropic.com/v1/messages", "claude-x"},
		{"gemini", `{"contents":[]}`, "gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "gemini-2.5-pro"},
		{"gemini", `{"contents":[]}`, "", "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.5-flash:streamGenerateContent?alt=sse", "gemini-3.5-flash"},
		{"gemini", `{"contents":[]}`, "a/../b?c#d", "https://generativelanguage.googleapis.com/v1beta/models/a%2F..%2Fb%3Fc%23d:streamGenerateContent?alt=sse", "a/../b?c#d"},
	} {
		h, err := Find(test[0])
		if err != nil {
			t.Fatal(err)
		}
		if url, asked := h.RawRequest([]byte(test[1]), test[2], h.Address); url != test[3] || asked != test[4] {
			t.Errorf("%q: %s, %s", test, url, asked)
		}
	}
}
