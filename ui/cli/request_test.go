package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRequest: --request checks the calls of a bare body, and says clearly when it cannot.
func TestRequest(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	body := file("a.sse", `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\"n\":\"1\"}"}}]},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
	good := file("good.json", `{"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"n":{"type":"integer"}}}}}]}`)
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
		{[]string{"print", "--request", filepath.Join(dir, "none"), body}, 1, "no such file"},
		{[]string{"print", "--request", body, body}, 1, "not JSON: byte 0"},
		{[]string{"print", "--request", file("cut.json", `{"tools":[`), body}, 1, "not JSON: byte 10"},
		{[]string{"print", "--request", file("empty.json", `{"model":"m"}`), body}, 1, "declares no tools"},
		{[]string{"print", "--request", file("list.json", `[]`), body}, 1, "declares no tools"},
		{[]string{"open", "--request", file("cut.json", `{"tools":[`), body}, 1, "not JSON"},
		{[]string{"--request", good}, 2, "no FILE to check"},
	} {
		out := command(t, nil, test.args...)
		if out.code != test.code || !strings.Contains(out.stderr, test.want) || out.stdout != "" || strings.Count(out.stderr, "\n") > 3 {
			t.Errorf("%q: code %d, stdout %q, stderr %q", test.args, out.code, out.stdout, out.stderr)
		}
	}
}
