package providers

import (
	"testing"

	"toolscope/stream"
)

// TestUnanswered checks that a request without a response is a turn with the reason. A response that was cut off
// already has a turn. A request about which nothing is known has no turn.
func TestUnanswered(t *testing.T) {
	head := &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"}
	for _, test := range []struct {
		name  string
		end   stream.Record
		data  string
		turns int
		want  string
	}{
		{"refused", stream.Record{Exchange: 1, End: true, Why: "connection refused"}, "", 1, "connection refused"},
		{"after its head", stream.Record{Exchange: 1, Head: &stream.Head{Status: 200}, End: true, Why: "the connection was reset"}, "", 1, "the connection was reset"},
		{"with an error", stream.Record{Exchange: 1, Head: &stream.Head{Status: 500}, End: true, Why: "the connection was reset"}, "", 1, "HTTP status 500, without a reason"},
		{"in the middle", stream.Record{Exchange: 1, End: true, Why: "the connection was reset"},
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[]}}\n\n", 1, ""},
		{"in silence", stream.Record{Exchange: 1, End: true}, "", 0, ""},
	} {
		var in Inspector
		in.Write(stream.Record{Exchange: 1, Request: true, Head: head, Data: []byte(`{"model":"m"}`)})
		if test.data != "" {
			in.Write(stream.Record{Exchange: 1, Data: []byte(test.data)})
		}
		in.Write(test.end)
		for _, reread := range []bool{false, true} {
			if reread {
				in.Reread(1, nil)
			}
			turns := in.Session().Turns
			if len(turns) != test.turns {
				t.Fatalf("%s, read again %v: %d turns", test.name, reread, len(turns))
			}
			if len(turns) > 0 && (turns[0].Failure != test.want || turns[0].Phase() != stream.TurnAborted) {
				t.Errorf("%s, read again %v: %q, %s", test.name, reread, turns[0].Failure, turns[0].Phase())
			}
		}
	}
}
