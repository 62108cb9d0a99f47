package providers

import (
	"testing"

	"toolscope/stream"
)

// TestComposed checks that a reconstructed request shows the result of each call, and leads to no finding about the
// client.
func TestComposed(t *testing.T) {
	const (
		one    = `{"functionCall":{"id":"c1","name":"f","args":{"a":1}}}`
		two    = `{"functionCall":{"id":"c2","name":"g","args":{}}}`
		answer = `{"candidates":[{"content":{"role":"model","parts":[` + one + `,` + two + `]},"finishReason":"STOP"}]}`
		asks   = `{"conversation":"s","contents":[{"role":"model","parts":[` + one + `]},{"role":"model","parts":[` + two + `]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"f","response":{"error":"no"}}}]}]}`
	)
	for _, composed := range []bool{true, false} {
		var in Inspector
		head := &stream.Head{Reconstructed: composed}
		in.Write(stream.Record{Exchange: 1, Head: head, Data: []byte(answer), At: stream.NoTime})
		in.Write(stream.Record{Exchange: 1, End: true, At: stream.NoTime})
		in.Write(stream.Record{Exchange: 2, Request: true, Head: head, Data: []byte(asks), At: stream.NoTime})
		in.Write(stream.Record{Exchange: 2, End: true, At: stream.NoTime})
		in.Close()
		found := 0
		for _, c := range in.Session().Turns[0].Calls {
			found += len(c.Findings)
		}
		if (found == 0) != composed {
			t.Errorf("composed %v: %d findings", composed, found)
		}
		if c := in.Session().Turns[0].Calls[0]; c.LatestResult() == nil || c.LatestResult().Result.Text != "no" {
			t.Errorf("composed %v: the result of the first call is lost", composed)
		}
	}
}

// TestConversationChanges checks that a request that contains only the new part of a conversation is not
// compared with the previous request as if it were complete.
func TestConversationChanges(t *testing.T) {
	for _, in := range []struct {
		of    string
		known bool
	}{{`"conversation":"s",`, false}, {``, true}} {
		var i Inspector
		for n, said := range []string{`[{"role":"user","content":"one"}]`, `[{"role":"user","content":"one"},{"role":"user","content":"two"}]`} {
			i.Write(stream.Record{Exchange: n + 1, Request: true, Head: &stream.Head{Method: "POST"}, Data: []byte(`{"model":"m",` + in.of + `"messages":` + said + `}`), At: stream.NoTime})
			i.Write(stream.Record{Exchange: n + 1, Data: []byte(`{"type":"message","role":"assistant","content":[{"type":"text","text":"hi"}]}`), At: stream.NoTime})
			i.Write(stream.Record{Exchange: n + 1, End: true, At: stream.NoTime})
		}
		i.Close()
		if ask := i.Session().Turns[1].Request; ask == nil || ask.Change.Comparable != in.known {
			t.Errorf("with %q it is compared: %v", in.of, ask)
		}
	}
}
