package replay_test

import (
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
	"toolscope/providers/replay"
)

// TestAsText checks that smolagents sends all calls of a message as one text, sorted by id, after the model's text.
// It sends their results as another text. The request contains no calls, whatever the target is.
func TestAsText(t *testing.T) {
	from := target(t, "openai-chat")
	m := calls(from, `{"b": 1.0, "it's": [true, null]}`, `{"a":"x`, `"{\"a\":1}"`)
	m[0].Parts[0].ID, m[0].Parts[1].ID = "call_9", "call_2"
	m[0].Parts = append(m[0].Parts, says(" first "))
	history := append(m, user(result("call_9", "nine"), result("call_2", " two "), result("call_3", "three")))
	written, err := from.Decode(historytest.Request(from, from.Encode(history)))
	if err != nil {
		t.Fatal(err)
	}
	want := `first
Calling tools:
[{'id': 'call_2', 'type': 'function', 'function': {'name': 'write_file', 'arguments': '{"a":"x'}}, ` +
		`{'id': 'call_3', 'type': 'function', 'function': {'name': 'write_file', 'arguments': {'a': 1}}}, ` +
		`{'id': 'call_9', 'type': 'function', 'function': {'name': 'write_file', 'arguments': {'b': 1.0, "it's": [True, None]}}}]`
	for _, history := range [][]protocol.Message{history, written} {
		for _, to := range providers.Targets() {
			p := replay.SourceOfHistory(history, from).Preview(to, policy(t, "smolagents"))
			if got := codes(p.Losses); p.Outcome != replay.AsText || got != "CALL_AS_TEXT CALL_AS_TEXT CALL_AS_TEXT CALLS_REORDERED" {
				t.Errorf("to %s: %s, %s", to.Name, p.Outcome, got)
			}
			var texts []string
			for _, m := range read(to, p.Body) {
				for _, part := range m.Parts {
					if part.Kind != protocol.TextPart {
						t.Errorf("to %s: a part that is no text: %+v", to.Name, part)
					}
					texts = append(texts, m.Role.String()+": "+string(part.Text))
				}
			}
			if got := strings.Join(texts, "|"); got != "assistant: "+want+"|user: Observation:\ntwo\nthree\nnine" {
				t.Errorf("to %s: %s", to.Name, got)
			}
		}
	}
}

// TestAsTextUnknown checks that a preview is unknown if the client's treatment of a call is unknown.
func TestAsTextUnknown(t *testing.T) {
	from := target(t, "openai-chat")
	for name, m := range map[string][]protocol.Message{"one id": calls(from, `{}`, `{}`), "NaN": calls(from, `{"a":NaN}`)} {
		m[0].Parts[0].ID = "call_2"
		if p := replay.SourceOfHistory(m, from).Preview(from, policy(t, "smolagents")); p.Outcome != replay.Unknown || p.Body != nil {
			t.Errorf("%s: %s", name, p.Outcome)
		}
	}
}
