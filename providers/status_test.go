package providers

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// TestStatus checks that an HTTP error is a failed turn of the requested model, whatever its body is.
func TestStatus(t *testing.T) {
	for _, test := range []struct{ what, body, want string }{
		{"no body", "", "HTTP status 503"},
		{"a page", "<html>\n<title>502 Bad Gateway</title>\n", "HTTP status 503"},
		{"words of no known dialect", `{"id":"1","message":"invalid token"}`, "invalid token"},
		{"an error that is a text", `{"error":"model not found"}` + "\n", "model not found"},
		{"an error in detail", `{"detail":"Not Found"}`, "Not Found"},
		{"an error of nothing", `{"error":null,"detail":[]}`, "HTTP status 503"},
		{"the provider's own words", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "Overloaded"},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Request: true, Data: []byte(`{"model":"m-1","messages":[]}`)})
		in.Write(stream.Record{Head: &stream.Head{Status: 503}})
		in.Write(stream.Record{Data: []byte(test.body), End: true})
		turns := in.Session().Turns
		if len(turns) != 1 || !strings.HasPrefix(turns[0].Failure, test.want) || turns[0].Phase() != stream.TurnAborted || turns[0].Model != "m-1" {
			t.Errorf("%s: %s", test.what, dump(in))
		}
	}
}

// TestRequestedModel checks that a turn whose response never came has the requested model, and that the model in a
// response counts more.
func TestRequestedModel(t *testing.T) {
	for _, test := range []struct{ path, body, model string }{
		{"/v1/messages", "", "m-1"},
		{"/v1/chat/completions", "", "m-1"},
		{"/v1/responses", "", "m-1"},
		{"/api/chat", "", "m-1"},
		{"/v1/messages", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"a\",\"model\":\"m-2\"}}\n\n", "m-2"},
		{"/v1/messages", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"a\"}}\n\n", ""},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Request: true, Data: []byte(`{"model":"m-1","messages":[]}`), Head: &stream.Head{Method: "POST", URL: "https://example.com" + test.path}})
		in.Write(stream.Record{Data: []byte(test.body), End: true, By: stream.Client.String(), Why: "the client disconnected"})
		if turns := in.Session().Turns; len(turns) != 1 || turns[0].Model != test.model {
			t.Errorf("%s, %q: want the model %q: %s", test.path, test.body, test.model, dump(in))
		}
	}
}
