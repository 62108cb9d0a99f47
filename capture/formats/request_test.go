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

const (
	askedMessages = `[{"role":"system","content":"be brief"},{"role":"user","content":"open valve 4"}]`
	calledMessage = `{"role":"assistant","content":null,"tool_calls":[{"id":"v-1","type":"function","function":{"name":"open_valve","arguments":"{\"valve\":4}"}}]}`
	chatBody      = `{"id":"cc-2","object":"chat.completion","model":"m","choices":[{"index":0,"message":` + calledMessage + `,"finish_reason":"tool_calls"}]}`
	anthropicBody = `{"id":"ms-2","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"v-1","name":"open_valve","input":{"valve":4}}],"stop_reason":"tool_use"}`
	toolList      = `[{"type":"function","function":{"name":"open_valve","parameters":{"type":"object"}}}]`
)

// TestPairs checks that messages and their response in one object are found, whatever their keys are.
func TestPairs(t *testing.T) {
	composed := `{"object":"chat.completion","choices":[{"index":0,"message":` + calledMessage + `}]}`
	for _, c := range []struct{ name, log, request, response string }{
		{"a body", `{"messages":` + askedMessages + `,"response":` + chatBody + `}`, `{"messages":` + askedMessages + `}`, chatBody},
		{"a body of another protocol", `{"answer":` + anthropicBody + `,"asked":` + askedMessages + `}`, `{"messages":` + askedMessages + `}`, anthropicBody},
		{"a body in a string", `{"prompt":` + askedMessages + `,"raw":` + quoteJSON(chatBody) + `}`, `{"messages":` + askedMessages + `}`, chatBody},
		{"a stream in a string", `{"messages":` + askedMessages + `,"raw":` + quoteJSON("data: "+chatLeg[0]+"\n\n") + `}`, `{"messages":` + askedMessages + `}`, "data: " + chatLeg[0] + "\n\n"},
		{"chunks", `{"messages":` + askedMessages + `,"chunks":[` + strings.Join(chatLeg, ",") + `]}`, `{"messages":` + askedMessages + `}`, "[" + strings.Join(chatLeg, ",") + "]"},
		{"the model's message", `{"input":` + askedMessages + `,"output":` + calledMessage + `}`, `{"messages":` + askedMessages + `}`, composed},
		{"the model's message in a list", `{"input":` + askedMessages + `,"output":[` + calledMessage + `]}`, `{"messages":` + askedMessages + `}`, composed},
		{"the model and tools", `{"model":"m","messages":` + askedMessages + `,"tools":` + toolList + `,"completion":` + chatBody + `}`,
			`{"model":"m","messages":` + askedMessages + `,"tools":` + toolList + `}`, chatBody},
		{"tools among parameters", `{"messages":` + askedMessages + `,"completion":` + chatBody + `,"kwargs":{"tools":` + toolList + `},"cost":0.2}`,
			`{"messages":` + askedMessages + `,"tools":` + toolList + `}`, chatBody},

		{"only a request", `{"model":"m","messages":` + askedMessages + `,"tools":` + toolList + `,"response_format":{"type":"json_object"}}`, "", ""},
		{"a request with a prediction", `{"model":"m","messages":` + askedMessages + `,"prediction":{"type":"content","content":"x"}}`, "", ""},
		{"a transcript", `{"title":"x","messages":[{"role":"user","content":"a"},` + calledMessage + `]}`, "", ""},
		{"a body alone", chatBody, "", ""},
		{"a message of the user", `{"messages":` + askedMessages + `,"last":{"role":"user","content":"open valve 4"}}`, "", ""},
		{"a list of other things", `{"people":[{"name":"a"}],"response":` + chatBody + `}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := pairs.Sniff([]byte(c.log), true)
			if is := got.Is == capture.Yes; is != (c.response != "") {
				t.Fatalf("Sniff: %v", is)
			}
			if c.response == "" {
				return
			}
			request, response := "", ""
			for _, r := range readParts(t, pairs, []byte(c.log+"\n")) {
				if r.Side == capture.Request {
					request += string(r.Data)
				} else {
					response += string(r.Data)
				}
				if r.Note != "" {
					t.Errorf("note: %s", r.Note)
				}
			}
			if request != c.request || response != c.response {
				t.Errorf("request %s\nresponse %s", request, response)
			}
		})
	}
}

// TestLongPair checks that an object is read as a pair if its response comes after long messages.
func TestLongPair(t *testing.T) {
	messages := `[{"role":"user","content":"` + strings.Repeat("x", 2*minLongPair) + `"}]`
	first := []byte(`{"messages":` + messages + `,"response":` + chatBody + "}")
	if got := pairs.Sniff(first[:minLongPair], true); got.Is != capture.Yes {
		t.Errorf("the first bytes: %d", got.Is)
	}
	if got := pairs.Sniff(first[:minLongPair/2], true); got.Is == capture.Yes {
		t.Errorf("a file that ends inside its messages: %d", got.Is)
	}
}
