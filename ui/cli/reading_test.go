package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDialectFlag: the user overrules what the bytes say; a name that is none is answered with
// those there are.
func TestDialectFlag(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.sse")
	wire := "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"x\",\"content\":[]}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
	if err := os.WriteFile(file, []byte(wire), 0o600); err != nil {
		t.Fatal(err)
	}
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
