package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDialectFlag checks that --protocol overrides the detected protocol. The error for an unknown name must list
// the valid names.
func TestDialectFlag(t *testing.T) {
	wire := "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"x\",\"content\":[]}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
	file := saved(t, "a.sse", wire)
	for dialect, want := range map[string]string{"auto": "anthropic", "anthropic": "anthropic", "openai-chat": "openai-chat"} {
		_, turns := command(t, nil, "print", "--format", "jsonl", "--dialect", dialect, file).decode(t)
		if len(turns) != 1 || turns[0].Dialect != want {
			t.Errorf("--dialect %s: %+v", dialect, turns)
		}
	}
	for _, args := range [][]string{{"print", "--dialect", "klingon", file}, {"--dialect", "klingon", file}} {
		out := command(t, nil, args...)
		if out.code != 2 || !strings.Contains(out.stderr, "klingon") || !strings.Contains(out.stderr, "openai-chat") {
			t.Errorf("%v: exit code %d, stderr %q", args, out.code, out.stderr)
		}
	}
}

// TestRequest checks that --request is used to check the calls in a response body, and that errors are clear.
func TestRequest(t *testing.T) {
	body := saved(t, "a.sse", `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\"n\":\"1\"}"}}]},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
	good := saved(t, "good.json", `{"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"n":{"type":"integer"}}}}}]}`)
	calls, _ := command(t, nil, "print", "--format", "jsonl", "--request", good, body).decode(t)
	if f := calls[0].Findings; len(f) != 1 || f[0].Code != "SCHEMA_WRONG_TYPE" || *f[0].Offset != 5 || f[0].Severity != "warn" {
		t.Errorf("findings %+v", f)
	}
	if out := command(t, nil, "--request", good, body); out.code != 0 || !strings.Contains(out.stdout, "SCHEMA_WRONG_TYPE") {
		t.Errorf("open, where there is no terminal: %+v", out)
	}
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"print", "--request", filepath.Join(t.TempDir(), "none"), body}, 1, "no such file"},
		{[]string{"print", "--request", body, body}, 1, "not JSON: byte 0"},
		{[]string{"print", "--request", saved(t, "cut.json", `{"tools":[`), body}, 1, "not JSON: byte 10"},
		{[]string{"print", "--request", saved(t, "empty.json", `{"model":"m"}`), body}, 1, "declares no tools"},
		{[]string{"print", "--request", saved(t, "list.json", `[]`), body}, 1, "declares no tools"},
		{[]string{"open", "--request", saved(t, "cut.json", `{"tools":[`), body}, 1, "not JSON"},
		{[]string{"--request", good}, 2, "needs a FILE to check"},
	} {
		out := command(t, nil, test.args...)
		if out.code != test.code || !strings.Contains(out.stderr, test.want) || out.stdout != "" || strings.Count(out.stderr, "\n") > 3 {
			t.Errorf("%q: code %d, stdout %q, stderr %q", test.args, out.code, out.stdout, out.stderr)
		}
	}
}
