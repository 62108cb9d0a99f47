package acp

import (
	"testing"

	"toolscope/providers/protocol"
)

// TestSniffMessage checks that ACP's messages are recognised, and that messages of other protocols that use JSON-RPC
// are not.
func TestSniffMessage(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want int
	}{
		"initialize":              {`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`, protocol.Sure},
		"its result":              {`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`, protocol.Sure},
		"an update":               {`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}`, protocol.Sure},
		"a file":                  {`{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"}}`, protocol.Sure},
		"the end of a prompt":     {`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`, protocol.Sure},
		"MCP":                     {`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, 0},
		"MCP's result":            {`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`, 0},
		"MCP's sampling":          {`{"jsonrpc":"2.0","id":0,"result":{"role":"assistant","content":{"type":"text","text":"a"},"stopReason":"endTurn"}}`, 0},
		"a language server":       {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":1,"capabilities":{}}}`, 0},
		"Codex's app server":      {`{"method":"initialize","id":0,"params":{"clientInfo":{"name":"ide","version":"1"}}}`, 0},
		"a session without an id": {`{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}`, 0},
		"JSON-RPC 1":              {`{"jsonrpc":"1.0","method":"session/update","params":{"sessionId":"s"}}`, 0},
	} {
		if got := sniffMessage(protocol.SniffInput{Data: []byte(c.line)}); got.Points != c.want {
			t.Errorf("%s: %+v, want %d", name, got, c.want)
		}
	}
}

func TestNameOf(t *testing.T) {
	for update, want := range map[string]string{
		`{"sessionUpdate":"tool_call","title":"bash","kind":"execute"}`:                      "bash",
		`{"sessionUpdate":"tool_call","title":"Read a file","kind":"read"}`:                  "[read]",
		`{"sessionUpdate":"tool_call","title":"Read a file"}`:                                "[other]",
		`{"sessionUpdate":"tool_call_update","title":"ls","kind":"execute"}`:                 "[execute]",
		`{"sessionUpdate":"tool_call","title":"list","rawInput":{"a":"ls","b":"list"}}`:      "[other]",
		`{"sessionUpdate":"tool_call","title":"list","rawInput":{"a":"list","b":"ls"}}`:      "[other]",
		`{"sessionUpdate":"tool_call","title":"list","rawInput":{"a":"ls","b":["list"]}}`:    "list",
		`{"_meta":{"a":1,"b":{"toolName":"Grep"}},"title":"search","kind":"search"}`:         "Grep",
		`{"_meta":{"toolName":"grep","phase":"preparing"},"title":"Search","kind":"search"}`: "grep",
		`{"name":"exec_command","title":"Read file '/w/a'","kind":"read"}`:                   "exec_command",
		"{\"title\":\"`ls`\",\"kind\":\"execute\",\"_meta\":{\"b\":{\"toolName\":1}}}":       "[execute]",
	} {
		if got, _ := nameOf([]byte(update)); got != want {
			t.Errorf("%s: %q, want %q", update, got, want)
		}
	}
}

// TestRanks checks that a better source of a name has a higher rank.
func TestRanks(t *testing.T) {
	before := -1
	for _, update := range []string{
		`{"title":"Read a file"}`, `{"kind":"read"}`, `{"sessionUpdate":"tool_call","title":"bash"}`, `{"name":"exec_command"}`,
	} {
		_, rank := nameOf([]byte(update))
		if rank <= before {
			t.Errorf("%s: rank %d, after %d", update, rank, before)
		}
		before = rank
	}
}

// TestAgreeOnFields checks when the arguments in a request for permission agree with the earlier ones.
func TestAgreeOnFields(t *testing.T) {
	for _, c := range []struct {
		earlier, asked string
		want           bool
	}{
		{`{"a":1}`, `{"b":2,"a":1.0}`, true},
		{`{"a":1,"b":2}`, `{"a":1}`, true},
		{`{"a":1,"b":2}`, `{"c":3,"a":1}`, true},
		{`{"a":1,"b":2}`, `{"a":1,"b":3}`, false},
		{`{"a":1}`, `{"b":2}`, false},
		{``, `{"a":1}`, false},
		{`{}`, `{"a":1}`, false},
	} {
		if got := agreeOnFields([]byte(c.earlier), []byte(c.asked)); got != c.want {
			t.Errorf("%s, then %s: %v", c.earlier, c.asked, got)
		}
	}
}
