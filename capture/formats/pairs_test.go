package formats

import (
	"strings"
	"testing"

	"toolscope/capture"
)

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
