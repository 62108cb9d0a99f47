package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAgentDatabases checks that agents' databases show the calls with their results, and a call that was never
// finished.
func TestAgentDatabases(t *testing.T) {
	for name, want := range map[string][]string{
		"crush.db":  {`complete bash {"command":"ls"}`, `cut short bash {"command":"sle`},
		"goose.db":  {`complete shell {"command": "ls"}`},
		"agents.db": {`complete get_weather {"city":"Oslo"}`, `cut short get_time {"zone":`},
		"zed.db":    {`complete list {"path":"a"}`, `cut short edit {"path":"a/b`},
	} {
		out := command(t, nil, "print", "--format", "jsonl", filepath.Join("..", "..", "capture", "sqlite", "testdata", name))
		calls, _ := out.decode(t)
		var got []string
		for _, c := range calls {
			got = append(got, c.Status+" "+c.Name+" "+c.Raw)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q\n%s", name, got, want, out.stderr)
		}
	}
}

// TestOneSessionOfDatabase checks that a path can name one session in a database.
func TestOneSessionOfDatabase(t *testing.T) {
	path := filepath.Join("..", "..", "capture", "sqlite", "testdata", "agents.db")
	out := command(t, nil, "print", path+"#none")
	if out.code == 0 || !strings.Contains(out.stderr, `no session "none"; the newest ones: `) || strings.Count(out.stderr, "toolscope: ") != 1 {
		t.Fatalf("exit code %d: %s", out.code, out.stderr)
	}
	_, list, _ := strings.Cut(out.stderr, "the newest ones: ")
	id, _, _ := strings.Cut(strings.TrimSpace(list), ",")
	out = command(t, nil, "print", path+"#"+strings.Fields(id)[0])
	if out.code != 0 || !strings.Contains(out.stdout, "#") || !strings.Contains(out.stdout, "call") {
		t.Errorf("exit code %d: %s%s", out.code, out.stdout, out.stderr)
	}
	name := "agents#" + strings.Fields(id)[0]
	if out = command(t, nil, "ask", "runs", path+"#"+strings.Fields(id)[0]); out.code != 0 || !strings.Contains(out.stdout, "\n"+name+" ") {
		t.Errorf("exit code %d: %s%s", out.code, out.stdout, out.stderr)
	}
	if out = command(t, nil, "ask", "calls", path+"#"+strings.Fields(id)[0], "run="+name); out.code != 0 || !strings.Contains(out.stdout, "\n"+name+"#1.1 ") {
		t.Errorf("exit code %d: %s%s", out.code, out.stdout, out.stderr)
	}
	if out = command(t, nil, "ask", "problems", path+"#none"); out.code != 1 || !strings.Contains(out.stderr, "can't read agents#none: ") {
		t.Errorf("exit code %d: %s%s", out.code, out.stdout, out.stderr)
	}
}
