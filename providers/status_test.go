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
