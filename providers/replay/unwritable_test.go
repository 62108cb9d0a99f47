package replay

import (
	"testing"

	"toolscope/stream/json"
)

// TestValuesThatJSONWritersRefuse checks half a surrogate pair, and a number that is too large for a double. Both are
// valid JSON, but some languages can't write them. A client that sends arguments as an object must send JSON or no
// request, or its treatment of the arguments must be unknown.
func TestValuesThatJSONWritersRefuse(t *testing.T) {
	tried := 0
	for i := range Policies {
		p := &Policies[i]
		if p.way == nil {
			continue
		}
		for _, to := range []string{messages, gemini, bedrock, "ollama"} {
			for _, args := range []string{`{"a":"\ud800"}`, `{"\udc00":1}`, `{"a":1e400}`, `{"a":[-1e999]}`} {
				sent := p.way(receivedCall{from: chat, args: args}, to)
				if !sent.unknown && !sent.leftOut && sent.throws == "" && sent.args != nil && !json.Valid(sent.args) {
					t.Errorf("%s to %s: %s is sent as %q", p.Name, to, args, sent.args)
				}
				tried++
			}
		}
	}
	if tried == 0 {
		t.Error("no client was tried")
	}
	for _, args := range []string{`{"a":"\ud800"}`, `{"a":1e400}`} {
		if !langChain4jRule(receivedCall{from: chat, args: args}, gemini).unknown {
			t.Errorf("LangChain4j: %s: what Jackson writes was not studied", args)
		}
	}
}
