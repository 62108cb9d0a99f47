package replay_test

import (
	"slices"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
)

// said returns a message of the user.
func said(text string) protocol.Message {
	return protocol.Message{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.TextPart, Text: []byte(text)}}}
}

// TestLaterTurns checks previews that depend on where a call is in its turn, for calls of later turns. The first call
// of each turn since the user's last text gets the sentinel, and the index of a call counts within its turn.
func TestLaterTurns(t *testing.T) {
	google, chat := target(t, "gemini"), target(t, "openai-chat")
	tests := []struct {
		policy string
		to     *protocol.Target
		turns  []protocol.Message
		field  string
		want   []bool // for each call in order
	}{
		{"gemini-cli", google, slices.Concat(calls(google, "{}", "{}"), calls(google, "{}", "{}")), google.Sentinel, []bool{true, false, true, false}},
		{"gemini-cli", google, slices.Concat([]protocol.Message{said("a")}, calls(google, "{}"), []protocol.Message{said("b")}, calls(google, "{}", "{}"), calls(google, "{}")),
			google.Sentinel, []bool{false, true, false, true}},
		{"gemini-cli", google, slices.Concat(calls(google, "{}"), []protocol.Message{said("")}, calls(google, "{}")), google.Sentinel, []bool{true, true}},
		{"langchain-js", chat, slices.Concat(calls(chat, "no", "no"), calls(chat, "no", "no")), `"index":1`, []bool{false, true, false, true}},
		{"langchain-js", chat, slices.Concat(calls(chat, "no", "no"), calls(chat, "no", "no")), `"index":0`, []bool{true, false, true, false}},
	}
	for i, test := range tests {
		p := replay.SourceOfHistory(test.turns, test.to).Preview(test.to, policy(t, test.policy))
		var got []bool
		for _, m := range p.Body {
			list := json.Value(m).Get("parts")
			if !list.IsPresent() {
				list = json.Value(m).Get("tool_calls")
			}
			for call := range list.Elements() {
				if strings.Contains(string(call), "write_file") {
					got = append(got, strings.Contains(string(call), test.field))
				}
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("test %d, %s: got %v, want %v\n%s", i, test.policy, got, test.want, p.Body)
		}
	}
}

// TestIndexOfLaterCall checks the index of a call that is sent without the earlier calls of its turn.
func TestIndexOfLaterCall(t *testing.T) {
	chat := target(t, "openai-chat")
	turn := &stream.Turn{Calls: []*stream.Call{{Number: 1, ID: "a"}, {Number: 2, ID: "b"}}}
	for i, want := range []string{`"index":0`, `"index":1`} {
		p := replay.SourceOfHistory(calls(chat, "no"), chat).InHistory(nil, turn, turn.Calls[i]).Preview(chat, policy(t, "langchain-js"))
		if len(p.Body) != 1 || !strings.Contains(string(p.Body[0]), want) {
			t.Errorf("call %d: want %s in %s", i+1, want, p.Body)
		}
	}
}
