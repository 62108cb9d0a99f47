package present

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream/json"
)

// TestCompareRequests checks that each difference between two requests is listed once, with its place in the later
// body, and that white space, the order of fields and cache marks don't count.
func TestCompareRequests(t *testing.T) {
	const tools = `[{"name":"a","description":"x"},{"name":"b"}]`
	for _, c := range []struct{ was, is, want string }{
		{`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, `{"messages":[{"content": "hi", "role": "user"}], "model":"m"}`, "= messages[0]"},
		{`{"messages":[{"role":"user","content":"hi"}]}`, `{"messages":[{"role":"user","content":"hi","cache_control":{"type":"ephemeral"}},{"role":"assistant","content":"yes"}]}`, "= messages[0], + messages[1] assistant  \"yes\""},
		{`{"messages":[1,2,3,4]}`, `{"messages":[1,2,9,4]}`, "= messages[0] to [1], ≠ messages[2] messages[2] changed from 3 to 9, = messages[3]"},
		{`{"messages":[1,2,3,4,5]}`, `{"messages":[7,4,5]}`, "≠ messages[0] messages[0] changed from 1 to 7, - messages[1] 2, - messages[2] 3, = messages[1] to [2]"},
		{`{"max_tokens":1,"stream":true,"temperature":0}`, `{"max_tokens":2,"temperature":0,"top_k":5}`, "≠ max_tokens max_tokens changed from 1 to 2, + top_k 5, - stream true"},
		{`{"system":"You help."}`, `{"system":"You find."}`, `≠ system system changed at byte 4 from "help." to "find."`},
		{`{"tools":` + tools + `}`, `{"tools":[{"name":"a","description":"y"},{"name":"c"}]}`, `≠ tools.a tools.a.description changed at byte 0 from "x" to "y", + tools.c , - tools.b `},
		{`{"tools":` + tools + `}`, `{"tools":[{"name":"b"},{"name":"a","description":"x"}]}`, "≠ tools in another order"},
		{`{"tools":[{"type":"web"}]}`, `{"tools":[{"type":"code"}]}`, `≠ tools tools[0].type changed at byte 0 from "web" to "code"`},
		{`{"messages":[1]`, `not JSON`, "- messages [1]"},
	} {
		var got []string
		for _, e := range CompareRequests(json.Value(c.was), json.Value(c.is)) {
			line := fmt.Sprintf("%c %s", []rune("=≠+-")[e.Kind], e.Name)
			if e.Kind != KeptPart {
				line += " " + e.Text
			}
			if got = append(got, line); (e.At < 0) != (e.Kind == RemovedPart) || e.At >= len(c.is) {
				t.Errorf("%s → %s: %s is at %d", c.was, c.is, line, e.At)
			}
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s → %s:\n%s\nwant\n%s", c.was, c.is, text, c.want)
		}
	}
}
