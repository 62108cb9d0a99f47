package present

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream/json"
)

// refusedBodies are parts of requests in three protocols: a text, a call and its result, and a last text.
var refusedBodies = map[string]string{
	"anthropic": `{"messages":[{"role":"user","content":"list the ports"},` +
		`{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_1","name":"ls","input":{"d":"/etc"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ports"},{"type":"text","text":"a"},` +
		`{"type":"text","text":"b"},{"type":"text","text":"c"},{"type":"text","text":"d"}]},` +
		`{"role":"user","content":"and then?"}]}`,
	"chat": `{"messages":[{"role":"user","content":"list the ports"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"ls","arguments":"{\"d\":1}"}}]},` +
		`{"role":"tool","tool_call_id":"call_1","content":"ports"}]}`,
	"gemini": `{"contents":[{"role":"user","parts":[{"text":"list the ports"}]},` +
		`{"role":"model","parts":[{"functionCall":{"name":"ls","args":{"d":1}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"ports"}}}]}]}`,
}

// TestPartsAround checks which messages are listed for a place in a refused request, and how they are described: the
// message before the place, the block at the place or with the id that the error names, and the message after it.
func TestPartsAround(t *testing.T) {
	for _, test := range []struct{ body, path, ids, want string }{
		{"anthropic", "messages[1].content[1]", "", `0 user "list the ports"; 1 assistant! tool_use ls toolu_1 {"d":"/etc"}; 2 user tool_result toolu_1 "ports", "a", "b", "c"`},
		{"anthropic", "messages[1]", "", `0 user "list the ports"; 1 assistant! "I look.", tool_use ls toolu_1 {"d":"/etc"}; 2 user tool_result toolu_1 "ports", "a", "b", "c"`},
		{"anthropic", "messages[1]", "toolu_1", `0 user "list the ports"; 1 assistant! tool_use ls toolu_1 {"d":"/etc"}; 2 user tool_result toolu_1 "ports", "a", "b", "c"`},
		{"anthropic", "messages[1]", "toolu_9", `0 user "list the ports"; 1 assistant! "I look.", tool_use ls toolu_1 {"d":"/etc"}; 2 user tool_result toolu_1 "ports", "a", "b", "c"`},
		{"anthropic", "messages[0]", "", `0 user! "list the ports"; 1 assistant "I look.", tool_use ls toolu_1 {"d":"/etc"}`},
		{"anthropic", "messages[3].content", "", `2 user tool_result toolu_1 "ports", "a", "b", "c"; 3 user! "and then?"`},
		{"chat", "messages[1].tool_calls[0]", "", `0 user "list the ports"; 1 assistant! call_1 ls "{\"d\":1}"; 2 tool call_1 "ports"`},
		{"gemini", "contents[2].parts[0]", "", `1 model functionCall ls {"d":1}; 2 user! functionResponse ls c1 {"output":"ports"}`},
		{"anthropic", "messages", "", ""},
		{"anthropic", "model.name", "", ""},
	} {
		body := json.Value(refusedBodies[test.body])
		var got []string
		for _, p := range partsAround(body, test.path, valueAtPath(body, test.path), strings.Fields(test.ids)) {
			mark := ""
			if p.Here {
				mark = "!"
			}
			got = append(got, fmt.Sprintf("%d %s%s %s", p.Number, p.Role, mark, p.Text))
		}
		if list := strings.Join(got, "; "); list != test.want {
			t.Errorf("%s, %s %s:\ngot  %s\nwant %s", test.body, test.path, test.ids, list, test.want)
		}
	}
}
