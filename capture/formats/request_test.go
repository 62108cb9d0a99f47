package formats

import (
	"strings"
	"testing"

	"toolscope/capture"
)

// requests lists bodies of requests, with the responses that are read from their histories.
var requests = []struct{ body, want string }{
	{`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},
		{"role":"assistant","content":[{"type":"text","text":"y"},{"type":"tool_use","id":"t","name":"f","input":{"b": 1,"a":2}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"{\"role\":\"assistant\",\"tool_calls\":[{}]}"}]}]}`,
		`{"type":"message","model":"m","role":"assistant","content":[{"type":"text","text":"y"},{"type":"tool_use","id":"t","name":"f","input":{"b": 1,"a":2}}]}`},
	{`{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\""}}]},{"role":"assistant","content":"no call"}]}`,
		`{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\""}}]}}]}`},
	{`{"model":"m","stream":false,"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}]}`,
		`{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":true}`},
	{`{"inferenceConfig":{},"messages":[{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"f","input":{}}}]}]}`,
		`{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"f","input":{}}}]}}}`},
	{`{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]}}]}`},
	{`{"model":"m","input":[{"role":"user","content":"x"},{"type":"reasoning","id":"r"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
		{"type":"function_call","call_id":"d","name":"g","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"1"},
		{"type":"message","role":"assistant","content":[]},{"type":"function_call_output","call_id":"d","output":"1"},
		{"type":"custom_tool_call","call_id":"e","name":"h","input":"x"}]}`,
		`{"object":"response","model":"m","output":[{"type":"reasoning","id":"r"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call","call_id":"d","name":"g","arguments":"{}"}]}
{"object":"response","model":"m","output":[{"type":"custom_tool_call","call_id":"e","name":"h","input":"x"}]}`},
	{`{"model":"m","max_tokens":1,"messages":[]}`, ``},
}

// TestRequest checks that the calls in a history are read, with each message unchanged, and that the body is the last
// exchange. The body must be the same byte for byte, however the input is split.
func TestRequest(t *testing.T) {
	for _, test := range requests {
		for _, size := range []int{1, 50, len(test.body)} {
			recs := readParts(t, request, bytewise([]byte(test.body), size)...)
			var answers []string
			asked, last := "", 0
			for _, r := range recs {
				switch {
				case r.Side == capture.Request && r.Exchange > last:
					asked, last = string(r.Data), r.Exchange
				case len(r.Data) > 0:
					answers = append(answers, string(r.Data))
					last = r.Exchange
				}
			}
			if got := strings.Join(answers, "\n"); got != test.want || asked != test.body {
				t.Errorf("%s\n answers %s\n want    %s\n asked %s", test.body, got, test.want, asked)
			}
		}
	}
}

// TestRequestTools checks that the responses in a history get the tools of the body.
func TestRequestTools(t *testing.T) {
	recs := readParts(t, request, []byte(`{"model":"m","tools":[{"name":"f"}],"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}]}`))
	if got := string(recs[0].Data); got != `{"tools":[{"name":"f"}]}` {
		t.Error(got)
	}
}

// TestSniffRequest checks that only a request is accepted, and that other input is held back only until its
// first fields are known.
func TestSniffRequest(t *testing.T) {
	for _, test := range requests {
		if got := sniffRequest([]byte(test.body), true); got.Is != capture.Yes {
			t.Errorf("%s: %+v", test.body, got)
		}
		for n := 1; n < len(test.body); n++ {
			if got := sniffRequest([]byte(test.body[:n]), false); got.Is == capture.No {
				t.Errorf("%s: %+v", test.body[:n], got)
			}
		}
	}
	for _, text := range []string{
		`{"id":"c","object":"chat.completion","choices":[`, `{"type":"message","role":"assistant"`, `{"candidates":[{"content"`,
		`{"sessionId":"s","messages":[]}`, `{"name":"x"}`, `[{"role":"user"}]`, "data: {}", `{}`, `{"toolscope":1}`,
		`{"model":"m","created_at":"2026","message":{"role":"assistant"},"done":false}` + "\n",
	} {
		if got := sniffRequest([]byte(text), strings.HasSuffix(text, "}")); got.Is == capture.Yes {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// FuzzRequest checks that any input can be read as a request, and that the request is the same byte for byte.
func FuzzRequest(f *testing.F) {
	for _, test := range requests {
		f.Add([]byte(test.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		sniffRequest(body, false)
		recs := readParts(t, request, body)
		last := recs[len(recs)-2]
		if last.Side != capture.Request || string(last.Data) != string(body) {
			t.Errorf("%q came back as %q", body, last.Data)
		}
	})
}
